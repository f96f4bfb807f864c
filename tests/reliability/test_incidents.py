"""What went wrong in other memory systems, told by their users, and how it cannot here.

Each test is named after the project and the number of its issue or pull request; the
stories are retold from what stands there. Where our surface is another one (no MCP, no
walk over a graph), the nearest thing that we have is tested, and the docstring says so.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from django.db.models import F
from django.db.models.functions import Now

from episodic.models import Conversation, Episode, Message
from episodic.queries import database_now
from jobs import claims
from jobs.backlog import STANDS_STILL_AFTER
from jobs.draining import drain_jobs
from jobs.enqueue import enqueue
from jobs.models import Job, Kind, LLMCall, State
from jobs.reconciler import reconcile
from jobs.tasks import run_claimed, run_job
from memoryproject.ai.models import Breaker
from memoryproject.tenancy.walls import across_tenants
from semantic import services as semantic
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.proposal_writer import cap_invalidations
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.jobs.poison import POISON, poisoned
from tests.jobs.test_poison import drain_through_waits, where_all_are
from tests.llm.answers import change, changes, segment, segments, shown_facts
from tests.llm.conftest import flush_job, model, post, run_again
from tests.model_server import Asked, ModelServer, Reply, fails, says, sends
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages, whole_talk

pytestmark = pytest.mark.gate

__all__ = ["model"]  # a fixture
in_one_transaction = pytest.mark.django_db
in_many = pytest.mark.django_db(transaction=True)

HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a piano."
VAN = "Jonas has a van."


def learn(model: ModelServer, agent: Agent, talk: uuid.UUID, *facts: str) -> None:
    """Let the conversation hold these facts, drawn from its first eight messages."""
    post(agent, talk, messages(MOVING, MORNING))
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", says(changes(*[change("new", fact) for fact in facts])))
    assert agent.flush(talk).later == 0


def held(agent: Agent) -> set[str]:
    return set(Fact.objects.of(agent.tenant).filter(invalid_at=None).values_list("fact", flat=True))


def steps(agent: Agent) -> list[tuple[str, str]]:
    newest = Changeset.objects.of(agent.tenant).latest("started_at", "id")
    taken = Change.objects.of(agent.tenant).filter(changeset=newest).order_by("position")
    return list(taken.values_list("action", "note"))


@in_many
def test_hindsight_601_a_failure_is_not_marked_as_consolidated(
    ana: Agent, conversation: uuid.UUID
) -> None:
    """There: when every retry had failed, the whole batch was stamped as consolidated.

    Nothing had been drawn from it, and nobody ever looked at it again. Here the stamp is
    written in one transaction with the facts; what no run gets past has another stamp,
    alone, and is taken up again on request.
    """
    said = whole_talk()
    said[9] = {**said[9], "content": f"I work as a {POISON.lower()} tester in Delft."}
    post(ana, conversation, said)
    ana.post("flush", {"conversation_id": str(conversation)})
    with poisoned("semantic_fact", "lower(fact)"):
        drain_through_waits(ana)
    failed = Episode.objects.of(ana.tenant).get(consolidation_failed_at__isnull=False)
    assert failed.consolidated_at is None
    drawn = Episode.objects.of(ana.tenant).exclude(id=failed.id)
    assert drawn and all(episode.consolidated_at for episode in drawn)
    assert ana.get(f"conversations/{conversation}").json()["set_aside"] == 1
    ana.post(f"conversations/{conversation}/retry")
    drain_through_waits(ana)
    failed.refresh_from_db()
    assert failed.consolidated_at and failed.consolidation_failed_at is None


@in_one_transaction
def test_hindsight_1969_what_an_outage_left_behind_is_done_without_a_new_message(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """There: an account without money made jobs fail for good, and nothing made new ones.

    Facts of a bank that stayed silent were never consolidated. Here an outage is no
    attempt, so the job waits; and if it is gone altogether, the reconciler makes another.
    """
    post(ana, conversation, messages(MOVING, MORNING))
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", *[fails(429)] * 4)
    ana.flush(conversation)
    job = flush_job(ana)
    for _ in range(3):
        run_again(job)
    assert (job.state, job.attempts) == (State.READY, 0)
    job.delete()
    Episode.objects.of(ana.tenant).update(created_at=F("created_at") - timedelta(hours=3))
    Breaker.objects.all().delete()
    model.script("consolidate", says(changes(change("new", HARBOUR))))
    reconcile()
    drain_jobs()
    assert held(ana) == {HARBOUR}


def crash(job: Job) -> None:
    """Begin a run of which nothing is left but the claim, and let its lease end."""
    assert claims.claim(job.id) is not None
    Job.objects.of(job.tenant).filter(id=job.id).update(lease_until=Now() - timedelta(seconds=1))


@in_one_transaction
def test_hindsight_2675_a_crash_counts_as_an_attempt(ana: Agent, conversation: uuid.UUID) -> None:
    """There: a job that killed its worker was begun 54 times in 22 hours, retry count 0.

    Here an attempt is on record before the work. A job that works on several things
    closes in on the one that kills, and sets it aside; any other dies after some runs.
    """
    post(ana, conversation, whole_talk())
    ana.post("flush", {"conversation_id": str(conversation)})
    job = flush_job(ana)
    for _ in range(8):
        crash(job)
    assert run_job(str(job.id))
    assert where_all_are(ana)["aside"] == [1]
    drain_jobs()
    assert where_all_are(ana)["window"] == []
    other = enqueue(tenant=ana.tenant, kind=Kind.REVIEW, scope=uuid.uuid4())
    for _ in range(claims.CRASHES_AT_MOST):
        crash(other)
    assert run_job(str(other.id))
    other.refresh_from_db()
    assert (other.state, other.error_class) == (State.DEAD, "KillsItsWorker")
    assert ana.get("health/ready").json()["dead_jobs"] == 1


@in_one_transaction
def test_hindsight_3594_a_job_that_has_failed_for_good_holds_no_place(
    ana: Agent, conversation: uuid.UUID
) -> None:
    """There: after the last retry an operation stayed "processing" for ever.

    It held its place until somebody edited the table. Here the last failure makes it dead
    in the same statement that takes its lease away: it is counted, shown, can be retried,
    and the next job of its kind and scope runs.
    """
    job = enqueue(tenant=ana.tenant, kind=Kind.REVIEW, scope=uuid.uuid4())  # of no conversation
    for _ in range(claims.MAX_ATTEMPTS):
        Job.objects.of(ana.tenant).filter(id=job.id).update(run_after=Now())
        assert run_job(str(job.id))
    job.refresh_from_db()
    assert (job.state, job.lease_token, job.lease_until) == (State.DEAD, None, None)
    assert ana.get(f"jobs/{job.id}").json()["error"] == "KeyError"
    assert ana.get("health/ready").json()["dead_jobs"] == 1
    twin = enqueue(tenant=ana.tenant, kind=Kind.REVIEW, scope=job.scope)
    assert claims.claim(twin.id) is not None
    assert ana.post(f"jobs/{job.id}/retry").status_code == 200


@in_one_transaction
def test_hindsight_3876_no_answer_of_a_model_empties_a_memory(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """There: sources were deleted before their merged form failed its schema.

    The bank was empty, and every operation "completed". Here nothing a model says deletes
    a row, closing is capped, and a run whose answers were of no use says so.
    """
    known = [PIANO, VAN, "Mira has forty boxes.", "Mira is a data analyst.", "Mira lives in Ghent."]
    learn(model, ana, conversation, *known)
    post(ana, conversation, messages(RUNNING, EVENING))
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", *[says({"facts": [{"action": "merge"}]})] * 2)
    ana.flush(conversation)
    assert set(known) <= held(ana)
    assert Changeset.objects.of(ana.tenant).latest("started_at", "id").degraded

    def empty(asked: Asked) -> Reply:
        aliases = shown_facts(asked).values()
        said = list(range(17, 25))
        return says(changes(*[change("invalidate", "", alias, messages=said) for alias in aliases]))

    before = Fact.objects.of(ana.tenant).count()
    active = len(held(ana))
    post(ana, conversation, messages(MOVING, EVENING))
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", empty)
    ana.flush(conversation)
    assert Fact.objects.of(ana.tenant).count() == before
    assert active - len(held(ana)) <= cap_invalidations(active)
    assert ("suggest", "cap") in steps(ana)
    assert Message.objects.of(ana.tenant).count() == 24


@in_one_transaction
def test_hindsight_4152_answers_of_no_use_are_counted_and_shown(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """What stands there could not be found; we take it for kin of #4151, a day's report.

    There: 27 of 528 answers failed their schema, and the counter of failures said 0. Here
    each question is on record with how it ended, and what was made without the model is
    marked as such.
    """
    model.script("segment", *[says({"episodes": "none"})] * 2)
    model.script("consolidate", *[says({"facts": 7})] * 2)
    post(ana, conversation, messages(MOVING, MORNING))
    ana.flush(conversation)
    failed = LLMCall.objects.of(ana.tenant).filter(ok=False, error_class="ModelMisbehaved")
    assert failed.count() == len(model.asked) == 4
    assert sum(row["failed"] for row in ana.get("usage").json()["rows"]) == 4
    assert all(Episode.objects.of(ana.tenant).values_list("degraded", flat=True))
    assert Changeset.objects.of(ana.tenant).get().degraded


@in_one_transaction
def test_graphiti_1707_what_was_accepted_is_kept_and_standstill_shows(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """There: a provider began to refuse a schema, and for three weeks all was dropped.

    Each call had answered "queued", and health was green. Here what is answered with 201
    is stored, a server that refuses a form is asked in another and then left out, and
    work that stands still turns readiness red.
    """
    refusal = {"error": {"message": "Invalid schema for response_format 'ExtractedEntities'."}}
    model.refuse(lambda asked: sends(refusal, status=400))
    post(ana, conversation, messages(MOVING, MORNING))
    Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=Now())
    assert ana.flush(conversation).dead == 0
    assert not Message.objects.of(ana.tenant).filter(episode=None).exists()
    assert Episode.objects.of(ana.tenant).filter(degraded=True).exists()
    question = {"conversation_id": str(conversation), "query": "harbour authority"}
    assert "Rotterdam" in ana.post("retrieve_memory", question).content.decode()
    post(ana, conversation, messages(RUNNING, EVENING))
    ana.post("flush", {"conversation_id": str(conversation)})
    late = Now() - STANDS_STILL_AFTER - timedelta(seconds=1)
    Job.objects.of(ana.tenant).filter(state=State.DONE).update(started_at=late, finished_at=late)
    Job.objects.of(ana.tenant).filter(state=State.READY).update(run_after=late)
    assert ana.get("health/ready").status_code == 503


def at_the_same_time(*works: Callable[[], Any]) -> None:
    """Do the works in threads that start together, each with a connection of its own."""
    together = threading.Barrier(len(works))

    @across_tenants()
    def run(work: Callable[[], Any]) -> None:
        together.wait()
        try:
            work()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@in_many
def test_mem0_6515_two_runs_that_saw_the_same_do_not_both_write(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """There: two calls looked for a fact, found none, and both added it.

    Here jobs that do the same work wait for each other. Two that are claimed in the same
    instant do not see each other: both get their answer before either writes. One writes;
    the other finds that what it saw has moved.
    """
    post(ana, conversation, messages(MOVING, MORNING))
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", fails(503))
    ana.flush(conversation)
    scope = Episode.objects.of(ana.tenant).get().conversation_id
    flush = flush_job(ana)
    consolidate = enqueue(
        tenant=ana.tenant, kind=Kind.CONSOLIDATE, scope=scope, input={"force": True}
    )
    Job.objects.of(ana.tenant).update(run_after=Now())
    both_taken, both_asked = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)

    def run(job: Job) -> None:
        with transaction.atomic():
            claim = claims.claim(job.id)
            both_taken.wait()
        assert claim is not None
        run_claimed(claim)

    def answer(asked: Asked) -> Reply:
        both_asked.wait()
        return says(changes(change("new", HARBOUR)))

    model.always("consolidate", answer)
    at_the_same_time(lambda: run(flush), lambda: run(consolidate))
    drain_jobs()
    assert len(model.requests("consolidate")) == 3
    assert list(Fact.objects.of(ana.tenant).values_list("fact", flat=True)) == [HARBOUR]
    assert Changeset.objects.of(ana.tenant).count() == 1
    assert set(Job.objects.of(ana.tenant).values_list("state", flat=True)) == {State.DONE}


@in_one_transaction
@pytest.mark.parametrize("number", ["F16", ""])
def test_mem0_3945_an_id_that_the_model_made_up_breaks_nothing(
    ana: Agent, conversation: uuid.UUID, model: ModelServer, number: str
) -> None:
    """There: the model named memory 16 of five, and the whole batch ended in a KeyError.

    As the fix in #3946 has it: what was to change becomes new, what was to go is left
    alone; here each with a note, and the rest of the answer is taken.
    """
    learn(model, ana, conversation, PIANO)
    post(ana, conversation, messages(RUNNING, EVENING))
    model.script("segment", says(segments(segment(7))))
    rows = [
        change("update", HARBOUR, number, messages=[9]),
        change("invalidate", "", number, messages=[9]),
        change("new", VAN, messages=[9]),
    ]
    model.script("consolidate", *[says(changes(*rows))] * 2)
    assert ana.flush(conversation).dead == 0
    assert held(ana) == {PIANO, HARBOUR, VAN}
    assert steps(ana) == [("new", "unknown_alias"), ("skip", "unknown_alias"), ("new", "")]


def close_by_hand(agent: Agent, sentence: str) -> None:
    """Close a fact as a curator would, in a transaction of its own."""
    with transaction.atomic():
        fact = Fact.objects.of(agent.tenant).select_for_update(of=("self",)).get(fact=sentence)
        conversation = Conversation.objects.of(agent.tenant).get(id=fact.conversation_id)
        kind, now = Changeset.Kind.CURATION, database_now()
        ledger = semantic.start_changeset(conversation, now=now, kind=kind, actor="curator")
        semantic.invalidate_fact(fact, ledger=ledger, valid_until=now)
        ledger.close()


@in_many
def test_odysseus_1940_what_changes_while_the_model_thinks_is_not_overwritten(
    ana: Agent, conversation: uuid.UUID, model: ModelServer
) -> None:
    """There: consolidation read all, asked for two minutes, and wrote all back.

    What was added or edited meanwhile was gone. Here, while the model thinks, somebody
    closes a fact that it was shown, and posts a message: the answer is thrown away, the
    question put again without that fact, and both changes stay.
    """
    learn(model, ana, conversation, PIANO, VAN)
    post(ana, conversation, messages(RUNNING, EVENING))
    model.script("segment", says(segments(segment(7))))
    asked_about: list[set[str]] = []

    @across_tenants()
    def think(asked: Asked) -> Reply:
        shown = shown_facts(asked)
        asked_about.append(set(shown))
        if len(asked_about) == 1:
            close_by_hand(ana, PIANO)
            ana.say(conversation, "By the way, I sold the piano.")
            connections.close_all()
            return says(changes(change("reinforce", PIANO, shown[PIANO], messages=[9])))
        return says(changes(change("reinforce", VAN, shown[VAN], messages=[9])))

    model.script("consolidate", think, think)
    ana.post("flush", {"conversation_id": str(conversation)})
    model.always("segment", says(segments(segment(0))))
    model.always("consolidate", says(changes()))
    drain_jobs()
    assert asked_about == [{PIANO, VAN}, {VAN}]
    assert held(ana) == {VAN}
    closed = Fact.objects.of(ana.tenant).get(fact=PIANO)
    assert Evidence.objects.of(ana.tenant).filter(fact=closed).count() == 1
    assert Message.objects.of(ana.tenant).filter(content__contains="sold the piano").count() == 1
