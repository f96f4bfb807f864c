"""Dialogues whose changes of topic are marked, in SuperDialseg's or MemoChat's form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from bench.quality.boundaries import Boundaries
from bench.quality.files import Labelled, read_rows
from episodic.engines import Line, Segment
from episodic.models import Role
from episodic.offline.segmenter import OfflineSegmenter
from memoryproject.ai.embeddings import embed_passages

NEWLINE, BOUNDARY = "[NEWLINE]", "[BOUNDARY]"
SOME_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""The dialogues have no times: silence between messages may not help the segmenter."""
ROLES = {"user": Role.USER, "bot": Role.ASSISTANT, "assistant": Role.ASSISTANT}
"""MemoChat's labels that stand for a role; any other is a speaker's name."""


class Topic(BaseModel):
    """A true segment: utterances counted from 1, both ends included."""

    model_config = ConfigDict(str_strip_whitespace=True)

    start: int
    end: int
    title: Annotated[str, Field(alias="topic", min_length=1)]
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue; `boundaries` has the index of each topic's last line but the final one."""

    id: str | int
    lines: tuple[Line, ...]
    boundaries: frozenset[int]
    topics: tuple[Topic, ...] = ()

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


class MemoChat(Labelled):
    """Utterances as [speaker, text], and topics with titles and summaries."""

    utt: Annotated[list[tuple[str, str]], Field(min_length=2)]
    segments: tuple[Topic, ...]

    @model_validator(mode="after")
    def _check_segments(self) -> MemoChat:
        expected = [1, *(topic.end + 1 for topic in self.segments)]
        starts = [*(topic.start for topic in self.segments), len(self.utt) + 1]
        if starts != expected or any(topic.start > topic.end for topic in self.segments):
            raise ValueError("segments must cover all utterances, in order and without holes")
        return self

    def to_dialogue(self) -> Dialogue:
        """Return the utterances and topics."""
        boundaries = frozenset(topic.end - 1 for topic in self.segments[:-1])
        lines = tuple(_to_line(seq, *utterance) for seq, utterance in enumerate(self.utt))
        return Dialogue(self.id, lines, boundaries, self.segments)


def _to_line(seq: int, speaker: str, words: str) -> Line:
    role = ROLES.get(speaker.lower())
    return Line(seq, role or Role.USER, "" if role else speaker, words, SOME_TIME)


Form = SuperDialseg | MemoChat
ANY_FORM: TypeAdapter[Form] = TypeAdapter(Form)
WITH_TITLES: TypeAdapter[Form] = TypeAdapter(MemoChat)


def read_dialogues(path: Path, form: TypeAdapter[Form] = ANY_FORM) -> list[Dialogue]:
    """Return a file's dialogues; only MemoChat's have topics with titles.

    Raises:
        UnreadableFile: it does not hold such dialogues; the message says where.
    """
    return [row.to_dialogue() for row in read_rows(path, form)]


def segment(dialogue: Dialogue) -> tuple[Segment, ...]:
    """Return what the offline segmenter makes of the dialogue, as one window."""
    vectors = embed_passages([line.text for line in dialogue.lines])
    answer = OfflineSegmenter().segment(lines=dialogue.lines, vectors=vectors, previous_summary="")
    return answer.segments
