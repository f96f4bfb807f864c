"""Shortens texts: cuts one to a size, and leaves out of a message what tells least.

What is missing is marked with "…", and the mark counts. A word is not parted where scripts put
spaces between words. Of a message a sentence is worth the rarity of its words among the messages
that were found: "That's awesome!" is said everywhere, a name or a number once. Words of the
question count twice.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple, TypeVar

from indexing.text import prepare
from memoryproject.process.tables import read_table
from memoryproject.text.parts import NOTHING, Excerpt
from memoryproject.text.sentences import TITLES
from memoryproject.text.tokens import count_tokens
from retrieval import tuning

ELLIPSIS = "…"
GAP = " […] "
HEAD_SHARE = 0.6
"""Share of what is kept that is taken from the start, where the middle is left out."""
LONGEST_WORD = 40
"""Characters; a longer run without a space may be parted."""
UNSPACED = "\u0e00"
"""From here on, scripts put no spaces between words (and the others that do come before)."""
SENTENCE_END = re.compile(
    "".join(rf"(?<!\b{title})" for title in [*TITLES.split("|"), "[A-Z]"])
    + r"[.!?…]++[\"'”’)\]]*+(?:(?=\s)|(?P<goes_on>))|[。！？]+[」』”’）]*|(?=\n)"
)

Count = Callable[[str], int]
Fits = Callable[[str], bool]
Result = TypeVar("Result")


class Strategy(StrEnum):
    """What is left out of a text that is too long. Where little fits, all are as END."""

    END = "end"
    SENTENCE = "sentence"
    """Cuts at the end, as END does, but after the last whole sentence that fits."""
    MIDDLE = "middle"


def cut(text: str, *, at_most: int, strategy: Strategy, count: Count) -> str:
    """Return the text, or as much of it as `count` finds no larger than `at_most`.

    What is left ends in "…", or has " […] " in its midst; it is empty where nothing fits.
    """

    def fits(part: str) -> bool:
        return count(part) <= at_most

    if fits(text):
        return text
    kept = ""
    if strategy is Strategy.MIDDLE:
        kept = _find_largest(len(text) - 1, lambda size: _keep_both_ends(text, size), fits)
    if strategy is Strategy.SENTENCE:
        matches = [match for match in SENTENCE_END.finditer(text) if match["goes_on"] is None]
        ends = [match.end() for match in matches if match.end() < len(text)]
        kept = _find_largest(len(ends), lambda size: _keep_sentences(text, ends[:size]), fits)
    return kept or _find_largest(len(text) - 1, lambda size: _keep_beginning(text, size), fits)


def _find_largest(at_most: int, render: Callable[[int], str], fits: Fits) -> str:
    """Return the text rendered from the largest number that fits; 0 gives an empty one."""
    best, low, high = "", 0, at_most
    while low < high:
        middle = (low + high + 1) // 2
        part = render(middle)
        if fits(part):
            best, low = part, middle
        else:
            high = middle - 1
    return best


def _keep_beginning(text: str, kept: int) -> str:
    head = text[: _find_edge(text, kept, -1)].rstrip()
    return head + ELLIPSIS if head else ""


def _keep_sentences(text: str, ends: list[int]) -> str:
    head = text[: ends[-1]].rstrip() if ends else ""
    return f"{head} {ELLIPSIS}" if head else ""


def _keep_both_ends(text: str, kept: int) -> str:
    of_head = math.ceil(HEAD_SHARE * kept)
    start = len(text) - (kept - of_head)
    head = text[: _find_edge(text, of_head, -1)].rstrip()
    tail = text[_find_edge(text, start, 1) :].lstrip()
    return (head + GAP + tail).rstrip() if head else ""


def _find_edge(text: str, place: int, step: int) -> int:
    """Return the near edge of the word that a cut at `place` would split, else `place`.

    `step` is -1 or 1.
    """
    edge = place
    while abs(edge - place) < LONGEST_WORD:
        if edge in (0, len(text)) or not (_is_in_word(text[edge - 1]) and _is_in_word(text[edge])):
            return edge
        edge += step
    return place


def _is_in_word(character: str) -> bool:
    return character < UNSPACED and not character.isspace()


STEM_LETTERS = 6
"""Words that begin alike count as one: no language's stemmer is needed for a rough worth."""
JUDGED_CHARACTERS = 2_000
"""Characters of each message that are read when rarity is counted."""
REMEMBERED_TEXTS = 4_096
"""Number of messages whose words and sentences a process caches: 8 MB."""
LONGEST_PIECE = 240
"""Characters, or half of what there is room for. Where a message must be cut to fit, a
longer sentence is split."""

