"""What the offline engine makes of changed values: nothing is retired, little is suggested."""

from dataclasses import replace
from datetime import timedelta

import pytest

from semantic.engines import Action
from semantic.offline.consolidator import SUGGESTIONS_AT_MOST
from tests.semantic.fact_makers import MONDAY, consolidate, know, learn

HALF_A_YEAR = timedelta(days=180)


@pytest.mark.parametrize("name", ["Bo", "李雷", "+49 170 5550199", "Mary-Jane O'Neil"])
def test_any_name_stands_before_the_words_to_the_letter(name: str) -> None:
    first, second = learn((name, "user", "I live in Oslo."), (name, "user", "I moved to Bergen."))
    assert (first.fact, second.fact) == (
        f'{name}: "I live in Oslo."',
        f'{name}: "I moved to Bergen."',
    )
    assert second.action is Action.NEW


@pytest.mark.parametrize(
    ("said", "is_suggested"),
    [
        ("I moved to Bergen.", True),
        ("I moved to Linux.", False),
        ("My son moved to Bergen.", False),
    ],
)
def test_a_move_told_in_other_words_is_suggested(said: str, is_suggested: bool) -> None:
    known = replace(know('Bo: "I live in Oslo."'), valid_at=MONDAY - HALF_A_YEAR)
    suggestions = consolidate(("Bo", "user", said), known=[known]).suggestions
    assert [item.kind.value for item in suggestions] == ["contradiction"] * is_suggested


def test_what_was_said_later_is_not_replaced_by_what_arrives_later() -> None:
    later = replace(know('Bo: "My new phone number is 555-0177."'), valid_at=MONDAY + HALF_A_YEAR)
    answer = consolidate(("Bo", "user", "My phone number is 555-0143."), known=[later])
    assert [item.action for item in answer.proposals] == [Action.NEW] and not answer.suggestions


def test_of_many_likely_replacements_a_few_are_suggested() -> None:
    known = [
        replace(
            know(f'Bo: "The code of garage {letter} is 44{at}1."', alias=f"F{at}"),
            valid_at=MONDAY - HALF_A_YEAR,
        )
        for at, letter in enumerate("ABCDEFGH", start=1)
    ]
    said = [
        ("Bo", "user", f"The code of garage {letter} is now 99{letter}2.") for letter in "ABCDEFGH"
    ]
    suggestions = consolidate(*said, known=known).suggestions
    assert 0 < len(suggestions) <= SUGGESTIONS_AT_MOST


def test_an_old_mistake_is_no_correction_of_what_was_just_said() -> None:
    proposals = learn(
        ("Bo", "user", "I live in Oslo."),
        ("Bo", "user", "And I was wrong last month: it is naproxen that I'm allergic to."),
    )
    assert {item.action for item in proposals} == {Action.NEW}
