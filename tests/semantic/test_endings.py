"""A change may end the fact that it names only if both are about one person and subject."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semantic.endings import may_end, may_replace
from tests.semantic.fact_makers import know, say

PEOPLE = ["Mira", "Sam", "Giulia", "Leyla", "Jonas", "Tom", "田中"]
# category and sentence of a fact, and of what a model puts in its place
TRUE_UPDATES = [
    ("identity", "Mira lives in Lisbon.", "identity", "Mira lives in Porto."),
    (
        "identity",
        "Mira works at a bakery in Ghent.",
        "identity",
        "Mira is a data analyst at the harbour authority in Rotterdam.",
    ),
    (
        "identity",
        "Sam lives in a two-room flat in Altona.",
        "identity",
        "Sam has moved to a house in Bergedorf.",
    ),
    (
        "preference",
        "Sam drinks coffee black.",
        "preference",
        "Sam takes oat milk in coffee since January.",
    ),
    ("identity", "Sam is 41 years old.", "identity", "Sam turned 42 on 3 May."),
    (
        "goal",
        "Sam wants to run the Hamburg half marathon on 28 June.",
        "goal",
        "Sam has signed up for the Berlin marathon in September instead.",
    ),
    ("experience", "Sam runs about 15 km a week.", "experience", "Sam's weekly distance is 30 km."),
    (
        "guideline",
        "The assistant should keep answers short.",
        "guideline",
        "The assistant should explain things in detail.",
    ),
    ("identity", "Mira's cat Olaf is eleven.", "identity", "Mira's cat Olaf has died."),
    ("relationship", "Nora lives with her brother Paul.", "relationship", "Nora lives alone."),
    ("preference", "Ana's favourite team is Benfica.", "preference", "Ana now supports Sporting."),
    ("identity", "Giulia vive a Torino.", "identity", "Giulia si è trasferita a Bologna."),
    (
        "identity",
        "Giulia lavora come infermiera alle Molinette.",
        "identity",
        "Giulia lavora al Policlinico di Bologna.",
    ),
    (
        "preference",
        "A Giulia piace il caffè amaro.",
        "preference",
        "Giulia beve il caffè con lo zucchero.",
    ),
    ("identity", "Giulia ha due gatti.", "identity", "Giulia ha tre gatti."),
    (
        "identity",
        "Leyla wohnt in Halle.",
        "identity",
        "Leyla wohnt jetzt in der Südvorstadt in Leipzig.",
    ),
    ("identity", "Leyla ist Lehrerin.", "identity", "Leyla arbeitet jetzt als Schulleiterin."),
    (
        "preference",
        "Tom fährt mit dem Auto zur Arbeit.",
        "preference",
        "Tom fährt mit dem Fahrrad zur Arbeit.",
    ),
    (
        "identity",
        "Lucía trabaja en un banco.",
        "identity",
        "Lucía trabaja de profesora en un instituto.",
    ),
    ("identity", "田中さんは東京に住んでいます。", "identity", "田中さんは大阪に住んでいます。"),
    (
        "identity",
        "The user is allergic to ibuprofen.",
        "identity",
        "The user is allergic to naproxen, not ibuprofen.",
    ),
    (
        "identity",
        "The user drives an old Golf.",
        "identity",
        "The user has sold the Golf and drives a Skoda.",
    ),
    ("identity", "Мира живёт в Лиссабоне.", "identity", "Мира живёт в Порту."),
    ("goal", "Mira's wedding is on 12 May.", "goal", "Mira's wedding has been put off to 20 June."),
    ("identity", "Jonas weighs 84 kg.", "identity", "Jonas weighs 81 kg."),
    ("experience", "Jonas can swim 20 lengths.", "experience", "Jonas can swim 40 lengths."),
    (
        "identity",
        "Priya's phone number is 555-0134.",
        "identity",
        "Priya's new phone number is 555-0199.",
    ),
    (
        "goal",
        "Mira plans to visit Tokyo in October.",
        "goal",
        "Mira plans to visit Seoul in October.",
    ),
    (
        "identity",
        "Mira's daughter Lena goes to kindergarten.",
        "identity",
        "Lena, Mira's daughter, goes to school.",
    ),
    ("preference", "Jonas eats no meat.", "preference", "Jonas eats no meat and no fish."),
    ("relationship", "Ben is Carla's boyfriend.", "relationship", "Ben is Carla's husband."),
    (
        "interest",
        "Ben plays chess at the club on Tuesdays.",
        "interest",
        "Ben plays chess at the club on Thursdays.",
    ),
    ("identity", "Ben takes 20 mg of lisinopril.", "identity", "Ben takes 10 mg of lisinopril."),
    ("goal", "Ben saves for a motorbike.", "goal", "Ben saves for a sailing boat."),
    (
        "guideline",
        "The assistant should answer in English.",
        "guideline",
        "The assistant should answer in French.",
    ),
    (
        "experience",
        "Carla is learning Portuguese with an app.",
        "experience",
        "Carla is learning Portuguese at an evening school.",
    ),
    ("identity", "Marc habite à Lyon.", "identity", "Marc habite à Nantes depuis mars."),
    ("preference", "Marc boit du thé le matin.", "preference", "Marc boit du café le matin."),
    ("identity", "Kasia mieszka w Krakowie.", "identity", "Kasia mieszka teraz w Warszawie."),
    ("identity", "Carla's rent is 900 euros.", "identity", "Carla's rent is 960 euros."),
]
WRONG_UPDATES = [
    ("identity", "Mira works at the museum.", "preference", "Mira is vegetarian."),
    ("identity", "Mira works at the museum.", "identity", "Mira is vegetarian."),
    ("identity", "Mira is allergic to penicillin.", "identity", "Mira lives in Porto."),
    ("identity", "Mira lives in Lisbon.", "preference", "Mira likes pistachio ice cream."),
    ("identity", "Mira's brother Paul lives in Lyon.", "identity", "Mira lives in Paris."),
    ("identity", "Mira lives in Lisbon.", "identity", "Jonas lives in Porto."),
    ("preference", "Sam drinks coffee black.", "experience", "Sam ran 12 km on Sunday."),
    ("identity", "Sam owns a Garmin Forerunner 255.", "goal", "Sam wants to buy a bicycle."),
    (
        "guideline",
        "The assistant should keep answers short.",
        "guideline",
        "The assistant should call Sam Coach.",
    ),
    ("relationship", "Sam is married to Ines.", "identity", "Sam works as a tax adviser."),
    (
        "identity",
        "Giulia vive a Torino con i suoi due gatti.",
        "preference",
        "Giulia adora il gelato con la panna.",
    ),
    (
        "identity",
        "Giulia è allergica alle noci.",
        "identity",
        "Giulia ha comprato una bicicletta rossa.",
    ),
    ("identity", "Giulia lavora come infermiera.", "interest", "Giulia suona il violino."),
    ("identity", "Leyla wohnt in Halle.", "preference", "Leyla mag keine Pilze."),
    ("identity", "Leyla ist Lehrerin.", "experience", "Leyla hat den Jakobsweg gemacht."),
    ("identity", "Lucía trabaja en un banco.", "identity", "Lucía tiene una alergia al marisco."),
    ("identity", "田中さんは東京に住んでいます。", "preference", "田中さんは寿司が好きです。"),
    ("identity", "The user drives an old Golf.", "preference", "The user prefers tea."),
    ("goal", "Mira's wedding is on 12 May.", "identity", "Mira's mother is called Teresa."),
    ("experience", "Jonas broke his toe.", "experience", "Jonas has a van."),
    (
        "identity",
        "Mira's sister Katarzyna plays the cello in Gdańsk.",
        "identity",
        "Mira plays the piano.",
    ),
    ("preference", "Jonas eats no meat.", "preference", "Jonas likes jazz."),
    ("goal", "Ben saves for a motorbike.", "goal", "Ben wants to learn Italian."),
    ("identity", "Priya's phone number is 555-0134.", "identity", "Priya lives in Leeds."),
    (
        "guideline",
        "The assistant should answer in English.",
        "guideline",
        "The assistant should never mention Ben's divorce.",
    ),
    ("relationship", "Ben is Carla's boyfriend.", "preference", "Ben hates olives."),
    ("identity", "Marc habite à Lyon.", "preference", "Marc boit du café le matin."),
    ("identity", "Kasia mieszka w Krakowie.", "interest", "Kasia gra na pianinie."),
    ("identity", "Ben takes 20 mg of lisinopril.", "interest", "Ben plays chess at the club."),
    (
        "identity",
        "Mira's daughter Lena goes to kindergarten.",
        "experience",
        "Mira goes to the gym twice a week.",
    ),
]
Pair = tuple[str, str, str, str]


def passes(pair: Pair, people: list[str]) -> bool:
    category, old, new_category, new = pair
    known = know(old, category=category)
    return may_replace(known, new, category=new_category, lines=(), people=people)


@pytest.mark.parametrize("people", [PEOPLE, []], ids=["known", "unknown"])
def test_at_most_two_of_twenty_true_updates_are_left_open(people: list[str]) -> None:
    left_open = [pair for pair in TRUE_UPDATES if not passes(pair, people)]
    assert len(TRUE_UPDATES) == 40 and len(left_open) <= 4, left_open


@pytest.mark.parametrize("people", [PEOPLE, []], ids=["known", "unknown"])
def test_at_most_one_of_six_wrong_updates_passes(people: list[str]) -> None:
    """All of them are of one kind, of which people mostly have one at a time."""
    passed = [pair for pair in WRONG_UPDATES if passes(pair, people)]
    assert len(WRONG_UPDATES) == 30 and len(passed) <= 5, passed


def test_a_kind_that_is_not_told_is_no_evidence() -> None:
    museum = know("Mira works at the museum.")
    new = "Mira is vegetarian."
    assert not may_replace(museum, new, category=None, lines=(), people=PEOPLE)


def test_messages_that_speak_of_the_old_one_are_evidence_for_a_fact_of_the_same_kind() -> None:
    volleyball = know("Luca gioca a pallavolo il martedì.", category="interest")
    lines = say(("Chiara", "user", "Luca ha smesso con la pallavolo, ora fa judo.")).lines
    for category, spoken, may in (
        ("interest", lines, True),
        ("interest", (), False),
        ("goal", lines, False),
    ):
        judo = "Luca fa judo il giovedì."
        assert may_replace(volleyball, judo, category=category, lines=spoken, people=[]) is may


@pytest.mark.parametrize(
    ("fact", "said", "ends"),
    [
        ("Mira lives with her brother Paul.", "And Paul has moved out.", True),
        ("Mira is allergic to penicillin.", "I sold my bike.", False),
        ("Mira is allergic to penicillin.", "It was no penicillin allergy after all.", True),
        ("Mira trains for a marathon.", "I gave up marathons.", True),
        ("Giulia suona il violino.", "Ho venduto il mio violino.", True),
        ("Giulia suona il violino.", "Ho venduto la mia macchina.", False),
    ],
)
def test_messages_end_a_fact_when_they_speak_of_its_subject(
    fact: str, said: str, ends: bool
) -> None:
    lines = say(("", "user", said)).lines
    assert may_end(know(fact), lines, people=PEOPLE) is ends


def test_nobody_ends_a_fact_about_another_speaker() -> None:
    lines = say(("Jonas", "user", "I gave up marathons.")).lines
    mira = know("Mira trains for a marathon.")
    assert not may_end(mira, lines, people=PEOPLE)
    assert may_end(replace(mira, fact="Jonas trains for a marathon."), lines, people=PEOPLE)
