"""Puts together what a message tells: its best sentences, named and short."""

from __future__ import annotations

from collections.abc import Sequence

from semantic import chinese, informative
from semantic.english_verbs import IRREGULAR_PASTS

LEAST_INFORMATIVE = 2.2
MOST_SENTENCES = 3
MOST_WORDS = 40
MOST_CHARACTERS = 200
"""Of a fact without spaces between words."""


def pick_gist(gist: Sequence[tuple[float, str]]) -> list[str]:
    """Return the most telling sentences of one message, in the order said.

    The best one decides whether there is a fact at all; others join it while there
    is room. A sentence of a slot has already been taken out.
    """
    order = sorted(range(len(gist)), key=lambda i: (-gist[i][0], i))
    if not order or gist[order[0]][0] < LEAST_INFORMATIVE:
        return []
    taken: list[int] = []
    size = 0.0
    for index in order:
        size += _size(gist[index][1])
        if taken and (size > 1.0 or len(taken) == MOST_SENTENCES):
            break
        taken.append(index)
    return [gist[index][1] for index in sorted(taken)]


def join_sentences(sentences: Sequence[str]) -> str:
    """Return sentences as one text."""
    return " ".join(map(_end_sentence, sentences)).replace("。 ", "。")


def _size(text: str) -> float:
    """Return the share of a fact's room that `text` takes, 1.0 being all of it."""
    if chinese.HAN.search(text):
        return len(text) / MOST_CHARACTERS
    return len(text.split()) / MOST_WORDS


def _end_sentence(text: str) -> str:
    return text if text[-1] in ".!。！…" else f"{text}."


POINTING = frozenset({"it's", "that's", "he's", "she's", "there's", "here's", "what's", "let's"})


def name_speaker(fact: str, *, speaker: str) -> str:
    """Return a fact that names the speaker: what names nobody is what they say."""
    if speaker in fact:
        return fact
    if chinese.HAN.search(fact):
        return f"{speaker}说{fact}"
    first = fact.split()[0]
    after = fact.split()[1].lower() if " " in fact else ""
    verb = after in IRREGULAR_PASTS | {"is", "has"} or after.endswith("ed")
    named = first.isupper() or first[1:] != first[1:].lower()
    owns = first.endswith("'s") and first.lower() not in POINTING
    named = named or owns or (verb and first.lower() not in informative.STOP_WORDS)
    said = fact if named else fact[0].lower() + fact[1:]
    return f"{speaker} says that {said}"


def shorten(fact: str) -> str:
    """Cut a sentence of more than 40 words at its last joint before them."""
    words = fact.split()
    if len(words) <= MOST_WORDS:
        return fact
    head = " ".join(words[:MOST_WORDS])
    joint = max(head.rfind(", "), head.rfind(" and "), head.rfind(" because "), head.rfind(" but "))
    return f"{head[:joint] if joint > len(head) // 2 else head}."
