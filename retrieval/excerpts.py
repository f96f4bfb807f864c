"""What is shown of a line of text: all of it, or pieces; and the parts that quote them."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from memoryproject.text.parts import Part, Quote

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
