"""From messages to an answer and back, with a model that errs at every step."""

from __future__ import annotations

import json
import logging
import uuid
from dataclasses import dataclass

import pytest
from django.db import connection

from episodic.llm.replies import SurpriseLevel
from episodic.llm.segmenter import LEVELS
from episodic.models import Episode, Message, Review
from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from semantic.models import Change, Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.llm.answers import (
    change,
    changes,
    ratings,
    segment,
    segments,
    shown_facts,
    shown_memories,
)
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply, says
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages, whole_talk

pytestmark = pytest.mark.django_db

NEW_JOB, MARATHON = "Mira gets a job in Rotterdam", "Mira trains for a half marathon"
BAKERY = "Mira works at a bakery."
GHENT = "Mira lives in Ghent."
RUNS = "Mira runs three times a week."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
USAGE = {"prompt_tokens": 200, "completion_tokens": 90}
CANARIES = ["Rotterdam", "forty boxes", "Priya", "Teresa", "key-of-the-provider", "gone astray"]


@dataclass(frozen=True)
class Story:
    """What the pipeline made of three batches of messages."""

    ana: Agent
    model: ModelServer
    logged: str

    def episodes(self) -> list[Episode]:
        return list(Episode.objects.of(self.ana.tenant).order_by("first_seq"))

    def changesets(self) -> list[Changeset]:
        return list(Changeset.objects.of(self.ana.tenant).order_by("started_at", "id"))

    def fact(self, sentence: str) -> Fact:
        return Fact.objects.of(self.ana.tenant).get(fact=sentence)

    def steps(self, changeset: Changeset) -> list[Change]:
        rows = Change.objects.of(self.ana.tenant).filter(changeset=changeset)
        return list(rows.order_by("position"))


def second_changes(asked: Asked) -> Reply:
    """Confirm, replace and close what is held, and name a fact that was never shown."""
    alias = shown_facts(asked)
    return says(
        changes(
            change("reinforce", RUNS, alias[RUNS], messages=[17, 19]),
            change("update", HARBOUR, alias[BAKERY], category="identity", messages=[17]),
            change("invalidate", GHENT, alias[GHENT], messages=[21]),
            change("reinforce", RUNS, "F77", messages=[19]),
        ),
        usage=USAGE,
    )


def rate(asked: Asked) -> Reply:
    """Rate one episode well, one in a word of our own, and one that was never served."""
    alias = shown_memories(asked)
    return says(ratings(**{alias[NEW_JOB]: "good", alias[MARATHON]: "gone astray", "E9": "easy"}))


@pytest.fixture
def story(
    model: ModelServer,
    ana: Agent,
    conversation: uuid.UUID,
    caplog: pytest.LogCaptureFixture,
) -> Story:
    caplog.set_level(logging.DEBUG)
    post(ana, conversation, whole_talk())
    whole = segments(
        segment(7, NEW_JOB), segment(15, MARATHON, surprise=SurpriseLevel.EXTREMELY_HIGH)
    )
    model.script("segment", says(segments(segment(3)), usage=USAGE), says(whole, usage=USAGE))
    first = changes(
        change("new", BAKERY, category="identity", messages=[4]),
        change("new", GHENT, category="identity", messages=[5]),
        change("new", RUNS, messages=[10]),
        change("update", "Mira runs each morning.", "F3", messages=[12]),
    )
    model.script("consolidate", says("I am afraid, {", usage=USAGE), says(first, usage=USAGE))
    ana.flush(conversation)

    body = {"conversation_id": str(conversation), "query": "What about Mira's job and running?"}
    assert ana.post("retrieve_memory", body).status_code == 200

    post(ana, conversation, messages(MOVING, MORNING))
    model.script("segment", says(segments(segment(7, "Mira says it again"))))
    model.script("review", rate)
    model.script("consolidate", second_changes, second_changes)  # F77 is asked about once more
    ana.flush(conversation)

    assert ana.post("retrieve_memory", body).status_code == 200
    post(ana, conversation, messages(RUNNING, EVENING))
    model.script("review", says("easy, all of them"), says("really, easy"))
    model.script("segment", says("{"), says("{"))
    model.script("consolidate", says("{"), says("{"))
    ana.flush(conversation)
    drain_jobs()
    return Story(ana, model, caplog.text)


@pytest.mark.gate
def test_the_pipeline_survives_a_model_that_errs(story: Story) -> None:
    check_episodes(story)
    check_first_changes(story)
    check_second_changes(story)
    check_reviews(story)
    check_calls(story)
    check_silence(story)


