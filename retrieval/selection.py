"""Chooses which of the results an answer serves: all, or what fits into a budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from episodic.models import Conversation, Message
from indexing.models import MemoryKind
from memoryproject.tenancy.models import Tenant
from memoryproject.text.parts import join
from memoryproject.text.tokens import count_tokens
from retrieval import markdown, packing
from retrieval.corrections import find_corrections, set_corrected, set_corrections
from retrieval.hits import (
    EpisodeHit,
    FactHit,
    Hit,
    MessageRow,
    episodes_shown,
    facts_shown,
    load_candidates,
)
from retrieval.markdown import Block
from retrieval.recent import find_recent
from retrieval.request import RecallRequest
from retrieval.scope import Scope
from retrieval.search.in_conversation import put_newer_first


@dataclass(frozen=True, slots=True)
class Chosen:
    """The memories that an answer serves, each kind best first, and its text."""

    facts: list[FactHit]
    episodes: list[EpisodeHit]
    blocks: tuple[Block, ...] = ()
    """The parts of the text: facts, then episodes or days, then `recent`."""
    recent: Block | None = None
    """Unprocessed messages, oldest first, if the call includes them."""
    beyond: tuple[str, ...] = ()
    """Episodes left out because their messages exceed the size of an answer."""

    @property
    def hits(self) -> list[FactHit | EpisodeHit]:
        """Everything served, facts first, each kind best first."""
        return [*self.facts, *self.episodes]

    @property
    def cut(self) -> tuple[str, ...]:
        """Ids of messages shown in part, and of episodes left out for their size."""
        return (*self.beyond, *(message_id for block in self.blocks for message_id in block.cut))

    def list_corrections(self, links: str) -> dict[str, str]:
        """Return the corrections of served texts, by the id of what is served."""
        rows = list_rows(self.hits)
        rows += self.recent.messages if self.recent else ()
        return {str(row.id): join(row.correction.render(links)) for row in rows if row.correction}


def list_rows(
    hits: Sequence[FactHit | EpisodeHit],
) -> list[FactHit | EpisodeHit | MessageRow | Message]:
    """Return memories and then their messages, in order: everything that may carry a mark."""
    return [*hits, *(row for hit in hits for row in hit.messages)]


def choose(
    scope: Scope,
    request: RecallRequest,
    hits: Sequence[Hit],
    now: datetime,
    *,
    conversation: Conversation | None,
    is_left_out: bool = False,
) -> Chosen:
    """Return what an answer serves of the hits, best first; if `is_left_out`, none of them.

    `conversation` is the current one, if it exists.
    """
    recent = None
    if request.names_recent or (request.takes_recent and not is_left_out):
        recent = find_recent(scope, request, conversation)
    chosen = Chosen([], [])
    if not is_left_out:
        facts = [hit for hit in hits if hit.shelf is MemoryKind.FACT]
        if scope.has_corrections and request.known_at is None:
            facts = _put_corrections_first(scope.tenant, facts, as_of=request.as_of)
        episodes = [hit for hit in hits if hit.shelf is MemoryKind.EPISODE]
        if request.max_tokens is None:
            chosen = _choose_all(scope, request, facts, episodes, now)
        else:
            taken = count_tokens(recent.text) + 1 if recent else 0
            room = request.max_tokens - taken
            chosen = _choose_packed(scope, request, facts, episodes, room, now)
    if recent is None:
        return chosen
    return replace(chosen, blocks=(*chosen.blocks, recent), recent=recent)


def _choose_packed(
    scope: Scope,
    request: RecallRequest,
    facts: Sequence[Hit],
    episodes: Sequence[Hit],
    max_tokens: int,
    now: datetime,
) -> Chosen:
    """Return what fits into the budget."""
    quoted = [hit for hit in episodes if hit.lines]
    candidates = load_candidates(
        scope,
        facts,
        quoted,
        places=[(hit.memory_id, seq) for hit in quoted for seq, _ in hit.lines],
        with_pinned=request.wants_pinned,
        with_retired=request.is_present,
    )
    _set_marks(
        scope,
        request,
        [*candidates.facts, *candidates.pinned],
        candidates.episodes,
        candidates.messages.values(),
    )
    told, layout = packing.pack(candidates, quoted, request=request, max_tokens=max_tokens, now=now)
    said = layout.messages()
    return Chosen(
        facts=told,
        episodes=[
            replace(hit, messages=tuple(said[hit.id]))
            for hit in candidates.episodes
            if hit.id in said
        ],
        blocks=tuple(layout.blocks()),
    )


def _choose_all(
    scope: Scope,
    request: RecallRequest,
    fact_hits: Sequence[Hit],
    episode_hits: Sequence[Hit],
    now: datetime,
) -> Chosen:
    """Return everything found: no budget limits the answer."""
    shown, detailed = episodes_shown(episode_hits), episode_hits
    with_pinned = request.wants_pinned
    if request.is_plain:
        detailed = [
            row.found for row in shown if markdown.shows_details(row, detail=request.detail)
        ]
    beyond: tuple[str, ...] = ()
    if request.is_plain and not detailed and not with_pinned:
        facts, episodes = facts_shown(fact_hits), shown
    else:
        loaded = load_candidates(scope, fact_hits, detailed, with_pinned=with_pinned, whole=True)
        facts, beyond = [*loaded.facts, *loaded.pinned], loaded.beyond
        with_messages = {row.found.memory_id: row for row in loaded.episodes}
        episodes = [with_messages.get(row.found.memory_id, row) for row in shown or loaded.episodes]
    _set_marks(scope, request, facts, episodes)
    blocks = markdown.render(facts, episodes, request, now=now)
    return Chosen(facts=facts, episodes=episodes, blocks=tuple(blocks), beyond=beyond)


def _put_corrections_first(
    tenant: Tenant, hits: Sequence[Hit], *, as_of: datetime | None
) -> list[Hit]:
    """Return facts in order, but one that contradicts a correction after it."""
    ids = [hit.memory_id for hit in hits]
    corrections = find_corrections(tenant, ids, as_of)
    heirs = {fact_id: found.heir_id for fact_id, found in corrections.items() if found.heir_id}
    return put_newer_first(
        [
            replace(hit, newer=(*hit.newer, heirs[hit.memory_id]))
            if heirs.get(hit.memory_id) in ids
            else hit
            for hit in hits
        ]
    )


def _set_marks(
    scope: Scope,
    request: RecallRequest,
    facts: Sequence[FactHit],
    episodes: Sequence[EpisodeHit],
    messages: Iterable[MessageRow] = (),
) -> None:
    """Set the corrections on what is served, if something was corrected.

    None for a past moment: the correction may have come later.
    """
    if request.known_at is None and scope.has_corrections:
        rows = [*messages, *list_rows([*facts, *episodes])]
        set_corrections(scope.tenant, rows, as_of=request.as_of)
        set_corrected(scope.tenant, facts, homes=scope.homes)
