"""The flow that distils episodes into facts: predict, calibrate, write.

Predict: load the facts already held that lie near the new episodes. Calibrate: show
both to an engine, facts under aliases, and get proposals. Write: under the
conversation's lock, apply each proposal and mark the episodes, in one transaction.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from episodic import queries as episodic_queries
from episodic import services as episodic
from episodic.headlines import headline_vectors
from episodic.models import Conversation, Episode, Role
from episodic.segmentation import CONSOLIDATION_THRESHOLD
from indexing import queries as index
from indexing.models import MemoryKind
from jobs.claims import Claim, SnapshotMoved, commit
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings
from semantic import queries
from semantic.engines import (
    Action,
    Category,
    Consolidation,
    Consolidator,
    EpisodeText,
    KnownFact,
    Proposal,
    fact_embedding_text,
)
from semantic.merge import MERGE_COSINE, is_same_fact
from semantic.models import Change, Changeset, Fact
from semantic.services import (
    Ledger,
    NewFact,
    Support,
    Vectors,
    invalidate_fact,
    open_fact,
    reinforce_fact,
)

EPISODES_A_RUN = 10
RELATED_FACTS_LIMIT = 20
DUPLICATE_CANDIDATE_LIMIT = 5
FACT_CHARACTERS_AT_MOST = 1_000
"""A fact is one sentence; what is longer is no fact, and would crowd answers out."""
ACTOR = "worker"


def cap_closings(shown: int) -> int:
    """Return how many held facts one run may close: no answer of a model empties a memory."""
    return max(3, shown // 5)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a run has read: the episodes with their lines, and the facts it will show."""

    conversation: Conversation
    episodes: tuple[Episode, ...]
    texts: tuple[EpisodeText, ...]
    known: tuple[KnownFact, ...]
    facts_by_alias: dict[str, Fact]


def consolidate_batch(
    *, claim: Claim, consolidator: Consolidator, force: bool, finish: bool = True
) -> int:
    """Draw facts from up to `EPISODES_A_RUN` fresh episodes; return how many there were.

    Without `force` nothing happens below the threshold.

    Raises:
        LeaseLost, SnapshotMoved: nothing was written.
        ModelUnavailable: an embedding or language model is away.
    """
    conversation = episodic_queries.get_conversation(
        tenant=claim.tenant, conversation_id=claim.scope
    )
    episodes = episodic_queries.fresh_episodes(conversation=conversation, at_most=EPISODES_A_RUN)
    if not episodes or (len(episodes) < CONSOLIDATION_THRESHOLD and not force):
        with commit(claim, finish=finish):
            _request_next(conversation)
        return 0
    snapshot = read_snapshot(conversation, episodes)
    answer = consolidator.consolidate(episodes=snapshot.texts, known=snapshot.known)
    vectors = embeddings.embed_passages([_embedding_text(item) for item in answer.proposals])
    with commit(claim, finish=finish):
        _write(snapshot, answer, vectors, job_id=claim.job_id)
        _request_next(conversation)
    return len(episodes)


def _embedding_text(proposal: Proposal) -> str:
    return fact_embedding_text(
        category=proposal.category,
        fact=proposal.fact[:FACT_CHARACTERS_AT_MOST],
        keywords=proposal.keywords,
    )


def read_snapshot(conversation: Conversation, episodes: Sequence[Episode]) -> Snapshot:
    """Load the episodes' lines and the related facts, under fresh aliases."""
    messages = episodic_queries.messages_of_episodes(
        tenant=conversation.tenant, episode_ids=[episode.id for episode in episodes]
    )
    texts = tuple(
        EpisodeText(
            title=episode.title,
            summary=episode.summary,
            lines=tuple(episodic_queries.to_lines(messages[episode.id])),
        )
        for episode in episodes
    )
    known, facts_by_alias = _load_related(conversation, episodes)
    return Snapshot(conversation, tuple(episodes), texts, known, facts_by_alias)


def _load_related(
    conversation: Conversation, episodes: Sequence[Episode]
) -> tuple[tuple[KnownFact, ...], dict[str, Fact]]:
    """Return the facts nearest to any of the episodes, nearest first, as F1, F2, …"""
    nearest: dict[uuid.UUID, index.Neighbour] = {}
    vectors = headline_vectors(tenant=conversation.tenant, episodes=episodes)
    for vector in vectors.values():
        for near in _facts_near(conversation, vector, at_most=RELATED_FACTS_LIMIT):
            best = nearest.get(near.memory_id)
            if best is None or near.cosine > best.cosine:
                nearest[near.memory_id] = near
    chosen = sorted(nearest.values(), key=lambda near: (-near.cosine, near.memory_id))
    chosen = chosen[:RELATED_FACTS_LIMIT]
    facts = queries.active_facts(
        tenant=conversation.tenant, fact_ids=[near.memory_id for near in chosen]
    )
    known: list[KnownFact] = []
    facts_by_alias: dict[str, Fact] = {}
    for near in chosen:
        fact = facts.get(near.memory_id)
        if fact is None:
            continue
        alias = f"F{len(known) + 1}"
        facts_by_alias[alias] = fact
        known.append(
            KnownFact(
                alias=alias,
                category=fact.category,
                fact=fact.fact,
                keywords=tuple(fact.keywords),
                valid_at=fact.valid_at,
                vector=near.vector,
            )
        )
    return tuple(known), facts_by_alias


