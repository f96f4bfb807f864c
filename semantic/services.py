"""Opening and closing facts: the one place where what is held changes.

Consolidation, curation, reverts and imports call these. Each call writes its step into
the changeset; the caller holds the conversation's lock.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from episodic.models import Conversation, Episode
from indexing import services as index
from indexing.mirrored import tell_mirror
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry
from semantic import queries, states
from semantic.engines import Category
from semantic.models import Change, Changeset, Evidence, Fact

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Support:
    """An episode and those of its messages that say something; no seqs: all of it."""

    episode: Episode
    seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to open, with the vector of its embedding text; None: the model was away."""

    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime
    support: tuple[Support, ...]
    vector: Vectors | None


@dataclass(slots=True)
class Ledger:
    """A changeset being written: each step gets the next position."""

    changeset: Changeset
    conversation: Conversation
    embedding_model: str
    now: datetime
    position: int = 0
    changes: list[Change] = field(default_factory=list)

    def note(
        self,
        action: Change.Action,
        *,
        memory_id: uuid.UUID | None = None,
        other_memory_id: uuid.UUID | None = None,
        note: str = "",
        states: Mapping[uuid.UUID, states.Pair] | None = None,
    ) -> None:
        """Write one step down; `close` stores them all."""
        self.changes.append(
            Change(
                tenant=self.conversation.tenant,
                changeset=self.changeset,
                position=self.position,
                action=action,
                memory_id=memory_id,
                other_memory_id=other_memory_id,
                note=note,
                states={str(fact_id): list(pair) for fact_id, pair in (states or {}).items()},
            )
        )
        self.position += 1

    def close(self) -> None:
        """Store the steps, in one statement, and have the mirror follow."""
        Change.objects.bulk_create(self.changes)
        changed = {change.memory_id for change in self.changes if change.memory_id}
        changed |= {uuid.UUID(fact_id) for change in self.changes for fact_id in change.states}
        tell_mirror(
            tenant=self.conversation.tenant,
            conversation_id=self.conversation.id,
            memory_ids=changed,
        )


def open_fact(
    new: NewFact,
    *,
    ledger: Ledger,
    replaces: Fact | None = None,
    because: Fact.Because = Fact.Because.SUPERSEDED,
    note: str = "",
) -> Fact:
    """Start holding a fact, and stop holding the one it `replaces`.

    The caller has made sure that no other fact holds the same sentence already.
    """
    conversation = ledger.conversation
    if replaces is not None and replaces.content_hash == queries.content_hash(new.fact):
        # A sentence is held once: the old row lets go of it before the new one takes it.
        old = Fact.objects.of(conversation.tenant).filter(id=replaces.id)
        old.update(invalid_at=ledger.now, invalidated_because=because)
    (fact,) = _insert_facts([new], ledger=ledger)
    opened: dict[uuid.UUID, states.Pair] = {fact.id: (states.NONE, states.ACTIVE)}
    if replaces is None:
        ledger.note(Change.Action.NEW, memory_id=fact.id, note=note, states=opened)
        return fact
    closed = close_fact(
        replaces,
        ledger=ledger,
        because=because,
        valid_until=new.valid_at,
        superseded_by=fact,
    )
    ledger.note(
        Change.Action.UPDATE,
        memory_id=fact.id,
        other_memory_id=replaces.id,
        note=note,
        states={**opened, replaces.id: closed},
    )
    return fact


def keep_waiting(new: NewFact, *, ledger: Ledger, note: str) -> Fact:
    """Store a fact that nobody is served until a curator approves it.

    The caller has made sure that its sentence is neither held nor waiting already.
    """
    (fact,) = _insert_facts([new], ledger=ledger)
    waiting = states.State(because=Fact.Because.WAITING, valid_until=new.valid_at)
    _, after = put_state(fact, waiting, ledger=ledger)
    ledger.note(
        Change.Action.NEW, memory_id=fact.id, note=note, states={fact.id: (states.NONE, after)}
    )
    return fact


def open_facts(new: Sequence[NewFact], *, ledger: Ledger) -> list[Fact]:
    """Start holding many facts of one conversation, a fixed number of statements for all.

    The caller has made sure that none of the sentences is held already, and that no two
    are the same.
    """
    facts = _insert_facts(new, ledger=ledger)
    for fact in facts:
        ledger.note(
            Change.Action.NEW, memory_id=fact.id, states={fact.id: (states.NONE, states.ACTIVE)}
        )
    return facts


