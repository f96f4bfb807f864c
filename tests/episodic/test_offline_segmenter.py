"""The offline segmenter cuts where people would, and never where it must not."""

from datetime import timedelta

import numpy as np
import pytest

from episodic.engines import Line, Segmentation
from episodic.offline.segmenter import OfflineSegmenter, choose_cuts
from tests.episodic.conversations import (
    FLIGHT,
    GARDEN,
    MARATHON,
    MONDAY,
    SOUP,
    embed_lines,
    make_lines,
)

MINUTE = timedelta(minutes=1)


def segment(lines: list[Line], previous_summary: str = "") -> Segmentation:
    return OfflineSegmenter().segment(
        lines=lines, vectors=embed_lines(lines), previous_summary=previous_summary
    )


def spans(segmentation: Segmentation) -> list[tuple[int, int]]:
    return [(segment.first, segment.last) for segment in segmentation.segments]


def test_a_change_of_subject_is_a_boundary() -> None:
    assert spans(segment(make_lines(FLIGHT + SOUP))) == [(0, 5), (6, 11)]


def test_one_subject_is_one_episode() -> None:
    assert spans(segment(make_lines(GARDEN, step=MINUTE))) == [(0, 5)]


@pytest.mark.parametrize("count", [1, 2])
def test_fewer_than_three_messages_are_never_split(count: int) -> None:
    lines = make_lines([FLIGHT[0], SOUP[0]][:count], step=timedelta(days=2))
    assert spans(segment(lines)) == [(0, count - 1)]


def test_a_silence_of_three_hours_is_always_a_boundary() -> None:
    before = make_lines(GARDEN[:3], step=MINUTE)
    after = make_lines(GARDEN[3:], step=MINUTE, start=before[-1].at + timedelta(hours=3))
    assert spans(segment(before + after)) == [(0, 2), (3, 5)]


def test_a_shorter_silence_alone_is_no_boundary() -> None:
    before = make_lines(GARDEN[:3], step=MINUTE)
    after = make_lines(GARDEN[3:], step=MINUTE, start=before[-1].at + timedelta(minutes=9))
    assert spans(segment(before + after)) == [(0, 5)]


def test_a_message_that_arrives_late_makes_no_silence() -> None:
    lines = make_lines(GARDEN, step=MINUTE)
    late = make_lines([GARDEN[3]], start=MONDAY - timedelta(days=1))[0]
    assert spans(segment([*lines[:3], late, *lines[4:]])) == [(0, 5)]


def test_messages_of_one_sitting_stay_together_where_the_clock_shows_it() -> None:
    sittings = make_lines(GARDEN, step=MINUTE) + make_lines(
        MARATHON, step=MINUTE, start=MONDAY + timedelta(days=3)
    )
    assert spans(segment(sittings)) == [(0, 5), (6, 11)]


def test_the_segments_are_a_partition_in_order() -> None:
    lines = make_lines(FLIGHT + SOUP + GARDEN + MARATHON)
    found = spans(segment(lines))
    covered = [index for first, last in found for index in range(first, last + 1)]
    assert covered == list(range(len(lines)))


def test_asking_again_gives_the_same_answer() -> None:
    lines = make_lines(FLIGHT + SOUP + GARDEN)
    assert segment(lines) == segment(lines)


def test_a_carried_segment_stays_whole_when_more_is_said() -> None:
    lines = make_lines(FLIGHT + SOUP + GARDEN + MARATHON)
    first_of_last = spans(segment(lines[:12]))[-1][0]
    again = spans(segment(lines[first_of_last:], previous_summary="A flight was booked."))
    assert again[0][0] == 0
    assert again[0][1] >= 11 - first_of_last


def test_an_announcement_out_of_nowhere_is_extremely_surprising() -> None:
    news = ("Bo", "Wait, I have news. I got laid off this morning and we are getting divorced.")
    lines = make_lines([*GARDEN, news, ("Ana", "Oh no, I am so sorry!")], step=MINUTE)
    calm = segment(make_lines(GARDEN, step=MINUTE)).segments[0].surprise
    assert max(found.surprise for found in segment(lines).segments) >= 0.85
    assert calm < 0.5


def test_disbelief_is_a_pivot() -> None:
    disbelief = ("Bo", "Wait, what? I had no idea that tomatoes are poisonous for dogs!")
    lines = make_lines([*GARDEN, disbelief], step=MINUTE)
    assert max(found.surprise for found in segment(lines).segments) >= 0.6


def test_assent_is_fully_expected() -> None:
    lines = make_lines([("Ana", "ok"), ("Bo", "Got it"), ("Ana", "Understood")])
    assert segment(lines).segments[0].surprise <= 0.25


def test_chinese_subjects_are_told_apart() -> None:
    said = (
        ("小明", "我想订一张五月去北京的机票。"),
        ("小红", "你想坐早上的航班还是晚上的航班？"),
        ("小明", "早上的航班比较好，最好靠窗。"),
        ("小红", "有一班七点四十的航班，机票六百块。"),
        ("小明", "对了，换个话题，南瓜汤怎么做才好喝？"),
        ("小红", "先把南瓜和洋葱一起烤四十分钟。"),
        ("小明", "然后要在南瓜汤里放奶油吗？"),
        ("小红", "要的，搅拌以后再放一点奶油。"),
    )
    assert (4, 7) in spans(segment(make_lines(said)))


def test_one_clear_boundary_hides_the_doubtful_ones_of_a_window() -> None:
    doubtful = np.full(19, 0.2)
    assert choose_cuts(np.where(np.arange(19) == 9, 0.95, doubtful)) == [9]
    assert choose_cuts(np.where(np.isin(np.arange(19), [5, 12]), 0.4, doubtful)) == [5, 12]
    assert choose_cuts(np.full(5, 0.01)) == choose_cuts(np.zeros(0)) == []


def test_no_topic_boundary_leaves_a_message_alone() -> None:
    assert choose_cuts(np.array([0.99, 0.1, 0.1, 0.1, 0.1])) == []
    assert choose_cuts(np.array([0.1, 0.9, 0.99, 0.1, 0.1])) == [2]


def test_no_lines_give_no_segments() -> None:
    lines = make_lines(FLIGHT[:1])
    nothing = OfflineSegmenter().segment(
        lines=[], vectors=embed_lines(lines)[:0], previous_summary=""
    )
    assert nothing.segments == ()
    assert nothing.engine == "offline"


@pytest.mark.parametrize("said", ["??", "?", "?!", "...", "？", ",", "?\n?"])
def test_a_question_in_no_words_is_told_all_the_same(said: str) -> None:
    lines = make_lines([("Ana", said), ("Bo", "My cat is called Pixel.")], step=MINUTE)
    assert "Pixel" in segment(lines).segments[0].summary


@pytest.mark.gate
@pytest.mark.parametrize(
    "content", ["? " * 30_000, "x" * 64_000, "我们去爬山了" * 9_000, "a. " * 20_000]
)
def test_pasted_masses_are_named_briefly(content: str) -> None:
    lines = make_lines([("Ana", content), *GARDEN], step=MINUTE)
    vectors = embed_lines(make_lines([("Ana", content[:200]), *GARDEN]))
    found = OfflineSegmenter().segment(lines=lines, vectors=vectors, previous_summary="").segments
    assert all(0 < len(segment.title) <= 310 for segment in found)
    assert all(0 < len(segment.summary) <= 1010 for segment in found)
