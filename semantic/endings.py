"""Judges whether what a model says may end the fact that it names. Pure.

A careless model names the wrong fact, and "Mira is vegetarian" would take the place of "Mira
works at the museum". So a change must be about the person and the subject of the fact that it
ends; where that cannot be seen, both facts stay, and a curator decides.
"""

import re
from collections.abc import Collection, Sequence

from episodic.engines import Line
from semantic.details import read_roles
from semantic.echoes import content_words
from semantic.engines import Category, KnownFact
from semantic.topics import find_people, find_shared, find_subject, read_topics, read_topics_of_fact

POSSESSION = re.compile(r"^\s*(?:[Tt]he )?[^\W\d_]+['’]s\s+([^\W\d_]+)")
ONE_AT_A_TIME = frozenset({Category.IDENTITY})
"""Kinds of fact of which somebody mostly has one: a home, a job, an age. Of preferences and
guidelines everybody has many, and the kind alone tells nothing of the subject."""


def may_replace(
    old: KnownFact,
    text: str,
    *,
    category: str | None,
    lines: Sequence[Line],
    people: Collection[str],
) -> bool:
    """Return whether a sentence may take a known fact's place: same person, same subject.

    The subject is the same where both share a content word or a number. Where they are of the
    same kind, it is enough that the messages `lines` speak of the old one ("no more volleyball,
    judo now"), or that people have one of that kind at a time. `category` is the kind of the
    new one, None if unknown; `people` are the names of those who speak.
    """
    if not _share_person(old.fact, text, people) or not _share_possession(old.fact, text):
        return False
    texts = [text]
    if category == old.category:
        if category in ONE_AT_A_TIME:
            return True
        texts += [line.content for line in lines]
    return _share_topic(old.fact, texts, people)


def may_end(old: KnownFact, lines: Sequence[Line], *, people: Collection[str]) -> bool:
    """Return whether messages may end a known fact with nothing in its place.

    They must share a content word or a number with it. Where it is about somebody who speaks,
    that person must be one of their speakers, or be named in them.
    """
    about = find_people(old.fact, people)
    if about and all(line.name for line in lines):
        present = {line.name.casefold() for line in lines}
        present |= find_people(" ".join(line.content for line in lines), people)
        if about.isdisjoint(present):
            return False
    return _share_topic(old.fact, [line.content for line in lines], people)


def _share_topic(fact: str, texts: Sequence[str], people: Collection[str]) -> bool:
    topics = read_topics_of_fact(fact, people=people)
    return any(find_shared(topics, read_topics(text, people=people)) for text in texts)


def _share_person(a: str, b: str, people: Collection[str]) -> bool:
    """Return whether two sentences may be about one person, who may have no name in one."""
    in_a, in_b = find_people(a, people), find_people(b, people)
    if in_a and in_b and in_a.isdisjoint(in_b):
        return False
    first_a, first_b = find_subject(a), find_subject(b)
    if not first_a or not first_b:
        return True
    # "Leo, Mira's cousin, is 60" names Mira, and says nothing of her.
    return first_a in b.casefold() and first_b in a.casefold()


def _share_possession(a: str, b: str) -> bool:
    """Return whether "Mira's brother …" meets a sentence that speaks of the brother, too."""
    for one, other in ((a, b), (b, a)):
        match = POSSESSION.match(one)
        owned = set(content_words(match[1])) if match else set()
        names = set(read_roles(one)[1:])
        if owned and not owned & set(content_words(other)) and not names & set(read_roles(other)):
            return False
    return True
