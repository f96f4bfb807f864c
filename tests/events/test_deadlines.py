"""A delivery or a mail ends in its time by the clock, however slowly it is answered."""

from __future__ import annotations

import smtplib
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.core.mail import EmailMessage, get_connection

from jobs.draining import drain_jobs
from memoryproject.process.outward import Line
from tests.conftest import Agent
from tests.events.dripping import dripping
from tests.events.test_webhooks import LOOPBACK, add
from wings.events import sending, smtp
from wings.events.models import Event

pytestmark = pytest.mark.django_db
TIMEOUT_S = 0.5
LONG_S = 20.0
"""What a busy machine may add; the drippers never end by themselves."""


@pytest.fixture(autouse=True)
def short(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOK_NETWORKS = LOOPBACK
    monkeypatch.setattr(sending, "TIMEOUT_S", TIMEOUT_S)
    monkeypatch.setattr(smtp, "TIMEOUT_S", TIMEOUT_S)


def test_the_times_are_those_that_are_promised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert (sending.TIMEOUT_S, smtp.TIMEOUT_S) == (10.0, 10.0)


@pytest.mark.parametrize(
    "greeting",
    [b"", b"HTTP/1.1 200 OK\r\nX-A: ", b"HTTP/1.1 200 OK\r\nA: b\r\n"],
    ids=["nothing of sense", "a header", "headers"],
)
def test_a_receiver_that_drips_is_let_go(ana: Agent, greeting: bytes) -> None:
    with dripping(greeting=greeting) as dripper:
        add(ana, f"http://127.0.0.1:{dripper.port}/")
        started = time.monotonic()
        erase(ana)
        drain_jobs()
        assert time.monotonic() - started < LONG_S
        event = Event.objects.of(ana.tenant).get(webhook__isnull=False)
        assert (event.state, event.status) == ("pending", None)
        # Whichever clock strikes first: that of the delivery, or that of the connection.
        assert event.error_class in {"TimeoutError", "ReadTimeout"}
        assert event.latency_ms is not None and event.latency_ms >= 1000 * TIMEOUT_S
        assert dripper.connections == 1 and dripper.is_left_alone()


def test_headers_without_end_are_not_read_to_it(
    ana: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TIMEOUT_S", LONG_S)
    header = b"X-A: " + 8192 * b"a" + b"\r\n"
    with dripping(greeting=b"HTTP/1.1 200 OK\r\n", drop=header) as dripper:
        dripper.every_s = 0.0
        add(ana, f"http://127.0.0.1:{dripper.port}/")
        erase(ana)
        drain_jobs()
        event = Event.objects.of(ana.tenant).get(webhook__isnull=False)
        assert (event.status, event.error_class) == (None, "RemoteProtocolError")
        assert dripper.is_left_alone()


def erase(agent: Agent) -> None:
    """Let something happen that a webhook is told of."""
    conversation = uuid.uuid4()
    agent.say(conversation, "I live in Porto.")
    wish = {"scope": "conversation", "id": str(conversation), "reason": "asked for"}
    assert agent.post("erasures", wish).status_code in (200, 202)


@pytest.fixture
def mail_settings(settings: Any) -> Iterator[Any]:
    settings.EMAIL_BACKEND = "wings.events.smtp.Backend"
    settings.EMAIL_HOST, settings.EMAIL_USE_TLS = "127.0.0.1", False
    return settings


def send_mail() -> None:
    with closing(get_connection()) as connection:
        EmailMessage("s", "b", "a@example.org", ["b@example.org"], connection=connection).send()


@pytest.mark.parametrize("greeting", [b"", b"220-"], ids=["nothing of sense", "a greeting"])
def test_a_mail_server_that_drips_is_let_go(mail_settings: Any, greeting: bytes) -> None:
    with dripping(greeting=greeting) as dripper:
        mail_settings.EMAIL_PORT = dripper.port
        started = time.monotonic()
        with pytest.raises(TimeoutError):
            send_mail()
        assert TIMEOUT_S <= time.monotonic() - started < LONG_S
        assert dripper.connections == 1 and dripper.is_left_alone()


def test_a_mail_server_that_answers_without_end_is_let_go(
    mail_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(smtp, "TIMEOUT_S", LONG_S)
    with dripping(drop=b"220-" + 400 * b"a" + b"\r\n") as dripper:
        dripper.every_s = 0.0
        mail_settings.EMAIL_PORT = dripper.port
        with pytest.raises(smtplib.SMTPServerDisconnected, match="without end"):
            send_mail()
        assert dripper.is_left_alone()


def test_what_fails_within_its_time_fails_as_it_would_without() -> None:
    with pytest.raises(ZeroDivisionError):
        Line().run(lambda: 1 // 0, within_s=LONG_S)
    assert Line().run(lambda: 1 + 1, within_s=LONG_S) == 2
