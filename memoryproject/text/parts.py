"""The parts that an answer is made of: words of ours, and quotations of what somebody said.

A renderer yields parts; the text is their join. What else must know of what a text is made
(receipts, marks of corrections, cuts) reads the parts, never the text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a quotation is taken from, as receipts keep it."""

    FACT = "f"
    TITLE = "t"
    SUMMARY = "s"
    NAME = "n"
    """Of the speaker of a message."""
    MESSAGE = "m"
    CORRECTION = "r"
    """The fact that is right, as the mark of a correction prints it."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Printed words of somebody, and the row that they are from.

    `start` and `end`: which characters of the row's cleaned line; None: all of it.
    """

    kind: Kind
    id: str
    """The row's."""
    text: str
    start: int | None = None
    end: int | None = None
    seq: int | None = None
    """Of a message, by which it can be told within its conversation."""

    def take(self, start: int, end: int) -> "Quote":
        """Return the characters from `start` to `end` of what it prints."""
        first = self.start or 0
        return replace(self, text=self.text[start:end], start=first + start, end=first + end)


class Mark(str):
    """Words of ours that say that the line contradicts a correction, or begin to say it."""

    __slots__ = ()


Part = str | Quote


def join(parts: Iterable[Part]) -> str:
    """Return the text that parts make."""
    return "".join([part.text if isinstance(part, Quote) else part for part in parts])


def insert(words: str, place: int, parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts with words of ours before the character at `place` of their text."""
    for part in parts:
        text = part.text if isinstance(part, Quote) else part
        if place == 0:
            yield words
        if not 0 < place < len(text):
            yield part
        elif isinstance(part, Quote):
            yield from (part.take(0, place), words, part.take(place, len(text)))
        else:
            yield text[:place] + words + text[place:]
        place -= len(text)


def split_lines(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield the parts of each line of a text, without line breaks. No quotation has one."""
    line: list[Part] = []
    for part in parts:
        if isinstance(part, Quote) or "\n" not in part:
            line.append(part)
            continue
        first, *others = part.split("\n")
        line.append(Mark(first) if isinstance(part, Mark) else first)
        for other in others:
            yield line
            line = [other]
    yield line


def is_marked(line: Iterable[Part]) -> bool:
    """Return whether a line says of itself that it contradicts a correction."""
    return any(isinstance(part, Mark) for part in line)


Span = tuple[int, int]


class Excerpt(NamedTuple):
    """What is shown of a line of text.

    `pieces`: words of ours, and from where to where is shown, counted in the line with one space
    between two words; None: all of it is.
    """

    line: str
    text: str
    pieces: tuple[str | Span, ...] | None = None


NOTHING = Excerpt("", "", ())


def show_whole(line: str) -> Excerpt:
    return Excerpt(line, line)


def quote_excerpt(quote: Quote, excerpt: Excerpt) -> Iterator[Part]:
    """Yield what an excerpt shows of the line that `quote` is all of."""
    if excerpt.pieces is None:
        yield quote
        return
    places = _find_places(quote.text)
    left = len(excerpt.text)
    for piece in excerpt.pieces:
        if isinstance(piece, str):
            yield piece[:left]
            left -= len(piece)
        else:
            shown = places[piece[0] : piece[1]][:left]
            left -= len(shown)
            yield from _quote_places(quote, shown)


def _find_places(line: str) -> Sequence[int]:
    """Return where each character of the line with one space between two words is in the line.

    -1: a space that stands for other white space.
    """
    if line == " ".join(line.split()):
        return range(len(line))
    places: list[int] = []
    for word in re.finditer(r"\S+", line):
        start = word.start()
        if places:
            is_space = places[-1] == start - 2 and line[start - 1] == " "
            places.append(start - 1 if is_space else -1)
        places.extend(range(start, word.end()))
    return places


def _quote_places(quote: Quote, places: Sequence[int]) -> Iterator[Part]:
    """Yield runs of characters as quotations; spaces around them are ours."""
    words = quote.text
    start = 0
    while start < len(places):
        if places[start] < 0 or words[places[start]] == " ":
            yield " "
            start += 1
            continue
        end = start + 1
        while end < len(places) and places[end] == places[end - 1] + 1:
            end += 1
        last = end
        while words[places[last - 1]] == " ":
            last -= 1
        yield quote.take(places[start], places[last - 1] + 1)
        yield from [" "] * (end - last)
        start = end
