"""The newer of two facts about one thing comes first, and the older says so."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from indexing.models import MemoryKind
from retrieval.hits import FactHit, Hit, MessageRow
from retrieval.successions import find_succession, put_newest_first

START = datetime(2026, 3, 2, tzinfo=UTC)
NOTED = ['Mira: "My locker code is 4482."', 'Mira: "My locker code is 5190."']


def make_facts(*texts: str, newer: Sequence[tuple[int, int]] = ()) -> list[FactHit]:
    """Return facts best first, each a day newer than the one before; `newer` suggests pairs."""
    ids = [uuid.uuid4() for _ in texts]
    return [
        FactHit(
            Hit(
                ids[place],
                MemoryKind.FACT,
                place + 1,
                1.0,
                newer=tuple(ids[new] for old, new in newer if old == place),
            ),
            str(ids[place]),
            "identity",
            text,
            START + timedelta(days=place),
            1,
        )
        for place, text in enumerate(texts)
    ]


def test_the_newer_value_comes_first_and_the_older_right_behind_it() -> None:
    facts = make_facts(NOTED[0], 'Mira: "I like tea."', NOTED[1])
    ordered, earlier = find_succession(facts)
    assert ordered == [facts[2], facts[0], facts[1]] and earlier == {facts[0].id}
    again, _ = find_succession([facts[2], facts[1], facts[0]])
    assert again == ordered


def test_of_three_values_the_newest_comes_first_then_the_others_newest_first() -> None:
    facts = make_facts(*NOTED, 'Mira: "My locker code is 7001."')
    ordered, earlier = find_succession(facts)
    assert ordered == facts[::-1] and earlier == {facts[0].id, facts[1].id}


def test_an_open_suggestion_puts_the_newer_first_and_calls_nothing_earlier() -> None:
    facts = make_facts("Mira lives in Ghent.", "Mira moved to Rotterdam.", newer=[(0, 1)])
    assert find_succession(facts) == (facts[::-1], set())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('Mira: "I love pizza."', 'Mira: "I love pasta."'),
        ('Mira: "My locker code is 4482."', 'Jonas: "My locker code is 5190."'),
        ('Mira: "My son Max is nine."', 'Mira: "My son Tim is six."'),
        ('Mira: "My brother lives in Rome."', 'Mira: "My sister lives in Rome."'),
        ('Mira: "My locker code is 4482."', 'Mira: "My locker code is 4482."'),
        ("Mira lives in Ghent.", "Mira lives in Rotterdam."),
        (
            'Mira: "The trip to Rome was short."',
            'Mira: "The trip to Rome was the best thing that we did in years."',
        ),
    ],
)
def test_what_tells_of_two_things_stays_in_its_order(one: str, other: str) -> None:
    facts = make_facts(one, other)
    assert find_succession(facts) == (facts, set())


def test_of_each_speaker_the_newest_comes_first_in_the_places_that_he_has() -> None:
    facts = make_facts(
        'Mira: "I drive a Corolla."', 'Jonas: "Nice car!"', 'Mira: "I got the keys of an Octavia."'
    )
    assert put_newest_first(facts) == [facts[2], facts[1], facts[0]]


def test_what_one_message_says_stays_in_its_order() -> None:
    message = MessageRow("m", 1, "user", "Mira", "", START, {}, None, "e")
    facts = make_facts('Mira: "I have moved."', 'Mira: "I like tea."', 'Mira: "It is Rome now."')
    at_once = [replace(hit, id=str(place), valid_at=START) for place, hit in enumerate(facts)]
    moved, rome = (replace(at_once[place], messages=(message,)) for place in (0, 2))
    tea = at_once[1]
    assert put_newest_first([rome, tea, moved]) == [moved, rome, tea]


def test_of_one_day_the_better_fact_stays_first() -> None:
    facts = make_facts('Mira: "I moved to Porto."', 'Mira: "I work as a nurse."')
    at_once = [facts[0], replace(facts[1], valid_at=START + timedelta(minutes=9))]
    assert put_newest_first(at_once) == at_once
