"""Ranks facts and single messages for an answer within a budget of tokens.

Scores are measured in standard deviations from the mean message, so that scores by words and by
meaning can be added up.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from retrieval import tuning
from retrieval.excerpts import READ_FOR_DATES
from retrieval.filling import Filling
from retrieval.hits import Candidates, FactHit, Hit, MessageRow, Place
from retrieval.layout import HOME_LETTERS, Layout
from retrieval.question import Span, closeness, days_named, speakers_named
from retrieval.question_times import TimesAsked
from retrieval.request import RecallRequest
from retrieval.roles import prefer_users
from retrieval.truncation import Trimmer


def pack(
    candidates: Candidates,
    episodes: Sequence[Hit],
    *,
    request: RecallRequest,
    max_tokens: int,
    now: datetime,
) -> tuple[list[FactHit], Layout]:
    """Return the facts that the text states, best first, and the text, within `max_tokens`.

    That may be less than the request's.
    Facts beyond the request's `semantic_limit` only raise the scores of their messages. All blocks,
    with a line break between two, never exceed `max_tokens`.
    """
    query, times = request.query, request.read_times(now)
    asked = times.spans
    ranks = rank_facts(candidates.facts, asked)
    ranked = sorted(candidates.facts, key=lambda hit: ranks[hit.id])
    facts, rest = ranked[: request.semantic_limit], ranked[request.semantic_limit :]
    # A danger that the search found behind the limit is not loaded once more as a pinned fact.
    found = [hit for hit in rest if hit.is_pinned and request.wants_pinned]
    lines = rank_messages(candidates, episodes, ranks, query=query, times=times)
    trimmer = Trimmer(
        question=times.words,
        messages=[message.content or "" for message, _ in lines],
        speakers={message.name for message, _ in lines},
    )
    layout = Layout(request, max_tokens=max_tokens, homes=_name_homes(candidates))
    filling = Filling(layout, trimmer, question=query)
    return filling.fill(facts, lines, [*found, *candidates.pinned]), layout


def _name_homes(candidates: Candidates) -> dict[str, str]:
    """Return the conversation name that headings show, by episode; empty if there is only one.

    It is the beginning of the conversation's id: a reader only needs to know whether two headings
    are about the same conversation.
    """
    homes = {hit.id: str(hit.conversation_id)[:HOME_LETTERS] for hit in candidates.episodes}
    if len(set(homes.values())) < 2:
        return {}
    return {episode_id: f" (conversation {home})" for episode_id, home in homes.items()}


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
    if closeness >= 1:
        score = max(score, tuning.UNLIKE_SHARE * score)
    score += math.log(max(retrievability, 1e-9)) + tuning.TIME_BONUS * closeness
    if is_over:
        score -= tuning.OVER_PENALTY
    if is_named:
        score += tuning.SPEAKER_BONUS
    if fact_rank is not None:
        score += tuning.POINTER_BONUS * (tuning.POINTER_K + 1) / (tuning.POINTER_K + fact_rank)
    return score


def rank_facts(facts: Sequence[FactHit], asked: Sequence[Span]) -> dict[str, float]:
    """Return the rank of each fact, less for those of the days asked for; 1 is best."""
    ranks: dict[str, float] = {}
    for hit in facts:
        near = _closeness(asked, at=hit.valid_at, text=hit.fact)
        ranks[hit.id] = hit.found.rank / (1 + (tuning.TIMELY_RANK - 1) * near)
    return ranks


def rank_messages(
    candidates: Candidates,
    episodes: Sequence[Hit],
    fact_ranks: Mapping[str, float],
    *,
    query: str,
    times: TimesAsked,
) -> list[tuple[MessageRow, float]]:
    """Return those of the messages that were found with their scores, best first.

    What only retired facts were drawn from is no longer true; what contradicts a correction
    counts likewise.
    """
    scores: dict[Place, tuple[float, float]] = {
        (str(hit.memory_id), seq): (score, hit.retrievability)
        for hit in episodes
        for seq, score in hit.lines
    }
    messages: dict[Place, MessageRow] = {
        place: row for place, row in candidates.messages.items() if place in scores
    }
    pointed = _ranks_by_place(candidates.facts, fact_ranks)
    named = speakers_named(query, [row.name or row.role for row in messages.values()])
    weights: dict[Place, float] = {
        place: weigh(
            score=scores[place][0],
            retrievability=scores[place][1],
            closeness=_closeness(
                times.spans, at=message.said_at, text=(message.content or "")[:READ_FOR_DATES]
            ),
            is_over=place in candidates.retired or bool(message.correction),
            is_named=(message.name or message.role) in named,
            fact_rank=pointed.get(place),
        )
        for place, message in messages.items()
    }
    weights = prefer_users(weights, messages, question=query)
    ordered = _order_messages(messages, weights, order=times.order)
    return [(message, weights[message.place]) for message in ordered]


def _order_messages(
    messages: Mapping[Place, MessageRow], scores: Mapping[Place, float], *, order: int
) -> list[MessageRow]:
    """Return messages best first, ties newest first; similar scores in the order asked for.

    `order`: EARLIEST or LATEST where the question asks for the first or the last time, else 0.
    """
    if order and scores:
        scores = _lead_by_time(messages, scores, order)

    def rank(place: Place) -> tuple[float, datetime, int, str]:
        episode_id, seq = place
        return scores[place], messages[place].said_at, seq, episode_id or ""

    return [messages[place] for place in sorted(messages, key=rank, reverse=True)]


def _lead_by_time(
    messages: Mapping[Place, MessageRow], scores: Mapping[Place, float], order: int
) -> dict[Place, float]:
    """Return scores raised by how early (or late) each of the best messages is."""
    least = max(scores.values()) - tuning.ORDERED_WITHIN
    rivals = [place for place, score in scores.items() if score >= least]
    rivals.sort(key=lambda place: order * messages[place].said_at.timestamp())
    steps = {place: step / len(rivals) for step, place in enumerate(rivals)}
    return {
        place: score + tuning.ORDER_BONUS * (1 - steps[place]) if place in steps else score
        for place, score in scores.items()
    }


def _closeness(asked: Sequence[Span], *, at: datetime, text: str) -> float:
    return closeness(asked, on=at.date(), named=days_named(text)) if asked else 0.0


def _ranks_by_place(facts: Sequence[FactHit], ranks: Mapping[str, float]) -> dict[Place, float]:
    """Return, by place of a message, the rank of the best fact drawn from it."""
    by_place: dict[Place, float] = {}
    for hit in facts:
        rank = ranks[hit.id]
        for message in hit.messages:
            by_place[message.place] = min(rank, by_place.get(message.place, rank))
    return by_place
