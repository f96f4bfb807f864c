"""Files that people bring are read in bounded memory, and what is refused is named."""

from __future__ import annotations

import io
import json
import random
import tracemalloc
from typing import Any

import pytest

from memoryproject.edge import json_files
from memoryproject.edge.errors import Problem


class Endless(io.RawIOBase):
    """A file of `head` and then one byte for ever, which would fill any memory."""

    def __init__(self, head: bytes, rest: bytes) -> None:
        self.head, self.rest = head, rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        part, self.head = self.head[:size], self.head[size:]
        return part or self.rest * size


def elements(file: Any, prefix: str = "item") -> list[tuple[str, Any]]:
    return [tuple(one) for one in json_files.read_elements(file, prefix=prefix, name="")]


@pytest.mark.parametrize(
    ("head", "rest", "said"),
    [
        (b'[{"a": 1}, {"b": "', b"x", r"^\[1\]: A text in the file is longer"),
        (b'[{"a": "\\', b"\\", r"^\[0\]: A text in the file is longer"),
        (b"[", b"[", r"^\[0\]: The file is nested more than 100 levels"),
        (b"[1, 2", b"2", r"^\[1\]: A text in the file is longer"),
        (b"[[", b"1,", r"^\[0\]: This is too large"),
    ],
)
def test_what_would_fill_the_memory_is_named_and_ends_the_reading(
    head: bytes, rest: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a twentieth of each limit: counting each allocation takes its time."""
    for limit in ("TEXT_AT_MOST", "ELEMENT_AT_MOST", "VALUES_AT_MOST"):
        monkeypatch.setattr(json_files, limit, getattr(json_files, limit) // 20)
    tracemalloc.start()
    try:
        with pytest.raises(Problem, match=said):
            elements(Endless(head, rest))
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_elements_are_those_that_a_parser_finds_wherever_chunks_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    random.seed(7)
    signs = ['"', "\\", "[", "]", "{", "x", "é", "\n", "\\\\", '\\"', ","]
    for size in (1, 2, 3, 7, 64):
        monkeypatch.setattr(json_files, "CHUNK", size)
        for _ in range(20):
            texts = ["".join(random.choices(signs, k=random.randrange(9))) for _ in range(5)]
            rows = [{text: [text, {"n": [number]}]} for number, text in enumerate(texts)]
            file = io.BytesIO(json.dumps(rows, ensure_ascii=False).encode())
            assert [value for _, value in elements(file)] == rows


def test_a_line_that_is_too_long_is_skipped_and_the_next_is_read() -> None:
    file = io.BytesIO(b'{"a": 1}\n\n"' + b"x" * 5_000_000 + b'"\n{"b": 2}\n')
    lines = list(json_files.read_lines(file, at_most=1_000_000))
    assert [(line.number, line.text is None) for line in lines] == [
        (1, False),
        (3, True),
        (4, False),
    ]
    with pytest.raises(Problem, match="longer than 1,000,000"):
        json_files.parse_line(lines[1], at_most=1_000_000)
    assert json_files.parse_line(lines[2]) == {"b": 2}


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "[" + "[]," * 600_000 + "1]", "NaN", '{"a": }', "[1"]
)
def test_a_line_that_is_no_fair_json_is_refused(text: str) -> None:
    with pytest.raises(Problem):
        json_files.parse_line(json_files.TextLine(1, text))


def test_a_fault_is_named_with_its_place() -> None:
    detail = {"messages": [{"role": ["Not a valid choice."]}]}
    assert json_files.name_fault(detail, "line 3") == (
        "line 3.messages.0.role: Not a valid choice."
    )
