"""Picks the names and nouns that a fact should be found by."""

from __future__ import annotations

import re

from semantic.english_verbs import COMMON_BASES, IRREGULAR_PASTS, conjugate
from semantic.informative import STOP_WORDS
from semantic.readings import ANCHOR
from semantic.sentences import HAN
from semantic.word_lists import split_words

AT_MOST = 6
TOKEN = re.compile(r"[A-Za-z][A-Za-z'-]*|\d+|[^\w\s]")
NOT_NOUNS = (
    STOP_WORDS
    | COMMON_BASES
    | IRREGULAR_PASTS
    | frozenset(conjugate(verb) for verb in COMMON_BASES)
    | split_words(
        "has is does others someone everyone lately recently currently each other another last "
        "next "
        "week year month day today yesterday tomorrow ago first second able important special "
        "excited happy proud "
        "grateful thankful best better favorite beautiful own big small little old young same "
        "hard easy fun "
        "full real long short being having doing trying using them themselves already during "
        "through without "
        "between around until since again together often sometimes usually both few two three "
        "whole way "
        "year-old times time months years weeks days life person people one's her's should "
        "assistant"
    )
)
BEFORE_NOUN = split_words("a an the their of in to for with from about on at some new this and or")
# Suffixes that end verbs, adverbs and adjectives far more often than nouns.
NOT_NOUN_ENDING = re.compile(r"(?:ly|ed|ful|ous|able|ible|ive|ish|n't|less)$")
CHINESE_GAP = re.compile(
    r"[^\u3400-\u9fffA-Za-z0-9]|的|了|在|是|和|跟|与|也|都|就|把|被|对|从|到|给|很|不|没|这|那|"
    r"有|去|来|要|会|能|想|"
    r"说|做|一个|一只|现在|已经|最近|喜欢|住|更|最|还|自己|为|每天|经常|以前|上个月|搬|其他人"
)


def pick_keywords(fact: str, *, speaker: str) -> tuple[str, ...]:
    """Return 1..6 keywords: the speaker, then names, then nouns in order of appearance."""
    text = ANCHOR.sub("", fact)
    found = [speaker]
    found += _chinese_nouns(text, speaker) if HAN.search(text) else _english_nouns(text, speaker)
    unique = dict.fromkeys(word for word in found if word)
    return tuple(unique)[:AT_MOST]


def _english_nouns(text: str, speaker: str) -> list[str]:
    """Return names first, then the words that stand where nouns stand."""
    tokens = TOKEN.findall(text)
    names: list[str] = []
    nouns: list[tuple[int, int, str]] = []
    own = {part.lower() for part in speaker.split()}
    for at, token in enumerate(tokens):
        word = token.removesuffix("'s")
        lowered = word.lower()
        if lowered in own or not word[0].isalpha() or lowered in NOT_NOUNS or len(word) < 3:
            continue
        after_stop = at == 0 or tokens[at - 1] in {".", "!", ";"}
        if word[0].isupper() and not after_stop:
            names.append(word)
        elif not NOT_NOUN_ENDING.search(lowered):
            following = tokens[at + 1] if at + 1 < len(tokens) else "."
            ends_phrase = not following[0].isalpha() or following.lower() in BEFORE_NOUN
            starts_phrase = at > 0 and tokens[at - 1].lower() in BEFORE_NOUN
            nouns.append((0 if ends_phrase else 1 if starts_phrase else 2, at, lowered))
    best = sorted(nouns)[: AT_MOST - 1]
    return names[:3] + [word for _, _, word in sorted(best, key=lambda noun: noun[1])]


def _chinese_nouns(text: str, speaker: str) -> list[str]:
    runs = CHINESE_GAP.sub(" ", text.replace(speaker, " ")).split()
    return [run for run in runs if 2 <= len(run) <= 8]
