"""Splits lines into sentences and ranks them by how well they represent the whole."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from episodic.engines import Line, Vectors
from episodic.offline.evidence import Floats, unit
from episodic.offline.lexicon import Lexicon, asks
from memoryproject.text.sentences import split_sentences

FEWEST_TELLING_WORDS = 3
WORTH_OF_THE_WISH = 0.5
"""Bonus of the first informative question or request (MemoChat, ROUGE-L: + .007)."""
_NUMBER_OR_NAME = re.compile(r"\d|(?<=[^.!?\s] )[A-Z][a-z]+")


class Sentence(NamedTuple):
    """A sentence, its line, and its number in the line.

    `telling` is False for greetings, exclamations about another's message, and text that is too
    short.
    """

    line: int
    place: int
    text: str
    words: frozenset[str]
    telling: bool


def list_sentences(lines: Sequence[Line], lexicon: Lexicon) -> list[Sentence]:
    """Return all sentences as they were said."""
    sentences = []
    for index, line in enumerate(lines):
        for place, text in enumerate(read_sentences(line.content)):
            words = lexicon.content_words(text)
            exclaims = text.endswith(("!", "！")) and not lexicon.has("first_person", text)
            phatic = exclaims or lexicon.has("opening", text) or lexicon.has("closing", text)
            telling = len(words) >= FEWEST_TELLING_WORDS and not phatic
            sentences.append(Sentence(index, place, text, words, telling))
    return sentences


def read_sentences(text: str) -> list[str]:
    """Return the sentences of `text` with their closing marks, spaces made single."""
    parts = (" ".join(part.split()).lstrip(",;:，；：、 ") for part in split_sentences(text))
    return [part for part in parts if part]


def rank_sentences(lines: Sequence[Line], vectors: Vectors, lexicon: Lexicon) -> list[Sentence]:
    """Return the sentences with a content word, the most telling first.

    A sentence that repeats a better one is left out; uninformative ones come last.
    """
    sentences = [row for row in list_sentences(lines, lexicon) if row.words]
    closeness = measure_closeness(vectors)
    first = next((row for row in sentences if row.telling), None)

    def worth(row: Sentence) -> float:
        wish = row is first and (asks(row.text) or lexicon.has("request", row.text))
        wished = WORTH_OF_THE_WISH if wish else 0.0
        return weigh(row, lexicon) + float(closeness[row.line]) / 4 + wished

    chosen: list[Sentence] = []
    told: set[str] = set()
    for row in sorted(sentences, key=lambda row: (-worth(row), row)):
        if 2 * len(row.words & told) <= len(row.words):
            chosen.append(row)
            told |= row.words
    return chosen


def measure_closeness(vectors: Vectors) -> Floats:
    """Return how near each line is to the mean line, scaled from 0.0 to 1.0 over these lines."""
    near = vectors @ unit(vectors.mean(axis=0, dtype=np.float64))
    return np.asarray((near - near.min()) / (float(np.ptp(near)) or 1.0), dtype=np.float64)


def weigh(row: Sentence, lexicon: Lexicon) -> float:
    """Return how informative a sentence is: names, numbers and "I" raise it, questions lower it."""
    worth = 0.5 * min(len(row.words), 8) / 8 - (not row.telling)
    worth += 0.2 * bool(_NUMBER_OR_NAME.search(row.text))
    worth += 0.2 * lexicon.has("first_person", row.text)
    return worth - 0.4 * asks(row.text)
