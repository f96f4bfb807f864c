"""No pattern of the product takes more than linear time, whatever text it is given."""

from __future__ import annotations

import ast
import importlib
import re
import signal
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from django.conf import settings

pytestmark = pytest.mark.gate

LENGTH = 20_000
FLOOR_S = 0.05
"""What is answered faster at LENGTH is not judged: a quadratic pattern takes a second or more."""
GROWTH_AT_MOST = 9.0
"""Of the time, where a text grows to four times: linear is 4, quadratic 16."""
GIVEN_UP_S = 2.0
UNITS_AT_MOST = 80
GENERIC = [" ", "\n", "a", "A", "0", ".", ",", "-", "'", '"', "(", "[", "{", "<", "*", "`", "\\",
           "a ", "a.", ". ", "\n\n", "a\n", "a,", "\u00e9", "\u4e2d"]  # fmt: skip
STOPPER = "\x01"
OURS = {path.parent.name for path in settings.BASE_DIR.glob("*/__init__.py")} - {"tests", "bench"}
MEMBERS = {
    codes.CATEGORY_DIGIT: "0",
    codes.CATEGORY_WORD: "a",
    codes.CATEGORY_SPACE: " ",
    codes.CATEGORY_NOT_DIGIT: "a",
    codes.CATEGORY_NOT_WORD: "-",
    codes.CATEGORY_NOT_SPACE: "a",
}


def modules() -> Iterator[Path]:
    """Yield the product's files of code, relative to its folder."""
    for path in sorted(settings.BASE_DIR.glob("*/**/*.py")):
        place = path.relative_to(settings.BASE_DIR)
        is_run = place.stem == "__main__" or "migrations" in place.parts
        if place.parts[0] in OURS and not is_run:
            yield place


AT_THE_START: set[re.Pattern[str]] = set()
"""Patterns of which the code asks `match` and `fullmatch` alone."""


def patterns() -> dict[re.Pattern[str], str]:
    """Return every pattern of text, and where it stands: as a value or written in a function."""
    where: dict[re.Pattern[str], str] = {}
    uses = re.findall(r"\b([A-Z_]+)\b(?!\.f?u?l?l?match\(| = re(?:\.|ad_pattern\())", "".join(
        (settings.BASE_DIR / place).read_text() for place in modules()))  # fmt: skip
    otherwise_used = set(uses)
    for place in modules():
        name = ".".join(place.with_suffix("").parts).removesuffix(".__init__")
        for key, value in list(vars(importlib.import_module(name)).items()):
            for pattern in inside(value, depth=4):
                where.setdefault(pattern, f"{name}.{key}")
                if key not in otherwise_used:
                    AT_THE_START.add(pattern)
        for line, pattern in written(settings.BASE_DIR / place):
            where.setdefault(pattern, f"{name}:{line}")
    return where


def inside(value: Any, *, depth: int) -> Iterator[re.Pattern[str]]:
    """Yield the patterns that a value is or holds."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    parts: Iterable[Any] = ()
    if isinstance(value, Mapping):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, (tuple, list, set, frozenset)):
        parts = value
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name, None) for field in fields(value)]
    elif isinstance(value, type) and value.__module__.split(".")[0] in OURS:
        parts = list(vars(value).values())
    for part in parts if depth else ():
        yield from inside(part, depth=depth - 1)


def written(path: Path) -> Iterator[tuple[int, re.Pattern[str]]]:
    """Yield the literal patterns that calls of `re` hold, and their lines."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args):
            continue
        of, first = node.func.value, node.args[0]
        is_literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
        if isinstance(of, ast.Name) and of.id == "re" and is_literal:
            text = " ".join(ast.unparse(part) for part in [*node.args[1:], *node.keywords])
            flags = [getattr(re, flag) for flag in re.findall(r"\bre\.([A-Z]+)\b", text)]
            pattern = re.compile(first.value, sum(flags, start=re.RegexFlag(0)))
            if node.func.attr in {"match", "fullmatch"}:
                AT_THE_START.add(pattern)
            yield node.lineno, pattern


