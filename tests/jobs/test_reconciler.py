"""What nobody woke is woken, and what time has made due is queued."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.db.models import F
from django.db.models.functions import Now
from django_q.models import OrmQ

from episodic.models import Conversation, Episode, Message
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, State
from jobs.reconciler import reconcile
from tests.conftest import Agent
from tests.talk import MORNING, MOVING, messages, whole_talk

pytestmark = pytest.mark.django_db


def post(agent: Agent, conversation: uuid.UUID, given: list[dict[str, object]]) -> Conversation:
    body = {"conversation_id": str(conversation), "messages": given}
    assert agent.post("add_messages", body).status_code == 201
    return Conversation.objects.of(agent.tenant).get(external_id=conversation)


def age_messages(agent: Agent, by: timedelta) -> None:
    Message.objects.of(agent.tenant).update(received_at=F("received_at") - by)


def test_a_lost_wake_up_is_made_again(ana: Agent) -> None:
    enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    OrmQ.objects.all().delete()
    assert reconcile() == 1
    assert OrmQ.objects.count() == 1


def test_the_wake_up_that_a_dead_worker_had_taken_holds_nothing_up(ana: Agent) -> None:
    enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    OrmQ.objects.update(lock=Now() + timedelta(minutes=8))
    assert reconcile() == 1
    assert OrmQ.objects.count() == 2


def test_a_wake_up_that_waits_is_not_doubled(ana: Agent) -> None:
    enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    assert reconcile() == 0
    assert OrmQ.objects.count() == 1


def test_a_job_whose_worker_vanished_is_woken_when_its_lease_ends(ana: Agent) -> None:
    job = enqueue(tenant=ana.tenant, kind=Kind.SEGMENT, scope=uuid.uuid4())
    OrmQ.objects.all().delete()
    ended = Now() - timedelta(seconds=1)
    Job.objects.of(ana.tenant).filter(id=job.id).update(
        state=State.RUNNING, lease_token=uuid.uuid4(), lease_until=ended
    )
    assert reconcile() == 1


def test_five_messages_that_waited_two_hours_become_an_episode(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, messages(MOVING, MORNING))
    age_messages(ana, timedelta(hours=2))
    reconcile()
    assert Job.objects.of(ana.tenant).filter(kind=Kind.SEGMENT, state=State.READY).count() == 1
    while drain_jobs().ran:
        reconcile()
    assert Episode.objects.of(ana.tenant).exists()


def test_four_messages_wait_longer_than_two_hours_but_not_longer_than_a_day(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, messages(MOVING[:4], MORNING))
    age_messages(ana, timedelta(hours=23))
    reconcile()
    assert not Job.objects.of(ana.tenant).exists()
    age_messages(ana, timedelta(hours=1))
    while reconcile() + drain_jobs().ran:
        pass
    assert ana.get(f"conversations/{conversation}").json()["pending"] == 0


def test_a_full_window_whose_job_was_lost_gets_another(ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, whole_talk() + whole_talk()[:6])
    Job.objects.of(ana.tenant).all().delete()
    reconcile()
    assert Job.objects.of(ana.tenant).filter(kind=Kind.SEGMENT).exists()


def test_two_leftover_episodes_get_their_facts_after_a_while(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, whole_talk() + whole_talk()[:6])
    drain_jobs()
    Job.objects.of(ana.tenant).filter(kind=Kind.CONSOLIDATE).delete()
    fresh = Episode.objects.of(ana.tenant).filter(consolidated_at=None)
    if not fresh.exists():
        Episode.objects.of(ana.tenant).update(consolidated_at=None)
    reconcile()
    assert not Job.objects.of(ana.tenant).filter(kind=Kind.CONSOLIDATE).exists()
    Episode.objects.of(ana.tenant).update(created_at=F("created_at") - timedelta(hours=3))
    reconcile()
    drain_jobs()
    assert not Episode.objects.of(ana.tenant).filter(consolidated_at=None).exists()


def test_an_episode_whose_consolidation_failed_waits_for_a_retry(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, whole_talk())
    ana.flush(conversation)
    Episode.objects.of(ana.tenant).update(
        consolidated_at=None,
        consolidation_failed_at=Now(),
        created_at=F("created_at") - timedelta(days=3),
    )
    reconcile()
    assert not Job.objects.of(ana.tenant).filter(kind=Kind.CONSOLIDATE, state=State.READY).exists()
