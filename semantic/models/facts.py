"""Tables of facts, their evidence, and changesets with their changes."""

from collections.abc import Sequence

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.functions import Now

from episodic.models import Conversation, Correctable, Episode
from memoryproject.database.constraints import check, choices_of, index, unique, values_of
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel
from semantic.engines import Category
from semantic.patterns import read_text


class Changeset(TenantModel):
    """One consolidation run, curation action, import or erasure. Append-only."""

    users_by = "conversation"

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
    case_id = models.UUIDField(
        null=True, help_text="The receipt of the answer that led to it; NULL: none was named."
    )

    class Meta(TenantModel.Meta):
        indexes = [index("semantic_changeset_by_time", "tenant started_at")]


DANGERS = read_text("facts.dangers")
"""A PostgreSQL regular expression."""


class Fact(Correctable, TenantModel):
    """A statement believed in a conversation during one span of time.

    A fact is never edited. When the world changes, the old fact is retired and a new one
    created, so that a past answer can always be explained from what was active then. Two kinds
    of time: `valid_at` and `valid_until` say when it was true in the world, `created_at` and
    `invalid_at` when the server believed it. Shares its id with a Memory. One that is pending
    review has never been active: nobody is served it.
    """

    users_by = "conversation"

    class Because(models.TextChoices):
        SUPERSEDED = "superseded", "the world changed"
        WRONG = "wrong", "it was never true"
        REVERTED = "reverted", "what brought it was undone"
        ERASED = "erased", "it was erased"
        WAITING = "waiting", "it waits for a curator"
        FORGOTTEN = "forgotten", "a user asked to forget it"

    HIDDEN = (Because.WAITING, Because.FORGOTTEN)
    """Reasons for which a fact is shown only to people who decide on the review queue."""

    conversation = TenantForeignKey(Conversation, db_index=False)
    user_id = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Whose it is, where all messages that say it name another user than the "
        "conversation's; empty: the conversation's.",
    )
    category = models.CharField(max_length=16, choices=choices_of(Category))
    fact = models.TextField(help_text="One sentence, understandable by itself.")
    keywords = ArrayField(models.TextField(), default=list, help_text="Names and nouns.")
    search_text = models.GeneratedField(
        expression=Func(F("fact"), F("keywords"), function="public.memory_search_text"),
        output_field=models.TextField(),
        db_persist=True,
    )
    is_pinned = models.GeneratedField(
        expression=Case(
            When(Q(category=Category.GUIDELINE.value) | Q(fact__iregex=DANGERS), then=Value(True)),
            default=Value(False),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
        help_text="Guidelines and dangers, which agents get without asking.",
    )
    content_hash = models.CharField(
        max_length=64, help_text="SHA-256 of the normalized sentence: a fact is active once."
    )
    version = models.PositiveIntegerField(
        default=1, help_text="Incremented by each change of state."
    )
    changeset = TenantForeignKey(Changeset, help_text="What brought it in.")
    valid_at = models.DateTimeField(help_text="Time from which it was true in the world.")
    valid_until = models.DateTimeField(
        null=True, help_text="Time until which it was true; NULL: still true."
    )
    created_at = models.DateTimeField(db_default=Now())
    invalid_at = models.DateTimeField(
        null=True, help_text="When the server stopped believing it; NULL: active."
    )
    invalidated_because = models.CharField(max_length=16, choices=Because.choices, blank=True)
    superseded_by = TenantForeignKey("self", null=True)

    class Meta(TenantModel.Meta):
        permissions = [("curate_fact", "Can correct, invalidate, restore and revert")]
        constraints = [
            unique(
                "semantic_fact_held_once", "tenant conversation content_hash", Q(invalid_at=None)
            ),
            check("semantic_fact_category_known", Q(category__in=values_of(Category))),
            check("semantic_fact_not_empty", ~Q(fact="")),
            check(
                "semantic_fact_closed_for_a_reason",
                Q(invalid_at=None, invalidated_because="", superseded_by=None)
                | (Q(invalid_at__isnull=False) & ~Q(invalidated_because="")),
            ),
        ]
        indexes = [
            index("semantic_fact_active", "conversation created_at", Q(invalid_at=None)),
            index(
                "semantic_fact_pinned",
                "conversation created_at",
                Q(invalid_at=None, is_pinned=True),
            ),
            index("semantic_fact_declared_wrong", "conversation", Q(invalidated_because="wrong")),
            index("semantic_fact_waiting", "tenant id", Q(invalidated_because="waiting")),
            index("semantic_fact_closed", "tenant invalid_at", Q(invalid_at__isnull=False)),
            index("semantic_fact_by_reason", "invalidated_because id", Q(invalid_at__isnull=False)),
            index("semantic_fact_of_conversation", "conversation valid_at"),
            index("semantic_fact_by_time", "valid_at"),
        ]

    @classmethod
    def of_users(cls, users: Sequence[str]) -> Q:
        """Return the facts of users' conversations, and facts that only they stated in others."""
        return super().of_users(users) | Q(user_id__in=users) & ~Q(user_id="")

    def __str__(self) -> str:
        return self.fact


class Evidence(TenantModel):
    """The support of a fact by an episode, and by which of its messages."""

    fact = TenantForeignKey(Fact)
    episode = TenantForeignKey(Episode)
    conversation = TenantForeignKey(
        Conversation,
        null=True,
        db_index=False,
        help_text="The episode's, where that is not the fact's own; NULL: it is.",
    )
    message_seqs = ArrayField(
        models.BigIntegerField(), help_text="Messages that say it; empty: the whole episode."
    )
    changeset = TenantForeignKey(Changeset)
    withdrawn_by = TenantForeignKey(
        Changeset, null=True, help_text="The changeset that withdrew it; empty: it is valid."
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        verbose_name_plural = "evidence"
        constraints = [
            unique("semantic_evidence_counts_once", "tenant fact episode", Q(withdrawn_by=None))
        ]
        indexes = [
            index("semantic_evidence_elsewhere", "conversation fact", Q(conversation__isnull=False))
        ]

    def __str__(self) -> str:
        return f"evidence for {self.fact_id}"


class Change(TenantModel):
    """One step of a changeset. Append-only; contains ids and states, never text.

    The ids are no foreign keys: a change outlives the erasure of what it changed.
    """

    class Action(models.TextChoices):
        NEW = "new", "new"
        MERGE = "merge", "merged into an active one"
        REINFORCE = "reinforce", "reinforced"
        UPDATE = "update", "replaced by a newer version"
        INVALIDATE = "invalidate", "invalidated"
        RESTORE = "restore", "restored"
        WITHDRAW = "withdraw", "evidence taken back"
        RETURN = "return", "evidence restored"
        SKIP = "skip", "left undone"
        SUGGEST = "suggest", "suggested to curators"

    changeset = TenantForeignKey(Changeset)
    position = models.PositiveIntegerField(help_text="Order within the changeset.")
    action = models.CharField(max_length=16, choices=Action.choices)
    memory_id = models.UUIDField(null=True, help_text="What changed; NULL: nothing did.")
    other_memory_id = models.UUIDField(
        null=True, help_text="The fact that it replaced, or the episode it came from."
    )
    note = models.CharField(
        max_length=40,
        blank=True,
        help_text="Code of a reason: unknown_alias, cap, duplicate, …",
    )
    states = models.JSONField(
        default=dict,
        help_text="State before and after, by id of each fact that was opened or closed.",
    )

    class Meta(TenantModel.Meta):
        constraints = [unique("semantic_change_position", "tenant changeset position")]
        indexes = [
            index("semantic_change_by_memory", "memory_id"),
            index("semantic_change_by_other", "other_memory_id"),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.memory_id}"
