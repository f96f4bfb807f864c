"""The days that a question names."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime

import pytest

from retrieval import question
from retrieval.excerpts import drop_dates
from retrieval.question import Span
from retrieval.question_times import read_times
from retrieval.tuning import FEW_DAYS_SHARE
from tests.conftest import Agent

ASKED_AT = datetime(2026, 11, 22, 12, tzinfo=UTC)


def span(first: str, last: str | None = None, *, yearly: bool = False) -> Span:
    return Span(date.fromisoformat(first), date.fromisoformat(last or first), yearly)


@pytest.mark.parametrize(
    ("asked", "days"),
    [
        ("What did Ana run last May?", [span("2026-05-01", "2026-05-31")]),
        ("What happened two weeks ago?", [span("2026-11-02", "2026-11-08")]),
        ("Where did she go yesterday?", [span("2026-11-21")]),
        ("Who won in 2023?", [span("2023-01-01", "2023-12-31")]),
        ("What did they plan on 3 June, 2023?", [span("2023-06-03")]),
        ("on May 23rd, 2023, or 2023-05-24?", [span("2023-05-23"), span("2023-05-24")]),
        ("in March 2024", [span("2024-03-01", "2024-03-31")]),
        ("What did Joanna visit in May?", [span("2000-05-01", "2000-05-31", yearly=True)]),
        ("Her birthday on 29 February?", [span("2000-02-29", yearly=True)]),
        ("9–15 November 2026", [span("2026-11-09", "2026-11-15")]),
        ("28 December–3 January 2024", [span("2023-12-28", "2024-01-03")]),
        ("去年5月做了什么?", [span("2025-05-01", "2025-05-31")]),
        ("2022年5月7日", [span("2022-05-07")]),
        ("Where did she live before the move?", []),
        ("What may I do? March on!", []),
        ("31 February, May 5:30 or 2000 euros", []),
    ],
)
def test_dates_and_relative_phrases_are_read(asked: str, days: list[Span]) -> None:
    assert read_times(asked, at=ASKED_AT).spans == tuple(days)


def test_memories_of_the_days_are_close_and_those_two_weeks_off_are_not() -> None:
    may = [span("2026-05-01", "2026-05-31")]
    assert question.closeness(may, on=date(2026, 5, 31)) == 1
    assert question.closeness(may, on=date(2026, 6, 7)) == pytest.approx(0.5)
    assert question.closeness(may, on=date(2026, 6, 14)) == 0
    assert question.closeness([], on=date(2026, 5, 31)) == 0


def test_the_day_itself_counts_more_where_a_day_or_a_week_is_named() -> None:
    first = [span("2026-05-01")]
    assert question.closeness(first, on=date(2026, 5, 1)) == FEW_DAYS_SHARE > 1
    assert question.closeness(first, on=date(2026, 5, 2)) < 1


def test_a_memory_that_names_the_days_itself_is_close_but_naming_the_year_is_too_little() -> None:
    may, told = [span("2026-05-01", "2026-05-31")], date(2026, 9, 1)
    assert question.closeness(may, on=told, named=[span("2026-05-09")]) == 1
    assert question.closeness(may, on=told, named=[span("2026-01-01", "2026-12-31")]) == 0


def test_a_month_without_a_year_is_that_of_any_year() -> None:
    december = [span("2000-12-01", "2000-12-31", yearly=True)]
    assert question.closeness(december, on=date(2023, 12, 9)) == 1
    assert question.closeness(december, on=date(2024, 1, 7)) == pytest.approx(0.5)
    leap = [span("2000-02-29", yearly=True)]
    assert question.closeness(leap, on=date(2023, 2, 28)) == FEW_DAYS_SHARE


RACES = [
    ("2025-05-11", "I ran the marathon in Lisbon today, it was hot."),
    ("2025-07-02", "My sister came to visit and we cooked fish."),
    ("2025-10-12", "I ran the marathon in Porto today, it was windy."),
]


@pytest.fixture(scope="module")
def two_marathons(ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    for day, words in RACES:
        moment = f"{day}T18:00:00Z"
        ana.say(conversation, words, name="Ana", timestamp=moment)
        ana.flush(conversation)
    return conversation


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("month", "first", "last"), [("May", "Lisbon", "Porto"), ("October", "Porto", "Lisbon")]
)
def test_the_marathon_of_the_month_asked_for_comes_first(
    ana: Agent, two_marathons: uuid.UUID, month: str, first: str, last: str
) -> None:
    body = {
        "conversation_id": str(two_marathons),
        "query": f"What did Ana run last {month}?",
        "max_tokens": 36,
        "as_of": "2026-03-01T00:00:00Z",
    }
    text = ana.post("retrieve_memory", body).content.decode()
    assert first in text and last not in text


@pytest.mark.django_db
def test_time_is_no_filter(ana: Agent, two_marathons: uuid.UUID) -> None:
    body = {
        "conversation_id": str(two_marathons),
        "query": "Which marathon did Ana run in 1999?",
        "max_tokens": 400,
    }
    text = ana.post("retrieve_memory", body).content.decode()
    assert all(words in drop_dates(text) for _, words in RACES)
