"""Lets a test change which models embed."""

from memoryproject.ai import embeddings


def forget_embedders() -> None:
    """Let go of the embedders and of all vectors: the settings name others from now on."""
    embeddings.get_embedders.cache_clear()
    embeddings._embed_query.cache_clear()
    embeddings._passages.clear()
