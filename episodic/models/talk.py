"""Tables of conversations, their messages and episodes, and quarantines."""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, RangeBoundary, RangeOperators
from django.contrib.postgres.fields.ranges import BigIntegerRangeField
from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Now

from indexing.languages import LANGUAGES, SIMPLE
from jobs.models import Job
from memoryproject.database.constraints import check, index, unique
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import APIKey, TenantModel
from memoryproject.text.dates import at_offset
from memoryproject.text.parts import Part

Mask = Callable[[str, uuid.UUID | None, str], str]
"""Function that returns the text to show, from a conversation, an engine and the text."""


class Role(models.TextChoices):
    """The role of a speaker, in the terms of chat models."""

    USER = "user", "user"
    ASSISTANT = "assistant", "assistant"
    SYSTEM = "system", "system"
    TOOL = "tool", "tool"


class Quoting:
    """A row whose texts quote messages: people who may not read those see a mask instead."""

    is_masked = False

    def put_masks(self, mask: Callable[[str], str], *names: str) -> None:
        """Replace the loaded texts of these columns by masks; the row can then only be shown."""
        for name in names:
            text = self.__dict__.get(name)
            if text and (masked := mask(text)) != text:
                self.__dict__[name], self.is_masked = masked, True

    def save(self, *args: Any, **options: Any) -> None:
        """Store the row.

        Raises:
            TypeError: its texts were replaced by masks.
        """
        if self.is_masked:
            raise TypeError("A row that is masked for somebody is only shown.")
        super().save(*args, **options)  # type: ignore[misc]


class Conversation(Quoting, TenantModel):
    """The scope of messages, episodes and facts, under a UUID that the agent chose.

    Its row is the lock under which everything in the conversation is written.
    """

    users_by = "user_id"

    external_id = models.UUIDField(help_text="The agent's id; unique within the tenant.")
    user_id = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Its user, by the agent's own id; empty: none was named.",
    )
    agent_id = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="The agent that leads it, by the agent's own id; empty: none was named.",
    )
    next_seq = models.BigIntegerField(default=1, help_text="The seq of the next message.")
    pending_count = models.PositiveIntegerField(
        default=0, help_text="Messages in the window: those in no episode yet."
    )
    window_doubled = models.BooleanField(
        default=False, help_text="One run found no boundary; the window may grow to 40."
    )
    previous_summary = models.TextField(
        blank=True, help_text="Summary of the last episode, for the next segmentation."
    )
    version = models.PositiveBigIntegerField(
        default=0, help_text="Incremented by each write that must abort a running job."
    )
    language = models.CharField(
        max_length=16, choices=[(name, name) for name in LANGUAGES], default=SIMPLE
    )
    withheld_count = models.PositiveBigIntegerField(
        default=0, help_text="Number of quarantined messages: kept, but not learned from or served."
    )
    erased_count = models.PositiveBigIntegerField(
        default=0, help_text="Messages that were erased: each leaves a gap in seq."
    )
    has_corrections = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether a person ever corrected something, so that reading looks for marks.",
    )
    has_tests = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether it has memory tests, which changesets then queue.",
    )
    next_user_id = models.TextField(
        null=True,
        help_text="Whose it becomes once nothing of it stands under its user's scope; empty: "
        "nobody's; NULL: it does not change.",
    )
    in_user_scope = models.BooleanField(
        default=True,
        db_default=False,
        help_text="Whether all that is found of it stands under its user's scope; if not, a job "
        "is to move some of it there.",
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [unique("episodic_conversation_external_id", "tenant external_id")]
        indexes = [
            index("episodic_conversation_by_user", "tenant user_id", ~Q(user_id="")),
            index("episodic_conversation_by_agent", "tenant agent_id", ~Q(agent_id="")),
            index(
                "episodic_conversation_to_move",
                "tenant user_id",
                ~Q(user_id="") & Q(in_user_scope=False),
            ),
        ]

    @property
    def lane(self) -> uuid.UUID:
        """The lane of jobs that draw facts: one for all of a user, so that each sees the last."""
        return uuid.uuid5(self.tenant_id, self.user_id) if self.user_id else self.id

    def mask(self, mask: Mask) -> None:
        self.put_masks(lambda text: mask(text, self.id, ""), "previous_summary")

    def __str__(self) -> str:
        return str(self.external_id)


class Withholding(TenantModel):
    """A quarantine: messages of a source since some time are kept, but not learned from or served.

    The source is defined by the columns that are set; all must match. Lifting it returns the
    messages to the window. Both are done one conversation at a time.
    """

    users_by = "conversation"

    since = models.DateTimeField(help_text="Messages received from then on, by the server's clock.")
    posted_by = TenantForeignKey(APIKey, null=True, help_text="The key that posted it.")
    conversation = TenantForeignKey(Conversation, null=True, help_text="Conversation; empty: any.")
    speaker = models.TextField(blank=True, help_text="The messages' name; empty: any.")
    role = models.CharField(max_length=16, choices=Role.choices, blank=True)
    message_ids = ArrayField(
        models.UUIDField(), null=True, help_text="Only these messages; NULL: any."
    )
    actor = models.CharField(max_length=200, help_text="Who did it: a person or a key.")
    reason = models.TextField(help_text="Reason, in the person's own words.")
    made = models.JSONField(default=dict, help_text="Its effects, in numbers.")
    created_at = models.DateTimeField(db_default=Now())
    lifted_at = models.DateTimeField(null=True, help_text="NULL: it is in effect.")
    lifted_by = models.CharField(max_length=200, blank=True)
    done_at = models.DateTimeField(
        null=True, help_text="NULL: a worker continues to quarantine, or to lift the quarantine."
    )

    class Meta(TenantModel.Meta):
        constraints = [check("episodic_withholding_reasoned", ~Q(reason=""))]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M} by {self.actor}"


