"""Running the offline segmenter over labelled dialogues."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from episodic.engines import Line
from episodic.loading import UnreadableFile
from episodic.offline_segmenter import OfflineSegmenter
from memoryproject.ai.embeddings import embed_passages
from operations.boundary_metrics import Boundaries
from operations.labelled_files import read_objects

NEWLINE, BOUNDARY = "[NEWLINE]", "[BOUNDARY]"
SOME_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""The dialogues have no times: silence between messages may not help the segmenter."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue with its true boundaries; `id` is as the file gives it."""

    id: Any
    lines: tuple[Line, ...]
    boundaries: frozenset[int]


def find_files(path: Path) -> list[Path]:
    """Return the file itself, or the dialogue files of a folder by name.

    Raises:
        UnreadableFile: there is no such thing, or the folder has none.
    """
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.iterdir() if file.name.endswith((".jsonl", ".jsonl.gz")))
    if not found:
        raise UnreadableFile(f"{path} holds no *.jsonl or *.jsonl.gz.")
    return found


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return the dialogues of two utterances or more.

    Raises:
        UnreadableFile: it does not hold dialogues; the message says where.
    """
    dialogues: list[Dialogue] = []
    for where, given in read_objects(path):
        if "id" not in given or not isinstance(given.get("dialogue"), str):
            raise UnreadableFile(f'{where} must be {{"id", "dialogue": text}}.')
        lines, boundaries = parse_dialogue(given["dialogue"])
        if len(lines) > 1:
            dialogues.append(Dialogue(given["id"], lines, boundaries))
    if not dialogues:
        raise UnreadableFile(f"{path} holds no dialogue of two utterances or more.")
    return dialogues


def parse_dialogue(text: str) -> tuple[tuple[Line, ...], frozenset[int]]:
    """Return the utterances, all of one time, and the true boundaries."""
    spoken: list[tuple[str, str]] = []
    ends: set[int] = set()
    for piece in map(str.strip, text.split(NEWLINE)):
        if piece == BOUNDARY:
            ends.add(len(spoken) - 1)
        elif piece:
            speaker, colon, words = piece.partition(":")
            spoken.append((speaker.strip(), words.strip()) if colon else ("", piece))
    user = _choose_user([speaker for speaker, _ in spoken])
    lines = tuple(
        Line(seq, "user" if speaker == user else "assistant", "", words, SOME_TIME)
        for seq, (speaker, words) in enumerate(spoken)
    )
    return lines, frozenset(ends & set(range(len(lines) - 1)))


def _choose_user(speakers: Sequence[str]) -> str:
    """Return the label that stands for the user: the one called so, else the first."""
    return "user" if "user" in speakers else speakers[0] if speakers else ""


def guess_boundaries(dialogue: Dialogue) -> list[int]:
    """Return where the segmenter cuts the dialogue, given to it as one window."""
    found = OfflineSegmenter().segment(
        lines=dialogue.lines,
        vectors=embed_passages([line.text for line in dialogue.lines]),
        previous_summary="",
    )
    return [segment.last for segment in found.segments[:-1]]


def guess_all(
    dialogues: Sequence[Dialogue], *, report: Callable[[int], None]
) -> tuple[list[Boundaries], list[dict[str, Any]]]:
    """Return what the metrics compare, and the predictions in the scorer's format."""
    compared: list[Boundaries] = []
    predictions: list[dict[str, Any]] = []
    for dialogue in dialogues:
        guessed = guess_boundaries(dialogue)
        compared.append(Boundaries(len(dialogue.lines), dialogue.boundaries, frozenset(guessed)))
        predictions.append({"id": dialogue.id, "boundaries": guessed})
        report(1)
    return compared, predictions
