"""Texts in a picture: broken and cut by how wide their letters about are.

The server has no font: widths are those of common ones, in letters as wide as high.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

LABEL_PX, CAPTION_PX = 12.0, 10.5


def wrap(text: str, *, width: float, at_most: int, px: float = LABEL_PX) -> list[str]:
    """Return a text in lines of a width, the last one cut where there is more."""
    flat = " ".join(text.split())
    lines = list(_break_lines(flat, width / px))
    if len(lines) <= at_most:
        return lines
    kept = lines[: at_most - 1]
    rest = " ".join(lines[at_most - 1 : at_most + 1])
    return [*kept, _cut(rest, width / px)]


def _break_lines(text: str, room: float) -> Iterator[str]:
    """Yield lines that are no wider than `room` letters; a longer word is broken."""
    line = ""
    for word in text.split(" "):
        if line and measure(f"{line} {word}") <= room:
            line = f"{line} {word}"
            continue
        if line:
            yield line
        line = ""
        for letter in word:
            if line and measure(line + letter) > room:
                yield line
                line = ""
            line += letter
    if line:
        yield line


def _cut(line: str, room: float) -> str:
    while line and measure(f"{line}…") > room:
        line = line[:-1]
    return f"{line.rstrip()}…"


def measure(text: str) -> float:
    """Return about how wide a text is, in widths of a wide letter."""
    return sum(map(_measure_letter, text))


def _measure_letter(letter: str) -> float:
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    if letter in "iljtfrI.,:;'|!()[] ":
        return 0.33
    return 0.72 if letter.isupper() or letter in "mwMW@—…" else 0.57
