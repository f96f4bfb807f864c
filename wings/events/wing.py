"""Webhooks, notifications and mail."""

from django.urls import path

from jobs.flows import Flow
from jobs.models import Kind
from memoryproject.wings import Wing
from wings.events import announcing, api, flow, mail, notices, types

WING = Wing(
    routes=(
        path("webhooks", api.Webhooks.as_view()),
        path("webhooks/<id:webhook_id>", api.OneWebhook.as_view()),
        path("webhooks/<id:webhook_id>/rotate", api.RotateWebhook.as_view()),
        path("webhooks/<id:webhook_id>/events", api.WebhookEvents.as_view()),
        path("events/<id:event_id>/redeliver", api.RedeliverEvent.as_view()),
    ),
    events=types.OWN,
    flows={
        Kind.DELIVER: Flow(run=flow.deliver, asks_model=False),
        Kind.MAIL: Flow(run=mail.send_mails, asks_model=False),
    },
    chores=(
        flow.queue_retries,
        flow.announce_spent_budgets,
        flow.announce_near_budgets,
        flow.delete_old,
        notices.notify_people,
        mail.queue_mails,
    ),
    on_death=flow.announce_death,
    on_episodes=announcing.announce_episodes,
    on_changeset=announcing.announce_changes,
)
