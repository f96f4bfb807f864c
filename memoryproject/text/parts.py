"""The parts of an answer: our own words, and quotations.

A renderer yields parts; joined, they are the text. Code that needs to know the origin of text
(receipts, marks of corrections, cuts) reads the parts, never the text.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """The kind of text that a quotation is taken from, as receipts store it."""

    FACT = "f"
    TITLE = "t"
    SUMMARY = "s"
    NAME = "n"
    """Name of the speaker of a message."""
    MESSAGE = "m"
    CORRECTION = "r"
    """The fact that is right, as printed in the mark of a correction."""


class Quote(NamedTuple):
    """Printed text of somebody, and the row that it is from.

    `start` and `end`: which characters of the row's cleaned line; None: all of it.
    """

    kind: Kind
    id: str
    """Id of the row."""
    text: str
    seq: int | None = None
    """Number of a message within its conversation."""
    start: int | None = None
    end: int | None = None

    def take(self, start: int, end: int) -> "Quote":
        """Return the quote from character `start` to `end`."""
        first = self.start or 0
        return self._replace(text=self.text[start:end], start=first + start, end=first + end)


class Mark(str):
    """Our words after a line that contradicts a correction, or the beginning of these."""

    __slots__ = ()


Part = str | Quote


def join(parts: Iterable[Part]) -> str:
    """Return the text that parts make."""
    return "".join([part.text if isinstance(part, Quote) else part for part in parts])


def split_lines(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Yield the parts of each line, without line breaks. No quotation contains one."""
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
    """Return whether a line has the mark of a correction."""
    return any(isinstance(part, Mark) for part in line)


class Excerpt(NamedTuple):
    """The part of a line that is shown: `text`.

    `pieces`: its parts, each with its start in the line with single spaces; None: our words.
    Without pieces the text is the whole line.
    """

    text: str
    pieces: tuple[tuple[str, int | None], ...] | None = None


NOTHING = Excerpt("", ())


def quote_excerpt(quote: Quote, excerpt: Excerpt) -> Iterator[Part]:
    """Yield the parts of an excerpt from the line that `quote` has whole."""
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
    """Yield the text between two positions of the line with single spaces.

    Spaces at the ends of quotations are ours, as the original may have other white space.
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
