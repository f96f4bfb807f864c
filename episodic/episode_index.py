"""Makes episodes findable: by their headlines, and by each of their messages.

Their lines and headlines are embedded also while the model that does so is away.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from episodic import queries
from episodic.engines import Line, Segment, Vectors
from episodic.models import Conversation, Episode, Message
from indexing import queries as index
from indexing.models import Memory, MemoryKind, UnitKind
from indexing.services import Entry, add_entries
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import Embedder
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.remote_embedder import OpenAIEmbedder
from memoryproject.tenancy.models import Tenant

NEIGHBOURS = 2
"""Lines before and after a message that are added to its searched text, but not to its vector."""


@dataclass(frozen=True, slots=True)
class PlannedEpisode:
    """An episode to write, its messages, and the vectors of its headline and of each of them.

    Without vectors (the model is away) it is found by its words alone, for the time being.
    """

    episode: Episode
    messages: Sequence[Message]
    vectors: Sequence[Vectors | None] = ()
    model: str = ""
    """Name of the model that made the vectors; empty: this process's own."""
    states: Sequence[bytes | None] = ()
    """Token states of each message, if the model makes any; else empty."""


def index_episodes(planned: Sequence[PlannedEpisode], conversation: Conversation) -> None:
    """Make stored episodes findable; a job makes the vectors that are missing."""
    add_entries(
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        entries=[entry for plan in planned for entry in _list_entries(plan, conversation.language)],
        model=next((plan.model for plan in planned), ""),
        user_id=conversation.user_id,
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
    users = [message.user_id for message in plan.messages]
    states = plan.states or [None] * len(lines)
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
            neighbours=_texts_around(lines, users, place),
            user_id=users[place] or None,
            states=states[place],
        )


def _texts_around(lines: Sequence[Line], users: Sequence[str], place: int) -> list[str]:
    """Return the texts of the neighbours on both sides, the nearest first.

    All are of the same user: a search for one user must not match another's words.
    """
    places = [place + step * side for step in range(1, NEIGHBOURS + 1) for side in (-1, 1)]
    return [
        lines[near].text
        for near in places
        if 0 <= near < len(lines) and users[near] == users[place]
    ]


PATIENCE = timedelta(minutes=5)
"""Time after which memories are stored without vectors, so that words at least can find them."""


def embed_lines(
    texts: Sequence[str], embedder: Embedder, *, waited: timedelta
) -> tuple[Vectors, bool]:
    """Return a unit vector per text, and whether `embedder` made them: to be stored.

    `waited` is how long the texts have waited since their job was created.

    Raises:
        ModelUnavailable, ModelMisbehaved: the model is away, and may yet come back.
    """
    try:
        return embeddings.embed_passages(texts, embedder=embedder), True
    except (ModelUnavailable, ModelMisbehaved):
        if waited < PATIENCE or not isinstance(embedder, OpenAIEmbedder):
            raise
        return embeddings.LocalEmbedder().embed_passages(texts), False


def headline(episode: Episode | Segment) -> str:
    """Return the text that is embedded for an episode."""
    return f"{episode.title}. {episode.summary}"


def headline_vectors(
    *, tenant: Tenant, episodes: Sequence[Episode], embedder: Embedder
) -> dict[uuid.UUID, Vectors]:
    """Return each episode's vector by id: the stored one, or else a new one."""
    vectors = index.headline_vectors(
        tenant=tenant, episode_ids=[episode.id for episode in episodes], model=embedder.name
    )
    missing = [episode for episode in episodes if episode.id not in vectors]
    headlines = [headline(episode) for episode in missing]
    new_vectors = embeddings.embed_passages(headlines, embedder=embedder)
    return vectors | {
        episode.id: vector for episode, vector in zip(missing, new_vectors, strict=True)
    }
