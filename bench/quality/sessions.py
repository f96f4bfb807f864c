"""LoCoMo's samples: their questions, and their sessions with the observations drawn from them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from bench.quality.files import read_json
from episodic import window
from episodic.engines import Line
from episodic.models import Message, Role
from episodic.offline.segmenter import OfflineSegmenter
from memoryproject.ai.embeddings import embed_passages
from semantic.engines import EpisodeText
from wings.transfer.loading import UnreadableFile

TURN = re.compile(r"D:?(\d+):(\d+)")
Turns = str | list[str]
TURN_LENGTH = timedelta(seconds=40)
"""LoCoMo dates sessions, not turns."""
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


class Question(BaseModel):
    """A question; one without an `answer` asks for what was never said."""

    question: str
    answer: str | int | float | None = None
    evidence: Turns = ""
    category: int = 0


class Sample(BaseModel):
    """A conversation with its questions, and its observations by session and speaker."""

    sample_id: str | int
    conversation: dict[str, Any]
    qa: list[Question] = []
    observation: dict[str, dict[str, list[tuple[str, Turns]]]] = {}


@dataclass(frozen=True, slots=True)
class SourcedText:
    """A statement, and the ids of the turns that it is drawn from."""

    text: str
    turns: frozenset[str]


@dataclass(frozen=True, slots=True)
class Session:
    """One session of a conversation."""

    number: int
    messages: tuple[Message, ...]
    observations: tuple[SourcedText, ...]


SAMPLES: TypeAdapter[list[Sample]] = TypeAdapter(list[Sample])


def to_messages(conversation: dict[str, Any]) -> Iterator[Message]:
    """Yield the turns of all sessions, in order."""
    sessions = (re.fullmatch(r"session_(\d+)", key) for key in conversation)
    for session in sorted(int(match[1]) for match in sessions if match):
        start = datetime.strptime(conversation[f"session_{session}_date_time"], LOCOMO_TIME)
        for number, turn in enumerate(conversation[f"session_{session}"]):
            caption = turn.get("blip_caption")
            shared = f" [shared a photo: {caption}]" if caption else ""
            yield Message(
                role=Role.USER,
                content=(turn["text"] + shared).strip() or "…",
                occurred_at=start.replace(tzinfo=UTC) + number * TURN_LENGTH,
                name=turn["speaker"],
                metadata={"dia_id": turn["dia_id"]},
            )


def read_sessions(path: Path) -> list[tuple[Sample, list[Session]]]:
    """Return LoCoMo's samples with their sessions, in order.

    Raises:
        UnreadableFile: the file does not hold LoCoMo's samples with observations.
    """
    try:
        samples = [(sample, _split(sample)) for sample in read_json(path, SAMPLES)]
    except (KeyError, IndexError) as error:
        raise UnreadableFile(f"{path} has a turn whose id names no session.") from error
    except (TypeError, ValueError) as error:
        raise UnreadableFile(f"{path} does not hold LoCoMo's samples.") from error
    if not any(session.observations for _, sessions in samples for session in sessions):
        raise UnreadableFile(f"{path} holds no session with observations.")
    return samples


def _split(sample: Sample) -> list[Session]:
    return [
        Session(number, tuple(messages), tuple(_find_observations(sample, number)))
        for number, messages in groupby(
            to_messages(sample.conversation),
            key=lambda message: find_session(find_turns(message)[0]),
        )
    ]


def _find_observations(sample: Sample, number: int) -> list[SourcedText]:
    by_speaker = sample.observation.get(f"session_{number}_observation", {})
    return [
        SourcedText(text.strip(), frozenset(parse_turns(turns)))
        for observations in by_speaker.values()
        for text, turns in observations
    ]


def parse_turns(text: Turns) -> tuple[str, ...]:
    """Return the turn ids in a text or a list of texts, as D<session>:<turn>."""
    parts = TURN.findall(text if isinstance(text, str) else " ".join(text))
    return tuple(f"D{int(session)}:{int(turn)}" for session, turn in parts)


def find_turns(message: Message) -> tuple[str, ...]:
    """Return the ids of a message's turn; one in all but odd data."""
    return parse_turns(str(message.metadata["dia_id"]))


def find_session(turn: str) -> int:
    """Return the number of the session that a turn belongs to."""
    return int(turn[1:].split(":")[0])


def to_line(message: Message, seq: int = 0) -> Line:
    """Return a message as the engines see it."""
    return Line(seq, message.role, message.name, message.content, message.occurred_at)


def cut_episodes(session: Session) -> list[EpisodeText]:
    """Return the session's episodes, cut as a flush cuts them.

    It looks at `window.DOUBLED_SIZE` messages at a time; while more wait, the last of
    several segments stays open and begins the next look.
    """
    lines = [to_line(message, seq) for seq, message in enumerate(session.messages)]
    vectors = embed_passages([line.text for line in lines])
    episodes: list[EpisodeText] = []
    start = 0
    while start < len(lines):
        stop = min(start + window.DOUBLED_SIZE, len(lines))
        answer = OfflineSegmenter().segment(
            lines=lines[start:stop],
            vectors=vectors[start:stop],
            previous_summary=episodes[-1].summary if episodes else "",
        )
        everything = stop == len(lines)
        count = window.count_closed(len(answer.segments), doubled=True, everything=everything)
        closed = answer.segments[:count]
        for segment in closed:
            part = lines[start + segment.first : start + segment.last + 1]
            episodes.append(EpisodeText(segment.title, segment.summary, tuple(part)))
        start += closed[-1].last + 1
    return episodes
