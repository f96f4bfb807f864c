"""Dialogues whose changes of topic are marked, in SuperDialseg's form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter

from bench.quality.boundaries import Boundaries
from bench.quality.files import Labelled, read_rows
from episodic.engines import Line, Segment
from episodic.offline.segmenter import OfflineSegmenter
from memoryproject.ai.embeddings import embed_passages

NEWLINE, BOUNDARY = "[NEWLINE]", "[BOUNDARY]"
SOME_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""The dialogues have no times: silence between messages may not help the segmenter."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue; `boundaries` has the index of each topic's last line but the final one."""

    id: str | int
    lines: tuple[Line, ...]
    boundaries: frozenset[int]

    def compare(self, segments: Sequence[Segment]) -> Boundaries:
        """Return the true boundaries beside those of segments."""
        ends = frozenset(part.last for part in segments[:-1])
        return Boundaries(len(self.lines), self.boundaries, ends)


class SuperDialseg(Labelled):
    """Utterances in one text, between marks."""

    dialogue: str

    def to_dialogue(self) -> Dialogue:
        """Return the utterances; the user is whoever is called so, or else speaks first."""
        spoken: list[tuple[str, str]] = []
        ends: set[int] = set()
        for piece in map(str.strip, self.dialogue.split(NEWLINE)):
            if piece == BOUNDARY:
                ends.add(len(spoken) - 1)
            elif piece:
                speaker, colon, words = piece.partition(":")
                spoken.append((speaker.strip(), words.strip()) if colon else ("", piece))
        speakers = [speaker for speaker, _ in spoken]
        user = "user" if "user" in speakers else speakers[0] if speakers else ""
        lines = tuple(
            Line(seq, "user" if speaker == user else "assistant", "", words, SOME_TIME)
            for seq, (speaker, words) in enumerate(spoken)
        )
        return Dialogue(self.id, lines, frozenset(ends & set(range(len(lines) - 1))))


FORM: TypeAdapter[SuperDialseg] = TypeAdapter(SuperDialseg)


def read_dialogues(path: Path) -> list[Dialogue]:
    """Return a file's dialogues.

    Raises:
        UnreadableFile: it does not hold such dialogues; the message says where.
    """
    return [row.to_dialogue() for row in read_rows(path, FORM)]


def segment(dialogue: Dialogue) -> tuple[Segment, ...]:
    """Return what the offline segmenter makes of the dialogue, as one window."""
    vectors = embed_passages([line.text for line in dialogue.lines])
    answer = OfflineSegmenter().segment(lines=dialogue.lines, vectors=vectors, previous_summary="")
    return answer.segments
