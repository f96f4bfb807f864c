"""The parts that an answer is made of: words of ours, and quotations of what somebody said.

A renderer yields parts; the text is their join. What else must know of what a text is made
(receipts, marks of corrections, cuts) reads the parts, never the text.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a quotation is taken from, as receipts keep it."""

    FACT = "f"
    TITLE = "t"
    SUMMARY = "s"
    NAME = "n"
    """Name of the speaker of a message."""
    MESSAGE = "m"
    CORRECTION = "r"
    """The fact that is right, as the mark of a correction prints it."""


class Quote(NamedTuple):
    """Printed words of somebody, and the row that they are from.

    `start` and `end`: which characters of the row's cleaned line; None: all of it.
    """

    kind: Kind
    id: str
    """The row's."""
    text: str
    seq: int | None = None
    """Number of a message within its conversation."""
    start: int | None = None
    end: int | None = None

    def take(self, start: int, end: int) -> "Quote":
        """Return the characters from `start` to `end` of what it prints."""
        first = self.start or 0
        return self._replace(text=self.text[start:end], start=first + start, end=first + end)


class Mark(str):
    """Words of ours that say that the line contradicts a correction, or begin to say it."""

    __slots__ = ()


Part = str | Quote


def join(parts: Iterable[Part]) -> str:
    """Return the text that parts make."""
    return "".join([part.text if isinstance(part, Quote) else part for part in parts])


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


class Excerpt(NamedTuple):
    """What is shown of a line of text: `text`.

    `pieces`: the parts of that, each with where it starts in the line with one space between
    two words; None: words of ours. No pieces at all: the text is the whole line.
    """

    text: str
    pieces: tuple[tuple[str, int | None], ...] | None = None


NOTHING = Excerpt("", ())


def quote_excerpt(quote: Quote, excerpt: Excerpt) -> Iterator[Part]:
    """Yield what an excerpt shows of the line that `quote` is all of."""
    if excerpt.pieces is None:
        yield quote
        return
    for words, start in excerpt.pieces:
        if start is None:
            yield words
        else:
            yield from _quote_spaced(quote, start, start + len(words))


_SPACED_ALIKE = re.compile(r"\S+(?: \S+)*")


def _quote_spaced(quote: Quote, start: int, end: int) -> Iterator[Part]:
    """Yield what lies between two places of the line with one space between two words.

    Spaces at the ends of quotations are ours: another white space may stand in their place.
    """
    place = 0
    for run in _SPACED_ALIKE.finditer(quote.text):
        if start < place <= end:
            yield " "
        shown = run[0][max(start - place, 0) : max(end - place, 0)]
        if shown.strip():
            first = run.start() + max(start - place, 0) + len(shown) - len(shown.lstrip())
            yield from [" "] * shown.startswith(" ")
            yield quote.take(first, first + len(shown.strip()))
            yield from [" "] * shown.endswith(" ")
        place += len(run[0]) + 1
