"""Loading prompts from files, and fencing what people said inside them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from memoryproject.ai.llm import Prompt


@cache
def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def build_prompt(*, file: Path, purpose: str, material: str) -> Prompt:
    """Return a prompt whose instructions come from `file` and whose data is `material`.

    The fence is a line that does not occur in the material: it is made from the
    material's own hash, so a replay asks in exactly the same words. The version is the
    hash of the instructions.
    """
    instructions = _read(file)
    fence = f"=== {hashlib.sha256(material.encode()).hexdigest()[:16]} ==="
    return Prompt(
        purpose=purpose,
        version=f"{file.stem}-{hashlib.sha256(instructions.encode()).hexdigest()[:8]}",
        system=instructions.replace("{fence}", fence),
        user=f"{fence}\n{material}\n{fence}",
    )