class Correction(Protocol):
    """A correction of a stored text, as answers print it beside that text."""

    @property
    def heir_id(self) -> uuid.UUID | None:
        """Return the id of the active fact that replaced the wrong one; None: nothing did."""

    def render(self, links: str) -> Sequence[Part]:
        """Return what answers print, on one line and without brackets."""


class Correctable:
    """A row that may contradict a correction; whoever reads the row sets its `correction`."""

    correction: Correction | None = None


class Episode(Quoting, Correctable, TenantModel):
    """A run of consecutive messages: something that happened. Shares its id with a Memory."""

    users_by = "conversation"

    conversation = TenantForeignKey(Conversation, db_index=False)
    first_seq = models.BigIntegerField(help_text="First message, included.")
    last_seq = models.BigIntegerField(help_text="Last message, included.")
    title = models.TextField(help_text="5 to 15 words.")
    summary = models.TextField(help_text="At most 50 words.")
    stability = models.FloatField(help_text="FSRS: days until retrievability falls to 0.9.")
    difficulty = models.FloatField(help_text="FSRS: 1 (easy) to 10.")
    surprise = models.FloatField(help_text="0 (expected) to 1 (changes everything); fixed.")
    start_at = models.DateTimeField(help_text="Time of its first message.")
    end_at = models.DateTimeField(help_text="Time of its last message.")
    created_at = models.DateTimeField(db_default=Now())
    last_reviewed_at = models.DateTimeField(help_text="At first equal to created_at.")
    consolidated_at = models.DateTimeField(
        null=True, help_text="NULL: facts are not extracted yet."
    )
    consolidation_failed_at = models.DateTimeField(
        null=True, help_text="Set when extracting facts failed finally; waits for a retry."
    )
    engine = models.CharField(max_length=40, help_text="The engine that made it.")
    degraded = models.BooleanField(
        default=False, help_text="The offline engine replaced a failing model."
    )
    withheld_by = TenantForeignKey(
        Withholding,
        null=True,
        help_text="Why it was taken apart: it is kept as a record without messages.",
    )

    class Meta(TenantModel.Meta):
        constraints = [
            check("episodic_episode_range", Q(first_seq__gte=1, last_seq__gte=F("first_seq"))),
            check("episodic_episode_surprise", Q(surprise__gte=0, surprise__lte=1)),
            check(
                "episodic_episode_fsrs", Q(stability__gt=0, difficulty__gte=1, difficulty__lte=10)
            ),
            check("episodic_episode_worded", ~Q(title="") & ~Q(summary="")),
            ExclusionConstraint(
                name="episodic_episode_no_overlap",
                expressions=[
                    ("tenant", RangeOperators.EQUAL),
                    ("conversation", RangeOperators.EQUAL),
                    (
                        Func(
                            F("first_seq"),
                            F("last_seq"),
                            RangeBoundary(inclusive_lower=True, inclusive_upper=True),
                            function="int8range",
                            output_field=BigIntegerRangeField(),
                        ),
                        RangeOperators.OVERLAPS,
                    ),
                ],
                condition=Q(withheld_by=None),
            ),
        ]
        indexes = [
            index("episodic_episode_by_creation", "conversation created_at"),
            index("episodic_episode_in_order", "conversation first_seq"),
            index(
                "episodic_episode_fresh",
                "conversation first_seq",
                Q(consolidated_at=None, consolidation_failed_at=None),
            ),
        ]

    def mask(self, mask: Mask) -> None:
        self.put_masks(
            lambda text: mask(text, self.conversation_id, self.engine), "title", "summary"
        )

    def __str__(self) -> str:
        return self.title


