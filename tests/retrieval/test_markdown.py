"""The exact text of an answer in markdown. No database: the rows are never saved."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from indexing.models import MemoryKind
from memoryproject.text.cleaning import DEFANGED
from memoryproject.text.parts import join
from retrieval import markdown
from retrieval.hits import EpisodeHit, FactHit, Hit, MessageRow
from retrieval.models import Retrieval
from retrieval.request import RecallRequest

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
AN_ID = "019cade0-0000-7000-8000-000000000001"
REQUEST = RecallRequest("", uuid.UUID(AN_ID), Retrieval.Kind.RETRIEVE)


def render(facts: list[FactHit], episodes: list[EpisodeHit], *, detail: str = "auto") -> str:
    """Return an answer as text."""
    request = replace(REQUEST, detail=detail)
    blocks = list(markdown.render(facts, episodes, request, now=NOW))
    return join(markdown.compose(blocks, markdown.NO_FENCE))


def make_found(shelf: MemoryKind, rank: int, score: float) -> Hit:
    return Hit(
        shelf=shelf,
        memory_id=uuid.uuid4(),
        rank=rank,
        score=score,
        rrf=score,
        retrievability=1.0,
        lexical_rank=rank,
        vector_rank=rank,
        lexical_found=1,
        vector_found=1,
        lines=(),
    )


def make_fact(
    fact: str, *, category: str = "preference", sources: int = 1, rank: int = 1
) -> FactHit:
    return FactHit(make_found(MemoryKind.FACT, rank, 0.03), AN_ID, category, fact, NOW, sources)


def make_episode(
    title: str = "Moving to Rotterdam",
    *,
    rank: int = 1,
    score: float = 0.0325,
    surprise: float = 0.2,
    ago: timedelta = timedelta(days=2),
    summary: str = "Mira moves for a job.",
    said: Sequence[tuple[str, str, str]] = (("user", "Mira", "I'm moving."),),
) -> EpisodeHit:
    """Return a hit; `said` holds triples (role, name, content)."""
    messages = [
        MessageRow(AN_ID, seq, role, name, content, NOW, {}, None, None)
        for seq, (role, name, content) in enumerate(said, start=1)
    ]
    found = make_found(MemoryKind.EPISODE, rank, score)
    return EpisodeHit(found, AN_ID, title, summary, surprise, NOW - ago, messages=tuple(messages))


def test_facts_come_first_and_blank_lines_part_the_blocks() -> None:
    facts = [
        make_fact("Mira prefers tea", sources=2),
        make_fact("Mira works in Rotterdam", category="experience", rank=2),
    ]
    said = [
        ("user", "Mira", "I'm moving."),
        ("assistant", "", "Where to?"),
        ("user", "", "To Rotterdam."),
    ]
    episodes = [
        make_episode(surprise=0.8, said=said),
        make_episode(
            "Running by the river",
            rank=2,
            score=0.0161,
            ago=timedelta(days=1),
            summary="Mira trains.",
        ),
    ]
    assert render(facts, episodes) == (
        "## Semantic Memory\n"
        "- [preference] Mira prefers tea (sources: 2 conversations)\n"
        "- [experience] Mira works in Rotterdam (sources: 1 conversation)\n"
        "\n"
        "## Episodic Memories\n"
        "\n"
        "### Moving to Rotterdam [rank: 1, score: 0.03, key moment]\n"
        "**When:** 2 days ago\n"
        "**Summary:** Mira moves for a job.\n"
        "\n"
        "**Details:**\n"
        '- Mira: "I\'m moving."\n'
        '- assistant: "Where to?"\n'
        '- user: "To Rotterdam."\n'
        "\n"
        "### Running by the river [rank: 2, score: 0.02]\n"
        "**When:** yesterday\n"
        "**Summary:** Mira trains.\n"
    )


def test_without_facts_there_is_no_section_on_them() -> None:
    assert render([], [make_episode()]) == (
        "## Episodic Memories\n"
        "\n"
        "### Moving to Rotterdam [rank: 1, score: 0.03]\n"
        "**When:** 2 days ago\n"
        "**Summary:** Mira moves for a job.\n"
    )


def test_without_episodes_there_is_no_section_on_them() -> None:
    assert render([make_fact("Mira prefers tea")], []) == (
        "## Semantic Memory\n- [preference] Mira prefers tea (sources: 1 conversation)\n"
    )


@pytest.mark.parametrize("detail", ["auto", "none", "low", "high"])
def test_nothing_is_an_empty_text(detail: str) -> None:
    assert render([], [], detail=detail) == ""
    assert markdown.render_recent([], DEFANGED, now=NOW) == ""


@pytest.mark.parametrize(
    "sources, said", [(1, "1 conversation"), (2, "2 conversations"), (11, "11 conversations")]
)
def test_sources_are_counted(sources: int, said: str) -> None:
    text = join(markdown.render_fact(make_fact("It is so", sources=sources), REQUEST))
    assert text == f"- [preference] It is so (sources: {said})\n"


DETAILS = [
    ("auto", 1, 0.7, True),
    ("auto", 2, 0.9, True),
    ("auto", 3, 0.9, False),
    ("auto", 1, 0.69, False),
    ("none", 1, 1.0, False),
    ("low", 1, 0.7, True),
    ("low", 1, 0.69, False),
    ("low", 2, 1.0, False),
    ("high", 1, 0.0, True),
    ("high", 100, 0.0, True),
]


@pytest.mark.parametrize("detail, rank, surprise, shown", DETAILS)
def test_the_level_of_detail_decides_whose_messages_show(
    detail: str, rank: int, surprise: float, shown: bool
) -> None:
    episodes = [make_episode(rank=rank, surprise=surprise)]
    text = render([], episodes, detail=detail)
    assert ("**Details:**" in text) is shown
    assert ('- Mira: "I\'m moving."' in text) is shown
    assert "**Summary:** Mira moves for a job." in text


@pytest.mark.parametrize(
    "surprise, marked", [(0.0, False), (0.699, False), (0.7, True), (0.85, True), (1.0, True)]
)
def test_a_surprising_episode_is_a_key_moment(surprise: float, marked: bool) -> None:
    mark = ", key moment" if marked else ""
    heading = f"### Moving to Rotterdam [rank: 1, score: 0.03{mark}]"
    assert join(markdown.heading(make_episode(surprise=surprise), DEFANGED)) == f"{heading}\n"


@pytest.mark.parametrize(
    "score, said",
    [(0.0328, "0.03"), (0.0164, "0.02"), (0.004, "0.00"), (0.92, "0.92"), (1.0, "1.00")],
)
def test_a_score_has_two_decimals(score: float, said: str) -> None:
    assert f"score: {said}]" in join(markdown.heading(make_episode(score=score), DEFANGED))


WHEN = [
    (timedelta(hours=-5), "just now"),
    (timedelta(0), "just now"),
    (timedelta(seconds=59), "just now"),
    (timedelta(minutes=1), "1 minute ago"),
    (timedelta(minutes=5, seconds=59), "5 minutes ago"),
    (timedelta(minutes=59, seconds=59), "59 minutes ago"),
    (timedelta(hours=1), "1 hour ago"),
    (timedelta(hours=23, minutes=59), "23 hours ago"),
    (timedelta(days=1), "yesterday"),
    (timedelta(days=1, hours=23), "yesterday"),
    (timedelta(days=2), "2 days ago"),
    (timedelta(days=6, hours=23), "6 days ago"),
    (timedelta(days=7), "1 week ago"),
    (timedelta(days=21), "3 weeks ago"),
    (timedelta(days=29), "4 weeks ago"),
    (timedelta(days=30), "1 month ago"),
    (timedelta(days=364), "12 months ago"),
    (timedelta(days=365), "1 year ago"),
    (timedelta(days=800), "2 years ago"),
]


@pytest.mark.parametrize("ago, said", WHEN)
def test_the_end_of_an_episode_is_told_in_words(ago: timedelta, said: str) -> None:
    assert join(markdown.about(make_episode(ago=ago), DEFANGED, now=NOW)).startswith(
        f"**When:** {said}\n"
    )


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b"])
def test_a_line_break_becomes_a_space(line_break: str) -> None:
    text = f"one{line_break}two"
    hit = make_episode(text, summary=text, said=[("user", text, text)])
    assert join(markdown.render_message(hit.messages[0], DEFANGED)) == '- one two: "one two"\n'
    assert join(markdown.render_fact(make_fact(text), REQUEST)).startswith(
        "- [preference] one two ("
    )
    assert join(markdown.heading(hit, DEFANGED)) == "### one two [rank: 1, score: 0.03]\n"
    assert join(markdown.about(hit, DEFANGED, now=NOW)).endswith("**Summary:** one two\n")


def test_recent_episodes_have_no_rank_and_no_score() -> None:
    key_moment = make_episode(surprise=0.9, ago=timedelta(minutes=5))
    other = make_episode("Running by the river", summary="Mira trains.")
    assert markdown.render_recent([key_moment, other], DEFANGED, now=NOW) == (
        "## Episodic Memories\n"
        "\n"
        "### Moving to Rotterdam [key moment]\n"
        "**When:** 5 minutes ago\n"
        "**Summary:** Mira moves for a job.\n"
        "\n"
        "### Running by the river\n"
        "**When:** 2 days ago\n"
        "**Summary:** Mira trains.\n"
    )