def units(pattern: re.Pattern[str]) -> list[str]:
    """Return what may be worst for a pattern when it is repeated, without doubles."""
    flags = pattern.flags & ~re.DEBUG
    starts = list(samples(parser.parse(pattern.pattern, flags)))
    found = dict.fromkeys(unit for unit in [*starts, *GENERIC] if 0 < len(unit) <= 200)
    every = sorted(found, key=len)
    return every[:: max(1, len(every) // UNITS_AT_MOST)]


def samples(sequence: Any) -> Iterator[str]:
    """Yield a text for each start of a sequence, and of those within it, and each single part."""
    text = ""
    for node in sequence:
        for inner in _sequences(node):
            yield from samples(inner)
        part = sample([node])
        text += part
        yield part
        yield text


def _sequences(node: Any) -> list[Any]:
    """Return the sequences that a node of a parsed pattern holds."""
    code, argument = node
    if code is codes.BRANCH:
        return list(argument[1])
    if code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
        return [argument[2]]
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.ATOMIC_GROUP:
        return [argument]
    if code in {codes.ASSERT, codes.ASSERT_NOT}:
        return [argument[1]]
    return []


def sample(sequence: Any) -> str:
    """Return a short text that the sequence matches, or nearly."""
    text = ""
    for node in sequence:
        code, argument = node
        if code is codes.LITERAL:
            text += chr(argument)
        elif code in {codes.ANY, codes.NOT_LITERAL}:
            text += "b" if argument == ord("a") else "a"
        elif code is codes.IN:
            text += _member(argument)
        elif code in {codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT}:
            text += sample(argument[2]) * max(1, min(argument[0], 20))
        elif code not in {codes.ASSERT, codes.ASSERT_NOT}:
            text += next((sample(inner) for inner in _sequences(node)), "")
    return text


def _member(items: Any) -> str:
    """Return a character of a class."""
    if items[0][0] is codes.NEGATE:
        shut = "".join(_member([item]) for item in items[1:])
        return next(char for char in "a0 -\n\u4e2d" if char not in shut)
    code, argument = items[0]
    if code is codes.CATEGORY:
        return MEMBERS[argument]
    return chr(argument[0] if code is codes.RANGE else argument)


class TooSlow(Exception):
    """A pattern was given up."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TooSlow where the block uses the processor longer; `re` looks for signals meanwhile."""

    def give_up(signum: int, frame: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(pattern: re.Pattern[str], unit: str, length: int) -> float:
    """Return how long a pattern takes over a unit repeated to a length, by the processor's clock.

    To find all that matches; of one that is only ever asked about the beginning, that alone.
    """
    text = (unit * (length // len(unit) + 1))[:length] + STOPPER
    started = time.thread_time()
    if pattern in AT_THE_START:
        pattern.match(text), pattern.fullmatch(text)
    else:
        deque(pattern.finditer(text), maxlen=0)
    return time.thread_time() - started


def is_linear(pattern: re.Pattern[str], unit: str) -> bool:
    """Return whether four times the text takes about four times as long."""
    try:
        with at_most(GIVEN_UP_S):
            if seconds(pattern, unit, LENGTH) < FLOOR_S:
                return True
        quarter = min(seconds(pattern, unit, LENGTH // 4) for _ in range(3))
        whole = min(seconds(pattern, unit, LENGTH) for _ in range(3))
    except TooSlow:
        return False
    return whole < FLOOR_S or whole / quarter < GROWTH_AT_MOST


def test_every_pattern_is_linear() -> None:
    slow = {}
    found = patterns()
    assert len(found) > 150
    for pattern, where in found.items():
        unit = next((unit for unit in units(pattern) if not is_linear(pattern, unit)), None)
        if unit is not None:
            slow[where] = unit
    assert not slow


@pytest.mark.parametrize(
    "quadratic", [r"\s+$", r"\[[^\]]*\]", r"a+b", r"(?:\w+ )+!", r"<!--.*?-->"]
)
def test_a_quadratic_pattern_is_noticed(quadratic: str) -> None:
    pattern = re.compile(quadratic)
    assert not all(is_linear(pattern, unit) for unit in units(pattern))
