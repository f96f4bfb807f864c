"""A date that a model wrote goes only where it is known to be wrong."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from episodic.anchor_checks import check_dates, drop_wrong_dates, read_span
from episodic.engines import Line


def said(*contents: str, first_day: int = 8) -> list[Line]:
    """Return lines said in the mornings of May 2023, one a day."""
    return [
        Line(1, "user", "Ana", content, datetime(2023, 5, first_day + place, 9, tzinfo=UTC))
        for place, content in enumerate(contents)
    ]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("heard", "written", "checked"),
    [
        ("I ran yesterday", "She ran yesterday (6 May 2023).", "She ran yesterday (7 May 2023)."),
        ("I ran yesterday", "She ran yesterday.", "She ran yesterday (7 May 2023)."),
        ("I ran last week", "Ran last week (1 May 2023).", "Ran last week (1 May 2023)."),
        ("I ran last week", "Ran last week (9 May 2023).", "Ran last week (1–7 May 2023)."),
        ("I ran yesterday", "She ran yesterday (May 2023).", "She ran yesterday (May 2023)."),
        ("I ran yesterday", "Ran the day before (7 May 2023).", "Ran the day before (7 May 2023)."),
        ("I ran yesterday", "Ran the day before (May 7, 2023)", "Ran the day before (May 7, 2023)"),
        ("I ran", "She ran recently (2021).", "She ran recently (2021)."),
        ("I ran", "She ran on Sunday (7 May 2023).", "She ran on Sunday (7 May 2023)."),
        ("I ran", "She ran on Sunday (8 May 2023).", "She ran on Sunday."),
        ("I ran", "She ran last autumn (2022).", "She ran last autumn (2022)."),
        ("Ich lief", "Lief letzten Samstag (6. Mai 2023).", "Lief letzten Samstag (6. Mai 2023)."),
        ("I ran", "She ran in spring (May 2023).", "She ran in spring (May 2023)."),
        ("Rome (1990), that's me", "Born in Rome (1990).", "Born in Rome (1990)."),
        ("I saw it", "She saw it (Blade Runner 2049).", "She saw it (Blade Runner 2049)."),
        ("我昨天跑了步", "她昨天（2023年5月1日）跑了步。", "她昨天(2023年5月7日)跑了步。"),
    ],
)
def test_code_has_the_last_word_on_what_it_knows(heard: str, written: str, checked: str) -> None:
    assert check_dates(written, lines=said(heard)) == checked


def test_without_lines_nothing_is_known() -> None:
    assert check_dates("She ran yesterday (1999).", lines=[]) == "She ran yesterday (1999)."


def test_a_phrase_means_the_day_on_which_it_was_said() -> None:
    lines = said("Hello!", "I ran yesterday.", "How nice.")
    assert check_dates("Ana ran yesterday.", lines=lines) == "Ana ran yesterday (8 May 2023)."


def test_a_phrase_said_on_two_days_gets_no_date_but_may_have_either() -> None:
    lines = said("I ran yesterday.", "And yesterday I swam.")
    assert check_dates("Ana ran yesterday.", lines=lines) == "Ana ran yesterday."
    for day in (7, 8):
        dated = f"Ana ran yesterday ({day} May 2023)."
        assert check_dates(dated, lines=lines) == dated
    assert drop_wrong_dates("Yesterday (6 May 2023)", lines=lines) == "Yesterday"


@pytest.mark.gate
@pytest.mark.parametrize(
    ("written", "first", "last"),
    [
        ("2026-03-08", date(2026, 3, 8), date(2026, 3, 8)),
        ("2026-03-08T10:00:00Z", date(2026, 3, 8), date(2026, 3, 8)),
        ("2026-02", date(2026, 2, 1), date(2026, 2, 28)),
        ("2026", date(2026, 1, 1), date(2026, 12, 31)),
        ("8 March 2026", date(2026, 3, 8), date(2026, 3, 8)),
        ("March 8, 2026", date(2026, 3, 8), date(2026, 3, 8)),
        ("8.3.2026", date(2026, 3, 8), date(2026, 3, 8)),
        ("März 2026", date(2026, 3, 1), date(2026, 3, 31)),
        ("26 June–2 July 2023", date(2023, 6, 26), date(2023, 7, 2)),
        ("1-7 May 2023", date(2023, 5, 1), date(2023, 5, 7)),
        ("31 December 2023–6 January 2024", date(2023, 12, 31), date(2024, 1, 6)),
        ("2023年6月26日至7月2日", date(2023, 6, 26), date(2023, 7, 2)),
    ],
)
def test_a_written_date_covers_days(written: str, first: date, last: date) -> None:
    assert read_span(written) == (first, last)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "soon",
        "tomorrow",
        "2026-13-45",
        "2026-02-30",
        "2026-W10",
        "0000",
        "99999-1-1",
        "1" * 9_000,
    ],
)
def test_what_is_no_date_covers_none(written: str) -> None:
    assert read_span(written) is None
