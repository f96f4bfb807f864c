"""What was served is rated later, by what the conversation made of it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from django.db.models import F

from episodic import fsrs_memory
from episodic.engines import Rating
from episodic.fsrs_memory import MemoryState
from episodic.models import Episode, Review
from jobs.draining import drain_jobs
from jobs.models import Job, Kind
from retrieval.models import Retrieval
from tests.conftest import Agent

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
DAYS = [
    [
        "We stay at Hotel Miramar in Lisbon from 12 May.",
        "I bought tram passes and two concert tickets for the fado evening.",
        "The hotel serves breakfast until ten.",
    ],
    [
        "My bicycle chain broke on Sunday near the old bridge.",
        "The repair shop changed the brake pads as well.",
        "Sunita at the repair shop charged 45 euros.",
    ],
    [
        "Grandma Olga bakes plum dumplings with cinnamon every autumn.",
        "Her recipe needs two kilos of plums and fresh curd cheese.",
        "She learned the dumplings recipe in Brno in 1961.",
    ],
    [
        "The tax office wants the form 1040 before 15 April.",
        "My accountant Mister Okafor asked for the pension papers.",
        "The refund should be about 300 dollars.",
    ],
]
AFTERWARDS = [
    ("user", "Where do we stay, and what have we got for the trip?"),
    (
        "assistant",
        "You stay at Hotel Miramar in Lisbon from 12 May, breakfast until ten. You bought tram "
        "passes and two concert tickets for the fado evening.",
    ),
    ("user", "Great, the fado concert and the tram passes were a good idea for Lisbon."),
    ("assistant", "The repair shop changed your brake pads."),
    ("user", "Grandma Olga bakes dumplings with plums every autumn, right?"),
    ("assistant", "I do not have any details of that."),
]


def post(agent: Agent, conversation: uuid.UUID, said: list[tuple[str, str]], at: datetime) -> None:
    batch = [
        {
            "role": role,
            "content": content,
            "timestamp": (at + index * timedelta(seconds=40)).isoformat(),
        }
        for index, (role, content) in enumerate(said)
    ]
    answer = agent.post("add_messages", {"conversation_id": str(conversation), "messages": batch})
    assert answer.status_code == 201, answer.content


@pytest.fixture(scope="module")
def served(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    for day, lines in enumerate(DAYS):
        post(ana, conversation, [("user", line) for line in lines], START + timedelta(days=day))
    ana.flush(conversation)
    body = {"conversation_id": str(conversation), "query": "what was on my list"}
    assert len(ana.post("retrieve_memory/raw", body).json()["episodic"]) == 4
    return conversation


def test_a_conversation_makes_each_of_the_four_ratings_occur(ana: Agent, served: uuid.UUID) -> None:
    post(ana, served, AFTERWARDS, START + timedelta(days=9))
    ana.flush(served)
    reviews = Review.objects.of(ana.tenant).select_related("episode").order_by("episode__first_seq")
    assert [review.rating for review in reviews] == [
        Rating.EASY,
        Rating.GOOD,
        Rating.HARD,
        Rating.AGAIN,
    ]


def test_a_review_moves_the_state_as_the_library_says(ana: Agent, served: uuid.UUID) -> None:
    before = {episode.id: episode for episode in Episode.objects.of(ana.tenant)}
    post(ana, served, AFTERWARDS, START + timedelta(days=9))
    ana.flush(served)
    for review in Review.objects.of(ana.tenant).select_related("episode"):
        old = before[review.episode_id]
        expected = fsrs_memory.reviewed_state(
            state=MemoryState(old.stability, old.difficulty),
            last_reviewed_at=old.last_reviewed_at,
            rating=Rating(review.rating),
            at=old.last_reviewed_at + timedelta(microseconds=1),
        )
        assert review.episode.stability == pytest.approx(expected.stability, rel=1e-6)
        assert review.stability_after == review.episode.stability
        assert review.stability_before == old.stability


def test_an_episode_reviewed_since_it_was_served_is_passed_over(
    ana: Agent, served: uuid.UUID
) -> None:
    Episode.objects.of(ana.tenant).update(
        last_reviewed_at=F("last_reviewed_at") + timedelta(hours=1)
    )
    post(ana, served, AFTERWARDS, START + timedelta(days=9))
    ana.flush(served)
    assert not Review.objects.of(ana.tenant).exists()


def test_an_answer_is_reviewed_once(ana: Agent, served: uuid.UUID) -> None:
    post(ana, served, AFTERWARDS, START + timedelta(days=9))
    ana.flush(served)
    count = Review.objects.of(ana.tenant).count()
    post(ana, served, AFTERWARDS, START + timedelta(days=12))
    ana.flush(served)
    assert Review.objects.of(ana.tenant).count() == count
    assert Job.objects.of(ana.tenant).filter(kind=Kind.REVIEW).count() == 1


def test_reviews_wait_until_a_segmentation_triggers(ana: Agent, served: uuid.UUID) -> None:
    post(ana, served, AFTERWARDS, START + timedelta(days=9))
    drain_jobs()
    pending = Retrieval.objects.of(ana.tenant).filter(reviewable=True, review_job=None)
    assert pending.count() == 1
    ana.flush(served)
    assert pending.count() == 0
