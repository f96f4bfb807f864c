"""Loading prompts from files, and fencing what people said inside them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from memoryproject.ai.llm import Prompt

CHARACTERS_AT_MOST = 80_000
"""Of what people said in one prompt: some 20,000 tokens of English."""
CHARACTERS_A_LINE = 200
"""A line is never shortened below this."""
CUT = " […] "


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def build_prompt(*, file: Path, purpose: str, material: str, reminder: str = "") -> Prompt:
    """Return a prompt whose instructions come from `file` and whose data is `material`.

    The fence is a line that does not occur in the material: it is made from the
    material's own hash, so a replay asks in exactly the same words. The version is the
    hash of the instructions. A `reminder` is ours and stands after the fence.
    """
    instructions = _read(file)
    fence = f"=== {hashlib.sha256(material.encode()).hexdigest()[:16]} ==="
    fenced = f"{fence}\n{material}\n{fence}"
    return Prompt(
        purpose=purpose,
        version=f"{file.stem}-{hashlib.sha256(instructions.encode()).hexdigest()[:8]}",
        system=instructions.replace("{fence}", fence),
        user=f"{fenced}\n\n{reminder}" if reminder else fenced,
    )


def fit_lines(texts: Sequence[str]) -> list[str]:
    """Return each text on one line, so that none can pose as the line of another.

    Where all together are too long for a prompt, the longest lose their middle.
    """
    lines = [" ".join(text.splitlines()) for text in texts]
    if sum(map(len, lines)) <= CHARACTERS_AT_MOST:
        return lines
    share = max(CHARACTERS_A_LINE, CHARACTERS_AT_MOST // len(lines))
    return [_cut_middle(line, at_most=share) for line in lines]


def _cut_middle(line: str, *, at_most: int) -> str:
    if len(line) <= at_most:
        return line
    kept = (at_most - len(CUT)) // 2
    return line[:kept] + CUT + line[-kept:]
