"""Signs events and posts them to webhooks, only to permitted addresses, within ten seconds.

The signature is that of the Standard Webhooks specification, HMAC-SHA256 `v1`:
https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

import httpx2
from django.conf import settings

from memoryproject.ai.transport import JudgingTransport, find_proxy
from memoryproject.edge.fields import say_moment
from memoryproject.process.addresses import is_callable
from memoryproject.process.outward import Line
from wings.events.models import Event, Webhook

PREFIX = "whsec_"


def write_secret(webhook: Webhook) -> str:
    """Return the current signing secret in the form for its owner: `whsec_` and base64."""
    return PREFIX + base64.b64encode(_derive(webhook, webhook.secret_version)).decode()


def sign(webhook: Webhook, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of a delivery; for a while after a rotation, with two signatures."""
    timestamp = str(int(now.timestamp()))
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    versions = [webhook.secret_version]
    if webhook.previous_until is not None and now < webhook.previous_until:
        versions.append(webhook.secret_version - 1)
    signatures = [
        base64.b64encode(hmac.digest(_derive(webhook, version), signed, "sha256")).decode()
        for version in versions
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _derive(webhook: Webhook, version: int) -> bytes:
    """Return 32 bytes that only this server can compute, and that no table has."""
    named = f"webhook:{webhook.id}:{version}".encode()
    return hmac.digest(settings.KEY_PEPPER.encode(), named, "sha256")


TIMEOUT_S = 10.0
"""Seconds for a whole delivery, from the name lookup to the status."""
GONE = 410
TEST = "webhook.test"
"""Type of the event that a person sends to try a webhook."""
USER_AGENT = "memory-server-webhooks/1"


class Outcome(NamedTuple):
    """The answer of a receiver; no `status`: none came, and `error` is the class of the cause."""

    status: int | None
    error: str
    latency_ms: int

    @property
    def is_delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    def __str__(self) -> str:
        answer = f"no answer ({self.error})" if self.status is None else f"status {self.status}"
        return f"{answer} after {self.latency_ms} ms"


def is_refused(address: str) -> bool:
    return not is_callable(address, settings.WEBHOOK_NETWORKS)


class Sender(NamedTuple):
    """A client, and its open connections."""

    client: httpx2.Client
    line: Line


@contextmanager
def sending_to(url: str) -> Iterator[Sender]:
    """Yield a client that follows no redirects, and connects to no forbidden address.

    If the environment names a proxy for the address, the proxy resolves and checks names.
    """
    with httpx2.Client(
        transport=JudgingTransport(proxy=find_proxy(url), is_refused=is_refused),
        follow_redirects=False,
        timeout=TIMEOUT_S,
        headers={"User-Agent": USER_AGENT, "Content-Type": "application/json"},
    ) as client:
        yield Sender(client, Line())


def send_test(webhook: Webhook, *, now: datetime) -> Outcome:
    """Post an event of the type `webhook.test`, which is not stored; see `send`."""
    data = {"webhook_id": str(webhook.id)}
    event = Event(tenant=webhook.tenant, type=TEST, data=data, created_at=now)
    with sending_to(webhook.url) as sender:
        return send(sender, webhook, event, now=now)


def send(sender: Sender, webhook: Webhook, event: Event, *, now: datetime) -> Outcome:
    """Post an event and return the result.

    Only the status and up to 100 kB of headers of the answer are read.
    """
    fields = {"type": event.type, "timestamp": say_moment(event.created_at), "data": event.data}
    # The same bytes at each attempt.
    body = json.dumps(fields, separators=(",", ":"), sort_keys=True).encode()
    headers = sign(webhook, message_id=str(event.id), body=body, now=now)

    def post() -> int:
        extensions = {"trace": sender.line.note}
        with sender.client.stream(
            "POST", webhook.url, content=body, headers=headers, extensions=extensions
        ) as answer:
            return answer.status_code

    started = time.monotonic()
    status, error = None, ""
    try:
        status = sender.line.run(post, within_s=TIMEOUT_S)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as failure:
        error = type(failure).__name__
    return Outcome(status, error, round(1000 * (time.monotonic() - started)))
