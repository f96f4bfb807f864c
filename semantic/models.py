"""What is held true, why, and who changed it."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now

from episodic.models import Conversation, Episode
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel
from semantic.engines import Category


class Changeset(TenantModel):
    """One consolidation run, curation action, import or erasure. Append-only."""

    class Kind(models.TextChoices):
        CONSOLIDATION = "consolidation", "consolidation run"
        CURATION = "curation", "curation"
        IMPORT = "import", "import"
        REVERT = "revert", "revert of another"
        ERASURE = "erasure", "erasure of a message"

    conversation = TenantForeignKey(Conversation, null=True)
    job_id = models.UUIDField(null=True, help_text="The run's job; NULL: a person's action.")
    kind = models.CharField(max_length=16, choices=Kind.choices)
    actor = models.CharField(max_length=200, help_text="Who did it: a person, a key, the worker.")
    reason = models.TextField(blank=True)
    engine = models.CharField(max_length=40, blank=True)
    model = models.CharField(max_length=200, blank=True)
    prompt_version = models.CharField(max_length=40, blank=True)
    degraded = models.BooleanField(default=False)
    unknown_aliases = models.PositiveIntegerField(
        default=0, help_text="Proposals that named a fact the engine was never shown."
    )
    started_at = models.DateTimeField(db_default=Now())
    reverts = TenantForeignKey("self", null=True, help_text="The changeset that this undoes.")

    class Meta(TenantModel.Meta):
        constraints = [*TenantModel.Meta.constraints]
        indexes = [models.Index(fields=["tenant", "started_at"], name="semantic_changeset_by_time")]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class Fact(TenantModel):
    """Something held to be true in a conversation during one span of time.

    A fact is never edited. When the world changes, the old fact is closed and a new
    one opened, so that a past answer can always be explained from what was held then.
    Two kinds of time: `valid_at` and `valid_until` say when it was true in the world,
    `created_at` and `invalid_at` when the server believed it. Shares its id with a Memory.
    One that waits for a curator's approval has never been held: nobody is served it.
    """

    class Because(models.TextChoices):
        SUPERSEDED = "superseded", "the world changed"
        WRONG = "wrong", "it was never true"
        REVERTED = "reverted", "what brought it was undone"
        ERASED = "erased", "it was erased"
        WAITING = "waiting", "it waits for a curator"

    conversation = TenantForeignKey(Conversation, db_index=False)
    category = models.CharField(
        max_length=16, choices=[(category.value, category.value) for category in Category]
    )
    fact = models.TextField(help_text="One sentence, understandable by itself.")
    keywords = ArrayField(models.TextField(), default=list, help_text="Names and nouns.")
    search_text = models.GeneratedField(
        expression=Func(F("fact"), F("keywords"), function="public.memory_search_text"),
        output_field=models.TextField(),
        db_persist=True,
    )
    content_hash = models.CharField(
        max_length=64, help_text="SHA-256 of the normalised sentence: a fact is held once."
    )
    version = models.PositiveIntegerField(default=1, help_text="Raised by each change of state.")
    changeset = TenantForeignKey(Changeset, help_text="What brought it in.")
    valid_at = models.DateTimeField(help_text="From when on it was true in the world.")
    valid_until = models.DateTimeField(null=True, help_text="Until when; NULL: still true.")
    created_at = models.DateTimeField(db_default=Now())
    invalid_at = models.DateTimeField(
        null=True, help_text="When the server stopped believing it; NULL: active."
    )
    invalidated_because = models.CharField(max_length=16, choices=Because.choices, blank=True)
    superseded_by = TenantForeignKey("self", null=True)

    class Meta(TenantModel.Meta):
        permissions = [("curate_fact", "Can correct, invalidate, restore and revert")]
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["conversation", "content_hash"],
                condition=Q(invalid_at=None),
                name="semantic_fact_held_once",
            ),
            models.CheckConstraint(
                condition=Q(category__in=[category.value for category in Category]),
                name="semantic_fact_category_known",
            ),
            models.CheckConstraint(condition=~Q(fact=""), name="semantic_fact_not_empty"),
            models.CheckConstraint(
                condition=Q(invalid_at=None, invalidated_because="", superseded_by=None)
                | (Q(invalid_at__isnull=False) & ~Q(invalidated_because="")),
                name="semantic_fact_closed_for_a_reason",
            ),
        ]
        indexes = [
            models.Index(
                fields=["conversation", "created_at"],
                condition=Q(invalid_at=None),
                name="semantic_fact_active",
            ),
            models.Index(
                fields=["conversation"],
                condition=Q(invalidated_because="wrong"),
                name="semantic_fact_declared_wrong",
            ),
            models.Index(
                fields=["tenant", "id"],
                condition=Q(invalidated_because="waiting"),
                name="semantic_fact_waiting",
            ),
            models.Index(
                fields=["tenant", "invalid_at"],
                condition=Q(invalid_at__isnull=False),
                name="semantic_fact_closed",
            ),
            models.Index(
                fields=["invalidated_because", "id"],
                condition=Q(invalid_at__isnull=False),
                name="semantic_fact_by_reason",
            ),
            models.Index(fields=["conversation", "valid_at"], name="semantic_fact_of_conversation"),
            models.Index(fields=["valid_at"], name="semantic_fact_by_time"),
        ]

    def __str__(self) -> str:
        return self.fact


class Evidence(TenantModel):
    """That an episode, and which of its messages, supports a fact."""

    fact = TenantForeignKey(Fact)
    episode = TenantForeignKey(Episode)
    message_seqs = ArrayField(
        models.BigIntegerField(), help_text="Messages that say it; empty: the whole episode."
    )
    changeset = TenantForeignKey(Changeset)
    withdrawn_by = TenantForeignKey(
        Changeset, null=True, help_text="The changeset that took it back; empty: it counts."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "evidence"
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["fact", "episode"],
                condition=Q(withdrawn_by=None),
                name="semantic_evidence_counts_once",
            ),
        ]

    def __str__(self) -> str:
        return f"evidence for {self.fact_id}"


class Change(TenantModel):
    """One step of a changeset. Append-only; holds ids and states, never text.

    The ids carry no foreign key: a change outlives the erasure of what it changed.
    """

    class Action(models.TextChoices):
        NEW = "new", "new"
        MERGE = "merge", "merged into one already held"
        REINFORCE = "reinforce", "reinforced"
        UPDATE = "update", "replaced by a newer version"
        INVALIDATE = "invalidate", "invalidated"
        RESTORE = "restore", "restored"
        WITHDRAW = "withdraw", "evidence taken back"
        RETURN = "return", "evidence counts again"
        SKIP = "skip", "left undone"

    changeset = TenantForeignKey(Changeset)
    position = models.PositiveIntegerField(help_text="Order within the changeset.")
    action = models.CharField(max_length=16, choices=Action.choices)
    memory_id = models.UUIDField(null=True, help_text="What changed; NULL: nothing did.")
    other_memory_id = models.UUIDField(null=True, help_text="What it replaced or came from.")
    note = models.CharField(
        max_length=40, blank=True, help_text="A code: unknown_alias, cap, duplicate, …"
    )
    states = models.JSONField(
        default=dict,
        help_text="By id of each fact that was opened or closed: its state before and after.",
    )

    class Meta(TenantModel.Meta):
        constraints = [
            *TenantModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["changeset", "position"], name="semantic_change_position"
            ),
        ]
        indexes = [
            models.Index(fields=["memory_id"], name="semantic_change_by_memory"),
            models.Index(fields=["other_memory_id"], name="semantic_change_by_other"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.memory_id}"
