"""What no run gets past is set aside, and everything beside it is done."""

from __future__ import annotations

import uuid

import pytest
from django.db.models.functions import Now

from episodic.models import Episode, Message
from jobs import claims
from jobs.claims import batch_size
from jobs.draining import drain_jobs
from jobs.models import Job, State
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.jobs.poison import POISON, poisoned
from tests.llm.conftest import flush_job, post
from tests.talk import MORNING, MOVING, messages, whole_talk

pytestmark = pytest.mark.django_db(transaction=True)


def drain_through_waits(agent: Agent, *, runs: int = 14) -> None:
    """Work as if every wait were over at once."""
    for _ in range(runs):
        Job.objects.of(agent.tenant).filter(state=State.READY).update(run_after=Now())
        if not drain_jobs().ran:
            return
    raise AssertionError("it never ends")


def talk_with_poison(place: int) -> list[dict[str, object]]:
    said = whole_talk()
    return [*said[:place], {"role": "user", "content": f"A {POISON} pill."}, *said[place:]]


def where_all_are(agent: Agent) -> dict[str, list[int]]:
    """Return the seqs in episodes, set aside, and in the window."""
    rows = Message.objects.of(agent.tenant).order_by("seq")
    return {
        "episodes": [row.seq for row in rows if row.episode_id],
        "aside": [row.seq for row in rows if row.quarantined_by_id],
        "window": [row.seq for row in rows if not row.episode_id and not row.quarantined_by_id],
    }


@pytest.mark.gate
@pytest.mark.parametrize(("place", "flush"), [(0, False), (0, True), (7, True), (16, True)])
def test_a_message_that_breaks_every_run_is_alone_set_aside(
    ana: Agent, conversation: uuid.UUID, place: int, flush: bool
) -> None:
    post(ana, conversation, talk_with_poison(place) + ([] if flush else whole_talk()[:7]))
    with poisoned("indexing_searchunit", "lexical_text"):
        if flush:
            ana.post("flush", {"conversation_id": str(conversation)})
        drain_through_waits(ana)
    found = where_all_are(ana)
    assert found["aside"] == [place + 1]
    if flush:
        assert found["window"] == []
    assert not Job.objects.of(ana.tenant).filter(state=State.DEAD).exists()
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["set_aside"], state["pending"]) == (1, len(found["window"]))
    assert state["messages"] == sum(map(len, found.values()))


def test_what_was_set_aside_is_taken_up_again_on_request(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, talk_with_poison(7))
    with poisoned("indexing_searchunit", "lexical_text"):
        ana.post("flush", {"conversation_id": str(conversation)})
        drain_through_waits(ana)
    post(ana, conversation, messages(MOVING, MORNING))
    assert_problem(cleo.post(f"conversations/{conversation}/retry"), 404)
    answer = ana.post(f"conversations/{conversation}/retry")
    assert answer.status_code == 202
    drain_through_waits(ana)
    assert ana.get(f"jobs/{answer.json()['job_id']}").json()["state"] == "done"
    found = where_all_are(ana)
    assert found == {"episodes": list(range(1, 26)), "aside": [], "window": []}
    lone = Episode.objects.of(ana.tenant).get(first_seq=8)
    assert lone.last_seq == 8, "it must not reach over those that went on without it"
    assert_problem(ana.post(f"conversations/{conversation}/retry"), 409)


@pytest.mark.gate
def test_when_message_after_message_fails_the_job_dies_and_the_rest_is_left(
    ana: Agent, conversation: uuid.UUID
) -> None:
    poison = [{"role": "user", "content": f"A {POISON} pill, {n}."} for n in range(6)]
    post(ana, conversation, poison)
    ana.post("flush", {"conversation_id": str(conversation)})
    with poisoned("indexing_searchunit", "lexical_text"):
        drain_through_waits(ana, runs=60)
    assert where_all_are(ana) == {"episodes": [], "aside": [1, 2, 3], "window": [4, 5, 6]}
    job = flush_job(ana)
    assert (job.state, job.error_class) == (State.DEAD, "TooMuchPoison")
    assert ana.post(f"jobs/{job.id}/retry").status_code == 200
    drain_through_waits(ana)
    assert where_all_are(ana)["episodes"] == [4, 5, 6]


def test_an_episode_whose_facts_cannot_be_drawn_is_alone_set_aside(
    ana: Agent, conversation: uuid.UUID
) -> None:
    said = whole_talk()
    said[9] = {**said[9], "content": f"I work as a {POISON.lower()} tester in Delft."}
    post(ana, conversation, said)
    ana.post("flush", {"conversation_id": str(conversation)})
    with poisoned("semantic_fact", "lower(fact)"):
        drain_through_waits(ana)
    failed = Episode.objects.of(ana.tenant).filter(consolidation_failed_at__isnull=False)
    assert [episode.first_seq <= 10 <= episode.last_seq for episode in failed] == [True]
    assert not Episode.objects.of(ana.tenant).filter(
        consolidated_at=None, consolidation_failed_at=None
    )
    assert ana.get(f"conversations/{conversation}").json()["set_aside"] == 1
    assert ana.post(f"conversations/{conversation}/retry").status_code == 202
    drain_through_waits(ana)
    assert not Episode.objects.of(ana.tenant).filter(consolidated_at=None).exists()


def test_a_run_that_kills_its_process_counts_like_one_that_fails(
    ana: Agent, conversation: uuid.UUID
) -> None:
    """Nobody is left to give the job back: the attempt was counted before the work."""
    post(ana, conversation, whole_talk())
    ana.post("flush", {"conversation_id": str(conversation)})
    job = flush_job(ana)
    for attempt in range(1, 8):
        claim = claims.claim(job.id)
        assert claim is not None and claim.attempts == attempt
        Job.objects.of(ana.tenant).filter(id=job.id).update(lease_until=Now())


def test_progress_gives_a_job_its_attempts_back(ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, whole_talk())
    ana.post("flush", {"conversation_id": str(conversation)})
    job = flush_job(ana)
    Job.objects.of(ana.tenant).filter(id=job.id).update(attempts=5)
    claim = claims.claim(job.id)
    assert claim is not None and claim.attempts == 6
    with claims.commit(claim, finish=False):
        pass
    job.refresh_from_db()
    assert job.attempts == 1


@pytest.mark.parametrize(
    ("full", "sizes"),
    [(20, [20, 20, 20, 10, 5, 2, 1, 0]), (40, [40, 40, 40, 20, 10, 5, 2, 1, 0])],
)
def test_batches_shrink_to_one_and_then_to_none(full: int, sizes: list[int]) -> None:
    assert [batch_size(full, attempts=n + 1) for n in range(len(sizes))] == sizes