def _facts_near(
    conversation: Conversation, vector: Vectors, *, at_most: int
) -> list[index.Neighbour]:
    return index.nearest_active(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        shelf=MemoryKind.FACT,
        model=embeddings.get_embedder().name,
        vector=vector,
        at_most=at_most,
    )


def _write(
    snapshot: Snapshot, answer: Consolidation, vectors: Vectors, *, job_id: uuid.UUID
) -> None:
    read = snapshot.conversation
    locked = episodic_queries.lock_conversation(tenant=read.tenant, conversation_id=read.id)
    now = episodic_queries.database_now()
    marked = episodic.mark_consolidated(
        tenant=locked.tenant, episode_ids=[episode.id for episode in snapshot.episodes], now=now
    )
    shown = snapshot.facts_by_alias
    still = queries.active_facts(
        tenant=locked.tenant, fact_ids=[fact.id for fact in shown.values()], lock=True
    )
    moved = any(
        fact.id not in still or still[fact.id].version != fact.version for fact in shown.values()
    )
    if locked.version != read.version or marked != len(snapshot.episodes) or moved:
        raise SnapshotMoved(str(locked.id))
    changeset = Changeset.objects.create(
        tenant=locked.tenant,
        conversation=locked,
        job_id=job_id,
        kind=Changeset.Kind.CONSOLIDATION,
        actor=ACTOR,
        engine=answer.engine,
        model=answer.model,
        prompt_version=answer.prompt_version,
        degraded=answer.degraded,
        unknown_aliases=_count_unknown(answer.proposals, shown),
        started_at=now,
    )
    ledger = Ledger(
        changeset=changeset,
        conversation=locked,
        embedding_model=embeddings.get_embedder().name,
        now=now,
    )
    Writer(snapshot, answer.proposals, vectors, ledger).apply_all()
    ledger.close()


def _count_unknown(proposals: Sequence[Proposal], shown: dict[str, Fact]) -> int:
    return sum(
        1
        for proposal in proposals
        if proposal.action is not Action.NEW
        and proposal.alias not in shown
        and _own_index(proposal.alias) is None
    )


def _own_index(alias: str | None) -> int | None:
    """Return i of an alias "P<i>": an earlier proposal of the same answer."""
    is_own = alias is not None and alias.startswith("P") and alias[1:].isdecimal()
    return int(alias[1:]) if is_own and alias is not None else None


