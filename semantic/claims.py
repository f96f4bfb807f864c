"""What a fact claims: whose slot has which value, so that claims can be compared.

A slot is something of which a person has one value at a time (a home, an employer,
an age) or a stance towards one object (liking coffee).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from threading import Lock

import snowballstemmer

from semantic.informative import STOP_WORDS
from semantic.word_lists import split_words

_STEMMER = snowballstemmer.stemmer("english")
_STEMMER_LOCK = Lock()  # it keeps the word that it works on
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?|\d+(?:[.:]\d+)*|[\u3400-\u9fff]|\s")
# Words that say that a value is new or old, and nothing about which value it is.
CHANGE_WORDS = split_words(
    "now anymore any more longer no not never stopped quit gave given up used still already "
    "actually "
    "currently recently finally just really instead again lately nowadays these days today"
)


# They glue Chinese phrases together and would make pairs of their own.
GLUE = frozenset("的了吗呢吧啊着过去在很")


class Slot(StrEnum):
    """The kinds of claim; STANCE holds one claim an object, the others one a key."""

    HOME = "home"
    EMPLOYER = "employer"
    JOB = "job"
    STATUS = "status"
    STANCE = "stance"
    ATTRIBUTE = "attribute"
    EVENT = "event"
    STUDY = "study"
    AGE = "age"
    COUNT = "count"
    DIET = "diet"
    RULE = "rule"
    ENDING = "ending"


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: `subject` in lower case, `key` which slot of that kind, `value` its stems.

    `holds` is False where the claim is denied. `changed` says that the words speak of
    a change ("now", "actually"). `near` has the names that stand beside an ending's value.
    """

    subject: str
    slot: Slot
    key: str
    value: frozenset[str]
    holds: bool = True
    changed: bool = False
    near: frozenset[str] = frozenset()


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of an English word in lower case."""
    with _STEMMER_LOCK:
        return str(_STEMMER.stemWord(word))


def stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; Chinese gives character pairs."""
    found: set[str] = set()
    run = ""
    for word in WORD.findall(text):
        if word in GLUE:
            word = " "
        if "\u3400" <= word <= "\u9fff":
            if run:
                found.add(run + word)
            run = word
            continue
        if run and not any(run in pair for pair in found):
            found.add(run)
        run = ""
        lowered = word.lower().removesuffix("'s")
        if lowered.strip() and lowered not in STOP_WORDS and lowered not in CHANGE_WORDS:
            found.add(stem(lowered))
    if run and not any(run in pair for pair in found):
        found.add(run)
    return frozenset(found)


# Words for one thing, where what is said of one is said of the other.
ALIKE = tuple(
    frozenset(stem(word) for word in line.split())
    for line in (
        "wedding married marry marrying marriage",
        "dog puppy pup doggo",
        "cat kitten kitty",
        "apartment flat place house home condo",
        "movie film films cinema",
        "mother mum mom",
        "father dad",
        "kid child children",
        "bike bicycle",
        "phone mobile cellphone smartphone",
        "shop store",
        "university college uni",
        "exam test",
        "running run runs ran jog jogging",
        "swim swimming swam",
        "drive drives driving drove",
        "eat eats eating ate",
        "teach teaching teaches taught",
        "write writing writes wrote",
        "smoke smoking cigarettes cigarette",
        "drink drinking drank",
        "alcohol booze drinking",
        "salary pay wage earns earn",
        "appointment slot checkup",
        "scared terrified afraid frightened fear phobia",
        "like love enjoy adore",
        "begin start starts starting began",
        "meat chicken beef steak",
    )
)
KIND_OF = {stem: min(line) for line in ALIKE for stem in line}


def concepts(words: frozenset[str]) -> frozenset[str]:
    """Return stems with one stem for all words for one thing: "puppy" and "dog"."""
    return frozenset(KIND_OF.get(word, word) for word in words)


def same_value(a: frozenset[str], b: frozenset[str]) -> bool:
    """Whether two values name the same thing: one holds all words of the other."""
    return bool(a and b) and (count_shared(a, b) == len(a) or count_shared(b, a) == len(b))


def count_shared(a: frozenset[str], b: frozenset[str]) -> int:
    """Return how many stems of `a` are in `b`; one Chinese character also inside a pair."""
    return sum(x in b or (x > "\u3400" and len(x) == 1 and any(x in y for y in b)) for x in a)
