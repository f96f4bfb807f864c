"""Text to unit vectors, by an embedded model or by an OpenAI-compatible endpoint."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from typing import Protocol

import numpy as np
import numpy.typing as npt
from django.conf import settings

from memoryproject.ai.e5 import Reading, load_e5
from memoryproject.ai.local_model import load_local_model
from memoryproject.ai.remote_embedder import OpenAIEmbedder
from memoryproject.ai.token_states import Asked, Embedded, load_constants

Vectors = npt.NDArray[np.float32]
CACHE_SIZE = 4096
"""Number of cached texts of each kind; 12 MB with the local model."""
QUERIES = 1024
"""Number of cached queries, 18 kB at most each, with their token states."""
PASSAGE, QUERY = "passage: ", "query: "
"""Prefixes that the embedded model needs before a text and before a query."""
PREFIX_TOKENS_AT_MOST = 16
"""Tokens that the embedded model puts around a text: "passage: " and two marks."""
DIM_BY_DEFAULT = 1536
"""Vector size of the model used if none is named."""


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    name: str
    """Stored beside each vector; vectors of different names are never compared."""
    dim: int

    def __hash__(self) -> int: ...

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        """Return one unit vector per text, see the function of this name."""

    def embed_query(self, text: str) -> Vectors:
        """Return the unit vector of a search query: shape (dim,)."""


class LocalEmbedder:
    """multilingual-e5-small with 4-bit weights, in this process: no network, no account."""

    name = "e5-small-q4"
    dim = 384
    characters_at_most = 2_000
    tokens_at_most = 600
    """One window of the model. A longer text is cut: averaging over all windows of 60 KB takes half
    a minute, changes the vector by a cosine of .01, and a handful of such texts would outlast their
    job's lease. Keyword search covers the whole text. The limit is in tokens: 2,000 characters are
    545 tokens of prose, but 2,000 of "A.A.A."."""

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        return np.stack([one.vector for one in self.read_passages(texts)])

    def embed_query(self, text: str) -> Vectors:
        return self.read(QUERY, text).vector

    def read_passages(self, texts: Sequence[str]) -> list[Embedded]:
        """Return the vector of each text with its token states."""
        constants, prefix = load_constants(), count_prefix(PASSAGE)
        readings = [self.read(PASSAGE, text) for text in texts]
        return [Embedded(one.vector, constants.keep(one, prefix=prefix)) for one in readings]

    def read(self, prefix: str, text: str) -> Reading:
        """Return the model's full result for a text with one of its prefixes."""
        return load_e5().read(prefix + self._cut(text))

    def _cut(self, text: str) -> str:
        text = text[: self.characters_at_most]
        if text.isascii() and len(text) < self.tokens_at_most - PREFIX_TOKENS_AT_MOST:
            return text  # a token holds a character at least: there is nothing to count
        while (count := load_local_model().token_count(text)) > self.tokens_at_most:
            text = text[: len(text) * self.tokens_at_most // count]
        return text


def get_embedder() -> Embedder:
    """Return this process's current embedder."""
    return get_embedders()[0]


@cache
def get_embedders() -> tuple[Embedder, ...]:
    """Return this process's embedder and, during a model change, the previous one.

    The embedded models start no threads, so they can be loaded before a fork (`preload`).
    """
    own = _make("")
    if settings.OLD_EMBEDDINGS == "none":
        return (own,)
    old = _make("OLD_")
    return (own,) if old.name == own.name else (own, old)


def preload() -> None:
    """Load the embedded models in use, so that forked processes share them."""
    if {"local", "minilm"}.isdisjoint({settings.EMBEDDINGS, settings.OLD_EMBEDDINGS}):
        return
    for embedder in get_embedders():
        if not isinstance(embedder, OpenAIEmbedder):
            embedder.embed_query("ready")


def find_prefixes(model: str) -> tuple[str, str]:
    """Return the prefixes that a known model needs before queries and before texts."""
    known: dict[str, tuple[str, str]] = settings.KNOWN_PREFIXES
    query, passage = next((known[part] for part in known if part in model.lower()), ("", ""))
    return query, passage


def _make(prefix: str) -> Embedder:
    """Return the embedder that the settings with this prefix name."""
    parts = ("EMBEDDINGS", "EMBEDDING_MODEL", "EMBEDDING_DIM", "EMBEDDING_PREFIXES")
    kind, model, dim, prefixes = (getattr(settings, prefix + part) for part in parts)
    if kind == "openai":
        # Only a different size is requested; models with one size may refuse the parameter.
        sends_dim = dim != DIM_BY_DEFAULT
        own = find_prefixes(model) if prefixes is None else prefixes
        return OpenAIEmbedder(model=model, dim=dim, prefixes=own, sends_dim=sends_dim)
    if kind == "minilm":
        # Its packages are not installed everywhere.
        minilm: Embedder = import_module("memoryproject.ai.minilm").MiniLMEmbedder()
        return minilm
    return LocalEmbedder()


_passages: OrderedDict[tuple[Embedder, str], Embedded] = OrderedDict()
"""Results for the last texts, oldest first: windows overlap."""
_lock = threading.Lock()


def embed_passages(
    texts: Sequence[str], *, embedder: Embedder | None = None, timeout_s: float | None = None
) -> Vectors:
    """Return one unit vector per text, in order: shape (len(texts), dim).

    `embedder` None: this process's own. `timeout_s` limits a request to a remote model; None: the
    setting's value.

    Raises:
        ModelUnavailable: a remote model is away.
        ModelMisbehaved: a remote model answers nonsense.
    """
    embedder = embedder or get_embedder()
    if not texts:
        return np.zeros((0, embedder.dim), dtype=np.float32)
    return np.stack([one.vector for one in _embed(texts, embedder, timeout_s)])


def keep_states(texts: Sequence[str], *, embedder: Embedder) -> list[bytes | None]:
    """Return the packed token states of each text; None if the embedder has none.

    Texts embedded just before are not read again.
    """
    if not has_states(embedder.name):
        return [None] * len(texts)
    return [one.states for one in _embed(texts, embedder, None)]


def has_states(model: str) -> bool:
    """Return whether a model makes token states."""
    return model == LocalEmbedder.name


def _embed(texts: Sequence[str], embedder: Embedder, timeout_s: float | None) -> list[Embedded]:
    with _lock:
        known = {text: _passages[embedder, text] for text in texts if (embedder, text) in _passages}
    missing = list(dict.fromkeys(text for text in texts if text not in known))
    if missing:
        if isinstance(embedder, LocalEmbedder):
            made = embedder.read_passages(missing)
        else:
            made = [*map(Embedded, embedder.embed_passages(missing, timeout_s=timeout_s))]
        fresh = dict(zip(missing, made, strict=True))
        known |= fresh
        with _lock:
            _passages.update({(embedder, text): fresh[text] for text in fresh})
            while len(_passages) > CACHE_SIZE:
                _passages.popitem(last=False)
    return [known[text] for text in texts]


def read_built_in(texts: Sequence[str]) -> list[Embedded]:
    """Return the built-in embedder's result for texts, whatever embedder search uses."""
    return _embed(texts, _get_built_in(), None)


def read_topics(texts: Sequence[str]) -> list[Embedded]:
    """Return vectors of descriptions of a topic, read both as passages and as queries.

    Of pairs of a sentence about a described topic and another one, .91 are ordered rightly;
    .87 and .90 where only one of the two is read (27 and 32 sentences).
    """
    asked = [read_query(text, _get_built_in())[0] for text in texts]
    return [
        Embedded(vector + passage.vector)
        for vector, passage in zip(asked, read_built_in(texts), strict=True)
    ]


@cache
def _get_built_in() -> Embedder:
    """Return search's embedder if it is the built-in one, so that they share a cache."""
    embedder = get_embedder()
    return embedder if isinstance(embedder, LocalEmbedder) else LocalEmbedder()


def embed_query(text: str, embedder: Embedder | None = None) -> Vectors:
    """Return the unit vector of a search query: shape (dim,). Agents ask the same thing twice.

    `embedder` None: this process's own.

    Raises:
        ModelUnavailable, ModelMisbehaved: as `embed_passages`.
    """
    return read_query(text, embedder or get_embedder())[0]


@lru_cache(QUERIES)
def read_query(text: str, embedder: Embedder) -> tuple[Vectors, Asked | None]:
    """Return the unit vector of a search query, and its token states.

    None if the embedder makes no token states.

    Raises:
        ModelUnavailable, ModelMisbehaved: as `embed_passages`.
    """
    if not isinstance(embedder, LocalEmbedder):
        return embedder.embed_query(text), None
    reading = embedder.read(QUERY, text)
    return reading.vector, load_constants().ask(reading, prefix=count_prefix(QUERY))


@cache
def count_prefix(prefix: str) -> int:
    """Return how many pieces a prefix has in the embedded model."""
    return len(load_e5().tokenize(prefix.rstrip()))
