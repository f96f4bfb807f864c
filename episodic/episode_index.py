"""Makes episodes findable: by their headlines, and by each of their messages."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from episodic import queries
from episodic.engines import Line, Segment, Vectors
from episodic.models import Conversation, Episode, Message
from episodic.vectors import headline
from indexing import services as index
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry

NEIGHBOURS = 2
"""Lines on each side that stand in a message's lexical text; its vector has it alone."""


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """An episode to write: its wording, its messages, and the vectors of headline and lines.

    Without vectors (the model is away) it is found by its words alone, for the time being.
    """

    segment: Segment
    messages: Sequence[Message]
    vectors: Sequence[Vectors | None]
    """Of the headline, then of each line."""
    engine: str
    degraded: bool


def index_episodes(
    conversation: Conversation,
    episodes: Sequence[Episode],
    messages: Mapping[uuid.UUID, Sequence[Message]],
) -> None:
    """Make restored episodes findable, with their messages by id; a job makes the vectors."""
    planned = [
        PlannedEpisode(
            segment=Segment(0, 0, episode.title, episode.summary, episode.surprise),
            messages=messages[episode.id],
            vectors=[None] * (1 + len(messages[episode.id])),
            engine=episode.engine,
            degraded=episode.degraded,
        )
        for episode in episodes
    ]
    fill_index(planned, conversation, episodes)


def fill_index(
    planned: Sequence[PlannedEpisode], conversation: Conversation, episodes: Sequence[Episode]
) -> None:
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        entries=[
            entry
            for plan, episode in zip(planned, episodes, strict=True)
            for entry in _list_entries(plan, episode, language=conversation.language)
        ],
    )


def _list_entries(plan: PlannedEpisode, episode: Episode, *, language: str) -> Iterator[Entry]:
    """Yield the units of one episode: its headline, and each message with its neighbours."""
    memory = Memory(id=episode.id, tenant=episode.tenant, kind=MemoryKind.EPISODE)
    yield Entry(
        memory=memory,
        kind=UnitKind.EPISODE,
        lexical=headline(episode),
        vector=plan.vectors[0],
        language=language,
        valid_at=episode.start_at,
        first_seq=episode.first_seq,
        last_seq=episode.last_seq,
    )
    lines = queries.to_lines(plan.messages)
    for place, (line, vector) in enumerate(zip(lines, plan.vectors[1:], strict=True)):
        yield Entry(
            memory=memory,
            kind=UnitKind.MESSAGE,
            lexical=line.text,
            vector=vector,
            language=language,
            valid_at=line.at,
            first_seq=line.seq,
            last_seq=line.seq,
            neighbours=_texts_around(lines, place),
        )


def _texts_around(lines: Sequence[Line], place: int) -> list[str]:
    """Return the texts of the neighbours on both sides, the nearest first."""
    places = [place + step * side for step in range(1, NEIGHBOURS + 1) for side in (-1, 1)]
    return [lines[near].text for near in places if 0 <= near < len(lines)]
