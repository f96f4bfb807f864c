"""Table of erasures: what was erased, by whom, when and how much; never its content."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from memoryproject.tenancy.models import Tenant, TenantModel


class Scope(models.TextChoices):
    """How much is erased at once."""

    MESSAGE = "message", "a message"
    CONVERSATION = "conversation", "a conversation"
    NOTE = "note", "a note"
    USER = "user", "a user's notes"
    IMPORT = "import", "an import"
    TENANT = "tenant", "a tenant"


class State(models.TextChoices):
    """How far an erasure is."""

    RUNNING = "running", "being erased"
    DONE = "done", "erased"


class Erasure(TenantModel):
    """One act of erasing, on record before anything is deleted.

    It outlives its tenant, so nothing holds the tenant's id but this. No row is deleted, and
    none that is done is changed: a trigger.
    """

    tenant = models.ForeignKey(
        Tenant, on_delete=models.DO_NOTHING, db_constraint=False, related_name="+", db_index=False
    )
    scope = models.CharField(max_length=16, choices=Scope.choices)
    target = models.UUIDField(
        null=True, help_text="The row that was erased; NULL: the notes of a user."
    )
    subject = models.TextField(
        blank=True, help_text="Whose notes, by the agent's own id; emptied when they are erased."
    )
    actor = models.CharField(max_length=200, help_text="Who wanted it: a key, a person.")
    reason = models.TextField(help_text="Why, in their own words; kept.")
    state = models.CharField(max_length=8, choices=State.choices, default=State.RUNNING)
    counts = models.JSONField(default=dict, help_text="How many were deleted so far, by kind.")
    pages = ArrayField(
        models.UUIDField(), default=list, help_text="Memories whose pages are still in the mirror."
    )
    job_id = models.UUIDField(null=True, help_text="The job that does it.")
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True, help_text="NULL: not all is erased yet.")

    class Meta(TenantModel.Meta):
        permissions = [("erase", "Can erase for good")]
        constraints = [
            *TenantModel.Meta.constraints,
            models.CheckConstraint(
                condition=Q(scope__in=Scope.values), name="erasure_erasure_scope_known"
            ),
            models.CheckConstraint(
                condition=Q(state=State.RUNNING, finished_at=None)
                | Q(state=State.DONE, finished_at__isnull=False, subject="", pages=[]),
                name="erasure_erasure_done_keeps_nothing",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="erasure_erasure_has_reason"),
        ]

    def __str__(self) -> str:
        return f"erasure of {self.get_scope_display()}"
