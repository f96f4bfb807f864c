"""From found memories to the messages and facts that fill a budget of tokens."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message
from memoryproject.tenancy.models import Tenant
from retrieval import lines, times
from retrieval.hits import EpisodeHit, FactHit
from retrieval.packing import Line, Packed, pack
from retrieval.question import speakers_named
from retrieval.search import Found, Question
from retrieval.times import Span
from retrieval.trimming import Trimmer

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
    facts: Sequence[FactHit],
    episodes: Sequence[Found],
    *,
    tenant: Tenant,
    conversation: Conversation,
    query: str,
    at: datetime,
    semantic_limit: int,
    max_tokens: int,
    wants_facts: bool,
    explain: bool,
) -> Packed:
    """Choose what to serve to a question asked at `at`.

    Facts below `semantic_limit` only point at their messages.
    """
    asked = times.days_asked(query, at=at)
    ranks = rank_facts(facts, asked)
    facts = sorted(facts, key=lambda hit: ranks[hit.found.memory_id])
    found = rank_lines(
        _ranks_by_seq(facts, ranks),
        episodes,
        tenant=tenant,
        conversation=conversation,
        query=query,
        asked=asked,
    )
    trimmer = Trimmer(
        question=query,
        messages=[line.message.content for line in found],
        speakers={line.message.name for line in found},
    )
    return pack(
        facts[:semantic_limit],
        found,
        max_tokens=max_tokens,
        wants_facts=wants_facts,
        trimmer=trimmer,
        explain=explain,
    )


def rank_facts(facts: Sequence[FactHit], asked: Sequence[Span]) -> dict[uuid.UUID, float]:
    """Return the rank of each fact, less for those of the days asked for; 1 is best."""
    ranks: dict[uuid.UUID, float] = {}
    for hit in facts:
        closeness = 0.0
        if asked:
            named = times.days_named(hit.fact.fact)
            closeness = times.closeness(asked, on=hit.fact.valid_at.date(), named=named)
        ranks[hit.found.memory_id] = hit.found.rank / (1 + (TIMELY_RANK - 1) * closeness)
    return ranks


def rank_lines(
    fact_ranks: Mapping[int, float],
    episodes: Sequence[Found],
    *,
    tenant: Tenant,
    conversation: Conversation,
    query: str,
    asked: Sequence[Span],
) -> list[Line]:
    """Load the messages that were found, in one query, and return them best first."""
    scored = {line.seq: (hit, line.score) for hit in episodes for line in hit.lines}
    messages = episodic_queries.messages_at(tenant=tenant, conversation=conversation, seqs=scored)
    speakers = {seq: row.name or row.role for seq, row in messages.items()}
    candidates = [
        lines.Candidate(
            seq=seq,
            speaker=speakers[seq],
            score=score,
            retrievability=hit.retrievability,
            closeness=_closeness(messages[seq], asked),
        )
        for seq, (hit, score) in scored.items()
        if seq in messages
    ]
    ordered = lines.rank(
        candidates,
        named=speakers_named(query, speakers.values()),
        fact_ranks=fact_ranks,
    )
    return [Line(scored[seq][0].memory_id, messages[seq]) for seq in ordered]


def _closeness(message: Message, asked: Sequence[Span]) -> float:
    if not asked:
        return 0.0
    named = times.days_named(message.content[:READ_FOR_DATES])
    return times.closeness(asked, on=message.occurred_at.date(), named=named)


def _ranks_by_seq(facts: Sequence[FactHit], ranks: Mapping[uuid.UUID, float]) -> dict[int, float]:
    """Return, by seq of a message, the rank of the best fact drawn from it."""
    by_seq: dict[int, float] = {}
    for hit in facts:
        rank = ranks[hit.found.memory_id]
        for message in hit.messages:
            by_seq[message.seq] = min(rank, by_seq.get(message.seq, rank))
    return by_seq


def load_served(tenant: Tenant, found: Sequence[Found], packed: Packed) -> list[EpisodeHit]:
    """Return the episodes that messages were chosen from, best first, with those only."""
    chosen = packed.messages()
    episodes = Episode.objects.of(tenant).in_bulk(list(chosen))
    return [
        EpisodeHit(
            found=hit,
            episode=episodes[hit.memory_id],
            messages=tuple(chosen[hit.memory_id]),
        )
        for hit in found
        if hit.memory_id in episodes
    ]
