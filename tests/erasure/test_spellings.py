"""Names and ids are found in every spelling, by Python and by PostgreSQL alike."""

from __future__ import annotations

import pytest
from django.db.models import Func, Q, TextField, Value

from memoryproject.tenancy.models import Tenant
from wings.erasure import spellings

pytestmark = pytest.mark.django_db


def fits(pattern: str, text: str) -> bool:
    """Return whether a pattern fits a text, after a look that PostgreSQL agrees."""
    Tenant.objects.get_or_create(name="anybody")
    folded = Func(Value(text), template=spellings.FOLDED, output_field=TextField())
    rows = Tenant.objects.alias(folded=folded).filter(Q(folded__regex=pattern))
    assert rows.exists() is spellings.find(pattern, text), (pattern, text)
    return rows.exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Bo", "Welcome back, Bo!"),
        ("Bo", "BO's bike"),
        ("Bo", "bos bike"),
        ("Bo", '{"name":"Bo"}'),
        ("Bo", "bo_and_ana"),
        ("Bo", "Ｂｏ"),
        ("José", "jose said"),
        ("Jose", "JOSÉ"),
        ("Jörg", "Joerg and Jorg"),
        ("Joerg", "Jörg"),
        ("Weiß", "WEISS"),
        ("Ångström", "aangstroem"),
        ("Bo Larsen", "Larsen, Bo"),
        ("Bo Larsen", "bo-larsen@example.com"),
        ("Bo Larsen", "Mr Larsen came"),
        ("Борис", "БОРИС пришёл"),
        ("王小明", "我叫王小明。"),
        ("李", "他姓李吗"),
        ("김민준", "김민준은 학생이다"),
        ("ひかり", "ひかりさんへ"),
    ],
)
def test_a_name_is_found_in_its_spellings(name: str, text: str) -> None:
    assert fits(spellings.match_names([name]), text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Bo", "A book about Bob and the robot"),
        ("Bo", "bo1"),
        ("Anna de Vries", "la lettre de Jean"),
        ("Bo M.", "M. Dupont"),
        ("Mira", "a miracle"),
        ("王小明", "王小"),
    ],
)
def test_other_words_are_not_the_name(name: str, text: str) -> None:
    assert not fits(spellings.match_names([name]), text)


@pytest.mark.parametrize(
    ("user_id", "text", "is_found"),
    [
        ("user-7", "for USER-7.", True),
        ("user-7", "user-77", False),
        ("a.b", "axb", False),
        ("42", "42", True),
        ("42", '{"user": "42"}', True),
        ("42", "{41,42}", True),
        ("42", "in 42 days", False),
        ("42", '{"count": 42}', False),
    ],
)
def test_an_id_is_found_as_a_whole(user_id: str, text: str, is_found: bool) -> None:
    assert fits(spellings.match_ids([user_id]), text) is is_found


@pytest.mark.parametrize(
    ("phrase", "text", "is_found"),
    [("Bo", "robot", False), ("Bo", "to Bo", True), ("ghen", "Ghent", True), ("李", "姓李", True)],
)
def test_a_phrase_of_two_letters_is_a_word(phrase: str, text: str, is_found: bool) -> None:
    assert fits(spellings.match_phrase(phrase), text) is is_found


def test_nobody_is_found_nowhere() -> None:
    assert spellings.match_names([" "]) == spellings.match_ids([]) == ""
    assert not spellings.find("", "Bo")
