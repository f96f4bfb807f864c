"""Reads the topics of a text: its people, and the content words and numbers. Pure.

Works without knowing the language: function words of the usual ones are left out, and words that
begin alike count as one.
"""

import re
from collections.abc import Collection, Iterable

from indexing.text import UNSPACED, stands_in
from memoryproject.text.date_phrases import get_languages
from memoryproject.text.sentences import FOREIGN_WORDS
from semantic.details import read_numbers, read_roles
from semantic.echoes import ANYBODY, content_words

NO_TOPICS = FOREIGN_WORDS | {word for one in get_languages() for word in one.known_by}
ASSISTANT = re.compile(r"\b(?:[Tt]he )?[Aa]ssistant(?:['’]s)?\b")
COUNTED = re.compile(r"\d\s*([^\W\d_]{2,})")
IDEOGRAPH = re.compile(r"[\u30a0-\u30ff\u3400-\u9fff\uac00-\ud7af]")
LEAST_ALIKE = 5
"""Letters that two words must share at their beginning, for languages without a stemmer."""


def read_topics(text: str, *, people: Collection[str] = ()) -> set[str]:
    """Return the stems and numbers that tell what a text is about.

    Names of `people` and function words are left out.
    """
    bare = ASSISTANT.sub("", ANYBODY.sub("", text))
    for name in filter(None, people):
        bare = re.sub(re.escape(name), " ", bare, flags=re.IGNORECASE)
    counted = set(content_words(" ".join(COUNTED.findall(bare))))
    words = filter(_is_topic, content_words(bare))
    return {*read_numbers(bare), *counted, *words}


def read_topics_of_fact(fact: str, *, people: Collection[str] = ()) -> set[str]:
    """Return the topics of a sentence, without the person's name with which it begins."""
    return read_topics(fact, people=people) - set(content_words(find_subject(fact)))


def _is_topic(word: str) -> bool:
    if UNSPACED.fullmatch(word):
        return IDEOGRAPH.search(word) is not None
    return len(word) > 2 and word not in NO_TOPICS


def find_shared(topics: Iterable[str], others: Collection[str]) -> set[str]:
    """Return the topics that are also in the others, or share their beginning with one."""
    return {topic for topic in topics if any(_is_alike(topic, other) for other in others)}


def _is_alike(a: str, b: str) -> bool:
    return a == b or (len(a) >= LEAST_ALIKE <= len(b) and a[:LEAST_ALIKE] == b[:LEAST_ALIKE])


def find_people(text: str, people: Collection[str]) -> set[str]:
    """Return which of the people a text names, case-folded."""
    folded = text.casefold()
    return {name.casefold() for name in people if name and stands_in(name.casefold(), folded)}


def find_subject(text: str) -> str:
    """Return the name with which a sentence begins, case-folded; empty if there is none.

    A function word may come before it. A name that is also a function word is ignored.
    """
    opening = " ".join(text.split()[:2])
    return next((name for name in read_roles(opening) if name not in NO_TOPICS), "")