class Writer:
    """Applies the proposals of one run, in order, inside its transaction."""

    def __init__(
        self,
        snapshot: Snapshot,
        proposals: Sequence[Proposal],
        vectors: Vectors,
        ledger: Ledger,
    ) -> None:
        self._snapshot = snapshot
        self._proposals = proposals
        self._vectors = vectors
        self._ledger = ledger
        self._result: dict[int, Fact] = {}
        self._closed: set[uuid.UUID] = set()
        self._closings_left = cap_closings(len(snapshot.facts_by_alias))

    def apply_all(self) -> None:
        """Write every proposal; none is dropped without a trace in the changeset."""
        for position, proposal in enumerate(self._proposals):
            named = self._find_named(proposal, before=position)
            fact = self._apply(proposal, named, self._vectors[position])
            if fact is not None:
                self._result[position] = fact

    def _find_named(self, proposal: Proposal, *, before: int) -> Fact | None:
        """Return the fact that a proposal's alias stands for, be it closed by now."""
        own = _own_index(proposal.alias)
        if own is not None:
            return self._result.get(own) if own < before else None
        return self._snapshot.facts_by_alias.get(proposal.alias or "")

    def _apply(self, proposal: Proposal, named: Fact | None, vector: Vectors) -> Fact | None:
        target = None if named is None or named.id in self._closed else named
        astray = "unknown_alias" if named is None else "closed"
        objection = self._find_objection(proposal, target, astray=astray)
        if objection:
            left = named.id if named else None
            self._ledger.note(Change.Action.SKIP, memory_id=left, note=objection)
            return None
        new = self._make_new(proposal, vector)
        if proposal.action is Action.NEW:
            return self._open_or_merge(new)
        if target is None:
            return self._open_or_merge(new, note=astray)
        if proposal.action is Action.REINFORCE:
            reinforce_fact(target, new.support, ledger=self._ledger)
            return target
        if not self._may_close(proposal):
            return self._refuse_closing(proposal, new, target)
        if proposal.action is Action.UPDATE:
            return self._replace(new, target)
        self._closed.add(target.id)
        invalidate_fact(target, ledger=self._ledger, valid_until=new.valid_at)
        return None

    def _find_objection(self, proposal: Proposal, target: Fact | None, *, astray: str) -> str:
        """Return the code under which a proposal is left undone; empty where it may be done.

        One that names no fact we know opens its own, unless it says that this fact is
        over: to open that would hold what nobody claims. Neither does one bring back
        what an earlier one of the same run has closed.
        """
        action, fact = proposal.action, proposal.fact
        if target is None and action is not Action.NEW:
            brings_back = action is Action.REINFORCE and astray == "closed"
            if action is Action.INVALIDATE or brings_back or not fact:
                return astray
        opens = target is None or action is Action.UPDATE
        if opens and not fact:
            return "empty"
        if opens and len(fact) > FACT_CHARACTERS_AT_MOST:
            return "too_long"
        steers = opens and proposal.category is Category.GUIDELINE
        if target is not None and action is not Action.REINFORCE:
            steers = steers or target.category == Category.GUIDELINE
        return "guideline_source" if steers and not self._is_said_by_user(proposal) else ""

    def _is_said_by_user(self, proposal: Proposal) -> bool:
        """Return whether a user's message is among those named as saying it.

        A guideline steers the agent: what a tool, a web page or the assistant itself
        said neither sets one nor ends one.
        """
        texts = self._snapshot.texts
        if proposal.episode is None or not 0 <= proposal.episode < len(texts):
            return False
        lines = texts[proposal.episode].lines
        return any(line.role == Role.USER and line.seq in proposal.seqs for line in lines)

    def _may_close(self, proposal: Proposal) -> bool:
        """Closing what this run opened itself is free; closing what was held is capped."""
        if _own_index(proposal.alias) is not None:
            return True
        self._closings_left -= 1
        return self._closings_left >= 0

    def _refuse_closing(self, proposal: Proposal, new: NewFact, target: Fact) -> Fact | None:
        """Above the cap an update still adds what it says; the rest waits for a curator."""
        if proposal.action is Action.UPDATE:
            return self._open_or_merge(new, note="cap")
        self._ledger.note(Change.Action.SKIP, memory_id=target.id, note="cap")
        return None

    def _replace(self, new: NewFact, target: Fact) -> Fact:
        held = queries.find_active(conversation=self._ledger.conversation, fact=new.fact)
        if held is not None and held.id == target.id:
            reinforce_fact(target, new.support, ledger=self._ledger, note="same_text")
            return target
        self._closed.add(target.id)
        if held is None:
            return open_fact(new, ledger=self._ledger, replaces=target)
        reinforce_fact(held, new.support, ledger=self._ledger)
        invalidate_fact(target, ledger=self._ledger, valid_until=new.valid_at)
        return held

    def _open_or_merge(self, new: NewFact, *, note: str = "") -> Fact:
        same = self._find_same(new)
        if same is None:
            return open_fact(new, ledger=self._ledger, note=note)
        reinforce_fact(
            same, new.support, ledger=self._ledger, action=Change.Action.MERGE, note=note
        )
        return same

    def _find_same(self, new: NewFact) -> Fact | None:
        """Return the active fact that says the same: to the letter, or near and agreeing."""
        conversation = self._ledger.conversation
        held = queries.find_active(conversation=conversation, fact=new.fact)
        if held is not None:
            return held
        near = [
            neighbour
            for neighbour in _facts_near(
                conversation, new.vector, at_most=DUPLICATE_CANDIDATE_LIMIT
            )
            if neighbour.cosine >= MERGE_COSINE
        ]
        facts = queries.active_facts(
            tenant=conversation.tenant, fact_ids=[neighbour.memory_id for neighbour in near]
        )
        for neighbour in near:
            fact = facts.get(neighbour.memory_id)
            if fact is not None and is_same_fact(
                fact.fact,
                new.fact,
                category_a=fact.category,
                category_b=new.category,
                cosine=neighbour.cosine,
            ):
                return fact
        return None

    def _make_new(self, proposal: Proposal, vector: Vectors) -> NewFact:
        support = self._support_of(proposal)
        return NewFact(
            category=proposal.category,
            fact=proposal.fact,
            keywords=proposal.keywords,
            valid_at=proposal.valid_at or max(item.episode.end_at for item in support),
            support=support,
            vector=vector,
        )

    def _support_of(self, proposal: Proposal) -> tuple[Support, ...]:
        """Return the episodes behind a proposal; seqs outside their episode are left out."""
        episodes = self._snapshot.episodes
        if proposal.episode is None or not 0 <= proposal.episode < len(episodes):
            return tuple(Support(episode) for episode in episodes)
        episode = episodes[proposal.episode]
        inside = [seq for seq in proposal.seqs if episode.first_seq <= seq <= episode.last_seq]
        return (Support(episode, tuple(sorted(set(inside)))),)


def _request_next(conversation: Conversation) -> None:
    """Queue another run if enough fresh episodes remain."""
    fresh = episodic_queries.fresh_episodes(conversation=conversation)
    if len(fresh) >= CONSOLIDATION_THRESHOLD:
        enqueue(tenant=conversation.tenant, kind=Kind.CONSOLIDATE, scope=conversation.id)
