"""Tables of webhooks, events and notifications: ids, never content."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from memoryproject.database.constraints import check, index
from memoryproject.tenancy.fields import TenantForeignKey
from memoryproject.tenancy.models import TenantModel
from wings.events.types import list_choices

URL_AT_MOST = 2_000


class Webhook(TenantModel):
    """A tenant's address that receives signed events.

    The secret is not stored: it is derived from the server's pepper, the id and `secret_version`.
    """

    url = models.CharField(max_length=URL_AT_MOST)
    types = ArrayField(
        models.CharField(max_length=32, choices=list_choices),
        default=list,
        blank=True,
        help_text="Event types that it receives; empty: all.",
    )
    secret_version = models.PositiveIntegerField(
        default=1, help_text="Incremented by each rotation."
    )
    previous_until = models.DateTimeField(
        null=True, help_text="Time until which the old secret signs, too; NULL: none."
    )
    stopped_at = models.DateTimeField(
        null=True, help_text="When it answered 410 Gone; NULL: it is active."
    )
    actor = models.CharField(max_length=200, help_text="Who made it: a key.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta(TenantModel.Meta):
        constraints = [check("events_webhook_secret_version", Q(secret_version__gte=1))]


class Event(TenantModel):
    """An event for one webhook or for people, stored in the transaction of what happened.

    Within a scope events are delivered in order of `created_at`, set by the database's clock under
    the conversation's lock, and then of `id`.
    """

    class State(models.TextChoices):
        PENDING = "pending", "pending"
        DELIVERED = "delivered", "delivered"
        DEAD = "dead", "dead"

    webhook = TenantForeignKey(
        Webhook, null=True, db_index=False, help_text="NULL: for people, in the admin."
    )
    type = models.CharField(max_length=32, choices=list_choices)
    scope = models.UUIDField(
        help_text="Of which one is delivered after the other: the id of a conversation, or the "
        "tenant's."
    )
    data = models.JSONField(help_text="Ids, numbers and words of ours; never text.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.PENDING)
    attempts = models.PositiveIntegerField(default=0, help_text="Failed ones since `queued_at`.")
    queued_at = models.DateTimeField(
        db_default=Now(), help_text="When it was made, or somebody asked for it again."
    )
    retry_at = models.DateTimeField(
        db_default=Now(), help_text="Not before this, by the database's clock."
    )
    status = models.PositiveSmallIntegerField(
        null=True, help_text="Status of the last answer; NULL: none came."
    )
    error_class = models.CharField(
        max_length=200, blank=True, help_text="The class of the last failure, never its message."
    )
    latency_ms = models.PositiveIntegerField(null=True, help_text="Time of the last attempt.")
    created_at = models.DateTimeField(db_default=Now())
    delivered_at = models.DateTimeField(null=True)

    class Meta(TenantModel.Meta):
        permissions = [("redeliver_event", "Can have events delivered again")]
        constraints = [
            check(
                "events_event_delivered_at",
                Q(state="delivered", delivered_at__isnull=False)
                | Q(state__in=["pending", "dead"], delivered_at=None),
            ),
        ]
        indexes = [
            index("events_event_pending", "webhook created_at id", Q(state="pending")),
            index("events_event_due", "retry_at", Q(state="pending")),
            index("events_event_of_webhook", "webhook id"),
            index("events_event_over", "created_at", ~Q(state="pending")),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"


class Notification(TenantModel):
    """A notification of one person in one tenant: what it is about, without text."""

    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="notifications"
    )
    type = models.CharField(max_length=32, choices=list_choices)
    subject = models.UUIDField(help_text="Id of the row to look at; the type tells its table.")
    count = models.PositiveIntegerField(default=1, help_text="How many such things happened.")
    created_at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True, help_text="NULL: the person has not seen it.")
    mail = models.UUIDField(null=True, help_text="The mail that lists it; NULL: none yet.")
    mailed_at = models.DateTimeField(null=True, help_text="When the mail server took that mail.")

    class Meta(TenantModel.Meta):
        indexes = [
            index("events_notification_unread", "person tenant", Q(read_at=None)),
            index("events_notification_unmailed", "tenant created_at", Q(mailed_at=None)),
            index("events_notification_by_time", "created_at"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.subject}"


class MailChoice(models.Model):
    """How often a person gets notifications by mail; the default is once a day."""

    class When(models.TextChoices):
        DAILY = "daily", "Once a day"
        AT_ONCE = "at_once", "At once"
        NEVER = "never", "Never"

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="mail_choice",
    )
    when = models.CharField(max_length=8, choices=When.choices, default=When.DAILY)
    refused_at = models.DateTimeField(
        null=True, help_text="When the mail server last refused the address; NULL: it did not."
    )
