"""Small labelled files of our own, and running a measurement on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.quality.run import read_options, run
from tests.talk import MOVING, RUNNING

BREAD_THEN_BRAKES = [
    "I want to bake bread this weekend, a sourdough.",
    "Do you have a starter for the sourdough?",
    "Yes, my starter is bubbling on the kitchen counter.",
    "Then feed the starter with flour tonight and bake the bread tomorrow.",
    "By the way, my car makes a strange noise when I brake.",
    "When did you last have the brakes of the car checked?",
    "Two years ago, before I drove the car to Spain.",
    "Then the brake pads are worn, take the car to the garage.",
]


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


def superdialseg(id: object, *, cut_after: int) -> dict[str, Any]:
    """Return eight utterances of two topics with a mark between them."""
    pieces = []
    for number, words in enumerate(BREAD_THEN_BRAKES):
        pieces.append(f"{'agent' if number % 2 else 'user'}: {words}")
        pieces += ["[BOUNDARY]"] if number == cut_after else []
    return {"id": id, "dialogue": "[NEWLINE]".join(pieces)}


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
