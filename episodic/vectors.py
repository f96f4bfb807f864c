"""Embeds the headlines of episodes, and lines, also while the model that does so is away.

Only an endpoint can be away. The embedded model then stands in for what a segmenter
needs, which compares lines with each other; its vectors are not stored, since search
would have nothing to compare them with.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from episodic.engines import Segment, Vectors
from episodic.models import Episode
from indexing import queries as index
from memoryproject.ai import embeddings
from memoryproject.ai.embeddings import OpenAIEmbedder
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.tenancy.models import Tenant

PATIENCE = timedelta(minutes=5)
"""After this, memories that are found by their words are better than none."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """One unit vector a text; `storable` where the configured model made them."""

    vectors: Vectors
    storable: bool


def embed_lines(texts: Sequence[str], *, waited: timedelta) -> Embedded:
    """Return the vectors of lines that have `waited` for them since their job was made.

    Raises:
        ModelUnavailable, ModelMisbehaved: the model is away, and may yet come back.
    """
    try:
        return Embedded(vectors=embeddings.embed_passages(texts), storable=True)
    except (ModelUnavailable, ModelMisbehaved):
        if waited < PATIENCE or not isinstance(embeddings.get_embedder(), OpenAIEmbedder):
            raise
        return Embedded(vectors=embeddings.LocalEmbedder().embed_passages(texts), storable=False)


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
        episode_ids=[episode.id for episode in episodes],
    )
    missing = [episode for episode in episodes if episode.id not in vectors]
    new_vectors = embeddings.embed_passages([headline(episode) for episode in missing])
    return vectors | {
        episode.id: vector for episode, vector in zip(missing, new_vectors, strict=True)
    }