def _insert_facts(new: Sequence[NewFact], *, ledger: Ledger) -> list[Fact]:
    """Insert facts with their evidence and make them findable; no step is noted."""
    conversation = ledger.conversation
    tenant = conversation.tenant
    memories = index.register(tenant=tenant, kind=MemoryKind.FACT, count=len(new))
    facts = Fact.objects.bulk_create(
        [
            Fact(
                id=memory.id,
                tenant=tenant,
                conversation=conversation,
                category=item.category,
                fact=item.fact,
                keywords=list(item.keywords),
                content_hash=queries.content_hash(item.fact),
                changeset=ledger.changeset,
                valid_at=item.valid_at,
                created_at=ledger.now,
            )
            for memory, item in zip(memories, new, strict=True)
        ]
    )
    Evidence.objects.bulk_create(
        [
            Evidence(
                tenant=tenant,
                fact=fact,
                episode=support.episode,
                message_seqs=list(support.seqs),
                changeset=ledger.changeset,
            )
            for fact, item in zip(facts, new, strict=True)
            for support in item.support
        ],
        ignore_conflicts=True,
    )
    index.add_entries(
        tenant=tenant,
        conversation_id=conversation.id,
        language=conversation.language,
        model=ledger.embedding_model,
        entries=[_make_entry(memory, item) for memory, item in zip(memories, new, strict=True)],
    )
    return facts


def _make_entry(memory: Memory, new: NewFact) -> Entry:
    return Entry(
        memory=memory,
        kind=UnitKind.FACT,
        lexical=f"{new.fact} {' '.join(new.keywords)}",
        vector=new.vector,
        valid_at=new.valid_at,
        category=new.category,
    )


def invalidate_fact(
    fact: Fact,
    *,
    ledger: Ledger,
    valid_until: datetime,
    because: Fact.Because = Fact.Because.SUPERSEDED,
    note: str = "",
) -> None:
    """Stop holding a fact, with nothing in its place: outrun by the world, or never true."""
    closed = close_fact(
        fact, ledger=ledger, because=because, valid_until=valid_until, superseded_by=None
    )
    ledger.note(Change.Action.INVALIDATE, memory_id=fact.id, note=note, states={fact.id: closed})


def close_fact(
    fact: Fact,
    *,
    ledger: Ledger,
    because: Fact.Because,
    valid_until: datetime,
    superseded_by: Fact | None,
) -> states.Pair:
    """Stop holding a fact without noting it; return its state before and after."""
    # What was never true has an empty span; a fact learnt late never ends before it began.
    never = because is Fact.Because.WRONG
    return put_state(
        fact,
        states.State(
            because=because,
            valid_until=fact.valid_at if never else max(valid_until, fact.valid_at),
            superseded_by=superseded_by.id if superseded_by else None,
        ),
        ledger=ledger,
    )


def put_state(fact: Fact, state: states.State, *, ledger: Ledger) -> states.Pair:
    """Open or close a fact, in its row and in the index; return its state before and after."""
    return put_states([(fact, state)], ledger=ledger)[0]


def put_states(
    changes: Sequence[tuple[Fact, states.State]], *, ledger: Ledger
) -> list[states.Pair]:
    """Open and close facts, each at most once; return the pairs in the same order.

    The number of statements does not grow with that of facts, but by the thousand.
    """
    pairs = []
    for fact, state in changes:
        pairs.append((states.read_state(fact).to_json(), state.to_json()))
        fact.invalid_at = None if state.is_active else ledger.now
        fact.valid_until = state.valid_until
        fact.invalidated_because = state.because
        fact.superseded_by_id = state.superseded_by
        fact.version += 1
    facts = [fact for fact, _ in changes]
    tenant = ledger.changeset.tenant
    Fact.objects.of(tenant).bulk_update(
        facts,
        ["invalid_at", "valid_until", "invalidated_because", "superseded_by", "version"],
        batch_size=500,
    )
    index.mark_memories(
        tenant=tenant,
        marks=[index.Mark(fact.id, fact.valid_until, fact.invalid_at) for fact in facts],
    )
    return pairs


def reinforce_fact(
    fact: Fact,
    support: Sequence[Support],
    *,
    ledger: Ledger,
    action: Change.Action = Change.Action.REINFORCE,
    note: str = "",
) -> None:
    """Add evidence to a fact that is held; its text stays as it is."""
    add_evidence(fact, support, ledger=ledger)
    ledger.note(action, memory_id=fact.id, note=note)


def add_evidence(fact: Fact, support: Sequence[Support], *, ledger: Ledger) -> None:
    """Record which episodes support a fact; one that did already stays as it was."""
    Evidence.objects.bulk_create(
        [
            Evidence(
                tenant=fact.tenant,
                fact=fact,
                episode=item.episode,
                message_seqs=list(item.seqs),
                changeset=ledger.changeset,
            )
            for item in support
        ],
        ignore_conflicts=True,
    )
