"""Which kinds of rows can be taken out of the server, and by whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from episodic.models import Episode, Message
from episodic.revealing import READ
from memoryproject.tenancy.models import Tenant
from notes.models import Link, Note, NoteVersion
from semantic import queries as semantic_queries
from semantic.models import Evidence, Fact

Record = dict[str, Any]
Finish = Callable[[Tenant, list[Record]], None]


@dataclass(frozen=True, slots=True)
class Export:
    """One kind of rows that can be taken out, and who may.

    `fields` are paths of the model under the names that they get in the file. `states`
    are the words by which it can be narrowed. `finish` completes records, a chunk at once.
    """

    name: str
    title: str
    permission: str
    rows: Callable[[Tenant], QuerySet[Any]]
    fields: Mapping[str, str]
    moment: str
    states: Mapping[str, Q]
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


def _add_evidence(tenant: Tenant, records: list[Record]) -> None:
    """Say of each fact which episodes support it, as an import reads it."""
    found = semantic_queries.evidence_of(tenant=tenant, fact_ids=[row["id"] for row in records])
    for row in records:
        row["evidence"] = [_render_evidence(one) for one in found.get(row["id"], [])]


def _render_evidence(evidence: Evidence) -> dict[str, Any]:
    return {"episode": str(evidence.episode_id), "messages": evidence.message_seqs}


FACTS = Export(
    name="facts",
    title="Facts",
    permission="semantic.view_fact",
    rows=Fact.objects.of,
    fields={
        "id": "id",
        "conversation_id": "conversation__external_id",
        "category": "category",
        "fact": "fact",
        "keywords": "keywords",
        "valid_at": "valid_at",
        "valid_until": "valid_until",
        "created_at": "created_at",
        "invalid_at": "invalid_at",
        "invalidated_because": "invalidated_because",
        "superseded_by": "superseded_by",
        "version": "version",
    },
    moment="created_at",
    states={"held": Q(invalid_at=None), "closed": Q(invalid_at__isnull=False)},
    extra=("evidence",),
    finish=_add_evidence,
)
EPISODES = Export(
    name="episodes",
    title="Episodes",
    permission="episodic.view_episode",
    rows=Episode.objects.of,
    fields={
        "id": "id",
        "conversation_id": "conversation__external_id",
        "title": "title",
        "summary": "summary",
        "first_seq": "first_seq",
        "last_seq": "last_seq",
        "start_at": "start_at",
        "end_at": "end_at",
        "surprise": "surprise",
        "stability": "stability",
        "difficulty": "difficulty",
        "created_at": "created_at",
        "last_reviewed_at": "last_reviewed_at",
        "consolidated_at": "consolidated_at",
        "engine": "engine",
        "degraded": "degraded",
    },
    moment="created_at",
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
    fields={
        "id": "id",
        "conversation_id": "conversation__external_id",
        "seq": "seq",
        "role": "role",
        "name": "name",
        "content": "content",
        "timestamp": "occurred_at",
        "received_at": "received_at",
        "episode_id": "episode_id",
        "metadata": "metadata",
    },
    moment="received_at",
    states={"in an episode": Q(episode__isnull=False), "waiting": Q(episode=None)},
)
STATE_OF_NOTE = {
    name: name
    for name in (
        "version", "source_type", "source_id", "user_id", "label", "description", "content",
        "importance", "category", "emotion_type", "emotion_intensity", "emotion_valence", "tags",
        "metadata", "span_id", "start_byte", "end_byte", "source_path", "excerpt", "occurred_at",
    )
}  # fmt: skip
NOTES = Export(
    name="notes",
    title="Notes",
    permission="notes.view_note",
    rows=Note.objects.of,
    fields={
        "id": "id",
        "conversation_id": "conversation__external_id",
        **STATE_OF_NOTE,
        "created_at": "created_at",
        "updated_at": "updated_at",
        "updated_by": "actor",
        "deleted_at": "deleted_at",
        "deleted_by": "deleted_by",
    },
    moment="created_at",
    states={"held": Q(deleted_at=None), "deleted": Q(deleted_at__isnull=False)},
)
NOTE_VERSIONS = Export(
    name="note_versions",
    title="Earlier versions of notes",
    permission="notes.view_noteversion",
    rows=NoteVersion.objects.of,
    fields={
        "id": "id",
        "note_id": "note_id",
        "conversation_id": "note__conversation__external_id",
        **STATE_OF_NOTE,
        "updated_at": "updated_at",
        "updated_by": "actor",
        "replaced_at": "replaced_at",
    },
    moment="updated_at",
    states={"held": Q(note__deleted_at=None), "deleted": Q(note__deleted_at__isnull=False)},
)
LINKS = Export(
    name="links",
    title="Links that were drawn",
    permission="notes.view_link",
    rows=Link.objects.of,
    fields={
        "id": "id",
        "from_id": "from_memory_id",
        "from_kind": "from_memory__kind",
        "link_type": "link_type",
        "to_id": "to_memory_id",
        "to_kind": "to_memory__kind",
        "made_by": "made_by",
        "actor": "actor",
        "created_at": "created_at",
    },
    moment="created_at",
    states={
        "by agents": Q(made_by=Link.MadeBy.AGENT),
        "by people": Q(made_by=Link.MadeBy.PERSON),
    },
)
EXPORTS = {one.name: one for one in (FACTS, EPISODES, NOTES, NOTE_VERSIONS, LINKS, MESSAGES)}
