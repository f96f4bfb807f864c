"""Receipts of answers, contexts of agents, and memory tests."""

from __future__ import annotations

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from episodic.models import Conversation
from indexing.models import Memory, MemoryKind
from jobs.models import Job
from memoryproject.database.constraints import check, index, unique
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import APIKey, TenantModel


class Retrieval(TenantModel):
    """The receipt of one answered call."""

    users_by = "conversation"

    class Kind(models.TextChoices):
        RETRIEVE = "retrieve", "retrieve_memory"
        RETRIEVE_RAW = "retrieve_raw", "retrieve_memory/raw"
        CONTEXT = "context", "context_pre_retrieve"
        SEARCH = "search", "search"
        RECONSTRUCT = "reconstruct", "reconstruct_context"
        PROFILE = "profile", "profile"
        ASK = "ask", "ask"

    conversation = TenantForeignKey(
        Conversation, null=True, db_index=False, help_text="NULL: the id was unknown."
    )
    kind = models.CharField(max_length=16, choices=Kind.choices)
    asked_by = TenantForeignKey(APIKey, null=True, help_text="Key of the caller.")
    query = models.TextField()
    parameters = models.JSONField(help_text="All parameters as applied.")
    embedding_model = models.CharField(max_length=200, blank=True)
    counts = models.JSONField(
        default=dict, help_text="Number of memories found by each ranking, per kind of memory."
    )
    degraded = models.CharField(
        max_length=40, blank=True, help_text="What was missing, such as no_vectors; empty: nothing."
    )
    tokens = models.PositiveIntegerField(default=0, help_text="Size of the answer, estimated.")
    latency_ms = models.PositiveIntegerField(
        null=True,
        help_text="From the checked question to its answer, before this was written; "
        "NULL: not measured.",
    )
    relevance = models.FloatField(
        null=True,
        help_text="How likely it is that the answer holds what was asked for; NULL: not known.",
    )
    through_seq = models.BigIntegerField(
        default=0, help_text="Last message of the conversation when it was asked."
    )
    reviewable = models.BooleanField(
        default=False, help_text="Whether the served episodes are still to be reviewed."
    )
    review_job = TenantForeignKey(Job, null=True, help_text="The job that reviews them.")
    parts = models.JSONField(
        null=True,
        help_text="What the text was made of: our words, and references to what was said; "
        "NULL: not kept.",
    )
    signature = models.CharField(
        max_length=64,
        db_default="",
        blank=True,
        help_text="Keyed hash of the text that was served; empty: not kept.",
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        permissions = [("run_playground", "Can run searches in the playground")]
        indexes = [
            index(
                "retrieval_pending_review",
                "conversation created_at",
                Q(reviewable=True, review_job=None),
            ),
            models.Index(
                fields=["tenant", "created_at"],
                include=["latency_ms"],
                name="retrieval_with_latency",
            ),
            index("retrieval_by_conversation", "conversation through_seq"),
        ]


class RetrievalHit(TenantModel):
    """One memory that an answer served.

    No foreign key to the memory: each check of it would lock the row, which is a write.
    """

    retrieval = TenantForeignKey(Retrieval)
    memory_id = models.UUIDField()
    memory_kind = models.CharField(max_length=8, choices=MemoryKind.choices)
    rank = models.PositiveIntegerField(
        help_text="1 is best: by kind of memory, of a search of all together."
    )
    score = models.FloatField(
        help_text="RRF, for episodes times retrievability; of a search the relevance."
    )
    lexical_rank = models.PositiveIntegerField(null=True, help_text="NULL: not in that ranking.")
    vector_rank = models.PositiveIntegerField(null=True, help_text="NULL: not in that ranking.")

    class Meta(TenantModel.Meta):
        constraints = [unique("retrieval_hit_once", "tenant retrieval memory_id")]
        indexes = [index("retrieval_hit_by_memory", "memory_id")]

    def __str__(self) -> str:
        return f"hit {self.rank}"


class Context(TenantModel):
    """A text that an agent assembles within a budget, for one prompt. Kept until it expires.

    Its row is the lock under which sections are added.
    """

    SEPARATOR = "\n\n"
    sections: list[ContextSection]
    """Sections in the order of the text; `contexts.get_context` loads them."""

    max_tokens = models.PositiveIntegerField(
        help_text="Tokens for the prompt and its response together."
    )
    reserved_tokens = models.PositiveIntegerField(help_text="Tokens reserved for the response.")
    used_tokens = models.PositiveIntegerField(
        default=0, help_text="All sections with what parts them, counted apart."
    )
    counter = models.CharField(max_length=16, help_text="The counter of its tokens; never changes.")
    made_by = TenantForeignKey(APIKey, null=True, help_text="The key that made it.")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(
        help_text="Time from which it counts as unknown, and is soon deleted."
    )

    class Meta(TenantModel.Meta):
        constraints = [
            check(
                "retrieval_context_within_budget",
                Q(used_tokens=0) | Q(max_tokens__gte=F("used_tokens") + F("reserved_tokens")),
            ),
        ]
        indexes = [index("retrieval_context_by_expiry", "expires_at id")]

    @property
    def remaining_tokens(self) -> int:
        """Return the tokens left for another section, its separator included."""
        return max(0, self.max_tokens - self.reserved_tokens - self.used_tokens)

    @property
    def text(self) -> str:
        """Return the text for the prompt."""
        return self.SEPARATOR.join(section.content for section in self.sections)

    @property
    def retrieved_ids(self) -> list[uuid.UUID]:
        """Return the memories that it quotes."""
        return [section.memory_id for section in self.sections if section.memory_id]


class ContextSection(TenantModel):
    """A part of a context: the system prompt, or text of one memory.

    It copies what somebody said. The foreign key makes sure that erasing the memory also erases the
    copy.
    """

    class Kind(models.TextChoices):
        SYSTEM = "system", "system prompt"
        RETRIEVED = "retrieved", "of a memory"

    context = TenantForeignKey(Context, db_index=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    memory = TenantForeignKey(Memory, null=True, help_text="Empty for the system prompt.")
    position = models.PositiveIntegerField(help_text="Order of adding: 0, 1, 2, …")
    priority = models.PositiveSmallIntegerField(help_text="0 to 100; the highest stands first.")
    content = models.TextField(help_text="Its text; may quote messages.")
    tokens = models.PositiveIntegerField(help_text="Tokens of the content alone.")
    truncated = models.BooleanField(help_text="Whether a part of the memory is missing.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [
            unique("retrieval_section_position", "tenant context position"),
            unique("retrieval_section_once", "tenant context memory"),
            check(
                "retrieval_section_kind",
                Q(kind="system", memory=None) | Q(kind="retrieved", memory__isnull=False),
            ),
            check("retrieval_section_priority", Q(priority__lte=100)),
            check("retrieval_section_not_empty", ~Q(content="")),
        ]

    def __str__(self) -> str:
        return f"section {self.position}"


class MemoryTest(TenantModel):
    """A question to one conversation, with texts that its answer must and must not contain.

    A person wrote it; it is erased with the text that it quotes.
    """

    conversation = TenantForeignKey(Conversation)
    query = models.TextField()
    max_tokens = models.PositiveIntegerField(
        null=True, help_text="max_tokens of the call; NULL: none."
    )
    must_say = ArrayField(models.TextField(), default=list)
    must_not_say = ArrayField(models.TextField(), default=list)
    at_most_tokens = models.PositiveIntegerField(null=True, help_text="Of the answer; NULL: any.")
    case_id = models.UUIDField(null=True, help_text="The receipt that it was made from.")
    made_by = models.CharField(max_length=200, help_text="Who made it: a person or a key.")
    created_at = models.DateTimeField(db_default=Now())
    ran_at = models.DateTimeField(null=True, help_text="Its last run; NULL: none yet.")
    failures = models.JSONField(
        default=list,
        help_text="Failures of the last run: names of fields, with the index in a list.",
    )
    broken_by = models.UUIDField(
        null=True, help_text="The changeset after which it first failed; NULL: it passes."
    )

    class Meta(TenantModel.Meta):
        constraints = [check("retrieval_test_asks", ~Q(query=""))]
        indexes = [index("retrieval_test_of_conversation", "tenant conversation")]

    @property
    def passes(self) -> bool | None:
        """Whether the last run found no failure; None: it has not run."""
        return None if self.ran_at is None else not self.failures

    def __str__(self) -> str:
        return self.query