def check_episodes(story: Story) -> None:
    """No message is lost, each is in one episode, and words and surprise are as answered."""
    episodes = story.episodes()
    covered = [seq for e in episodes for seq in range(e.first_seq, e.last_seq + 1)]
    assert covered == list(range(1, 33))
    for message in Message.objects.of(story.ana.tenant).select_related("episode"):
        assert message.episode is not None
        assert message.episode.first_seq <= message.seq <= message.episode.last_seq
    answered, stood_in = episodes[:3], episodes[3:]
    assert [e.title for e in answered] == [NEW_JOB, MARATHON, "Mira says it again"]
    assert not any(e.degraded or e.engine != "llm" for e in answered)
    assert stood_in and all(e.degraded and e.engine == "offline" for e in stood_in)
    assert episodes[0].surprise == LEVELS[SurpriseLevel.LOW], "the vectors have no say in it"
    assert episodes[1].surprise == LEVELS[SurpriseLevel.EXTREMELY_HIGH]


def check_first_changes(story: Story) -> None:
    """An unknown alias is a new fact: counted and noted."""
    changeset = story.changesets()[0]
    taken = [(step.action, step.note) for step in story.steps(changeset)]
    assert taken == [("new", "unknown_alias"), ("new", ""), ("new", ""), ("new", "")]
    assert (changeset.unknown_aliases, changeset.degraded) == (1, False)
    assert (changeset.engine, changeset.model) == ("llm", "scripted")
    assert changeset.prompt_version.startswith("consolidate-")
    assert Fact.objects.of(story.ana.tenant).filter(fact=RUNS).count() == 1


def check_second_changes(story: Story) -> None:
    """Updated, invalidated, reinforced, in this order; what was never shown is left alone."""
    bakery, harbour, ghent, runs = map(story.fact, [BAKERY, HARBOUR, GHENT, RUNS])
    changeset = story.changesets()[1]
    taken = [(s.position, s.action, s.memory_id, s.note) for s in story.steps(changeset)]
    assert taken == [
        (0, "update", harbour.id, ""),
        (1, "invalidate", ghent.id, ""),
        (2, "reinforce", runs.id, ""),
        (3, "skip", None, "unknown_alias"),
    ]
    assert changeset.unknown_aliases == 1
    assert (bakery.superseded_by_id, bakery.invalidated_because) == (harbour.id, "superseded")
    assert bakery.invalid_at and ghent.invalid_at and ghent.superseded_by_id is None
    assert harbour.invalid_at is None and harbour.category == "identity"
    evidence = (
        Evidence.objects.of(story.ana.tenant).filter(fact=runs).order_by("episode__first_seq")
    )
    assert [row.message_seqs for row in evidence] == [[10], [17, 19]]
    third = story.changesets()[2]
    assert (third.degraded, third.engine, third.model) == (True, "offline", "heads-4")


def check_reviews(story: Story) -> None:
    """The known rating of a served episode counts; without any the offline engine rates."""
    review = Review.objects.of(story.ana.tenant).select_related("episode").get(engine="llm")
    assert (review.episode.title, review.rating, review.degraded) == (NEW_JOB, "good", False)
    others = Review.objects.of(story.ana.tenant).exclude(id=review.id)
    assert others and all(row.degraded and row.engine == "offline" for row in others)


def check_calls(story: Story) -> None:
    """Each request is on record, those in vain with their price too."""
    calls = LLMCall.objects.of(story.ana.tenant)
    assert calls.count() == len(story.model.asked) == 14
    failed = calls.filter(ok=False)
    assert {call.error_class for call in failed} == {"ModelMisbehaved"}
    assert failed.count() == 7 and not failed.exclude(response=None).exists()
    assert calls.filter(input_tokens=200, output_tokens=90).count() == 6
    assert all(call.prompt_version.startswith(call.purpose) for call in calls)
    assert not calls.filter(finished_at=None).exists()
    done = Job.objects.of(story.ana.tenant).filter(kind="review").order_by("created_at").first()
    assert done and done.result == {"rated": 1, "ignored": 2}
    jobs = set(Job.objects.of(story.ana.tenant).values_list("id", flat=True))
    assert {call.job for call in calls} <= jobs


def check_silence(story: Story) -> None:
    """What was said stands in no job, no wake-up and no log."""
    columns = ("input", "error_class", "state", "result")
    jobs = list(Job.objects.of(story.ana.tenant).values(*columns))
    assert {job["state"] for job in jobs} == {State.DONE}
    with connection.cursor() as cursor:
        cursor.execute("SELECT payload FROM django_q_ormq")
        wakeups = [str(payload) for (payload,) in cursor.fetchall()]
    written = json.dumps(jobs) + "".join(wakeups) + story.logged
    assert not [canary for canary in CANARIES if canary in written]
    assert not any(
        str(fact.id) in asked.user
        for asked in story.model.asked
        for fact in Fact.objects.of(story.ana.tenant)
    )
