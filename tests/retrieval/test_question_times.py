"""When a question asks about, in all languages in which dates are read, and its other words."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime

import pytest

from retrieval.models import Retrieval
from retrieval.question import Span, find_dates
from retrieval.question_times import TimesAsked, read_times
from retrieval.request import RecallRequest
from retrieval.time_grammar import EARLIEST, LATEST
from retrieval.time_meanings import OPEN_FUTURE, OPEN_PAST

SUNDAY = datetime(2026, 11, 22, 12, tzinfo=UTC)


def read(question: str) -> TimesAsked:
    return read_times(question, at=SUNDAY)


def spans(question: str) -> list[tuple[str, str]]:
    """Return the days, those of any year in the year of asking."""
    exact = [span.in_year(SUNDAY.year) if span.yearly else span for span in read(question).spans]
    return [(span.first.isoformat(), span.last.isoformat()) for span in exact]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did I do in mid-August?", "2026-08-11", "2026-08-21"),
        ("What happened at the end of summer 2023?", "2023-08-09", "2023-08-31"),
        ("What did we plan in early 2023?", "2023-01-01", "2023-05-02"),
        ("What did he buy in the last two weeks of August?", "2026-08-18", "2026-08-31"),
        ("Where was Tim in the second week of November?", "2026-11-08", "2026-11-14"),
        ("Was the first half of September 2022 good?", "2022-09-01", "2022-09-15"),
        ("Which books did I read in Q3?", "2026-07-01", "2026-09-30"),
        ("What did we sell in the third quarter of 2024?", "2024-07-01", "2024-09-30"),
        ("What did I do in August last year?", "2025-08-01", "2025-08-31"),
        ("How was the beginning of last month?", "2026-10-01", "2026-10-08"),
        ("Was habe ich Mitte August gemacht?", "2026-08-11", "2026-08-21"),
        ("¿Qué hice a finales de mayo?", "2026-05-24", "2026-05-31"),
        ("Qu'ai-je fait fin mai ?", "2026-05-24", "2026-05-31"),
        ("Cosa ho fatto a metà agosto?", "2026-08-11", "2026-08-21"),
        ("O que eu fiz no início de junho?", "2026-06-01", "2026-06-08"),
        ("Wat heb ik half augustus gedaan?", "2026-08-11", "2026-08-21"),
        ("2023年8月中旬我做了什么?", "2023-08-11", "2023-08-21"),
    ],
)
def test_parts_of_months_seasons_and_years_are_read(question: str, first: str, last: str) -> None:
    assert spans(question) == [(first, last)]


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("What did I eat last Saturday?", "2026-11-21"),
        ("How was my Thursday?", "2026-11-19"),
        ("What happened three days ago?", "2026-11-19"),
        ("What did I do on the 14th?", "2026-11-14"),
        ("What did I do on 06/14/2026?", "2026-06-14"),
        ("Was geschah gestern?", "2026-11-21"),
        ("Was habe ich am 14. Juni gemacht?", "2026-06-14"),
        ("Was war am 3.5.2026?", "2026-05-03"),
        ("¿Qué hice el 14 de junio de 2026?", "2026-06-14"),
        ("¿Qué pasó hace tres días?", "2026-11-19"),
        ("Qu'est-ce que j'ai mangé samedi dernier ?", "2026-11-21"),
        ("Che cosa ho fatto il 3 marzo?", "2026-03-03"),
        ("O que fiz ontem?", "2026-11-21"),
        ("Wat deed ik op 5 mei 2026?", "2026-05-05"),
    ],
)
def test_a_day_is_read_however_it_is_named(question: str, day: str) -> None:
    assert spans(question) == [(day, day)]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("What did Dave do before June 2023?", None, "2023-05-31"),
        ("How many cups had Nate won by July 10, 2022?", None, "2022-07-10"),
        ("What have I cooked since last Monday?", "2026-11-16", None),
        ("What did she read after 3 May 2024?", "2024-05-04", None),
        ("What happened between 3 and 10 May?", "2026-05-03", "2026-05-10"),
        ("Where was John between August 11 and August 15 2023?", "2023-08-11", "2023-08-15"),
        ("Where was Tim in the week before 16 November 2023?", "2023-11-07", "2023-11-16"),
        ("Who sang on the Sunday before October 25, 2022?", "2022-10-23", "2022-10-25"),
        ("What did I spend in the past two weeks?", "2026-11-08", "2026-11-22"),
        ("Was war vor dem 3. Juni?", None, "2026-06-02"),
        ("Was ist seit März passiert?", "2026-03-01", None),
        ("¿Qué pasó la semana antes del 3 de mayo de 2026?", "2026-04-24", "2026-05-03"),
        ("5月3日到5月10日发生了什么?", "2026-05-03", "2026-05-10"),
    ],
)
def test_words_that_bound_a_time_are_read(
    question: str, first: str | None, last: str | None
) -> None:
    assert spans(question) == [(first or OPEN_PAST.isoformat(), last or OPEN_FUTURE.isoformat())]


def test_a_bound_without_a_year_is_the_latest_that_has_begun() -> None:
    assert spans("What happened before December?") == [(OPEN_PAST.isoformat(), "2025-11-30")]


@pytest.mark.parametrize(
    "question",
    [
        "What is my first name?",
        "Where did she live before the move?",
        "Did June visit April in the mall?",
        "What may I do? March on!",
        "Which fall hurt her?",
        "Do I work every Monday?",
        "31 February, May 5:30 or 2000 euros",
        "Wo wohnt sie hier?",
    ],
)
def test_what_is_no_time_is_left_alone(question: str) -> None:
    assert read(question) == TimesAsked((), question)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What did she find in the last two weeks of August?", "What did she find in the ?"),
        ("Which film did I see three weeks ago?", "Which film did I see ?"),
        ("Was habe ich am 14. Juni gekocht?", "Was habe ich am gekocht?"),
        ("昨天我吃了什么", "我吃了什么"),
        ("12 October 2026", "12 October 2026"),
        ("Yesterday?", "Yesterday?"),
    ],
)
def test_words_that_were_read_as_time_are_no_words_unless_nothing_else_is_left(
    question: str, words: str
) -> None:
    assert read(question).words == words


def test_a_long_question_is_read_at_its_beginning_alone_and_loses_no_word() -> None:
    times = read("What did I cook on 3 May 2026? " + "and then 1 2 on the " * 5_000 + "4 May 2026")
    assert len(times.spans) == 1
    assert times.words.startswith("What did I cook on ?") and times.words.endswith("4 May 2026")


def test_beside_an_exact_date_what_is_relative_to_the_moment_of_asking_means_nothing() -> None:
    question = "What was Tim's issue last week, as mentioned on November 6, 2023?"
    assert spans(question) == [("2023-11-06", "2023-11-06")]


@pytest.mark.parametrize(
    ("question", "order"),
    [
        ("When did I first go swimming?", EARLIEST),
        ("Since when do I play the piano?", EARLIEST),
        ("How long has Tim played?", EARLIEST),
        ("When was the last time I saw Bo?", LATEST),
        ("What is my most recent purchase?", LATEST),
        ("What did I do last week?", 0),
        ("Wann war ich zum ersten Mal schwimmen?", EARLIEST),
        ("¿Cuándo fue la última vez que nadé?", LATEST),
        ("Quand ai-je nagé pour la première fois ?", EARLIEST),
        ("What is her last name?", 0),
    ],
)
def test_the_first_and_the_last_are_asked_for(question: str, order: int) -> None:
    assert read(question).order == order


def test_days_of_every_year_are_looked_for_in_some_years_and_long_spans_are_not() -> None:
    params = read("What did we do in May?").to_parameters(at=SUNDAY.date())
    assert len(params["since"]) == len(params["until"]) == 12
    assert datetime(2026, 5, 1, tzinfo=UTC) in params["since"]
    assert datetime(2026, 6, 1, tzinfo=UTC) in params["until"]
    assert read("What was before 2023?").to_parameters(at=SUNDAY.date())["narrow"] == [False]
    assert not read("Where do I live?").to_parameters(at=SUNDAY.date())["timely"]


def test_without_a_budget_no_times_are_read() -> None:
    asked = RecallRequest("What happened yesterday?", uuid.uuid4(), Retrieval.Kind.RETRIEVE)
    assert asked.read_times(SUNDAY) == TimesAsked(words="What happened yesterday?")


def test_messages_name_their_days_in_these_languages_too() -> None:
    named = [dated.span for dated in find_dates("Der Umzug ist am 12. Oktober 2026, nicht im Mai.")]
    assert named == [
        Span(date(2026, 10, 12), date(2026, 10, 12)),
        Span(date(2000, 5, 1), date(2000, 5, 31), yearly=True),
    ]
