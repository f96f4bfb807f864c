"""Ranks single messages for a budget of tokens: which of all that were found deserve a place.

Scores are deviations from the mean message, so that they add up: a message that is one
deviation closer in meaning outweighs one that is half a deviation richer in words.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from retrieval.hits import Candidates, EpisodeHit, FactHit, Hit, MessageRow
from retrieval.packing import Packed, pack
from retrieval.question import Span, closeness, days_asked, days_named, speakers_named
from retrieval.request import RecallRequest
from retrieval.search.in_conversation import Question
from retrieval.truncation import Trimmer

SPEAKER_BONUS = 0.8
"""For a message by somebody whom the question names."""
POINTER_BONUS = 1.25
"""For a message that says the best fact; less for lesser facts."""
TIME_BONUS = 1.5
"""For a message of the days that the question names; less for days near them."""
OVER_PENALTY = 2.0
"""For a message of which the facts are retired: what replaced them comes first."""
POINTER_K = 9
"""Halves the bonus of the fact at rank 11: facts agree less with the question further down."""


def weigh(
    *,
    score: float,
    retrievability: float,
    closeness: float = 0.0,
    is_over: bool = False,
    is_named: bool = False,
    fact_rank: float | None = None,
) -> float:
    """Return the score of a message with all that speaks for it.

    `score` is the search's own; `closeness` 1.0 on the days asked for, 0.0 far from them;
    `is_over`: it says what is no longer true; `fact_rank`: of the best fact that it says. A
    factor, retrievability, enters a sum by its logarithm.
    """
    score += math.log(max(retrievability, 1e-9)) + TIME_BONUS * closeness
    if is_over:
        score -= OVER_PENALTY
    if is_named:
        score += SPEAKER_BONUS
    if fact_rank is not None:
        score += POINTER_BONUS * (POINTER_K + 1) / (POINTER_K + fact_rank)
    return score


POINTING_FACTS = 40
"""Facts that point at the messages they were drawn from, served or not."""
TIMELY_RANK = 3.0
"""A fact of the days asked for counts as if this many times further up."""
READ_FOR_DATES = 2_000
"""Characters of a message."""
LEAST_LINES = 100
MOST_LINES = 5000
TOKENS_A_LINE = 10
"""Shorter messages exist; that many of them in one answer do not."""


def widen(question: Question, *, max_tokens: int, any_episode: bool) -> Question:
    """Return the question for a budget: more facts to point, and single messages.

    With `any_episode` those come from every episode that a leg found.
    """
    return replace(
        question,
        fact_limit=max(question.fact_limit, POINTING_FACTS),
        episode_limit=2 * question.fusion.depth if any_episode else question.episode_limit,
        line_limit=min(max(LEAST_LINES, max_tokens // TOKENS_A_LINE), MOST_LINES),
    )


def fill_budget(
    candidates: Candidates,
    episodes: Sequence[Hit],
    *,
    request: RecallRequest,
    max_tokens: int,
    now: datetime,
) -> Packed:
    """Choose what to serve within `max_tokens`.

    Facts below the request's `semantic_limit` only point at their messages.
    """
    facts = candidates.facts
    asked = days_asked(request.query, at=request.as_of or request.known_at or now)
    ranks = rank_facts(facts, asked)
    facts = sorted(facts, key=lambda hit: ranks[hit.fact.id])
    messages = rank_messages(
        _ranks_by_seq(facts, ranks, among=candidates.messages),
        episodes,
        messages=candidates.messages,
        query=request.query,
        asked=asked,
        over=candidates.retired,
    )
    trimmer = Trimmer(
        question=request.query,
        messages=[message.content or "" for message in messages],
        speakers={message.name for message in messages},
    )
    return pack(
        facts[: request.semantic_limit],
        messages,
        pinned=candidates.pinned,
        max_tokens=max_tokens,
        wants_facts=request.category is not None,
        trimmer=trimmer,
        explain=request.explain,
    )


def rank_facts(facts: Sequence[FactHit], asked: Sequence[Span]) -> dict[str, float]:
    """Return the rank of each fact, less for those of the days asked for; 1 is best."""
    ranks: dict[str, float] = {}
    for hit in facts:
        near = _closeness(asked, at=hit.fact.valid_at, text=hit.fact.fact)
        ranks[hit.fact.id] = hit.found.rank / (1 + (TIMELY_RANK - 1) * near)
    return ranks


def rank_messages(
    fact_ranks: Mapping[int, float],
    episodes: Sequence[Hit],
    *,
    messages: Mapping[int, MessageRow],
    query: str,
    asked: Sequence[Span],
    over: Collection[int],
) -> list[MessageRow]:
    """Return those of the messages, given by seq, that were found, best first.

    `fact_ranks` has, by seq, the rank of the best found fact that a message says. Those of
    `over` say what is no longer true; what contradicts a correction does, too.
    """
    scores = {line.seq: (line.score, hit.retrievability) for hit in episodes for line in hit.lines}
    messages = {seq: message for seq, message in messages.items() if seq in scores}
    named = speakers_named(query, [row.name or row.role for row in messages.values()])
    weights = {
        seq: weigh(
            score=scores[seq][0],
            retrievability=scores[seq][1],
            closeness=_closeness(
                asked, at=message.occurred_at, text=(message.content or "")[:READ_FOR_DATES]
            ),
            is_over=seq in over or bool(message.correction),
            is_named=(message.name or message.role) in named,
            fact_rank=fact_ranks.get(seq),
        )
        for seq, message in messages.items()
    }
    return [messages[seq] for seq in sorted(weights, key=lambda seq: (-weights[seq], seq))]


def _closeness(asked: Sequence[Span], *, at: datetime, text: str) -> float:
    return closeness(asked, on=at.date(), named=days_named(text)) if asked else 0.0


def _ranks_by_seq(
    facts: Sequence[FactHit], ranks: Mapping[str, float], *, among: Mapping[int, MessageRow]
) -> dict[int, float]:
    """Return, by seq of a message, the rank of the best fact drawn from it.

    A fact of another conversation points at none of these messages.
    """
    by_seq: dict[int, float] = {}
    for hit in facts:
        rank = ranks[hit.fact.id]
        for message in hit.messages:
            if among.get(message.seq) is not message:
                continue
            by_seq[message.seq] = min(rank, by_seq.get(message.seq, rank))
    return by_seq


def serve(episodes: Sequence[EpisodeHit], packed: Packed) -> list[EpisodeHit]:
    """Return the episodes that messages were chosen from, best first, with those only."""
    chosen = packed.messages()
    return [
        replace(row, messages=tuple(chosen[row.episode.id]))
        for row in episodes
        if row.episode.id in chosen
    ]
