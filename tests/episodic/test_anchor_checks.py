"""A date that a model wrote stays only where the messages bear it out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from episodic.anchor_checks import check_anchors
from episodic.engines import Line


def said(*contents: str, first_day: int = 8) -> list[Line]:
    """Return lines said in the mornings of May 2023, one a day."""
    return [
        Line(1, "user", "Ana", content, datetime(2023, 5, first_day + place, 9, tzinfo=UTC))
        for place, content in enumerate(contents)
    ]


@pytest.mark.parametrize(
    ("heard", "written", "checked"),
    [
        ("I ran yesterday", "She ran yesterday (6 May 2023).", "She ran yesterday (7 May 2023)."),
        ("I ran yesterday", "She ran yesterday.", "She ran yesterday (7 May 2023)."),
        ("I ran last week", "Ran last week (1 May 2023).", "Ran last week (1–7 May 2023)."),
        ("I ran yesterday", "Ran the day before (7 May 2023).", "Ran the day before (7 May 2023)."),
        ("I ran yesterday", "Ran the day before (May 7, 2023)", "Ran the day before (May 7, 2023)"),
        ("I ran yesterday", "Ran the day before (2 May 2023).", "Ran the day before."),
        ("I ran", "She ran recently (2021).", "She ran recently."),
        ("I ran", "She ran in spring (May 2023).", "She ran in spring (May 2023)."),
        ("Rome (1990), that's me", "Born in Rome (1990).", "Born in Rome (1990)."),
        ("I saw it", "She saw it (Blade Runner 2049).", "She saw it (Blade Runner 2049)."),
        ("我昨天跑了步", "她昨天（2023年5月1日）跑了步。", "她昨天(2023年5月7日)跑了步。"),
    ],
)
def test_code_has_the_last_word_on_dates(heard: str, written: str, checked: str) -> None:
    assert check_anchors(written, lines=said(heard)) == checked


def test_without_lines_nothing_is_dated() -> None:
    assert check_anchors("She ran yesterday (1999).", lines=[]) == "She ran yesterday."


def test_a_phrase_means_the_day_on_which_it_was_said() -> None:
    lines = said("Hello!", "I ran yesterday.", "How nice.")
    assert check_anchors("Ana ran yesterday.", lines=lines) == "Ana ran yesterday (8 May 2023)."


def test_a_phrase_said_on_two_days_gets_no_date() -> None:
    lines = said("I ran yesterday.", "And yesterday I swam.")
    assert check_anchors("Ana ran yesterday (7 May 2023).", lines=lines) == "Ana ran yesterday."
