"""From found memories to the messages and facts that fill a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode
from memoryproject.tenancy.models import Tenant
from retrieval import lines
from retrieval.hits import EpisodeHit, FactHit
from retrieval.packing import Line, Packed, pack
from retrieval.question import speakers_named
from retrieval.search import Found, Question

POINTING_FACTS = 40
"""Facts that point at the messages they were drawn from, served or not."""
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
    semantic_limit: int,
    max_tokens: int,
    wants_facts: bool,
    explain: bool,
) -> Packed:
    """Choose what to serve. Facts below `semantic_limit` only point at their messages."""
    return pack(
        facts[:semantic_limit],
        rank_lines(facts, episodes, tenant=tenant, conversation=conversation, query=query),
        max_tokens=max_tokens,
        wants_facts=wants_facts,
        explain=explain,
    )


def rank_lines(
    facts: Sequence[FactHit],
    episodes: Sequence[Found],
    *,
    tenant: Tenant,
    conversation: Conversation,
    query: str,
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
        )
        for seq, (hit, score) in scored.items()
        if seq in messages
    ]
    ordered = lines.rank(
        candidates,
        named=speakers_named(query, speakers.values()),
        fact_ranks=_fact_ranks(facts),
    )
    return [Line(scored[seq][0].memory_id, messages[seq]) for seq in ordered]


def _fact_ranks(facts: Sequence[FactHit]) -> dict[int, int]:
    """Return, by seq of a message, the rank of the best fact drawn from it."""
    ranks: dict[int, int] = {}
    for hit in facts:
        for message in hit.messages:
            ranks[message.seq] = min(hit.found.rank, ranks.get(message.seq, hit.found.rank))
    return ranks


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
