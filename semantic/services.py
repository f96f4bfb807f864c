"""Creates, retires and restores facts: the only place where active facts change.

Consolidation, curation, reverts and imports call these. Each call writes its step into the
changeset; the caller holds the locks of `user_facts.lock_homes`.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from episodic.models import Conversation, Episode
from indexing import services as index
from indexing.models import Memory, MemoryKind
from indexing.services import tell_mirror
from memoryproject.ai.embeddings import Vectors
from memoryproject.wings import list_wings
from semantic import queries
from semantic.copies import fact_entry, place_copies
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.states import Pair, State, read_state, to_json

Action = Change.Action
Support = Sequence[Evidence]
"""Unsaved evidence for a fact: episodes, and their messages that state it."""


def support_in(episode: Episode, seqs: Iterable[int]) -> Evidence:
    """Return the messages that belong to the episode, as support."""
    inside = {seq for seq in seqs if episode.first_seq <= seq <= episode.last_seq}
    return Evidence(episode=episode, message_seqs=sorted(inside))


@dataclass(frozen=True, slots=True)
class NewFact:
    """A fact to create: its row, and its evidence.

    `vector` is that of its embedding text; None: the model was unavailable.
    """

    row: Fact
    support: Support
    vector: Vectors | None
    source: uuid.UUID | None = None
    """Row it was imported from, see `fact_imports.find_rows`."""


@dataclass(slots=True)
class Ledger:
    """A changeset being written: each step gets the next position."""

    changeset: Changeset
    conversation: Conversation
    now: datetime
    first_position: int = 0
    changes: list[Change] = field(default_factory=list)
    drafts: dict[Fact, Vectors | None] = field(default_factory=dict)
    """Facts that were opened, with their vectors; `write` inserts them."""
    embedding_model: str = ""
    """Model that made the vectors; empty: this process's own."""
    evidence: list[Evidence] = field(default_factory=list)
    """Rows that `write` inserts."""

    def note(
        self,
        action: Action,
        memory_id: uuid.UUID | None = None,
        other_memory_id: uuid.UUID | None = None,
        *,
        note: str = "",
        states: Mapping[uuid.UUID, Pair] = {},
    ) -> None:
        """Record one step; `close` stores all of them."""
        change = Change(tenant=self.conversation.tenant, changeset=self.changeset, action=action)
        change.position = self.first_position + len(self.changes)
        change.memory_id, change.other_memory_id, change.note = memory_id, other_memory_id, note
        change.states = {str(fact_id): [*map(to_json, pair)] for fact_id, pair in states.items()}
        self.changes.append(change)

    def write(self) -> None:
        """Insert the new facts and their evidence, and index them: one statement per table."""
        drafts, tenant = self.drafts, self.conversation.tenant
        if drafts:
            Memory.objects.bulk_create(
                Memory(id=fact.id, tenant=tenant, kind=MemoryKind.FACT) for fact in drafts
            )
            Fact.objects.bulk_create(drafts)
            index_facts(drafts, self.conversation, model=self.embedding_model)
        Evidence.objects.bulk_create(self.evidence, ignore_conflicts=True)
        elsewhere = {row.fact_id for row in self.evidence if row.conversation_id}
        self.drafts, self.evidence = {}, []
        if elsewhere:
            place_copies(tenant, elsewhere, model=self.embedding_model)

    def close(self) -> None:
        """Store everything, and notify the mirror and the wings."""
        self.write()
        Change.objects.bulk_create(self.changes)
        tenant, home = self.conversation.tenant, self.conversation.id
        changed = {change.memory_id for change in self.changes if change.memory_id}
        changed |= {uuid.UUID(fact_id) for change in self.changes for fact_id in change.states}
        tell_mirror(tenant=tenant, conversation_id=home, memory_ids=changed)
        for wing in list_wings():
            wing.on_changeset(self.changeset, self.conversation, self.changes)


def start_changeset(conversation: Conversation, *, now: datetime, **columns: Any) -> Ledger:
    """Create a changeset of a locked conversation, to write steps into."""
    columns |= {"tenant": conversation.tenant, "conversation": conversation, "started_at": now}
    changeset: Changeset = Changeset.objects.create(**columns)  # type: ignore[misc]
    return Ledger(changeset, conversation, now)


def replace_fact(
    old: Fact,
    new: NewFact,
    *,
    ledger: Ledger,
    because: Fact.Because = Fact.Because.SUPERSEDED,
    note: str = "",
) -> Fact:
    """Create an active fact that replaces another, which is retired.

    The caller has made sure that no other active fact has the same sentence.
    """
    ledger.write()
    if old.content_hash == queries.content_hash(new.row.fact):
        # A sentence is active only once, so the old row is closed before the new one is written.
        rows = Fact.objects.of(ledger.conversation.tenant).filter(id=old.id)
        rows.update(invalid_at=ledger.now, invalidated_because=because)
    fact = _draft_fact(new, ledger=ledger)
    retired = _retired_state(old, because, fact.valid_at, superseded_by=fact)
    changed = put_states({old: retired}, ledger=ledger)
    states = {fact.id: (None, read_state(fact)), **changed}
    ledger.note(Action.UPDATE, fact.id, old.id, note=note, states=states)
    return fact


