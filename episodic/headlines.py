"""Headlines of episodes: title and summary, as the text and the vector that find them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from episodic.engines import Segment, Vectors
from episodic.models import Episode
from indexing import queries as index
from memoryproject.ai import embeddings
from memoryproject.tenancy.models import Tenant


def headline(episode: Episode | Segment) -> str:
    """Return the text that stands for an episode."""
    return f"{episode.title}. {episode.summary}"


def headline_vectors(*, tenant: Tenant, episodes: Sequence[Episode]) -> dict[uuid.UUID, Vectors]:
    """Return each episode's vector by id: the stored one, else made anew.

    Raises:
        ModelUnavailable: one must be made and the model is away.
    """
    vectors = index.headline_vectors(
        tenant=tenant,
        model=embeddings.get_embedder().name,
        episode_ids=[episode.id for episode in episodes],
    )
    missing = [episode for episode in episodes if episode.id not in vectors]
    new_vectors = embeddings.embed_passages([headline(episode) for episode in missing])
    return vectors | {
        episode.id: vector for episode, vector in zip(missing, new_vectors, strict=True)
    }
