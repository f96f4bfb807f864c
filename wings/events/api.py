"""A tenant's webhooks and their events, for keys with the scope `admin`."""

import uuid
from datetime import timedelta

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import Column, ContentField, Output, Strict, WordField
from memoryproject.edge.pages import PlaceQuery, describe_page
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from wings.events import outbox, sending
from wings.events.models import URL_AT_MOST, Event, Webhook
from wings.events.types import list_choices

OVERLAP = timedelta(days=1)
"""Time after a rotation for which the old secret signs, too."""


class EventTypeField(WordField):
    """A type of event; those of wings that are loaded later, too."""

    choices = property(lambda self: dict(list_choices()), lambda self, given: None)

    def __init__(self, *help_text: str) -> None:
        super().__init__(*help_text, choices=())

    def to_representation(self, value: str) -> str:
        return value


class WebhookInput(Strict):
    """The body of `webhooks`."""

    url = ContentField("A public http or https address.", max_length=URL_AT_MOST)
    types = serializers.ListField(
        child=EventTypeField(),
        required=False,
        help_text="What it is told; absent or empty: everything.",
    )


class WebhookOutput(Output):
    """A webhook, without its secret."""

    table = Webhook
    id = Column("The id of the webhook.")
    url = Column("The address that is told.")
    types = serializers.ListField(
        child=EventTypeField(), help_text="The types of events that it is told; empty: all."
    )
    previous_until = Column(
        "Until then deliveries carry the signature of the secret before, too; null: of one secret "
        "alone."
    )
    stopped_at = Column(
        "When the address answered 410 Gone: since then it is told nothing; null: it is told."
    )
    actor = Column("Who made it: a key.")
    created_at = Column("When it was made.")


class WebhookWithSecret(WebhookOutput):
    """A webhook with its signing secret."""

    secret = serializers.SerializerMethodField(
        help_text="What signs: `whsec_` and base64. It is shown when it is made and never again."
    )

    def get_secret(self, webhook: Webhook) -> str:
        return sending.write_secret(webhook)


class EventOutput(Output):
    """An event, and the state of its delivery."""

    table = Event
    id = Column("The id of the event, the same at each attempt: `webhook-id` of the delivery.")
    type = EventTypeField("What happened.")
    data = serializers.DictField(
        child=serializers.JSONField(),
        help_text="Ids, numbers and words of the server's own; never text.",
    )  # type: ignore[assignment]
    state = Column(
        "`pending`: it waits, or failed and is tried again; `delivered`; `dead`: it failed for a "
        "day."
    )
    attempts = Column("How many attempts failed since it was made, or asked for again.")
    status = Column("The status of the last answer; null: there was none.")
    error = Column(
        "The class of the last failure, where no answer came; null: there was none.",
        "error_class",
        allow_null=True,
    )
    latency_ms = Column("How long the last attempt took; null: there was none.")
    retry_at = Column("Before this there is no other attempt.")
    created_at = Column("When it happened.")
    delivered_at = Column("When it was received; null: not yet.")


class EventQuery(PlaceQuery):
    state = WordField(
        "`pending`: it waits, or failed and is tried again; `delivered`; `dead`: it failed for a "
        "day.",
        choices=Event.State.choices,
        required=False,
    )


class WebhookView(KeyedView):
    """Finds a webhook of the caller's tenant."""

    scope = Scope.ADMIN

    def find(self, webhook_id: uuid.UUID) -> Webhook:
        return get_row(Webhook.objects.of(self.tenant()), "webhook", id=webhook_id)


class Webhooks(WebhookView):
    """Lists and creates webhooks."""

    @describe_page("list_webhooks", PlaceQuery, WebhookOutput, "WebhookPage")
    def get(self, request: Request) -> Response:
        """List webhooks.

        200: A page of webhooks, without their secrets.
        """
        return self.list_page(Webhook.objects.of(self.tenant()), WebhookOutput)

    @describe("add_webhook", WebhookInput, {201: WebhookWithSecret})
    def post(self, request: Request) -> Response:
        """Have an address told what happens.

        Has an address of yours told what happens to the tenant's memory: a POST of JSON with
        `type`, `timestamp` and `data`, which holds ids and numbers, never text. Each is signed as
        the Standard Webhooks specification says, at least once, those of one conversation in order.
        An answer of 2xx within ten seconds counts as received.
        201: The webhook, with its secret. Keep it: it is not shown again.
        """
        params, tenant = self.read(WebhookInput), self.tenant()
        webhook = outbox.add_webhook(
            tenant=tenant, url=params["url"], types=params.get("types", []), actor=self.actor()
        )
        return Response(WebhookWithSecret(webhook).data, status=201)


class OneWebhook(WebhookView):
    """Shows and deletes a webhook."""

    @describe("get_webhook", answers=WebhookOutput)
    def get(self, request: Request, webhook_id: uuid.UUID) -> Response:
        """Show a webhook.

        200: The webhook, without its secret.
        """
        return Response(WebhookOutput(self.find(webhook_id)).data)

    @describe("delete_webhook", None, {204: None})
    def delete(self, request: Request, webhook_id: uuid.UUID) -> Response:
        """Delete a webhook.

        204: It is deleted with its events, those that wait included.
        """
        outbox.delete_webhook(self.find(webhook_id))
        return Response(status=204)


class RotateWebhook(WebhookView):
    @describe("rotate_webhook", None, WebhookWithSecret)
    def post(self, request: Request, webhook_id: uuid.UUID) -> Response:
        """Give a webhook a new secret.

        Makes a new secret. For a day deliveries carry two signatures, the new secret's and the
        one's before, so that none is refused meanwhile.
        200: The webhook, with its new secret.
        """
        webhook = self.find(webhook_id)
        webhook.secret_version += 1
        webhook.previous_until = read_database_clock() + OVERLAP
        webhook.save(update_fields=["secret_version", "previous_until"])
        return Response(WebhookWithSecret(webhook).data)


class WebhookEvents(WebhookView):
    @describe_page("list_webhook_events", EventQuery, EventOutput, "WebhookEventPage")
    def get(self, request: Request, webhook_id: uuid.UUID) -> Response:
        """List what a webhook was told.

        What the webhook was told or is to be told, newest first. Failed attempts are repeated for a
        day, less and less often; then an event is dead. What is over is shown for 30 days.
        200: A page of events, and how the delivery of each stands.
        """
        rows = Event.objects.of(self.tenant()).filter(webhook=self.find(webhook_id))
        return self.list_page(rows, EventOutput, self.read_query(EventQuery))


class RedeliverEvent(WebhookView):
    @describe("redeliver_event", None, {202: EventOutput, 404: Error})
    def post(self, request: Request, event_id: uuid.UUID) -> Response:
        """Deliver an event once more.

        Has an event delivered once more, under the same id, whatever became of it.
        202: The event waits; a worker delivers it soon.
        """
        event = get_row(Event.objects.of(self.tenant()), "event", id=event_id)
        outbox.redeliver(event)
        return Response(EventOutput(event).data, status=202)
