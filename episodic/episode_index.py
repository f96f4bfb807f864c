"""Makes episodes findable: by their headlines, and by each of their messages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from episodic import queries
from episodic.engines import Line, Vectors
from episodic.models import Conversation, Episode, Message
from episodic.vectors import headline
from indexing import services as index
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry

NEIGHBOURS = 2
"""Lines on each side that stand in a message's lexical text; its vector has it alone."""


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """An episode to write, its messages, and the vectors of its headline and of each of them.

    Without vectors (the model is away) it is found by its words alone, for the time being.
    """

    episode: Episode
    messages: Sequence[Message]
    vectors: Sequence[Vectors | None] = ()


def index_episodes(planned: Sequence[PlannedEpisode], conversation: Conversation) -> None:
    """Make stored episodes findable; a job makes the vectors that are missing."""
    index.add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        entries=[entry for plan in planned for entry in _list_entries(plan, conversation.language)],
    )


def _list_entries(plan: PlannedEpisode, language: str) -> Iterator[Entry]:
    """Yield the units of one episode: its headline, and each message with its neighbours."""
    episode, lines = plan.episode, queries.to_lines(plan.messages)
    vector, *vectors = plan.vectors or [None] * (1 + len(lines))
    memory = Memory(id=episode.id, tenant=episode.tenant, kind=MemoryKind.EPISODE)
    yield Entry(
        memory=memory,
        kind=UnitKind.EPISODE,
        lexical=headline(episode),
        vector=vector,
        language=language,
        valid_at=episode.start_at,
        first_seq=episode.first_seq,
        last_seq=episode.last_seq,
    )
    for place, (line, vector) in enumerate(zip(lines, vectors, strict=True)):
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
