"""Messages leave the window into episodes, all of them, once, in one commit."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from episodic import segmentation, services
from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.models import Conversation, Episode, Message
from indexing.models import SearchUnit, SearchVector
from jobs import claims, tasks
from jobs.claims import SnapshotMoved
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from tests.conftest import Agent
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages, whole_talk

pytestmark = pytest.mark.django_db


class CutAfter:
    """A segmenter that cuts where it was told to, for tests of the flow around it."""

    def __init__(self, *ends: int) -> None:
        self.ends = ends

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        assert len(vectors) == len(lines)
        ends = [end for end in self.ends if end < len(lines) - 1] + [len(lines) - 1]
        starts = [0, *(end + 1 for end in ends[:-1])]
        return Segmentation(
            segments=tuple(
                Segment(first, last, f"Lines {first} to {last} of it", "Talk.", 0.2)
                for first, last in zip(starts, ends, strict=True)
            ),
            engine="test",
        )


def post(agent: Agent, conversation: uuid.UUID, given: list[dict[str, object]]) -> Conversation:
    body = {"conversation_id": str(conversation), "messages": given}
    assert agent.post("add_messages", body).status_code == 201
    return Conversation.objects.of(agent.tenant).get(external_id=conversation)


def chatter(count: int) -> list[dict[str, object]]:
    return [
        {
            "role": "user",
            "content": f"This is remark number {index} about the garden.",
            "timestamp": (MORNING + index * timedelta(seconds=30)).isoformat(),
        }
        for index in range(count)
    ]


def run_segment_job(agent: Agent, segmenter: CutAfter) -> int:
    job = Job.objects.of(agent.tenant).get(kind=Kind.SEGMENT, state=State.READY)
    claim = claims.claim(job.id)
    assert claim is not None
    segmentation.segment_window(claim=claim, segmenter=segmenter)
    job.refresh_from_db()
    return int(job.result["episodes"])


def ranges(agent: Agent) -> list[tuple[int, int]]:
    episodes = Episode.objects.of(agent.tenant).order_by("first_seq")
    return [(episode.first_seq, episode.last_seq) for episode in episodes]


def test_nineteen_messages_wait_and_the_twentieth_triggers(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, chatter(19))
    assert not Job.objects.of(ana.tenant).exists()
    post(ana, conversation, chatter(1))
    assert Job.objects.of(ana.tenant).filter(kind=Kind.SEGMENT).count() == 1


def test_the_last_segment_stays_as_the_start_of_what_comes_next(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, chatter(20))
    assert run_segment_job(ana, CutAfter(6, 12)) == 2
    assert ranges(ana) == [(1, 7), (8, 13)]
    assert ana.get(f"conversations/{conversation}").json()["pending"] == 7


def test_one_segment_doubles_the_window_and_at_forty_it_is_closed_whole(
    ana: Agent, conversation: uuid.UUID
) -> None:
    row = post(ana, conversation, chatter(20))
    assert run_segment_job(ana, CutAfter()) == 0
    row.refresh_from_db()
    assert row.window_doubled
    post(ana, conversation, chatter(19))
    assert not Job.objects.of(ana.tenant).filter(state=State.READY).exists()
    post(ana, conversation, chatter(1))
    assert run_segment_job(ana, CutAfter()) == 1
    row.refresh_from_db()
    assert (ranges(ana), row.window_doubled, row.pending_count) == ([(1, 40)], False, 0)


@pytest.mark.gate
def test_a_long_backlog_is_worked_off_window_by_window(ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, chatter(100))
    made = 0
    while Job.objects.of(ana.tenant).filter(kind=Kind.SEGMENT, state=State.READY).exists():
        made += run_segment_job(ana, CutAfter(9))
    covered = [seq for first, last in ranges(ana) for seq in range(first, last + 1)]
    assert made == len(ranges(ana)) and covered == list(range(1, len(covered) + 1))
    assert 100 - len(covered) < 20


def test_messages_that_arrive_while_the_engine_thinks_stay_in_the_window(
    ana: Agent, conversation: uuid.UUID
) -> None:
    row = post(ana, conversation, chatter(20))

    class Interrupted(CutAfter):
        def segment(
            self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
        ) -> Segmentation:
            post(ana, conversation, chatter(3))
            return super().segment(lines=lines, vectors=vectors, previous_summary=previous_summary)

    assert run_segment_job(ana, Interrupted(9)) == 1
    row.refresh_from_db()
    assert (row.pending_count, row.next_seq) == (13, 24)


def test_a_run_whose_window_changed_meanwhile_writes_nothing(
    ana: Agent, conversation: uuid.UUID
) -> None:
    row = post(ana, conversation, chatter(20))

    class Overtaken(CutAfter):
        def segment(
            self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
        ) -> Segmentation:
            Conversation.objects.of(ana.tenant).filter(id=row.id).update(version=7)
            return super().segment(lines=lines, vectors=vectors, previous_summary=previous_summary)

    with pytest.raises(SnapshotMoved):
        run_segment_job(ana, Overtaken(9))
    assert ranges(ana) == []
    assert not Message.objects.of(ana.tenant).exclude(episode=None).exists()
    assert not SearchUnit.objects.of(ana.tenant).exists()


def test_each_message_and_each_episode_can_be_found_by_words_and_by_meaning(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, whole_talk())
    ana.flush(conversation)
    episodes = Episode.objects.of(ana.tenant).count()
    units = SearchUnit.objects.of(ana.tenant).filter(shelf="episode")
    vectors = SearchVector.objects.of(ana.tenant).filter(shelf="episode")
    assert units.count() == vectors.count() == 16 + episodes
    assert set(units.values_list("language", flat=True)) == {"english"}


def test_a_silence_of_three_hours_is_a_boundary(ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, messages(MOVING[:4], MORNING) + messages(MOVING[4:], EVENING))
    ana.flush(conversation)
    assert ranges(ana) == [(1, 4), (5, 8)]


def test_a_flush_closes_whatever_there_is(ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, messages(RUNNING[:1], MORNING))
    ana.flush(conversation)
    assert ranges(ana) == [(1, 1)]
    assert ana.get(f"conversations/{conversation}").json()["pending"] == 0


def test_three_episodes_or_one_flashbulb_call_for_consolidation(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, chatter(20))
    run_segment_job(ana, CutAfter(5, 12))
    assert not Job.objects.of(ana.tenant).filter(kind=Kind.CONSOLIDATE).exists()
    post(ana, conversation, chatter(14))
    run_segment_job(ana, CutAfter(5))
    assert Job.objects.of(ana.tenant).filter(kind=Kind.CONSOLIDATE).count() == 1


def test_a_message_keeps_its_place_whatever_its_clock_says(
    ana: Agent, conversation: uuid.UUID
) -> None:
    row = post(ana, conversation, messages(MOVING, MORNING))
    services.add_messages(
        tenant=ana.tenant,
        posted_by=None,
        external_id=row.external_id,
        messages=[
            Message(role="user", content="From long ago.", occurred_at=MORNING.replace(year=1999))
        ],
    )
    ana.flush(conversation)
    last = Episode.objects.of(ana.tenant).order_by("-last_seq")[0]
    assert last.last_seq == 9 and last.start_at <= last.end_at
    assert drain_jobs().ran == 0


@pytest.mark.gate
def test_a_flush_of_a_long_backlog_commits_window_by_window_and_leaves_nothing(
    ana: Agent, conversation: uuid.UUID
) -> None:
    post(ana, conversation, chatter(130))
    Job.objects.of(ana.tenant).all().delete()
    ana.flush(conversation)
    covered = [seq for first, last in ranges(ana) for seq in range(first, last + 1)]
    assert covered == list(range(1, 131))
    assert max(last - first + 1 for first, last in ranges(ana)) <= 40


def test_a_flush_that_takes_long_is_handed_back_and_goes_on(
    ana: Agent, conversation: uuid.UUID, settings: Any
) -> None:
    post(ana, conversation, chatter(50))
    Job.objects.of(ana.tenant).all().delete()
    job_id = ana.post("flush", {"conversation_id": str(conversation)}).json()["job_id"]
    settings.FLUSH_AT_MOST_S = -1
    assert tasks.run_job(job_id)
    settings.FLUSH_AT_MOST_S = 60
    handed_back = Job.objects.of(ana.tenant).get(id=job_id)
    assert (handed_back.state, handed_back.attempts) == (State.READY, 0)
    drain_jobs()
    assert ana.get(f"jobs/{job_id}").json()["state"] == "done"
    assert ana.get(f"conversations/{conversation}").json()["pending"] == 0
