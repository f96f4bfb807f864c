"""Receipts: what was asked, by whom, and what was served."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from episodic.models import Conversation
from indexing.models import MemoryKind
from jobs.models import Job
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import APIKey, TenantModel


class Retrieval(TenantModel):
    """The receipt of one answered call."""

    class Kind(models.TextChoices):
        RETRIEVE = "retrieve", "retrieve_memory"
        RETRIEVE_RAW = "retrieve_raw", "retrieve_memory/raw"
        CONTEXT = "context", "context_pre_retrieve"

    conversation = TenantForeignKey(
        Conversation, null=True, db_index=False, help_text="NULL: the id was unknown."
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    asked_by = TenantForeignKey(APIKey, null=True, help_text="The caller's key.")
    query = models.TextField()
    parameters = models.JSONField(help_text="Every parameter as it was applied.")
    embedding_model = models.CharField(max_length=200, blank=True)
    counts = models.JSONField(
        default=dict, help_text="How many memories each leg of each shelf found."
    )
    degraded = models.CharField(
        max_length=40, blank=True, help_text="What was missing: no_vectors; empty: nothing."
    )
    tokens = models.PositiveIntegerField(default=0, help_text="Size of the answer, estimated.")
    latency_ms = models.PositiveIntegerField(
        null=True,
        help_text="From the checked question to its answer, before this was written; "
        "NULL: not measured.",
    )
    through_seq = models.BigIntegerField(
        default=0, help_text="Last message of the conversation when it was asked."
    )
    reviewable = models.BooleanField(
        default=False, help_text="Whether the served episodes wait for a review."
    )
    review_job = TenantForeignKey(Job, null=True, help_text="The job that reviews them.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        permissions = [("run_playground", "Can run searches in the playground")]
        constraints = [*TenantModel.Meta.constraints]
        indexes = [
            models.Index(
                fields=["conversation", "created_at"],
                condition=Q(reviewable=True, review_job=None),
                name="retrieval_pending_review",
            ),
            models.Index(
                fields=["tenant", "created_at"],
                include=["latency_ms"],
                name="retrieval_with_latency",
            ),
            models.Index(fields=["conversation", "through_seq"], name="retrieval_by_conversation"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class RetrievalHit(TenantModel):
    """One memory that an answer served.

    No foreign key to the memory: each check would lock, and so dirty, the row it reads.
    """

    retrieval = TenantForeignKey(Retrieval)
    memory_id = models.UUIDField()
    memory_kind = models.CharField(max_length=8, choices=MemoryKind.choices)
    rank = models.PositiveIntegerField(help_text="1 is best, by kind of memory.")
    score = models.FloatField(help_text="RRF, for episodes times retrievability.")
    lexical_rank = models.PositiveIntegerField(null=True, help_text="NULL: not in that leg.")
    vector_rank = models.PositiveIntegerField(null=True, help_text="NULL: not in that leg.")

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(fields=["retrieval", "memory_id"], name="retrieval_hit_once"),
        ]
        indexes = [models.Index(fields=["memory_id"], name="retrieval_hit_by_memory")]

    def __str__(self) -> str:
        return f"hit {self.rank}"