_WORD = re.compile(r"[^\W_]+")
_SPACED = {code: " " for code in range(128) if not chr(code).isalnum()}
"""Parts words of ASCII likewise, in a third of the time."""
# Looks at single characters only: a text of 64 KB must not take a minute.
_BREAK = re.compile(
    r"(?<=[.!?…])[ ]|(?<=[.!?…][\"'”’)\]])[ ]|(?<=\])[ ]|[ ](?=\[)"
    r"|(?<=[。！？])(?![」』”。！？ ])|(?<=[。！？][」』”])(?! )"
)
LONGEST_NAME = 32
"""Characters with the brackets; what stands in longer ones is a note of its own."""
_NAME_BEFORE = re.compile(r"\[[^\[\]:]+\] $")
_NAME_AFTER = re.compile(r"\[[^\[\]:]+\]")
LONGEST_RETRACTION = 60
"""Characters of a sentence that does nothing but take back the one before."""
RETRACTION = re.compile("|".join(read_table(__file__)["retraction"]), re.IGNORECASE)
FENCED = re.compile(r"(?<!\S)```.*?```(?!\S)", re.DOTALL)
"""Code, which is one sentence: half of it is none."""
_ENDS_NO_SENTENCE = re.compile(rf"\b(?:[A-Z]|{TITLES}|No|\d{{1,2}})\. $")


class Sentence(NamedTuple):
    """A piece of a message, its trailing space included, its words, and where it starts."""

    text: str
    words: frozenset[str]
    start: int = 0


class _Worths(dict[str, float]):
    """What words are worth, by their rarity among texts; reckoned for those that are asked for."""

    def __init__(self, texts: Sequence[frozenset[str]]) -> None:
        self._counts = Counter(chain.from_iterable(texts))
        self.unseen = math.log(len(texts) + 1)

    def __missing__(self, word: str) -> float:
        self[word] = worth = self.unseen - math.log(self._counts[word] or 1)
        return worth


class Trimmer:
    """Shortens messages. Made once for an answer, from its question and all it found."""

    def __init__(
        self, *, question: str, messages: Sequence[str], speakers: Iterable[str] = ()
    ) -> None:
        self._worth_of = _Worths([_words(text[:JUDGED_CHARACTERS]) for text in messages])
        self._names = frozenset(word for name in speakers for word in _words(name))
        self._asked = frozenset(
            word
            for word in _words(question) - self._names
            if self._worth_of[word] >= self._threshold(tuning.ASKED_SHARE)
        )

    def drop_filler(self, content: str) -> Excerpt:
        """Return the message without sentences in which every word is common."""
        sentences = _split(content)
        rare = self._threshold(tuning.FILLER_SHARE)
        telling = {
            place
            for place, sentence in enumerate(sentences)
            if sentence.words & self._asked
            or any(self._worth_of[word] >= rare for word in sentence.words - self._names)
        }
        if not telling or len(telling) == len(sentences):
            return Excerpt(content)
        return join_sentences(sentences, telling)

    def shorten(self, content: str, *, room: float = math.inf) -> Excerpt:
        """Return the sentences worth most, in order: at least 60 % of the message's worth.

        The result is empty if no sentence fits into `room` characters.
        """
        sentences = _split(content)
        if all(len(sentence.text.rstrip()) > room for sentence in sentences):
            return NOTHING
        if len(sentences) < 2:
            return Excerpt(content)
        everything = frozenset().union(*(sentence.words for sentence in sentences))
        missing = tuning.KEPT_SHARE * self._worth(everything)
        kept: set[int] = set()
        covered: frozenset[str] = frozenset()
        worth = [self._worth(one.words) + self._worth(one.words & self._asked) for one in sentences]
        for place in sorted(range(len(sentences)), key=lambda place: (-worth[place], place)):
            if kept and self._worth(covered) >= missing:
                break
            kept.add(place)
            covered |= sentences[place].words
        if len(kept) == len(sentences):
            return Excerpt(content)
        return join_sentences(sentences, kept)

    def cut(self, content: str, *, at_most: int) -> Excerpt:
        """Return what matches the question best within so many tokens; empty if nothing fits.

        Used for a message that is too long to be served. The remaining tokens go to the
        sentences next to the best match.
        """
        characters_a_token = len(content) / max(count_tokens(content), 1)
        longest = max(1, min(LONGEST_PIECE, int(at_most / 2 * characters_a_token)))
        sentences = split_sentences(content, longest=longest)
        worth = [self._worth(sentence.words & self._asked) for sentence in sentences]
        best = worth.index(max(worth, default=0.0)) if worth else 0
        order = sorted(range(len(sentences)), key=lambda i: (-worth[i], abs(i - best), i))
        return _take(sentences, order, at_most=at_most)

    def answer(self, content: str, *, at_most: int) -> Excerpt:
        """Return the sentences of a long reply that answer the question, within so many tokens.

        They have at least half the worth of the best. If none has a word of the question, the
        reply is cut as any message.
        """
        sentences = split_sentences(content, longest=LONGEST_PIECE)
        worth = [self._worth(sentence.words & self._asked) for sentence in sentences]
        best = max(worth, default=0.0)
        if best <= 0:
            return self.cut(content, at_most=at_most)
        least = tuning.ANSWERING_SHARE * best
        telling = [place for place in range(len(sentences)) if worth[place] >= least]
        return _take(sentences, sorted(telling, key=lambda i: (-worth[i], i)), at_most=at_most)

    def _threshold(self, share: float) -> float:
        """Return the worth of a word in that share of the messages, or in one if they are few."""
        return min(-math.log(share), self._worth_of.unseen)

    def _worth(self, words: frozenset[str]) -> float:
        return sum([self._worth_of[word] for word in words - self._names])


