"""Lets a test change which models embed."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memoryproject.ai import embeddings, providers


def forget_embedders() -> None:
    """Let go of the embedders and of all vectors: the settings name others from now on."""
    embeddings.get_embedders.cache_clear()
    embeddings.read_query.cache_clear()
    embeddings._passages.clear()


@contextmanager
def embedding_by(
    url: str, settings: Any, *, model: str = "scripted", dim: int = 8
) -> Iterator[None]:
    """Have this process embed by an endpoint, and let go of it and its connections at the end."""
    settings.EMBEDDINGS, settings.EMBEDDING_MODEL, settings.EMBEDDING_DIM = "openai", model, dim
    settings.OPENAI_BASE_URL = settings.EMBEDDING_BASE_URL = url
    forget_embedders()
    try:
        yield
    finally:
        providers.forget()
        forget_embedders()
