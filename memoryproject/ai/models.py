"""What is known of the models that we call over a network."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memoryproject.database.constraints import unique


class Breaker(models.Model):
    """Whether a model is asked at all, shared by every process; times are the database's.

    Closed while `open_until` is empty. After that time one caller may try: its outcome closes
    the breaker, or opens it anew.
    """

    provider = models.CharField(max_length=200, help_text="Host and port of the endpoint.")
    model = models.CharField(max_length=200)
    failures = models.PositiveIntegerField(
        default=0, help_text="In a row, since `counting_since`; an answer sets it to 0."
    )
    counting_since = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when no question was answered; empty: closed."
    )
    open_until = models.DateTimeField(
        null=True, blank=True, help_text="Nobody asks before; empty: closed."
    )
    closed_at = models.DateTimeField(
        null=True, blank=True, help_text="When an answer last ended an outage."
    )
    probing_until = models.DateTimeField(
        null=True, blank=True, help_text="One caller tries; nobody else before this."
    )
    timed_out_scopes = ArrayField(
        models.UUIDField(),
        default=list,
        blank=True,
        help_text="Conversations whose timeouts were counted: others may try before them.",
    )

    class Meta:
        constraints = [unique("ai_breaker_one_a_model", "provider model")]

    def __str__(self) -> str:
        return f"{self.model} at {self.provider}"
