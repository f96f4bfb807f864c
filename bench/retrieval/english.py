"""Conversations in plain English, for the pipeline: its rules read sentences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
PACE = timedelta(seconds=40)
PAUSE = timedelta(hours=20)
MESSAGES_A_TOPIC = 10
NAMES = (
    "Ana Ben Clara David Elif Farid Grete Hugo Ines Jonas Kira Luca Mira Nils Olga Priya".split()
)
CITIES = "Lisbon Porto Ghent Rotterdam Graz Leeds Oslo Turin Lyon Bremen Gdansk Seville".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

# A topic: what the user says, and what the assistant answers.
TOPICS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "work": (
        (
            "I started my new job as a {job} in {city} last week.",
            "My manager {name} wants the report on the {thing} by {day}.",
            "I have worked with {name} for about {number} years now.",
            "We moved the meeting about the {thing} from {day} to {day}.",
            "I am thinking about asking for fewer hours, as the {thing} takes all my evenings.",
        ),
        (
            "What does a {job} do all day?",
            "That sounds like a lot to finish before {day}, shall we make a plan?",
            "I can draft a message to {name} about the {thing} if you like.",
        ),
    ),
    "travel": (
        (
            "We are planning a trip to {city} with {name} in {month}.",
            "The train from {city} to {city} takes {number} hours and costs {number}0 euros.",
            "I lost my passport in {city} two years ago, so I am careful now.",
            "{name} would rather go to {city}, because of the museums.",
            "I booked a small flat near the station for {number} nights.",
        ),
        (
            "Do you want me to look for trains that leave before noon?",
            "The weather in {city} is mild in {month}, a light jacket will do.",
            "Shall I put the trip to {city} into your calendar?",
        ),
    ),
    "health": (
        (
            "I am allergic to {food}, so I always carry tablets with me.",
            "My doctor told me to walk {number} kilometres every day.",
            "I stopped drinking coffee in {month} and I sleep much better.",
            "My knee hurts since I ran with {name} on {day}.",
            "I have an appointment with the dentist in {city} on {day}.",
        ),
        (
            "Since when do you have that?",
            "Please ask a doctor if it does not get better by {day}.",
            "Would you like a reminder for the appointment?",
        ),
    ),
    "home": (
        (
            "I love to cook {food} with my sister {name} at the weekend.",
            "Our cat broke the {thing} that {name} gave us for the wedding.",
            "We painted the kitchen green and bought a second-hand {thing}.",
            "My daughter {name} plays the {instrument} and practises every {day}.",
            "I prefer {food} to {food}, but the children see that differently.",
        ),
        (
            "How old is she?",
            "A {thing} like that is hard to find, did you look in {city}?",
            "I noted that {name} likes {food}.",
        ),
    ),
}
FILL = {
    "name": NAMES,
    "city": CITIES,
    "day": DAYS,
    "month": "January March April May June August September October November".split(),
    "number": "two three four five six seven eight nine".split(),
    "job": "nurse baker teacher carpenter translator gardener pilot librarian chemist".split(),
    "thing": "piano budget lamp bicycle website bookshelf garden contract camera kettle".split(),
    "food": "peanuts lentils mushrooms pancakes curry dumplings olives cheese noodles".split(),
    "instrument": "cello flute drums piano trumpet harp".split(),
}


def make_talk(*, seed: int, messages: int) -> list[dict[str, Any]]:
    """Return a conversation as the API takes it; its topic changes every ten messages or so."""
    rng = np.random.default_rng([seed, 8])
    user = str(rng.choice(NAMES))
    talk: list[dict[str, Any]] = []
    at, topic = START, "work"
    for number in range(messages):
        if number % MESSAGES_A_TOPIC == 0:
            topic = str(rng.choice([other for other in TOPICS if other != topic]))
            at += PAUSE
        speaks = number % 2
        content = _fill(rng, str(rng.choice(TOPICS[topic][speaks])))
        at += PACE
        who = {"role": "assistant"} if speaks else {"role": "user", "name": user}
        talk.append({**who, "content": content, "timestamp": at.isoformat()})
    return talk


def _fill(rng: np.random.Generator, sentence: str) -> str:
    while (start := sentence.find("{")) >= 0:
        end = sentence.index("}")
        word = str(rng.choice(FILL[sentence[start + 1 : end]]))
        sentence = sentence[:start] + word + sentence[end + 1 :]
    return sentence
