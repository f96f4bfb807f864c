"""Tables of erasures, retention policies and holds, without erased content."""

from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from memoryproject.database.constraints import check, index
from memoryproject.tenancy.models import Tenant, TenantModel


class Scope(models.TextChoices):
    """The subject of an erasure."""

    MESSAGE = "message", "a message"
    CONVERSATION = "conversation", "a conversation"
    NOTE = "note", "a note"
    FACT = "fact", "a fact with the messages that were to be forgotten with it"
    USER = "user", "a user's notes"
    PERSON = "person", "a person"
    IMPORT = "import", "an import"
    RETENTION = "retention", "what a retention policy no longer keeps"
    TENANT = "tenant", "a tenant"


class Kept(models.TextChoices):
    """The subject of a retention policy."""

    CONVERSATION = "conversation", "conversations"
    NOTE = "note", "notes"


class State(models.TextChoices):
    """The progress of an erasure."""

    RUNNING = "running", "being erased"
    DONE = "done", "erased"


class Erasure(TenantModel):
    """One act of erasing, on record before anything is deleted.

    It outlives its tenant, and is then the only row with the tenant's id. A trigger keeps rows from
    being deleted, and finished ones from being changed.
    """

    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    scope = models.CharField(max_length=16, choices=Scope.choices)
    target = models.UUIDField(
        null=True, help_text="The row that was erased; NULL: the notes of a user."
    )
    subject = models.TextField(
        blank=True,
        help_text="Whose notes, by the agent's own id; of a person, as JSON, the names and ids and "
        "what was chosen of shared conversations. Emptied when all is erased.",
    )
    actor = models.CharField(max_length=200, help_text="Who requested it: a key or a person.")
    reason = models.TextField(help_text="Why, in their own words; kept.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    counts = models.JSONField(default=dict, help_text="Number of rows deleted so far, by kind.")
    proof = models.JSONField(
        null=True,
        help_text="Of a user or a person what a search for names and ids found at the end: "
        "numbers, tables and ids of rows, never the names. NULL: there was no such search.",
    )
    pages = ArrayField(
        models.UUIDField(), default=list, help_text="Memories whose pages are still in the mirror."
    )
    job_id = models.UUIDField(null=True, help_text="The job that does it.")
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, help_text="NULL: not all is erased yet.")
    conversations: Any = None
    """Outcome for each conversation in a person's dry run (`persons.Plan`); not a column."""

    class Meta(TenantModel.Meta):
        permissions = [("erase", "Can erase for good")]
        constraints = [
            check("erasure_erasure_scope_known", Q(scope__in=Scope.values)),
            check(
                "erasure_erasure_done_keeps_nothing",
                Q(state=State.RUNNING, finished_at=None)
                | Q(state=State.DONE, finished_at__isnull=False, subject="", pages=[]),
            ),
            check("erasure_erasure_has_reason", ~Q(reason="")),
        ]

    def __str__(self) -> str:
        return f"erasure of {self.get_scope_display()}"


class RetentionPolicy(TenantModel):
    """A rule that erases a tenant's data automatically, if all of its conditions are met."""

    kind = models.CharField(max_length=16, choices=Kept.choices)
    source_type = models.CharField(
        max_length=16, blank=True, help_text="Only notes of this source type; empty: all."
    )
    older_than_days = models.PositiveIntegerField(
        null=True, help_text="Nothing was said in it, or written of it, for so long."
    )
    unserved_days = models.PositiveIntegerField(
        null=True, help_text="No answer was given from it for so long, by the receipts."
    )
    keep_newest = models.PositiveIntegerField(
        null=True, help_text="Number to keep, those changed last first."
    )
    actor = models.CharField(max_length=200, help_text="Who made it.")
    created_at = models.DateTimeField(db_default=Now())
    looked_at = models.DateTimeField(null=True, help_text="When it was last applied.")

    class Meta(TenantModel.Meta):
        verbose_name_plural = "retention policies"
        constraints = [
            check(
                "erasure_retentionpolicy_asks_something",
                Q(older_than_days__gte=1) | Q(unserved_days__gte=1) | Q(keep_newest__isnull=False),
            ),
            check(
                "erasure_retentionpolicy_source_type_of_notes", Q(source_type="") | Q(kind="note")
            ),
        ]

    def __str__(self) -> str:
        asked = {
            "older than {} days": self.older_than_days,
            "not served for {} days": self.unserved_days,
            "beyond the newest {}": self.keep_newest,
        }
        what = f"{self.source_type} {self.get_kind_display()}".strip()
        limits = [words.format(one) for words, one in asked.items() if one is not None]
        return f"{what} {', '.join(limits)}"


class Hold(TenantModel):
    """A legal hold: nothing of a conversation, or of the tenant, is erased until it is lifted."""

    conversation_id = models.UUIDField(null=True, help_text="NULL: of the whole tenant.")
    actor = models.CharField(max_length=200, help_text="Who wanted it.")
    reason = models.TextField(help_text="Why, in their own words.")
    created_at = models.DateTimeField(db_default=Now())
    lifted_at = models.DateTimeField(null=True, help_text="NULL: it is in effect.")
    lifted_by = models.CharField(max_length=200, blank=True)

    class Meta(TenantModel.Meta):
        constraints = [check("erasure_hold_has_reason", ~Q(reason=""))]
        indexes = [index("erasure_hold_in_force", "tenant conversation_id", Q(lifted_at=None))]

    def __str__(self) -> str:
        return f"hold {self.id}"
