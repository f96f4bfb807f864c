"""Text to unit vectors, by an embedded model or by an OpenAI-compatible endpoint."""

import threading
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from functools import cache, lru_cache
from importlib import import_module
from typing import Annotated, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pydantic
from django.conf import settings

from memoryproject.ai.breaker import guard
from memoryproject.ai.e5 import load_e5
from memoryproject.ai.errors import ModelMisbehaved, RequestRefused
from memoryproject.ai.local_model import load_local_model
from memoryproject.ai.providers import make_client, post
from memoryproject.ai.refusals import ENCODING_FORMAT
from memoryproject.database.batches import in_batches
from memoryproject.process.scopes import holding

Vectors = npt.NDArray[np.float32]
CACHE_SIZE = 4096
"""Texts of each sort; 6 MB with the local model."""
OPENAI_BATCH = 32
CHARACTERS_AT_MOST = 8_000
"""Of one text: providers refuse above 8,192 tokens, and a Chinese character is about one.

A refused text would keep its conversation from ever being segmented; what a longer one
says after that is still found by its words.
"""
ANSWER_BYTES_AT_MOST = 16 * 1024 * 1024
PREFIX_TOKENS_AT_MOST = 16
"""What the embedded model puts around a text: "passage: " and two marks."""
QUERY_TIMEOUT_S = 5.0
"""An agent waits for its query: rather answer by words alone than after a minute."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    """Written beside each vector; vectors of different names are never compared."""
    dim: int

    def __hash__(self) -> int: ...

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        """Do as the function of this name."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a search query: shape (dim,)."""