def _take(sentences: Sequence[Sentence], order: Iterable[int], *, at_most: int) -> Excerpt:
    """Return the sentences that fit into so many tokens, tried in this order."""
    kept: set[int] = set()
    left = at_most - 1
    for place in order:
        cost = count_tokens(f"{ELLIPSIS} {sentences[place].text}")
        if cost <= left:
            kept.add(place)
            left -= cost
    return join_sentences(sentences, kept)


def split_sentences(content: str, *, longest: int | None = None) -> list[Sentence]:
    """Return the sentences of a message; a square bracket starts a new one.

    With `longest`, none has more characters: it is split at spaces, else anywhere.
    """
    text = " ".join(content.split())
    parts: list[str] = []
    start = 0
    fences = [match.span() for match in FENCED.finditer(text)] if "```" in text else []
    for match in _BREAK.finditer(text):
        if any(first < match.start() < last for first, last in fences):
            continue
        part = text[start : match.end()]
        if not _ENDS_NO_SENTENCE.search(part[-8:]) and not _parts_a_name(text, match.end()):
            parts.append(part)
            start = match.end()
    parts = _join_retractions([*parts, text[start:]])
    if longest is not None:
        parts = [piece for part in parts for piece in _split_long(part, longest)]
    starts = accumulate(map(len, parts), initial=0)
    pairs = zip(parts, starts, strict=False)
    return [Sentence(part, _find_words(part), start) for part, start in pairs if part.strip()]


def _parts_a_name(text: str, place: int) -> bool:
    """Return whether a break parts a short bracket, such as "[Sarah]", from what is said of it."""
    before = text[max(0, place - LONGEST_NAME) : place]
    after = text[place : place + LONGEST_NAME]
    return _NAME_BEFORE.search(before) is not None or _NAME_AFTER.match(after) is not None


def _join_retractions(parts: Sequence[str]) -> list[str]:
    """Return sentences, each with a short one behind it that takes it back: "Just kidding."."""
    joined: list[str] = []
    for part in parts:
        if joined and len(part) <= LONGEST_RETRACTION and RETRACTION.search(part):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def join_sentences(sentences: Sequence[Sentence], kept: set[int]) -> Excerpt:
    """Return the kept sentences of a line in order, an ellipsis for each run that is missing."""
    pieces: list[tuple[str, int | None]] = [
        (sentence.text, sentence.start) if place in kept else (f"{ELLIPSIS} ", None)
        for place, sentence in enumerate(sentences)
        if place in kept or place == 0 or place - 1 in kept
    ]
    if not kept:
        return NOTHING
    last, start = pieces.pop()
    pieces.append((last.rstrip(), start))
    return Excerpt("".join([text for text, _ in pieces]), tuple(pieces))


def _split_long(part: str, longest: int) -> list[str]:
    pieces: list[str] = []
    start = 0
    while len(part) - start > longest:
        end = part.rfind(" ", start + 1, start + longest) + 1 or start + longest
        pieces.append(part[start:end])
        start = end
    return [*pieces, part[start:]]


def _find_words(text: str) -> frozenset[str]:
    text = prepare(text)
    words = text.translate(_SPACED).split() if text.isascii() else _WORD.findall(text)
    return frozenset([word[:STEM_LETTERS] for word in words])


def _remember(function: Callable[[str], Result]) -> Callable[[str], Result]:
    """Return a function that caches its results for texts of JUDGED_CHARACTERS or fewer."""
    remembered = lru_cache(REMEMBERED_TEXTS)(function)
    return lambda text: (remembered if len(text) <= JUDGED_CHARACTERS else function)(text)


_words = _remember(_find_words)
_split = _remember(split_sentences)