def open_facts(
    new: Sequence[NewFact], *, ledger: Ledger, note: str = "", is_pending: bool = False
) -> list[Fact]:
    """Create active facts in one conversation; the ledger inserts them, all at once.

    With `is_pending` they go to the review queue and are not served until a curator approves. The
    caller has made sure that the sentences are distinct, and none is active or pending already.
    """
    facts = [_draft_fact(item, ledger=ledger) for item in new]
    if is_pending:
        pending = {fact: State(Fact.Because.WAITING, fact.valid_at) for fact in facts}
        put_states(pending, ledger=ledger)
    for fact, item in zip(facts, new, strict=True):
        opened = {fact.id: (None, read_state(fact))}
        ledger.note(Action.NEW, fact.id, item.source, note=note, states=opened)
    return facts


def _draft_fact(new: NewFact, *, ledger: Ledger) -> Fact:
    """Return a fact that the ledger will insert with its evidence; no step is recorded."""
    fact, home = new.row, ledger.conversation
    fact.tenant, fact.conversation = home.tenant, home
    fact.content_hash = queries.content_hash(fact.fact)
    fact.changeset, fact.created_at = ledger.changeset, ledger.now
    ledger.drafts[fact] = new.vector
    _add_evidence(fact, new.support, ledger=ledger)
    return fact


def index_facts(
    facts: Mapping[Fact, Vectors | None], conversation: Conversation, *, model: str = ""
) -> None:
    """Index new facts of a conversation; a job makes vectors that are None.

    `model` made the others; empty: this process's own model.
    """
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        entries=[
            fact_entry(fact, language=conversation.language, vector=vector)
            for fact, vector in facts.items()
        ],
        model=model,
        user_id=conversation.user_id,
    )


def invalidate_fact(
    fact: Fact,
    *,
    ledger: Ledger,
    valid_until: datetime,
    because: Fact.Because = Fact.Because.SUPERSEDED,
    superseded_by: Fact | None = None,
    note: str = "",
) -> None:
    """Retire a fact: it was true until now, or never."""
    state = _retired_state(fact, because, valid_until, superseded_by)
    put_state(fact, state, ledger=ledger, other_memory_id=state.superseded_by, note=note)


def _retired_state(
    fact: Fact, because: Fact.Because, valid_until: datetime, superseded_by: Fact | None
) -> State:
    # What was never true, or is to be forgotten, has an empty span: no moment finds it. A fact
    # learnt late never ends before it began.
    never = because in {Fact.Because.WRONG, Fact.Because.FORGOTTEN}
    ended = min(valid_until, fact.valid_until or valid_until)
    return State(
        because=because,
        valid_until=fact.valid_at if never else max(ended, fact.valid_at),
        superseded_by=superseded_by.id if superseded_by else None,
    )


def put_state(fact: Fact, state: State, *, ledger: Ledger, **columns: Any) -> None:
    """Retire or restore a fact, in its row and in the index, and record the step."""
    changed = put_states({fact: state}, ledger=ledger)
    action = Action.RESTORE if state.is_active else Action.INVALIDATE
    ledger.note(action, memory_id=fact.id, states=changed, **columns)


def put_states(changes: Mapping[Fact, State], *, ledger: Ledger) -> dict[uuid.UUID, Pair]:
    """Retire or restore facts, each at most once; return the states before and after, by fact.

    The number of statements grows only by the thousand facts.
    """
    ledger.write()
    pairs: dict[uuid.UUID, Pair] = {}
    for fact, state in changes.items():
        pairs[fact.id] = (read_state(fact), state)
        fact.invalid_at = None if state.is_active else ledger.now
        fact.valid_until = state.valid_until
        fact.invalidated_because = state.because
        fact.superseded_by_id = state.superseded_by
        fact.version += 1
    tenant = ledger.changeset.tenant
    columns = "invalid_at valid_until invalidated_because superseded_by version".split()
    Fact.objects.of(tenant).bulk_update(changes, columns, batch_size=500)
    marks = [(fact.id, fact.valid_until, fact.invalid_at) for fact in changes]
    index.mark_memories(tenant=tenant, marks=marks)
    return pairs


def reinforce_fact(
    fact: Fact, support: Support, ledger: Ledger, action: Action = Action.REINFORCE, note: str = ""
) -> None:
    """Add evidence to an active fact; its text stays as it is."""
    _add_evidence(fact, support, ledger=ledger)
    ledger.note(action, memory_id=fact.id, note=note)


def _add_evidence(fact: Fact, support: Support, *, ledger: Ledger) -> None:
    """Record which episodes support a fact; an existing row stays as it was."""
    for row in support:
        row.tenant, row.fact = ledger.conversation.tenant, fact
        row.changeset, home = ledger.changeset, row.episode.conversation_id
        row.conversation_id = None if home == fact.conversation_id else home
        ledger.evidence.append(row)
