"""Decides whether two facts say the same; similar vectors alone would merge too many."""

import re
from collections.abc import Callable, Sequence

from memoryproject.text.sentences import HAN
from memoryproject.text.words import WORD, read_words, stem
from semantic import details
from semantic.patterns import read_table

MERGE_COSINE = 0.95
"""Source: the specification's DEDUPE_THRESHOLD; we also ask that the details agree."""
SOFT_WORDS = frozenset(map(stem, read_words("soft")))
SOFT_CHARACTERS = frozenset("把将名的了吗呢吧啊着在很真现正都也就太非常已经个位是一")
SPELLINGS = {stem(word): stem(same) for word, same in read_table("spellings").items()}
SHORT_FORM = re.compile(r"n't\b|['’](?:s|m|re)\b|[’']")
COMPARED: Sequence[Callable[[str], object]] = (
    details.read_numbers, details.read_dates, details.read_roles,
    details.count_negations, details.read_operators, details.read_directions,
)  # fmt: skip


def is_same_fact(a: str, b: str, *, category_a: str, category_b: str, cosine: float) -> bool:
    """Return whether `b` may be merged into `a`: similar vectors, same details, same words.

    `cosine` is that of the facts' embedding texts, -1..1.
    """
    return is_near_duplicate(
        a, b, category_a=category_a, category_b=category_b, cosine=cosine
    ) and _read_words(a) == _read_words(b)


def is_near_duplicate(a: str, b: str, *, category_a: str, category_b: str, cosine: float) -> bool:
    """Return whether similar facts agree and one includes the other: a person may merge."""
    if category_a != category_b or cosine < MERGE_COSINE or not details_agree(a, b):
        return False
    words_a, words_b = set(_read_words(a)), set(_read_words(b))
    return words_a <= words_b or words_b <= words_a


def details_agree(a: str, b: str) -> bool:
    """Whether numbers, dates, names and their order, negations and wishes are the same."""
    return all(read(a) == read(b) for read in COMPARED)


def _read_words(text: str) -> list[str]:
    """Return the words in order, as stems or Chinese characters, without filler words."""
    plain = details.ANCHOR.sub("", text).lower()
    if HAN.search(plain):
        return [letter for letter in plain if letter.isalnum() and letter not in SOFT_CHARACTERS]
    words = WORD.findall(SHORT_FORM.sub(" ", plain.replace("n't", " not")))
    numbers = (details.NUMBER_WORDS.get(word, word) for word in words)
    stems = (stem(word) for word in numbers)
    return [SPELLINGS.get(word, word) for word in stems if word not in SOFT_WORDS]
