"""Reads JSON and lines from uploaded files of any size, in limited memory.

A parser keeps each text whole, and a path for each level of nesting. So a text that is too long
and a level that is too deep end the reading before either is kept.
"""

import io
import json
from collections.abc import Callable, Iterator
from typing import IO, Any, NamedTuple

import ijson
from ijson.common import ObjectBuilder

from memoryproject.edge.errors import Problem
from memoryproject.edge.http import flatten_details

CHUNK = 64 * 1024
DEPTH_AT_MOST = 100
"""Deepest nesting, as in a body of the API."""
TEXT_AT_MOST = 8_000_000
"""Bytes of one text or number."""
ELEMENT_AT_MOST = 16_000_000
"""Characters of all texts in one element."""
VALUES_AT_MOST = 500_000
"""Largest number of values in one element: each takes some 100 bytes of memory, however short."""
UNPACKED_AT_MOST = 8 * 1024**3
"""Largest size in bytes of a file, or of an unpacked member of an archive."""
LINE_AT_MOST = 8_000_000
"""Longest line in characters."""

OPENS, CLOSES = {"start_map", "start_array"}, {"end_map", "end_array"}
Watch = Callable[[int], object]
"""Function called with the number of bytes after each chunk, to show progress."""


def ignore(size: int) -> None:
    """Watch nothing."""


class Element(NamedTuple):
    """An element of an array in a file. `place` names it, as in `messages[17]`."""

    place: str
    value: Any


class WatchedFile:
    """A file that raises a Problem if it is too long, or a text in it."""

    def __init__(self, file: IO[bytes], watch: Watch = ignore) -> None:
        self._file, self._watch = file, watch
        self._size = self._pending = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(CHUNK if size < 0 else min(size, CHUNK))
        self._size += len(chunk)
        self._pending += len(chunk)
        if self._size > UNPACKED_AT_MOST:
            raise Problem(f"The file has more than {UNPACKED_AT_MOST // 1024**3} GB (unpacked).")
        if self._pending > TEXT_AT_MOST:
            raise Problem(f"A text in the file is longer than {TEXT_AT_MOST:,} bytes.")
        self._watch(len(chunk))
        return chunk

    def parse(self) -> Iterator[tuple[str, Any]]:
        """Yield the parser's events; it has none before the end of a text."""
        depth = 0
        for event, value in ijson.basic_parse(self, use_float=True):
            self._pending = 0
            depth += (event in OPENS) - (event in CLOSES)
            if depth > DEPTH_AT_MOST:
                raise Problem(f"The file is nested more than {DEPTH_AT_MOST} levels deep.")
            yield event, value


def read_elements(
    file: IO[bytes], *, prefix: str, name: str, watch: Watch = ignore
) -> Iterator[Element]:
    """Yield the elements under a prefix of ijson, in order, one in memory at a time.

    `name` is the array's name for people; empty if the file itself is the array.

    Raises:
        Problem: the file is not JSON, or has something too deep, too long, or too large.
    """
    count, place = 0, f"{name}[0]"
    try:
        builder: ObjectBuilder | None = None
        size = values = depth = 0
        for where, event, value in ijson.parse(WatchedFile(file, watch).parse()):
            if builder is None:
                if where != prefix or event in CLOSES or event == "map_key":
                    continue
                builder, size, values, depth = ObjectBuilder(), 0, 0, 0
            builder.event(event, value)
            depth += (event in OPENS) - (event in CLOSES)
            values += 1
            size += len(value) if isinstance(value, str) else 0
            if values > VALUES_AT_MOST or size > ELEMENT_AT_MOST:
                raise Problem(
                    f"This is too large: an element has at most {VALUES_AT_MOST:,} values and"
                    f" {ELEMENT_AT_MOST:,} characters."
                )
            if depth == 0:
                yield Element(place, builder.value)
                count, builder = count + 1, None
                place = f"{name}[{count}]"
    except Problem as problem:
        raise Problem(f"{place}: {problem.message}") from problem
    except (ValueError, RecursionError, ijson.JSONError) as error:
        raise Problem(f"{place}: From here on the file is not valid JSON.") from error


class TextLine(NamedTuple):
    """A line with text, and its number from 1; None: it is too long to be read."""

    number: int
    text: str | None


def read_lines(
    file: IO[bytes],
    *,
    at_most: int = LINE_AT_MOST,
    watch: Watch = ignore,
    keeps_blank: bool = False,
) -> Iterator[TextLine]:
    """Yield the non-empty lines of a UTF-8 file, or all of them if asked to.

    Raises:
        Problem: it is not UTF-8 text.
    """
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    number = 0
    try:
        while line := text.readline(at_most + 1):
            number += 1
            watch(len(line))
            if len(line) <= at_most:
                if keeps_blank or line.strip():
                    yield TextLine(number, line)
                continue
            while line and not line.endswith("\n"):
                line = text.readline(CHUNK)
                watch(len(line))
            yield TextLine(number, None)
    except UnicodeDecodeError as error:
        raise Problem(
            f"The file is not text in UTF-8 from line {number + 1} on. Save it as UTF-8 and try"
            " again."
        ) from error
    finally:
        if not file.closed:  # whoever gave up reading has closed it
            text.detach()


def parse_line(line: TextLine, *, at_most: int = LINE_AT_MOST) -> Any:
    """Return the JSON of a line.

    Raises:
        Problem: it is invalid, too long, too deep, or has too many values; the message does not
            name the line.
    """
    if line.text is None:
        raise Problem(f"This is longer than {at_most:,} characters.")
    if sum(map(line.text.count, ",[{")) > VALUES_AT_MOST:
        raise Problem(f"This has more than {VALUES_AT_MOST:,} values.")
    try:
        return json.loads(line.text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Problem("This is not valid JSON.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def name_fault(detail: Any, place: str = "") -> str:
    """Return the first of nested errors with its place, as in `messages[17].role: This is …`.

    `detail` is that of a ValidationError: errors by field, or a list of them by position.
    """
    where, texts = next(iter(flatten_details(detail, place).items()))
    return f"{where}: {texts[0]}"
