"""The tables that can be exported: columns, states, and who may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from console.models import PageRead
from episodic.models import Episode, Message, Reveal
from episodic.revealing import READ
from memoryproject.tenancy.models import Tenant
from notes.models import Link, Note, NoteVersion
from retrieval.models import Retrieval
from semantic import queries as semantic_queries
from semantic.models import Fact

Record = dict[str, Any]
Finish = Callable[[Tenant, list[Record]], None]


@dataclass(frozen=True, slots=True)
class Export:
    """One table that can be exported, and who may.

    `fields` are paths of the model under the names that they get in the file. `states`
    are the words by which it can be narrowed. `finish` completes records, a chunk at once.
    """

    name: str
    title: str
    permission: str
    rows: Callable[[Tenant], QuerySet[Any]]
    fields: Mapping[str, str]
    states: Mapping[str, Q]
    moment: str = "created_at"
    extra: tuple[str, ...] = ()
    finish: Finish = lambda tenant, records: None

    @property
    def conversation(self) -> str | None:
        """The path to the agent's id of the conversation; None: a row belongs to none."""
        return self.fields.get("conversation_id")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the file's columns, in order."""
        return (*self.fields, *self.extra)


def columns_of(names: str) -> dict[str, str]:
    """Return the path of each column; `name=path` where they differ."""
    pairs = (word.partition("=") for word in names.split())
    return {name: path or name for name, _, path in pairs}


def _add_evidence(tenant: Tenant, records: list[Record]) -> None:
    """Add to each fact the episodes that support it, as an import reads them."""
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=[row["id"] for row in records])
    for row in records:
        row["evidence"] = [
            {"episode": str(entry.episode_id), "messages": entry.message_seqs}
            for entry in evidence.get(row["id"], [])
        ]


FACTS = Export(
    name="facts",
    title="Facts",
    permission="semantic.view_fact",
    rows=Fact.objects.of,
    fields=columns_of(
        "id conversation_id=conversation__external_id category fact keywords "
        "valid_at valid_until created_at invalid_at invalidated_because "
        "superseded_by version"
    ),
    states={"held": Q(invalid_at=None), "closed": Q(invalid_at__isnull=False)},
    extra=("evidence",),
    finish=_add_evidence,
)
EPISODES = Export(
    name="episodes",
    title="Episodes",
    permission=READ,
    rows=Episode.objects.of,
    fields=columns_of(
        "id conversation_id=conversation__external_id title summary first_seq "
        "last_seq start_at end_at surprise stability difficulty created_at "
        "last_reviewed_at consolidated_at engine degraded"
    ),
    states={
        "consolidated": Q(consolidated_at__isnull=False),
        "waiting": Q(consolidated_at=None),
    },
)
MESSAGES = Export(
    name="messages",
    title="Messages",
    permission=READ,
    rows=Message.objects.of,
    fields=columns_of(
        "id conversation_id=conversation__external_id seq role name content "
        "timestamp=occurred_at received_at episode_id metadata"
    ),
    moment="received_at",
    states={"in an episode": Q(episode__isnull=False), "waiting": Q(episode=None)},
)
STATE_OF_NOTE = columns_of(
    "version source_type source_id user_id label description content importance category "
    "emotion_type emotion_intensity emotion_valence tags metadata span_id start_byte end_byte "
    "source_path excerpt occurred_at"
)
NOTES = Export(
    name="notes",
    title="Notes",
    permission="notes.view_note",
    rows=Note.objects.of,
    fields={
        **columns_of("id conversation_id=conversation__external_id"),
        **STATE_OF_NOTE,
        **columns_of("created_at updated_at updated_by=actor deleted_at deleted_by"),
    },
    states={"held": Q(deleted_at=None), "deleted": Q(deleted_at__isnull=False)},
)
NOTE_VERSIONS = Export(
    name="note_versions",
    title="Earlier versions of notes",
    permission="notes.view_noteversion",
    rows=NoteVersion.objects.of,
    fields={
        **columns_of("id note_id conversation_id=note__conversation__external_id"),
        **STATE_OF_NOTE,
        **columns_of("updated_at updated_by=actor replaced_at"),
    },
    moment="updated_at",
    states={"held": Q(note__deleted_at=None), "deleted": Q(note__deleted_at__isnull=False)},
)
LINKS = Export(
    name="links",
    title="Links",
    permission="notes.view_link",
    rows=Link.objects.of,
    fields=columns_of(
        "id from_id=from_memory_id from_kind=from_memory__kind link_type "
        "to_id=to_memory_id to_kind=to_memory__kind made_by actor created_at"
    ),
    states={
        "by agents": Q(made_by=Link.MadeBy.AGENT),
        "by people": Q(made_by=Link.MadeBy.PERSON),
    },
)
REVEALS = Export(
    name="reveals",
    title="Unmasked conversations: who, when and why",
    permission="episodic.view_reveal",
    rows=Reveal.objects.of,
    fields=columns_of(
        "id conversation_id=conversation__external_id person reason created_at until"
    ),
    states={"open": Q(until__gt=Now()), "over": Q(until__lte=Now())},
)
READS = Export(
    name="reads",
    title="Read log: who looked at what in the admin",
    permission="console.view_pageread",
    rows=PageRead.objects.of,
    fields=columns_of("id person page subject words_sha256 created_at"),
    states={"of one row": Q(subject__isnull=False), "of lists": Q(subject=None)},
)
ANSWERS = Export(
    name="answers",
    title="Answers: who asked what, and when",
    permission="retrieval.view_retrieval",
    rows=Retrieval.objects.of,
    fields=columns_of(
        "id conversation_id=conversation__external_id kind query asked_by=asked_by__name "
        "created_at latency_ms"
    ),
    states={"in a conversation": Q(conversation__isnull=False), "in all": Q(conversation=None)},
)
TABLES = (FACTS, EPISODES, NOTES, NOTE_VERSIONS, LINKS, MESSAGES, ANSWERS, REVEALS, READS)
EXPORTS = {export.name: export for export in TABLES}
