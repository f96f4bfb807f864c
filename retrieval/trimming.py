"""What of a message may be left out of a packed answer: formulas only.

A sentence is worth the rarity of its words among the messages that were found: "That's
awesome!" is said everywhere, a name or a number once. Words of the question count twice.
What is left out is marked with "…".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from indexing.text import prepare
from memoryproject.tokens import count_tokens

KEPT_SHARE = 0.6
"""Of the worth of a message that is shortened."""
FILLER_SHARE = 0.05
"""A sentence is filler when each of its words is in more of the messages than this."""
ASKED_SHARE = 0.25
"""A word of the question that is in more of the messages tells nothing."""
STEM_LETTERS = 6
"""Words that begin alike count as one: no language's stemmer is needed for a rough worth."""
JUDGED_CHARACTERS = 2_000
"""Of each message, when rarity is counted."""
LONGEST_PIECE = 240
"""Characters, or half of what there is room for. Where a message must be cut to fit, a
longer sentence is split."""
ELLIPSIS = "…"

_WORD = re.compile(r"[^\W_]+")
# Only single characters are looked at on each side: text of 64 KB must not cost a minute.
_BREAK = re.compile(
    r"(?<=[.!?…])[ ]|(?<=[.!?…][\"'”’)\]])[ ]|(?<=\])[ ]|[ ](?=\[)"
    r"|(?<=[。！？])(?![」』”。！？ ])|(?<=[。！？][」』”])(?! )"
)
_ENDS_NO_SENTENCE = re.compile(r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|St|Prof|vs|e\.g|i\.e|No)\. $")


class Sentence(NamedTuple):
    """A piece of a message, its trailing space included, and its words."""

    text: str
    words: frozenset[str]


class Trimmer:
    """Shortens messages. Made once for an answer, from its question and all it found."""

    def __init__(
        self, *, question: str, messages: Sequence[str], speakers: Iterable[str] = ()
    ) -> None:
        found = Counter(word for text in messages for word in _words(text[:JUDGED_CHARACTERS]))
        self._unseen = math.log(len(messages) + 1)
        self._rarity = {word: self._unseen - math.log(n) for word, n in found.items()}
        self._names = frozenset(word for name in speakers for word in _words(name))
        self._asked = frozenset(
            word
            for word in _words(question) - self._names
            if self._worth_of(word) >= self._threshold(ASKED_SHARE)
        )

    def drop_filler(self, content: str) -> str:
        """Return the message without sentences in which every word is common."""
        sentences = split_sentences(content)
        rare = self._threshold(FILLER_SHARE)
        telling = {
            place
            for place, sentence in enumerate(sentences)
            if sentence.words & self._asked
            or any(self._worth_of(word) >= rare for word in sentence.words - self._names)
        }
        if not telling or len(telling) == len(sentences):
            return content
        return join_sentences(sentences, telling)

    def shorten(self, content: str) -> str:
        """Return the sentences worth most, in order: at least 60 % of what it is worth."""
        sentences = split_sentences(content)
        if len(sentences) < 2:
            return content
        everything = frozenset().union(*(sentence.words for sentence in sentences))
        missing = KEPT_SHARE * self._worth(everything)
        kept: set[int] = set()
        told: frozenset[str] = frozenset()
        for place in self._by_worth(sentences):
            if kept and self._worth(told) >= missing:
                break
            kept.add(place)
            told |= sentences[place].words
        return content if len(kept) == len(sentences) else join_sentences(sentences, kept)

    def cut(self, content: str, *, at_most: int) -> str:
        """Return what matches the question best within so many tokens; empty if nothing fits.

        For a message that is too long to be served at all. What is left of the room goes
        to what stands beside the best match.
        """
        characters_a_token = len(content) / max(count_tokens(content), 1)
        longest = max(1, min(LONGEST_PIECE, int(at_most / 2 * characters_a_token)))
        sentences = split_sentences(content, longest=longest)
        worth = [self._worth(sentence.words & self._asked) for sentence in sentences]
        best = worth.index(max(worth, default=0.0)) if worth else 0
        kept: set[int] = set()
        left = at_most - 1
        for place in sorted(range(len(sentences)), key=lambda i: (-worth[i], abs(i - best), i)):
            cost = count_tokens(f"{ELLIPSIS} {sentences[place].text}")
            if cost <= left:
                kept.add(place)
                left -= cost
        return join_sentences(sentences, kept) if kept else ""

    def _threshold(self, share: float) -> float:
        """Return what a word is worth in that share of the messages, or in a single one of few."""
        return min(-math.log(share), self._unseen)

    def _by_worth(self, sentences: Sequence[Sentence]) -> list[int]:
        worth = [self._worth(one.words) + self._worth(one.words & self._asked) for one in sentences]
        return sorted(range(len(sentences)), key=lambda place: (-worth[place], place))

    def _worth(self, words: frozenset[str]) -> float:
        return sum([self._rarity.get(word, self._unseen) for word in words - self._names])

    def _worth_of(self, word: str) -> float:
        return self._rarity.get(word, self._unseen)


def split_sentences(content: str, *, longest: int | None = None) -> list[Sentence]:
    """Return the sentences of a message; a square bracket starts a new one.

    With `longest`, none has more characters: it is split at spaces, else anywhere.
    """
    text = " ".join(content.split())
    parts: list[str] = []
    start = 0
    for match in _BREAK.finditer(text):
        part = text[start : match.end()]
        if not _ENDS_NO_SENTENCE.search(part[-8:]):
            parts.append(part)
            start = match.end()
    parts.append(text[start:])
    if longest is not None:
        parts = [piece for part in parts for piece in _split_long(part, longest)]
    return [Sentence(part, _words(part)) for part in parts if part.strip()]


def join_sentences(sentences: Sequence[Sentence], kept: set[int]) -> str:
    """Return the kept sentences in order, an ellipsis for each run that is missing."""
    parts: list[str] = []
    gap = False
    for place, sentence in enumerate(sentences):
        if place in kept:
            parts.append(sentence.text)
        elif not gap:
            parts.append(ELLIPSIS + " ")
        gap = place not in kept
    return "".join(parts).strip()


def _split_long(part: str, longest: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(part) - start > longest:
        end = part.rfind(" ", start + 1, start + longest) + 1 or start + longest
        pieces.append(part[start:end])
        start = end
    return [*pieces, part[start:]]


def _words(text: str) -> frozenset[str]:
    return frozenset([word[:STEM_LETTERS] for word in _WORD.findall(prepare(text))])
