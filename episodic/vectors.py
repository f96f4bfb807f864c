"""Embeds lines, also while the model that does so is away.

Only an endpoint can be away. The embedded model then stands in for what a segmenter
needs, which compares lines with each other; its vectors are not stored, since search
would have nothing to compare them with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings

from episodic.engines import Vectors
from memoryproject.ai import embeddings
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable

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
        if waited < PATIENCE or settings.EMBEDDINGS != "openai":
            raise
        return Embedded(vectors=embeddings.LocalEmbedder().embed_passages(texts), storable=False)