class LocalEmbedder:
    """multilingual-e5-small, 4 bits, in this process: no network, no account."""

    name = "e5-small-q4"
    dim = 384
    characters_at_most = 2_000
    tokens_at_most = 600
    """One window of the model. It would average over all windows of a longer text: of 60 KB
    that takes half a minute and moves the vector by a cosine of .01; a handful of such
    texts would outlast their job's lease. Their words are searched whole. Characters alone
    do not bound it: 2,000 of them are 545 tokens of prose, and 2,000 tokens of "A.A.A.".
    """

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        return np.stack([load_e5().embed("passage: " + self._cut(text)) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        return load_e5().embed("query: " + self._cut(text))

    def _cut(self, text: str) -> str:
        text = text[: self.characters_at_most]
        if text.isascii() and len(text) < self.tokens_at_most - PREFIX_TOKENS_AT_MOST:
            return text  # a token holds a character at least: there is nothing to count
        while (count := load_local_model().token_count(text)) > self.tokens_at_most:
            text = text[: len(text) * self.tokens_at_most // count]
        return text


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's embeddings API."""

    def __init__(self, *, model: str, dim: int) -> None:
        self.name = model
        self.dim = dim
        self._client = make_client()
        self._encoding: Literal["base64", "float"] = "base64"

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        patience = min(timeout_s or settings.MODEL_TIMEOUT_S, settings.MODEL_TIMEOUT_S)
        parts = in_batches(texts, size=OPENAI_BATCH)
        return np.concatenate([self._ask(part, timeout_s=patience) for part in parts])

    def embed_query(self, text: str) -> Vectors:
        timeout_s = min(QUERY_TIMEOUT_S, settings.MODEL_TIMEOUT_S)
        return np.asarray(self._ask([text], timeout_s=timeout_s)[0], dtype=np.float32)

    def _ask(self, texts: Sequence[str], *, timeout_s: float) -> Vectors:
        """Ask for floats as bytes, which are half as long; of a server that refuses, as numbers."""
        try:
            body = self._post(texts, timeout_s=timeout_s)
        except RequestRefused as error:
            if ENCODING_FORMAT not in error.blamed or self._encoding == "float":
                raise
            self._encoding = "float"
            body = self._post(texts, timeout_s=timeout_s)
        return check_vectors(_read_rows(body), count=len(texts), dim=self.dim)

    def _post(self, texts: Sequence[str], *, timeout_s: float) -> dict[str, object]:
        request = {
            "model": self.name,
            "input": [text[:CHARACTERS_AT_MOST] for text in texts],
            "encoding_format": self._encoding,
        }
        with guard(self.name):
            at_most = ANSWER_BYTES_AT_MOST
            return post(self._client, "embeddings", request, timeout_s=timeout_s, at_most=at_most)


def _unpack(vector: object) -> object:
    """Return a vector's numbers; of one that is text each four of its bytes are a float."""
    return np.frombuffer(b64decode(vector), "<f4").tolist() if isinstance(vector, str) else vector


class Row(pydantic.BaseModel):
    """One vector of a provider's answer; `index` is its text's place in the request."""

    index: int
    embedding: Annotated[list[float], pydantic.BeforeValidator(_unpack)]


class VectorsReply(pydantic.BaseModel):
    """A provider's answer, as far as we read it."""

    data: list[Row]


def _read_rows(body: dict[str, object]) -> list[list[float]]:
    """Return the vectors in the order of the texts."""
    try:
        rows = VectorsReply.model_validate(body).data
    except pydantic.ValidationError:
        raise ModelMisbehaved("The embedding model's answer holds no vectors.") from None
    rows.sort(key=lambda row: row.index)
    if [row.index for row in rows] != list(range(len(rows))):
        raise ModelMisbehaved("The embedding model's answer mixes up its texts.")
    return [row.embedding for row in rows]


def check_vectors(rows: Sequence[Sequence[float]], *, count: int, dim: int) -> Vectors:
    """Return `rows` as unit vectors of shape (count, dim).

    Raises:
        ModelMisbehaved: a wrong count or size, a number that is none, or no direction.
    """
    if len(rows) != count or any(len(row) != dim for row in rows):
        raise ModelMisbehaved(f"The embedding model must answer {count} vectors of size {dim}.")
    vectors = np.asarray(rows, dtype=np.float64).reshape(count, dim)
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(vectors).all() or (largest < 1e-6).any():
        raise ModelMisbehaved("The embedding model answered a vector without direction.")
    vectors /= largest  # so that the squares of huge numbers stay finite
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit


_chosen: ContextVar[Embedder | None] = ContextVar("memory_embedder", default=None)


def get_embedder() -> Embedder:
    """Return the embedder that the block around is `using`, else this process's own."""
    return _chosen.get() or get_embedders()[0]


def using(embedder: Embedder) -> AbstractContextManager[None]:
    """Embed with this one of the two until the block ends."""
    return holding(_chosen, embedder)


@cache
def get_embedders() -> tuple[Embedder, ...]:
    """Return this process's embedder and, while the model changes, the one of before.

    The embedded models load with their first text, which must come after any fork: their
    threads do not survive one.
    """
    own = _make(settings.EMBEDDINGS, settings.EMBEDDING_MODEL, settings.EMBEDDING_DIM)
    if settings.OLD_EMBEDDINGS == "none":
        return (own,)
    old = _make(settings.OLD_EMBEDDINGS, settings.OLD_EMBEDDING_MODEL, settings.OLD_EMBEDDING_DIM)
    return (own,) if old.name == own.name else (own, old)


def _make(kind: str, model: str, dim: int) -> Embedder:
    if kind == "openai":
        return OpenAIEmbedder(model=model, dim=dim)
    if kind == "minilm":
        # Its packages are not installed everywhere.
        minilm: Embedder = import_module("memoryproject.ai.minilm").MiniLMEmbedder()
        return minilm
    return LocalEmbedder()


_passages: OrderedDict[tuple[Embedder, str], Vectors] = OrderedDict()
"""The last texts' vectors, the oldest first: windows overlap."""
_lock = threading.Lock()


def embed_passages(texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
    """Return one unit vector a text, in order: shape (len(texts), dim).

    `timeout_s` bounds a request to a remote model; None: as the settings say.

    Raises:
        ModelUnavailable: a remote model is away.
        ModelMisbehaved: a remote model answers nonsense.
    """
    embedder = get_embedder()
    if not texts:
        return np.zeros((0, embedder.dim), dtype=np.float32)
    with _lock:
        known = {text: _passages[embedder, text] for text in texts if (embedder, text) in _passages}
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    if missing:
        vectors = embedder.embed_passages(missing, timeout_s=timeout_s)
        fresh = dict(zip(missing, vectors, strict=True))
        known |= fresh
        with _lock:
            _passages.update({(embedder, text): fresh[text] for text in fresh})
            while len(_passages) > CACHE_SIZE:
                _passages.popitem(last=False)
    return np.stack([known[text] for text in texts])


def embed_built_in(texts: Sequence[str]) -> Vectors:
    """Return one unit vector a text by the built-in embedder, whatever embeds for the search."""
    with using(_get_built_in()):
        return embed_passages(texts)


@cache
def _get_built_in() -> Embedder:
    """Return the embedder of the search if it is the built-in one: the two share their cache."""
    embedder = get_embedders()[0]
    return embedder if isinstance(embedder, LocalEmbedder) else LocalEmbedder()


def embed_query(text: str) -> Vectors:
    """Return the unit vector of a search query: shape (dim,). Agents ask the same thing twice.

    Raises:
        ModelUnavailable, ModelMisbehaved: as `embed_passages`.
    """
    return _embed_query(get_embedder(), text)


@lru_cache(CACHE_SIZE)
def _embed_query(embedder: Embedder, text: str) -> Vectors:
    return embedder.embed_query(text)
