"""Webhooks are told what happened: signed, in order, at least once, and never a word of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from jobs.reconciler import reconcile
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent, tell
from tests.events.receiver import Receiver, receiving
from tests.talk import whole_talk
from wings.erasure.flow import ERASURE_DONE
from wings.events import flow
from wings.events.models import Event, Webhook
from wings.events.outbox import announce

pytestmark = pytest.mark.django_db
LOOPBACK = [ip_network("127.0.0.0/8")]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.WEBHOOK_NETWORKS = LOOPBACK
    with receiving() as receiver:
        yield receiver


def add(agent: Agent, url: str, *types: str) -> dict[str, Any]:
    answer = agent.post("webhooks", {"url": url, "types": list(types)})
    assert answer.status_code == 201, answer.content
    made: dict[str, Any] = answer.json()
    return made


def drain_again(tenant: Any) -> None:
    """Let the time pass that failed events and their jobs wait."""
    Event.objects.of(tenant).update(retry_at=F("queued_at"))
    Job.objects.of(tenant).filter(kind=Kind.DELIVER).update(run_after=F("created_at"))
    reconcile()
    drain_jobs()


def test_a_conversation_is_told_in_order_and_signed(
    ana: Agent, cleo: Agent, conversation: uuid.UUID, receiver: Receiver
) -> None:
    secret = add(ana, receiver.url)["secret"]
    add(cleo, receiver.url + "/cleo")
    tell(ana, conversation)
    types = receiver.types()
    assert (
        types[0] == "episode.created"
        and types.count("fact.added") == Fact.objects.of(ana.tenant).filter(invalid_at=None).count()
    )
    assert types.index("fact.added") > max(
        place for place, one in enumerate(types) if one == "episode.created"
    )
    assert all(one.is_signed_by(secret) for one in receiver.deliveries)
    assert {one.json["data"]["conversation_id"] for one in receiver.deliveries} == {
        str(conversation)
    }
    said = ana.get("facts").json()["items"][0]["fact"].encode()
    assert not any(said in one.body for one in receiver.deliveries)
    (webhook,) = ana.get("webhooks").json()["items"]
    events = ana.get(f"webhooks/{webhook['id']}/events").json()["items"]
    assert {one["state"] for one in events} == {"delivered"}
    assert [one["id"] for one in reversed(events)] == [
        one.headers["webhook-id"] for one in receiver.deliveries
    ]
    assert_problem(cleo.get(f"webhooks/{webhook['id']}/events"), 404)


def test_a_fact_that_answers_had_served_is_corrected_with_its_receipts(
    ana: Agent, told: uuid.UUID, receiver: Receiver
) -> None:
    add(ana, receiver.url, "fact.corrected", "fact.retired")
    asked = {"conversation_id": str(told), "query": "Where?"}
    served = ana.post("retrieve_memory/raw", asked).json()
    fact = served["semantic"][0]["id"]
    better = {"fact": "Mira lives in Utrecht.", "reason": "She said so."}
    ana.post(f"facts/{fact}/correct", better)
    drain_jobs()
    retired, corrected = receiver.deliveries
    assert retired.json["type"] == "fact.retired"
    assert corrected.json["type"] == "fact.corrected"
    data = corrected.json["data"]
    assert (data["fact_id"], data["retrieval_ids"]) == (fact, [served["receipt"]])
    assert data["superseded_by"] and data["retrievals"] == 1


def test_what_fails_is_tried_again_and_holds_up_its_conversation_alone(
    ana: Agent, receiver: Receiver
) -> None:
    add(ana, receiver.url, "episode.created", "fact.added")
    receiver.answers["episode.created"] = 500
    first = tell(ana, uuid.uuid4())
    assert set(receiver.types()) == {"episode.created"}  # no fact before its episode
    receiver.answers.clear()
    tell(ana, uuid.uuid4())
    heard = {one.json["data"]["conversation_id"] for one in receiver.deliveries[1:]}
    assert str(first) not in heard and "fact.added" in receiver.types()
    drain_again(ana.tenant)
    assert not Event.objects.of(ana.tenant).exclude(state="delivered").exists()
    ids = [one.headers["webhook-id"] for one in receiver.deliveries]
    assert len(ids) - len(set(ids)) == 1  # the failed one, under the same id


def test_a_receiver_that_is_away_delays_the_job_and_loses_nothing(
    ana: Agent, receiver: Receiver
) -> None:
    add(ana, receiver.url, "episode.created")
    receiver.answers["episode.created"] = 503
    for _ in range(flow.IN_A_ROW):
        home = uuid.uuid4()
        ana.post("add_messages", {"conversation_id": str(home), "messages": whole_talk()})
        ana.post("flush", {"conversation_id": str(home)})
    drain_jobs()
    job = Job.objects.of(ana.tenant).get(kind=Kind.DELIVER, state=State.READY)
    assert (job.error_class, job.transient_failures) == ("ReceiverAway", 1)
    receiver.answers.clear()
    drain_again(ana.tenant)
    assert set(Event.objects.of(ana.tenant).values_list("state", flat=True)) == {"delivered"}


def test_after_a_day_an_event_is_dead_and_can_be_delivered_again(
    ana: Agent, told: uuid.UUID, receiver: Receiver
) -> None:
    webhook = add(ana, receiver.url, "fact.retired")
    receiver.answers["fact.retired"] = 500
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "It is."})
    long_ago = timezone.now() - flow.GIVEN_UP_AFTER
    Event.objects.of(ana.tenant).update(queued_at=long_ago, retry_at=long_ago)
    drain_jobs()
    (event,) = ana.get(f"webhooks/{webhook['id']}/events", state="dead").json()["items"]
    assert (event["status"], event["attempts"], event["error"]) == (500, 1, None)
    receiver.answers.clear()
    assert ana.post(f"events/{event['id']}/redeliver").status_code == 202
    drain_jobs()
    (event,) = ana.get(f"webhooks/{webhook['id']}/events").json()["items"]
    assert event["state"] == "delivered"


def test_a_rotated_secret_and_the_one_before_both_sign_for_a_day(
    ana: Agent, told: uuid.UUID, receiver: Receiver
) -> None:
    made = add(ana, receiver.url, "fact.retired", "fact.restored")
    rotated = ana.post(f"webhooks/{made['id']}/rotate").json()
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "It is."})
    drain_jobs()
    Webhook.objects.of(ana.tenant).update(previous_until=timezone.now() - timedelta(seconds=1))
    ana.post(f"facts/{fact.id}/restore", {"reason": "It was not."})
    drain_jobs()
    during, after = receiver.deliveries
    assert during.is_signed_by(made["secret"]) and during.is_signed_by(rotated["secret"])
    assert not after.is_signed_by(made["secret"]) and after.is_signed_by(rotated["secret"])


def test_gone_stops_a_webhook_and_a_redirect_is_not_followed(
    ana: Agent, told: uuid.UUID, receiver: Receiver
) -> None:
    made = add(ana, receiver.url, "fact.retired", "fact.restored")
    receiver.answers |= {"fact.retired": 302, "fact.restored": 410}
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "It is."})
    drain_jobs()
    assert Event.objects.of(ana.tenant).get(webhook__isnull=False).status == 302
    Event.objects.of(ana.tenant).delete()
    ana.post(f"facts/{fact.id}/restore", {"reason": "It was not."})
    drain_jobs()
    assert ana.get(f"webhooks/{made['id']}").json()["stopped_at"]
    assert ana.client.delete(f"/api/v0/webhooks/{made['id']}").status_code == 204
    assert not Event.objects.of(ana.tenant).exists()


PRIVATE = ["http://127.0.0.1/", "http://[::1]/", "http://10.0.0.8:8080/", "http://2130706433/",
           "http://0x7f.1/", "http://169.254.169.254/latest", "http://[::ffff:127.0.0.1]/",
           "http://[64:ff9b::7f00:1]/", "ftp://example.com/", "https://ana:b@example.com/",
           "https://example.com/#here", "https://[", "https:///nowhere", "example.com"]  # fmt: skip
UNREACHABLE = ["https://hooks.invalid/", "https://a.b.onion/x", "http://localhost:8080/",
               "https://api.localhost./", "https://example.com:0/", "https://1.2.3.256/",
               "https://host.123/", "https://exa mple.com/", "https://a..example.com/",
               "https://-a.example.com/", f"https://{'a' * 64}.example.com/",
               f"https://{'a.' * 126}example.com/", "https://exa%6dple.com/",
               "http://239.1.2.3/", "http://[ff02::1]/", "http://0.0.0.0/"]  # fmt: skip


@pytest.mark.parametrize("url", [*PRIVATE, *UNREACHABLE])
def test_an_address_that_is_private_odd_or_out_of_reach_is_refused(ana: Agent, url: str) -> None:
    assert_problem(ana.post("webhooks", {"url": url}), 400, "url")


@pytest.mark.parametrize("host", ["example.com.", "bücher.example", "a_b.example.com", "intranet"])
def test_an_address_that_may_be_reached_is_taken(ana: Agent, host: str) -> None:
    assert add(ana, f"https://{host}:8443/x", "fact.retired")["url"] == f"https://{host}:8443/x"


def test_a_name_that_leads_to_this_machine_is_not_called(
    ana: Agent, told: uuid.UUID, receiver: Receiver, settings: Any
) -> None:
    add(ana, receiver.url.replace("127.0.0.1", "localhost"), "fact.retired")
    settings.WEBHOOK_NETWORKS = []
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "It is."})
    drain_jobs()
    assert receiver.deliveries == []
    assert Event.objects.of(ana.tenant).get(webhook__isnull=False).error_class == "ConnectError"


def test_what_is_rolled_back_is_not_told(ana: Agent, receiver: Receiver) -> None:
    add(ana, receiver.url)
    with transaction.atomic():
        event = flow.NewEvent(ERASURE_DONE, {})
        announce([event], tenant=ana.tenant, scope=ana.tenant.id)
        transaction.set_rollback(True)
    drain_jobs()
    assert receiver.deliveries == [] and not Event.objects.of(ana.tenant).exists()


def test_a_spent_budget_is_told_once_a_day_and_an_erasure_when_it_is_done(
    ana: Agent, receiver: Receiver
) -> None:
    add(ana, receiver.url, "budget.spent", "erasure.done")
    home = uuid.uuid4()
    ana.say(home, "Something.")
    later = timezone.now() + timedelta(hours=3)
    Job.objects.create(
        tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4(), error_class="BudgetSpent",
        run_after=later,
    )  # fmt: skip
    reconcile()
    reconcile()
    wish = {"scope": "conversation", "id": str(home), "reason": "Asked for."}
    erasure = ana.post("erasures", wish).json()
    drain_jobs()
    budget, erased = receiver.deliveries
    assert budget.json["type"] == "budget.spent"
    assert erased.json["data"]["erasure_id"] == erasure["id"]
    assert erased.json["data"]["counts"] == erasure["counts"]
