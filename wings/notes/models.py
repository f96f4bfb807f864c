"""Tables of notes of agents and people, their versions, and links between memories."""

from collections.abc import Sequence

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from episodic.models import Conversation
from indexing.kinds import LinkType, SourceType, Valence
from indexing.models import Memory
from memoryproject.database.constraints import check, choices_of, index, unique, values_of
from memoryproject.tenancy import walls
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import APIKey, TenantModel


class NoteState(TenantModel):
    """The columns that a note and each of its versions have in common."""

    version = models.PositiveIntegerField(default=1, help_text="1, 2, 3, …; each PATCH makes one.")
    source_type = models.CharField(max_length=16, choices=choices_of(SourceType))
    source_id = models.TextField(blank=True, help_text="The agent's own id of what it is about.")
    user_id = models.TextField(blank=True, help_text="The user it is about, by the agent's own id.")
    label = models.TextField(help_text="A short text for lists.")
    description = models.TextField(blank=True)
    content = models.TextField(help_text="As written, or as it follows from the metadata.")
    importance = models.FloatField(default=0.5, help_text="0 to 1.")
    category = models.CharField(max_length=100, blank=True, help_text="A word of the agent's own.")
    emotion_type = models.CharField(max_length=100, blank=True)
    emotion_intensity = models.FloatField(null=True, help_text="0 to 1; NULL: not said.")
    emotion_valence = models.CharField(max_length=8, choices=choices_of(Valence), blank=True)
    tags = ArrayField(models.TextField(), default=list)
    metadata = models.JSONField(
        default=dict, help_text="Of a summary its counts and points; else the agent's own."
    )
    span_id = models.TextField(blank=True, help_text="The stored text that it points into.")
    start_byte = models.BigIntegerField(null=True, help_text="First byte of the span.")
    end_byte = models.BigIntegerField(null=True, help_text="The byte after the span.")
    source_path = models.TextField(blank=True, help_text="Of a document: where it came from.")
    excerpt = models.TextField(blank=True, help_text="Of a document: a passage of it.")
    occurred_at = models.DateTimeField(help_text="When it was so, by the agent's clock.")
    actor = models.CharField(max_length=200, help_text="Who wrote this version: a key, a person.")
    updated_at = models.DateTimeField(help_text="When this version was written.")

    class Meta(TenantModel.Meta):
        abstract = True
        constraints = [
            check(
                "%(app_label)s_%(class)s_source_type_known",
                Q(source_type__in=values_of(SourceType)),
            ),
            check(
                "%(app_label)s_%(class)s_valence_known",
                Q(emotion_valence__in=["", *values_of(Valence)]),
            ),
            check(
                "%(app_label)s_%(class)s_shares",
                Q(importance__gte=0, importance__lte=1)
                & (
                    Q(emotion_intensity=None)
                    | Q(emotion_intensity__gte=0, emotion_intensity__lte=1)
                ),
            ),
            check("%(app_label)s_%(class)s_worded", ~Q(label="") & ~Q(content="")),
            check(
                "%(app_label)s_%(class)s_span",
                Q(span_id="", start_byte=None, end_byte=None)
                | (
                    ~Q(span_id="")
                    & Q(start_byte__isnull=False, end_byte__isnull=False)
                    & Q(start_byte__gte=0, end_byte__gte=F("start_byte"))
                ),
            ),
            check("%(app_label)s_%(class)s_version_positive", Q(version__gte=1)),
        ]


class Note(NoteState):
    """A memory written on purpose: the row is its current version. Shares its id with a Memory.

    A deleted note's row stays until it is erased, but is not found or shown.
    """

    @classmethod
    def of_users(cls, users: Sequence[str]) -> Q:
        """Return the condition for notes about these users, or about nobody in their talks."""
        theirs = Conversation.across_tenants.filter(walls.rows_seen(), user_id__in=users)
        return Q(user_id__in=users) | Q(user_id="", conversation__in=theirs)

    conversation = TenantForeignKey(
        Conversation, null=True, help_text="Empty: it belongs to the whole tenant."
    )
    made_by = TenantForeignKey(APIKey, null=True, help_text="The key that posted it.")
    client_key = models.CharField(
        max_length=255, null=True, help_text="Idempotency key of the request that posted it."
    )
    client_index = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Its place in that request: 0, 1, 2, …"
    )
    body_sha256 = models.CharField(
        max_length=64, blank=True, help_text="Hash of that request, if it has an idempotency key."
    )
    token_sizes = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        help_text="Quarters of a token of the cleaned content, by counter.",
    )
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True, help_text="NULL: it is not deleted.")
    deleted_by = models.CharField(max_length=200, blank=True)

    class Meta(NoteState.Meta):
        permissions = [("curate_note", "Can change and delete notes, draw and remove links")]
        constraints = [
            *NoteState.Meta.constraints,
            unique("notes_note_client_key", "tenant client_key client_index"),
        ]
        indexes = [
            index("notes_note_by_source", "tenant source_type source_id id"),
            index("notes_note_by_user", "tenant user_id id"),
            index("notes_note_by_category", "tenant category id"),
            GinIndex(fields=["tags"], name="notes_note_by_tags"),
            index("notes_note_deleted", "id", Q(deleted_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.label


class NoteVersion(NoteState):
    """An earlier version of a note. Kept until erasure."""

    note = TenantForeignKey(Note, db_index=False)
    replaced_at = models.DateTimeField(db_default=Now())

    class Meta(NoteState.Meta):
        constraints = [
            *NoteState.Meta.constraints,
            unique("notes_version_once", "tenant note version"),
        ]

    def __str__(self) -> str:
        return f"version {self.version} of {self.note_id}"


class Link(TenantModel):
    """A typed link from one memory of a tenant to another, created by an agent or a person.

    Links that follow from evidence, replaced facts and the order of episodes are not stored here:
    `retrieval` reads them from those tables.
    """

    class MadeBy(models.TextChoices):
        AGENT = "agent", "an agent"
        PERSON = "person", "a person"

    from_memory = TenantForeignKey(Memory, db_index=False)
    to_memory = TenantForeignKey(Memory, db_index=False)
    link_type = models.CharField(max_length=16, choices=choices_of(LinkType))
    made_by = models.CharField(max_length=8, choices=MadeBy.choices)
    actor = models.CharField(max_length=200, help_text="Which key or person.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [
            unique("notes_link_once", "tenant from_memory to_memory link_type"),
            check("notes_link_not_to_itself", ~Q(from_memory=F("to_memory"))),
            check("notes_link_type_known", Q(link_type__in=values_of(LinkType))),
        ]
        indexes = [index("notes_link_backwards", "tenant to_memory from_memory link_type")]

    def __str__(self) -> str:
        return f"{self.from_memory_id} {self.link_type} {self.to_memory_id}"
