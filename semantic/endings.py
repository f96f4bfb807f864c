"""Judges whether a model's statement may end the fact that it names. Pure.

A careless model names the wrong fact, so that "Mira is vegetarian" would replace "Mira works at the
museum". So a change must be about the same person and subject as the fact that it ends. If code
cannot tell that, both facts stay and a curator decides.
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
"""Categories in which people mostly have one fact at a time: a home, a job, an age. Preferences and
guidelines are many, so a shared category is no sign of a shared subject."""


def may_replace(
    old: KnownFact,
    text: str,
    *,
    category: str | None,
    lines: Sequence[Line],
    people: Collection[str],
) -> bool:
    """Return whether a sentence may replace a known fact: same person, same subject.

    The subject is the same where both share a content word or a number. If both have the same
    category, it is enough that the messages `lines` mention the old one ("no more volleyball, judo
    now"), or that the category is in ONE_AT_A_TIME. `category` is the new one's, None if unknown;
    `people` are the speakers' names.
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
    """Return whether messages may end a known fact without replacing it.

    They must share a content word or a number with it. If the fact is about one of the speakers of
    the conversation, that person must have written or be named in the messages.
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
    """Return whether two sentences may be about one person; one of them may name nobody."""
    in_a, in_b = find_people(a, people), find_people(b, people)
    if in_a and in_b and in_a.isdisjoint(in_b):
        return False
    first_a, first_b = find_subject(a), find_subject(b)
    if not first_a or not first_b:
        return True
    # "Leo, Mira's cousin, is 60" names Mira, but is not about her.
    return first_a in b.casefold() and first_b in a.casefold()


def _share_possession(a: str, b: str) -> bool:
    """Return whether "Mira's brother …" matches a sentence that is also about the brother."""
    for one, other in ((a, b), (b, a)):
        match = POSSESSION.match(one)
        owned = set(content_words(match[1])) if match else set()
        names = set(read_roles(one)[1:])
        if owned and not owned & set(content_words(other)) and not names & set(read_roles(other)):
            return False
    return True
