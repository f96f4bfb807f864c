"""Table of the models that we call over a network."""

from django.contrib.postgres.fields import ArrayField
from django.db import models

from memoryproject.database.constraints import unique


class Breaker(models.Model):
    """Whether a model may be called, shared by every process; times are the database's.

    Closed while `open_until` is empty. After that time one caller may try: the result closes the
    breaker, or opens it again.
    """

    provider = models.CharField(max_length=200, help_text="Host and port of the endpoint.")
    model = models.CharField(max_length=200)
    failures = models.PositiveIntegerField(
        default=0, help_text="Failures in a row since `counting_since`; an answer resets them."
    )
    counting_since = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(
        null=True, blank=True, help_text="Time since which no question was answered; empty: closed."
    )
    open_until = models.DateTimeField(
        null=True, blank=True, help_text="Time before which nobody asks; empty: closed."
    )
    closed_at = models.DateTimeField(
        null=True, blank=True, help_text="Time of the answer that ended the last outage."
    )
    probing_until = models.DateTimeField(
        null=True, blank=True, help_text="One caller tries; others wait until then."
    )
    timed_out_scopes = ArrayField(
        models.UUIDField(),
        default=list,
        blank=True,
        help_text="Conversations whose timeouts were counted: others try before them.",
    )
    fault = models.CharField(
        max_length=300,
        blank=True,
        db_default="",
        help_text="What an operator must fix; empty: nothing known.",
    )
    learnt_at = models.DateTimeField(
        null=True, blank=True, help_text="When the limits below were found out; they hold an hour."
    )
    context_tokens = models.PositiveIntegerField(
        null=True, blank=True, help_text="Size of its context, prompt and answer, in tokens."
    )
    texts_at_most = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of an embedding model: texts in one request."
    )
    characters_at_most = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of an embedding model: characters of one text."
    )

    class Meta:
        constraints = [unique("ai_breaker_one_a_model", "provider model")]

    def __str__(self) -> str:
        return f"{self.model} at {self.provider}"
