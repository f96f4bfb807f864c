"""Which texts still say what a retired fact said."""

from __future__ import annotations

import re

import pytest

from semantic.contradictions import Claim

DOGS = Claim("User has three dogs.", "User has two dogs.")
LISBON = Claim("Ana lives in Lisbon.", "Ana lives in Porto.")
JAZZ = Claim("Ana likes jazz.", "Ana does not like jazz.")
WRONG = Claim("Ana plays the piano on Sundays.")
CHINESE = Claim("用户养了三只狗。", "用户养了两只狗。")


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (DOGS, "I have three dogs."),
        (DOGS, "You said you've got 3 dogs, right?"),
        (DOGS, "First things first. Three big dogs, how lovely!"),
        (LISBON, "I live in Lisbon with my sister."),
        (JAZZ, "I like jazz a lot."),
        (WRONG, "I play the piano every Sunday."),
        (CHINESE, "我养了三只狗。"),
    ],
)
def test_a_text_says_it(claim: Claim, text: str) -> None:
    assert claim.is_said_in(text)


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        (DOGS, "I have two dogs."),
        (DOGS, "Not three but two dogs."),
        (DOGS, "I have three cats and the dogs."),
        (DOGS, "Dogs are fun. There were three people."),
        (LISBON, "Lisbon is sunny in March."),
        (JAZZ, "I do not like jazz."),
        (WRONG, "On Sundays I sleep."),
        (CHINESE, "我养了两只狗。"),
    ],
)
def test_a_text_does_not_say_it(claim: Claim, text: str) -> None:
    assert not claim.is_said_in(text)


def test_a_source_need_not_name_the_subject_again() -> None:
    assert DOGS.is_said_in("Three of them!", is_source=True)
    assert not DOGS.is_said_in("Three of them!")


def test_what_only_adds_takes_nothing_back() -> None:
    assert Claim("Ana has dogs.", "Ana has two dogs.").is_empty
    assert not DOGS.is_empty and not JAZZ.is_empty and not WRONG.is_empty


@pytest.mark.parametrize("text", ["three dogs", "3 dogs", "Three"])
def test_the_pattern_finds_each_way_of_writing(text: str) -> None:
    pattern = DOGS.pattern.replace(r"\m", r"\b").replace(r"\M", r"\b")
    assert re.search(pattern, text, re.IGNORECASE)
