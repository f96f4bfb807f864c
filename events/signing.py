"""Signs deliveries as the Standard Webhooks specification says: HMAC-SHA256, `v1`.

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

import base64
import hmac
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings

from events.models import Webhook

PREFIX = "whsec_"


def write_secret(webhook: Webhook) -> str:
    """Return the secret that signs now, as its owner keeps it: `whsec_` and base64."""
    return PREFIX + base64.b64encode(_derive(webhook, webhook.secret_version)).decode()


def sign(webhook: Webhook, *, message_id: str, body: bytes, now: datetime) -> dict[str, str]:
    """Return the headers of a delivery; after a rotation both secrets sign for a while."""
    timestamp = str(int(now.timestamp()))
    signed = b".".join([message_id.encode(), timestamp.encode(), body])
    signatures = [
        base64.b64encode(hmac.digest(_derive(webhook, version), signed, "sha256")).decode()
        for version in _versions(webhook, now)
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(f"v1,{signature}" for signature in signatures),
    }


def _versions(webhook: Webhook, now: datetime) -> Iterable[int]:
    yield webhook.secret_version
    if webhook.previous_until is not None and now < webhook.previous_until:
        yield webhook.secret_version - 1


def _derive(webhook: Webhook, version: int) -> bytes:
    """Return 32 bytes that only this server can make, and that no dump of tables holds."""
    named = f"webhook:{webhook.id}:{version}".encode()
    return hmac.digest(settings.KEY_PEPPER.encode(), named, "sha256")
