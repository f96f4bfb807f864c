"""Opening and closing facts: the one place where what is held changes.

Consolidation calls these, and so will curation and imports. Each call writes its step
into the changeset; the caller holds the conversation's lock.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from episodic.models import Conversation, Episode
from indexing import services as index
from indexing.models import MemoryKind, UnitKind
from indexing.services import Entry
from semantic import queries
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
    """A fact to open, with the vector of its embedding text."""

    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime
    support: tuple[Support, ...]
    vector: Vectors


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
            )
        )
        self.position += 1

    def close(self) -> None:
        """Store the steps, in one statement."""
        Change.objects.bulk_create(self.changes)


def open_fact(
    new: NewFact, *, ledger: Ledger, replaces: Fact | None = None, note: str = ""
) -> Fact:
    """Start holding a fact, and stop holding the one it `replaces`.

    The caller has made sure that the same sentence is not held already.
    """
    conversation = ledger.conversation
    (memory,) = index.register(tenant=conversation.tenant, kind=MemoryKind.FACT, count=1)
    fact = Fact.objects.create(
        id=memory.id,
        tenant=conversation.tenant,
        conversation=conversation,
        category=new.category,
        fact=new.fact,
        keywords=list(new.keywords),
        content_hash=queries.content_hash(new.fact),
        changeset=ledger.changeset,
        valid_at=new.valid_at,
        created_at=ledger.now,
    )
    add_evidence(fact, new.support, ledger=ledger)
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        language=conversation.language,
        model=ledger.embedding_model,
        entries=[
            Entry(
                memory=memory,
                kind=UnitKind.FACT,
                lexical=f"{new.fact} {' '.join(new.keywords)}",
                vector=new.vector,
                valid_at=new.valid_at,
                category=new.category,
            )
        ],
    )
    if replaces is None:
        ledger.note(Change.Action.NEW, memory_id=fact.id, note=note)
    else:
        _close(replaces, ledger=ledger, valid_until=new.valid_at, superseded_by=fact)
        ledger.note(Change.Action.UPDATE, memory_id=fact.id, other_memory_id=replaces.id, note=note)
    return fact


def invalidate_fact(fact: Fact, *, ledger: Ledger, valid_until: datetime) -> None:
    """Stop holding a fact that the world has outrun, with nothing in its place."""
    _close(fact, ledger=ledger, valid_until=valid_until, superseded_by=None)
    ledger.note(Change.Action.INVALIDATE, memory_id=fact.id)


def _close(
    fact: Fact, *, ledger: Ledger, valid_until: datetime, superseded_by: Fact | None
) -> None:
    fact.invalid_at = ledger.now
    # A fact learnt late about an earlier time never ends before it began.
    fact.valid_until = max(valid_until, fact.valid_at)
    fact.invalidated_because = Fact.Because.SUPERSEDED
    fact.superseded_by = superseded_by
    fact.version += 1
    fact.save(
        update_fields=[
            "invalid_at",
            "valid_until",
            "invalidated_because",
            "superseded_by",
            "version",
        ]
    )
    index.close_memory(
        tenant=ledger.conversation.tenant,
        memory_id=fact.id,
        valid_until=fact.valid_until,
        invalid_at=ledger.now,
    )


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
