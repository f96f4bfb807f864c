"""Picks the names and nouns that a fact should be found by."""

import re

from memoryproject.text.sentences import HAN
from memoryproject.text.words import STOP_WORDS, read_words
from semantic.details import ANCHOR
from semantic.patterns import read_pattern

AT_MOST = 6
NAMES_AT_MOST = 3
LEAST_LETTERS = 3
WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
# Endings of verbs, adverbs and adjectives far more often than of nouns.
NOT_NOUN_ENDING = re.compile(r"(?:ly|ed|ful|ous|able|ible|ive|ish|n't|less)$")
NOT_NOUNS = STOP_WORDS | read_words("not_nouns")
CHINESE_GAP = read_pattern("keywords.chinese_gap")


def pick_keywords(fact: str, *, speaker: str) -> tuple[str, ...]:
    """Return at most six keywords: the speaker, then names, then nouns in order of appearance."""
    text = ANCHOR.sub("", fact)
    if HAN.search(text):
        runs = CHINESE_GAP.sub(" ", text.replace(speaker, " ") if speaker else text).split()
        words = [run for run in runs if 2 <= len(run) <= 8]
    else:
        words = _pick_words(text, speaker)
    return tuple(dict.fromkeys(word for word in (speaker, *words) if word))[:AT_MOST]


def _pick_words(text: str, speaker: str) -> list[str]:
    own = {part.lower() for part in speaker.split()}
    names: list[str] = []
    nouns: list[str] = []
    for match in WORD.finditer(text):
        word = match[0].removesuffix("'s").removesuffix("’s")
        lowered = word.lower()
        before = text[: match.start()].rstrip(' "')
        starts_sentence = not before or before.endswith((".", "!", "?", ":"))
        if lowered in own or lowered in NOT_NOUNS or len(word) < LEAST_LETTERS or word.isdigit():
            continue
        if word[0].isupper() and not starts_sentence:
            names.append(word)
        elif not NOT_NOUN_ENDING.search(lowered):
            nouns.append(lowered)
    return [*dict.fromkeys(names[:NAMES_AT_MOST]), *dict.fromkeys(nouns)]
