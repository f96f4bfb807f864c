"""Small labelled files of our own, and running a measurement on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.quality.run import read_options, run
from tests.talk import MOVING, RUNNING


def measure(what: str, *arguments: object) -> str:
    """Return what a measurement prints."""
    return run(read_options([what, *map(str, arguments)]))


def figures(what: str, *arguments: object) -> Any:
    """Return what a measurement prints with --json: one line."""
    (line,) = measure(what, *arguments, "--json").splitlines()
    return json.loads(line)


def write(path: Path, *rows: object) -> Path:
    """Write one JSON object a line."""
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a file with one a line."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def turns(lines: Sequence[tuple[str, str]], session: int) -> list[dict[str, Any]]:
    """Return the turns of one of LoCoMo's sessions."""
    return [
        {"speaker": speaker, "dia_id": f"D{session}:{number}", "text": text}
        for number, (speaker, text) in enumerate(lines, start=1)
    ]


def locomo(
    path: Path, observations: dict[int, list[Any]], qa: Sequence[dict[str, Any]] = ()
) -> Path:
    """Write one of LoCoMo's samples, with sessions 1 and 3."""
    conversation: dict[str, Any] = {"speaker_a": "Mira", "speaker_b": "Jonas"}
    for session, lines in ((1, MOVING), (3, RUNNING)):
        conversation[f"session_{session}_date_time"] = f"1:56 pm on {session} May, 2023"
        conversation[f"session_{session}"] = turns(lines, session)
    drawn = {f"session_{n}_observation": {"Mira": texts} for n, texts in observations.items()}
    sample = {"sample_id": "conv-0", "conversation": conversation, "observation": drawn}
    path.write_text(json.dumps([sample | {"qa": list(qa)}]))
    return path
