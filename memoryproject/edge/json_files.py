"""Reads JSON and lines from uploaded files of any size, in limited memory.

A parser keeps each text whole, and a path for each level of nesting. So the bytes are checked on
their way to it, and a text that is too long or too deep ends the reading at once.
"""

import io
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, NamedTuple

import ijson
from ijson.common import ObjectBuilder

from memoryproject.edge.errors import Problem

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

OUTSIDE = re.compile(rb'[^"\[\]{}]*')
INSIDE = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
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
    """A file that raises a Problem if its JSON is too deep, or a text in it too long."""

    def __init__(self, file: IO[bytes], watch: Watch = ignore) -> None:
        self._file, self._watch = file, watch
        self._is_inside = self._is_escaped = False
        self._size = self._depth = self._length = 0

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(CHUNK if size < 0 else min(size, CHUNK))
        self._size += len(chunk)
        if self._size > UNPACKED_AT_MOST:
            raise Problem(f"The file has more than {UNPACKED_AT_MOST // 1024**3} GB (unpacked).")
        self._scan(chunk)
        self._watch(len(chunk))
        return chunk

    def _scan(self, chunk: bytes) -> None:
        place = 0
        while place < len(chunk):
            if self._is_escaped:  # the character behind a backslash that ended the last chunk
                self._is_escaped, start = False, place + 1
            else:
                start = place
            pattern = INSIDE if self._is_inside else OUTSIDE
            match = pattern.match(chunk, start)
            end = match.end() if match else start
            self._length += end - place
            if end < len(chunk) and self._is_inside and chunk[end] == ord("\\"):
                self._is_escaped, end = True, end + 1
            if self._length > TEXT_AT_MOST:
                raise Problem(f"A text in the file is longer than {TEXT_AT_MOST:,} bytes.")
            if end < len(chunk):
                self._meet(chunk[end])
            place = end + 1

    def _meet(self, sign: int) -> None:
        """Handle a quote, or a bracket outside of texts."""
        self._length = 0
        if sign == ord('"'):
            self._is_inside = not self._is_inside
        elif sign in b"[{":
            self._depth += 1
            if self._depth > DEPTH_AT_MOST:
                raise Problem(f"The file is nested more than {DEPTH_AT_MOST} levels deep.")
        else:
            self._depth -= 1


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
        for where, event, value in ijson.parse(WatchedFile(file, watch), use_float=True):
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
    if isinstance(detail, Mapping):
        key, fault = next(iter(detail.items()))
        return name_fault(fault, f"{place}.{key}" if place else str(key))
    if isinstance(detail, list):
        return name_fault(detail[0], place)
    return f"{place}: {detail}" if place else str(detail)