class Message(Correctable, TenantModel):
    """One thing said, kept as it was posted.

    It is in the window while `episode` is NULL. Draining the window sets `episode`;
    only an erasure deletes a message, so it is in the window or in exactly one episode.
    """

    users_by = "conversation"

    conversation = TenantForeignKey(Conversation, db_index=False)
    seq = models.BigIntegerField(
        help_text="Number in the conversation: 1, 2, 3, …; only erased messages leave gaps."
    )
    role = models.CharField(max_length=16, choices=Role.choices)
    name = models.TextField(blank=True, help_text="Who spoke; empty: only the role is known.")
    user_id = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Its user, by the agent's own id; empty: the conversation's user.",
    )
    content = models.TextField(help_text="As posted: not trimmed, not normalised.")
    occurred_at = models.DateTimeField(help_text="When it was said, by the agent's clock.")
    utc_offset = models.SmallIntegerField(
        default=0,
        db_default=0,
        help_text="Minutes that the agent's clock was ahead of UTC, which gives the speaker's day.",
    )
    received_at = models.DateTimeField(db_default=Now(), help_text="By the database's clock.")
    posted_by = TenantForeignKey(APIKey, null=True, help_text="The key that posted it.")
    client_key = models.CharField(
        max_length=255, null=True, help_text="Idempotency key of the request that posted it."
    )
    client_index = models.PositiveSmallIntegerField(
        default=0, help_text="Place in that request's batch."
    )
    body_sha256 = models.CharField(
        max_length=64,
        blank=True,
        help_text="Hash of the whole request, if it has an idempotency key.",
    )
    pending_after = models.PositiveIntegerField(
        help_text="Messages in the window just after this one, for the answer to a retry."
    )
    metadata = models.JSONField(default=dict, help_text="The agent's own data, returned unchanged.")
    token_sizes = models.JSONField(
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        help_text="Quarters of a token of the cleaned content, by counter.",
    )
    episode = TenantForeignKey(Episode, null=True, db_index=False)
    quarantined_by = TenantForeignKey(
        Job, null=True, help_text="The job that no engine could finish because of this message."
    )
    withheld_by = TenantForeignKey(
        Withholding,
        null=True,
        help_text="The quarantine because of which it is not learned from or served; NULL: none.",
    )

    class Meta(TenantModel.Meta):
        permissions = [
            ("read_content", "Can read what was said"),
            ("reveal_content", "Can have a conversation shown, which is recorded"),
        ]
        constraints = [
            unique("episodic_message_seq", "tenant conversation seq"),
            unique("episodic_message_client_key", "tenant conversation client_key client_index"),
            check("episodic_message_seq_positive", Q(seq__gte=1)),
            check("episodic_message_not_empty", ~Q(content="")),
            check("episodic_message_role_known", Q(role__in=Role.values)),
        ]
        indexes = [
            index(
                "episodic_message_window", "conversation seq", Q(episode=None, quarantined_by=None)
            ),
            index("episodic_message_waiting", "received_at", Q(episode=None, quarantined_by=None)),
            index("episodic_message_by_episode", "episode seq"),
            index("episodic_message_by_user", "tenant user_id", ~Q(user_id="")),
        ]

    @property
    def said_at(self) -> datetime:
        """Time of the message on the speaker's clock, which decides what "yesterday" means."""
        return at_offset(self.occurred_at, self.utc_offset)

    @classmethod
    def of_users(cls, users: Sequence[str]) -> Q:
        """Return the messages of users' conversations, and those in others that name them as user.

        The user of a conversation may read everything in it.
        """
        return super().of_users(users) | Q(user_id__in=users) & ~Q(user_id="")

    def __str__(self) -> str:
        return f"message {self.seq}"
