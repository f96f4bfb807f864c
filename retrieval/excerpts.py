"""What is shown of a message: shortened or not, with dates of phrases, lines of code."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime

from memoryproject.text.cleaning import clean, find_forged
from memoryproject.text.dates import find_phrases, place_labels
from memoryproject.text.parts import Excerpt
from retrieval.truncation import ELLIPSIS, FENCED

FENCE = re.compile(r"^ {0,3}(`{3,})([^`\n]*)$", re.MULTILINE)
"""A line that opens a block of code, or closes one if nothing follows the marks."""
DATE = re.compile(r" ?\([^()]{0,40}\d{4}[^()]{0,20}\)")
READ_FOR_DATES = 2_000
"""Characters of a message that are searched for dates and phrases such as "yesterday"."""


def is_cut(excerpt: Excerpt) -> bool:
    """Return whether a part of the message is left out."""
    return any(
        start is None and words.startswith(ELLIPSIS) for words, start in excerpt.pieces or ()
    )


def add_dates(excerpt: Excerpt, line: str, *, at: datetime) -> Excerpt:
    """Return an excerpt of a line with the date behind each relative phrase: "(7 May 2023)".

    `at`: when it was said. The dates are ours, not a quotation.
    """
    line = " ".join(line.split())[:READ_FOR_DATES]
    said_on = f"{at.day} {at:%B %Y}"  # "today" needs no date: the heading has it
    phrases = [phrase for phrase in find_phrases(line, at=at) if phrase.label != said_on]
    fences = [match.span() for match in FENCED.finditer(line)]
    labels = [
        label
        for label in place_labels(line, phrases)
        if not any(start < label[0] < end for start, end in fences)
    ]
    if not labels or not excerpt.text:
        return excerpt
    return _insert(excerpt, [(end, end, label) for end, label in labels])


def drop_dates(text: str) -> str:
    """Return a text without brackets that contain a year, as computed dates do."""
    return DATE.sub("", text)


def keep_code(excerpt: Excerpt, said: str, links: str) -> Excerpt:
    """Return an excerpt of a message in which code in a closed fence keeps its white space.

    This white space is ours, not quoted; so is the backslash before a line that looks like ours.
    Shortened code stays on one line, since its fence would not be closed.
    """
    if "```" not in said or not excerpt.text:
        return excerpt
    text = clean(said, links)
    line = " ".join(text.split())
    pieces = _list_pieces(excerpt)
    gaps = [
        gap
        for code, first, last in _place_code(text)
        if any(
            start is not None and start <= first and last <= start + len(words)
            for words, start in pieces
        )
        for gap in _list_gaps(code, first, len(line))
    ]
    return _insert(excerpt, gaps) if gaps else excerpt


def _find_code(text: str) -> Iterator[tuple[int, int]]:
    """Yield closed blocks of code, fences included."""
    opened = None
    for fence in FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif len(fence[1]) >= len(opened[1]) and not fence[2].strip():
            yield opened.start(), fence.end()
            opened = None


def _place_code(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield closed blocks of code with first and last position in the one-line text.

    That is the text with one space between two words. No block begins or ends in a word.
    """
    done = last = 0
    for start, end in _find_code(text):
        if before := " ".join(text[done:start].split()):
            last += bool(last) + len(before)
        first = last + bool(last)
        last = first + len(" ".join(text[start:end].split()))
        done = end
        yield text[start:end], first, last


def _list_gaps(code: str, first: int, length: int) -> Iterator[tuple[int, int, str]]:
    """Yield the spaces around and in the code at `first` of a line, and their replacements."""
    if first:
        yield first - 1, first, "\n"
    place, done = first, 0
    for word in re.finditer(r"\S+", code):
        space = code[done : word.start()]
        if done and space != " ":
            is_forged = "\n" in space and _is_forged(code, word.start())
            yield place, place + 1, space + "\\" * is_forged
        place += bool(done) + len(word[0])
        done = word.end()
    if place < length:
        yield place, place + 1, "\n"


def _is_forged(code: str, start: int) -> bool:
    """Return whether a line of code looks like one of ours."""
    end = code.find("\n", start)
    return find_forged(code[start : end if end >= 0 else None]) == 0


def _list_pieces(excerpt: Excerpt) -> Sequence[tuple[str, int | None]]:
    if excerpt.pieces is not None:
        return excerpt.pieces
    return [(" ".join(excerpt.text.split()), 0)]


def _insert(excerpt: Excerpt, ours: Sequence[tuple[int, int, str]]) -> Excerpt:
    """Return an excerpt with stretches of its line, maybe empty, replaced by our words."""
    pieces: list[tuple[str, int | None]] = []
    for words, start in _list_pieces(excerpt):
        if start is None:
            pieces.append((words, None))
            continue
        done = start
        for first, last, instead in ours:
            if done <= first and done < last <= start + len(words):
                pieces += [(words[done - start : first - start], done), (instead, None)]
                done = last
        pieces.append((words[done - start :], done))
    shown = tuple(piece for piece in pieces if piece[0])
    return Excerpt("".join([words for words, _ in shown]), shown)
