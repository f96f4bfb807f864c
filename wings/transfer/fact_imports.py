"""Imports facts from validated rows of a file, unless they are active already.

An import is a changeset with its actor and reason, and so can be reverted. Facts that are active
already are skipped, so importing twice has one effect. Facts declared wrong stay out.
"""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby

from django.db import transaction
from django.db.models import Q, QuerySet

from episodic import queries as episodic_queries
from episodic import services as episodic
from episodic.models import Conversation, Episode
from indexing import services as index
from indexing.detection import detect_language
from memoryproject.ai.embeddings import Vectors
from memoryproject.tenancy.models import Tenant
from semantic import queries
from semantic.curation import Act, check_reason, open_ledger
from semantic.engines import fact_embedding_text
from semantic.models import Change, Changeset, Fact
from semantic.reverts import find_revert
from semantic.services import Ledger, NewFact, open_facts, put_state, support_in
from semantic.states import State
from wings.transfer.file_rows import Row

IMPORTED = "imported"
"""Note of steps that add data of another system, without our messages as evidence."""
EMBEDDED_AT_ONCE = 200
"""Number of facts embedded at once; others get vectors by a job."""
EmbeddedRow = tuple[Row, Vectors | None]


class Fate(StrEnum):
    """What an import does with a row."""

    NEW = "new"
    HELD = "held"
    """The sentence is already active in the conversation."""
    WRONG = "wrong"
    """Somebody has declared it wrong in this conversation."""


@dataclass(frozen=True, slots=True)
class Survey:
    """What an import would do with rows now, in their order; nothing is locked.

    `episodes` are those named as evidence, by conversation id and own id; `unknown_episodes` are
    not in their conversation.
    """

    fates: tuple[Fate, ...]
    known_conversations: frozenset[uuid.UUID]
    episodes: Mapping[tuple[uuid.UUID, uuid.UUID], Episode]
    unknown_episodes: int


def survey(*, tenant: Tenant, rows: Sequence[Row]) -> Survey:
    """Return what an import would do with rows, by a fixed number of queries.

    Uses indexes: semantic_fact_held_once, semantic_fact_declared_wrong.
    """
    external_ids = {row.conversation for row in rows}
    conversations = Conversation.objects.of(tenant).filter(external_id__in=external_ids)
    homes = dict(conversations.values_list("external_id", "id"))
    keys = [(homes.get(row.conversation), queries.content_hash(row.fact)) for row in rows]
    facts = Fact.objects.of(tenant).filter(
        conversation__in=list(homes.values()), content_hash__in={key[1] for key in keys}
    )
    same = facts.values_list("conversation_id", "content_hash")
    wrong = same.filter(invalidated_because=Fact.Because.WRONG)
    known: dict[object, Fate] = dict.fromkeys(wrong, Fate.WRONG)
    known |= dict.fromkeys(same.filter(invalid_at=None), Fate.HELD)
    named = {episode_id for row in rows for episode_id in row.support}
    there = Episode.objects.of(tenant).filter(conversation__in=list(homes.values()), id__in=named)
    episodes = {(episode.conversation_id, episode.id): episode for episode in there}
    fates = tuple(known.get(key, Fate.NEW) for key in keys)
    unknown = sum(
        (home, episode_id) not in episodes
        for row, (home, _) in zip(rows, keys, strict=True)
        for episode_id in row.support
    )
    return Survey(fates, frozenset(homes), episodes, unknown)


def embed_rows(rows: Sequence[Row]) -> list[Vectors | None]:
    """Return the vector of each row; None if there are too many, or the model is unavailable."""
    texts = [fact_embedding_text(row.category, row.fact, row.keywords) for row in rows]
    return index.try_embed(texts) if len(texts) <= EMBEDDED_AT_ONCE else [None] * len(texts)


def import_rows(
    *,
    act: Act,
    rows: Sequence[Row],
    vectors: Sequence[Vectors | None],
    goes_on: uuid.UUID | None = None,
) -> dict[uuid.UUID, int]:
    """Create the facts that are not active yet, with a changeset for each conversation.

    Returns how many facts each changeset created, in the order of the conversations. Missing
    conversations are created. A later batch of a file may continue the changeset `goes_on`. A job
    makes missing vectors.

    Raises:
        Problem: the act has no reason.
    """

    def home_of(pair: EmbeddedRow) -> uuid.UUID:
        return pair[0].conversation

    # Always in this order, so that two imports do not wait for each other in a circle.
    pairs = sorted(zip(rows, vectors, strict=True), key=home_of)
    opened: dict[uuid.UUID, int] = {}
    with transaction.atomic():
        for external_id, own in groupby(pairs, key=home_of):
            opened |= _import_into(external_id, list(own), act=act, goes_on=goes_on)
    return opened


