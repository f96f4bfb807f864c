"""Tables that can be exported: columns, states, permissions; and the whole-memory file."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from episodic.models import Conversation, Episode, Message, Reveal
from episodic.revealing import READ
from memoryproject.tenancy.models import Tenant, TenantModel
from retrieval.models import Retrieval
from semantic import queries as semantic_queries
from semantic.models import Fact
from wings.console.models import PageRead
from wings.instructions.models import InstructionVersion
from wings.notes.models import Link, Note, NoteVersion
from wings.notes.texts import KEPT

Record = dict[str, Any]
Finish = Callable[[Tenant, list[Record]], None]


class Export(NamedTuple):
    """One table that can be exported, and who may.

    `paths` of the file's columns are separated by spaces; `name=path` if they differ. `states` are
    the possible filters. `finish` completes a chunk of records.
    """

    name: str
    title: str
    model: type[TenantModel]
    permission: str
    paths: str
    states: Mapping[str, Q] = {}
    moment: str = "created_at"
    extra: tuple[str, ...] = ()
    finish: Finish = lambda tenant, records: None

    def rows(self, tenant: Tenant) -> QuerySet[Any]:
        return self.model.objects.of(tenant)

    @property
    def fields(self) -> dict[str, str]:
        """Path of each column in the model."""
        pairs = (word.partition("=") for word in self.paths.split())
        return {name: path or name for name, _, path in pairs}

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.fields, *self.extra)


def _add_evidence(tenant: Tenant, records: list[Record]) -> None:
    """Add to each fact the episodes that support it, as an import reads them."""
    evidence = semantic_queries.evidence_of(tenant=tenant, fact_ids=[row["id"] for row in records])
    for row in records:
        row["evidence"] = [
            {"episode": str(entry.episode_id), "messages": entry.message_seqs}
            for entry in evidence.get(row["id"], [])
        ]


def _either(word: str, other: str, condition: Q) -> dict[str, Q]:
    """Return two states that together cover all rows."""
    return {word: condition, other: ~condition}


FACTS = Export(
    *("facts", "Facts", Fact, "semantic.view_fact"),
    "id conversation_id=conversation__external_id category fact keywords valid_at valid_until "
    "created_at invalid_at invalidated_because superseded_by version user_id",
    _either("held", "closed", Q(invalid_at=None)),
    extra=("evidence",),
    finish=_add_evidence,
)
EPISODES = Export(
    *("episodes", "Episodes", Episode, READ),
    "id conversation_id=conversation__external_id title summary first_seq last_seq start_at "
    "end_at surprise stability difficulty created_at last_reviewed_at consolidated_at engine "
    "degraded",
    _either("consolidated", "waiting", Q(consolidated_at__isnull=False)),
)
MESSAGES = Export(
    *("messages", "Messages", Message, READ),
    "id conversation_id=conversation__external_id seq role name content timestamp=occurred_at "
    "received_at episode_id metadata user_id",
    _either("in an episode", "waiting", Q(episode__isnull=False)),
    moment="received_at",
)
STATE_OF_NOTE = " ".join(name for name in KEPT if name not in {"actor", "updated_at"})
NOTES = Export(
    *("notes", "Notes", Note, "notes.view_note"),
    f"id conversation_id=conversation__external_id {STATE_OF_NOTE} "
    "created_at updated_at updated_by=actor deleted_at deleted_by",
    _either("held", "deleted", Q(deleted_at=None)),
)
NOTE_VERSIONS = Export(
    *("note_versions", "Earlier versions of notes", NoteVersion, "notes.view_noteversion"),
    f"id note_id conversation_id=note__conversation__external_id {STATE_OF_NOTE} "
    "updated_at updated_by=actor replaced_at",
    _either("held", "deleted", Q(note__deleted_at=None)),
    moment="updated_at",
)
LINKS = Export(
    *("links", "Links", Link, "notes.view_link"),
    "id from_id=from_memory_id from_kind=from_memory__kind link_type to_id=to_memory_id "
    "to_kind=to_memory__kind made_by actor created_at",
    {"by agents": Q(made_by=Link.MadeBy.AGENT), "by people": Q(made_by=Link.MadeBy.PERSON)},
)
INSTRUCTIONS = Export(
    *("instructions", "Instructions: versions, who and when", InstructionVersion),
    "instructions.view_instructionversion",
    "id agent_id keep never words labels actor created_at undone_at undone_by",
    _either("undone", "not undone", Q(undone_at__isnull=False)),
)
REVEALS = Export(
    "reveals",
    "Unmasked conversations: who, when and why",
    Reveal,
    "episodic.view_reveal",
    "id conversation_id=conversation__external_id person reason created_at until",
    _either("open", "over", Q(until__gt=Now())),
)
READS = Export(
    "reads",
    "Read log: who looked at what in the admin",
    PageRead,
    "console.view_pageread",
    "id person page subject words_sha256 created_at",
    {"of one row": Q(subject__isnull=False), "of lists": Q(subject=None)},
)
ANSWERS = Export(
    "answers",
    "Answers: who asked what, and when",
    Retrieval,
    "retrieval.view_retrieval",
    "id conversation_id=conversation__external_id kind query asked_by=asked_by__name created_at "
    "latency_ms",
    _either("in a conversation", "in all", Q(conversation__isnull=False)),
)
TABLES = (
    FACTS,
    EPISODES,
    NOTES,
    NOTE_VERSIONS,
    LINKS,
    MESSAGES,
    ANSWERS,
    REVEALS,
    READS,
    INSTRUCTIONS,
)
EXPORTS = {export.name: export for export in TABLES}

CONVERSATIONS = Export(
    *("conversations", "Conversations", Conversation, "episodic.view_conversation"),
    "external_id user_id agent_id language next_seq window_doubled previous_summary created_at",
)
MEMORY = "memory"
ALL = "all"
HEADER = {"format": "memory-server", "version": 1}
OF_MEMORY = {
    export.name: export
    for export in (CONVERSATIONS, EPISODES, MESSAGES, FACTS, NOTES, NOTE_VERSIONS, LINKS)
}
"""Tables of the whole-memory file, each referring only to earlier ones."""
ANONYMOUS = frozenset({CONVERSATIONS.name, NOTE_VERSIONS.name, LINKS.name})
"""Tables whose rows are identified by other columns than an id."""
REFERENCES = ("id", "episode_id", "superseded_by", "note_id", "from_id", "to_id")
"""Columns with the id of a message or a memory."""