def start_import(*, act: Act, source: str) -> Changeset:
    """Create the changeset of an import from another system, for any conversations."""
    kind, reason = Changeset.Kind.IMPORT, check_reason(act.reason)
    return Changeset.objects.create(
        tenant=act.tenant, kind=kind, actor=act.actor, reason=reason, engine=source
    )


def note_imported(changeset: Changeset, *, rows: Sequence[tuple[uuid.UUID, uuid.UUID]]) -> None:
    """Record imported rows: the id of each, and that of its source record."""
    first = _count_changes(changeset)
    Change.objects.bulk_create(
        Change(
            tenant=changeset.tenant,
            changeset=changeset,
            position=first + place,
            action=Change.Action.NEW,
            memory_id=row_id,
            other_memory_id=source_id,
            note=IMPORTED,
        )
        for place, (row_id, source_id) in enumerate(rows)
    )


def find_imported(tenant: Tenant, source: str = "") -> QuerySet[Change]:
    """Return the steps of imports from one source, or from any, that added rows.

    In each, the memory is the row, which may be deleted by now, and the other is the record.
    """
    of_source = {"changeset__engine": source} if source else {}
    return Change.objects.of(tenant).filter(note=IMPORTED, **of_source)


def find_rows(
    *, tenant: Tenant, source_ids: Iterable[uuid.UUID], source: str = ""
) -> dict[uuid.UUID, uuid.UUID]:
    """Return the rows imported from records of one source, or any, by the record's id.

    Uses index: semantic_change_by_other.
    """
    changes = find_imported(tenant, source).filter(other_memory_id__in=list(source_ids))
    return dict(changes.values_list("other_memory_id", "memory_id"))  # type: ignore[arg-type]


def _count_changes(changeset: Changeset) -> int:
    return Change.objects.of(changeset.tenant).filter(changeset=changeset).count()


def _import_into(
    external_id: uuid.UUID,
    embedded_rows: Sequence[EmbeddedRow],
    *,
    act: Act,
    goes_on: uuid.UUID | None,
) -> dict[uuid.UUID, int]:
    """Return how many facts the changeset created; empty if nothing was new."""
    rows = [row for row, _ in embedded_rows]
    conversation = _lock_or_make(external_id, act=act, rows=rows)
    new_rows: dict[str, EmbeddedRow] = {}
    looked = survey(tenant=act.tenant, rows=rows)
    for embedded_row, fate in zip(embedded_rows, looked.fates, strict=True):
        if fate is Fate.NEW:
            new_rows.setdefault(queries.content_hash(embedded_row[0].fact), embedded_row)
    if not new_rows:
        return {}
    ledger = _open_or_go_on(conversation, act=act, goes_on=goes_on)
    episodes = {episode.id: episode for episode in looked.episodes.values()}
    new = [_make_fact(row, vector, episodes, ledger.now) for row, vector in new_rows.values()]
    facts = open_facts(new, ledger=ledger, note=IMPORTED if new[0].source else "")
    for fact in facts:
        if fact.valid_until is not None and fact.valid_until <= ledger.now:
            state = State(Fact.Because.SUPERSEDED, fact.valid_until)
            put_state(fact, state, ledger=ledger, note=IMPORTED)
    ledger.close()
    return {ledger.changeset.id: len(facts)}


def _lock_or_make(external_id: uuid.UUID, *, act: Act, rows: Sequence[Row]) -> Conversation:
    conversation = episodic.lock_or_make(tenant=act.tenant, external_id=external_id)
    if conversation.next_seq == 1 and not queries.active_in(conversation).exists():
        conversation.language = detect_language([row.fact for row in rows])
        conversation.save(update_fields=["language"])
    return conversation


def _open_or_go_on(conversation: Conversation, *, act: Act, goes_on: uuid.UUID | None) -> Ledger:
    """Return the ledger of the earlier batch's changeset, unless it was reverted since."""
    ours = Q(conversation=conversation) | Q(conversation=None)
    changesets = Changeset.objects.of(act.tenant).filter(ours)
    earlier = changesets.filter(id=goes_on).first() if goes_on else None
    if earlier is None or find_revert(earlier) is not None:
        return open_ledger(act, conversation, kind=Changeset.Kind.IMPORT)
    now = episodic_queries.database_now()
    return Ledger(earlier, conversation, now, first_position=_count_changes(earlier))


def _make_fact(
    row: Row, vector: Vectors | None, episodes: Mapping[uuid.UUID, Episode], now: datetime
) -> NewFact:
    support = [
        support_in(episodes[episode_id], seqs)
        for episode_id, seqs in row.support.items()
        if episode_id in episodes
    ]
    same = row.model_dump(include={"category", "fact", "valid_until"})
    fact = Fact(keywords=list(row.keywords), valid_at=row.valid_at or now, **same)
    return NewFact(fact, support, vector, row.source)
