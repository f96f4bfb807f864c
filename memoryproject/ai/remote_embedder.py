"""Text to unit vectors by an endpoint that speaks OpenAI's protocol, and learning what it takes."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from memoryproject.ai import breaker, providers, refusals
from memoryproject.ai.errors import ModelMisbehaved, OperatorFault, PromptTooLong, RequestRefused
from memoryproject.database.batches import in_batches

if TYPE_CHECKING:
    from openai.types import CreateEmbeddingResponse

Vectors = npt.NDArray[np.float32]
OPENAI_BATCH = 32
CHARACTERS_AT_MOST = 8_000
"""Of one text: providers refuse above 8,192 tokens, and a Chinese character is about one.

A refused text would keep its conversation from ever being segmented; what a longer one
says after that is still found by its words.
"""
CHARACTERS_AT_LEAST = 200
"""Of a text that is refused as too long: a server that takes no more embeds no sentence."""
OPTIONAL = {refusals.ENCODING_FORMAT, refusals.DIMENSIONS}
"""Parameters that are left out for servers that refuse them."""
LOOK_EVERY_S = 600.0
"""At what other processes have learnt of the server's limits."""
QUERY_TIMEOUT_S = 5.0
"""An agent waits for its query: rather answer by words alone than after a minute."""


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's embeddings API.

    How many texts it takes at once, and how long ones, is found out by halves, and kept for
    all processes. `prefixes` stand before a query and before a text, as its model was trained.
    """

    def __init__(
        self, *, model: str, dim: int, prefixes: tuple[str, str] = ("", ""), sends_dim: bool = False
    ) -> None:
        self.model = model
        self.dim = dim
        self.prefixes = prefixes
        digest = hashlib.sha256("\0".join(prefixes).encode()).hexdigest()
        # Vectors made with other words before their texts are those of another model.
        self.name = f"{model}+{digest[:6]}" if any(prefixes) else model
        self._breaker = breaker.find_embedding_model(model)
        self._refused: set[str] = set() if sends_dim else {refusals.DIMENSIONS}
        """Parameters that this server does not take."""
        self._limits = breaker.Limits()
        self._looked_at = float("-inf")

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        patience = min(timeout_s or settings.MODEL_TIMEOUT_S, settings.MODEL_TIMEOUT_S)
        prefixed = [self.prefixes[1] + text for text in texts]
        size = self._find_limits().texts_at_most or OPENAI_BATCH
        parts = in_batches(prefixed, size=size)
        return np.concatenate([self._embed(part, timeout_s=patience) for part in parts])

    def embed_query(self, text: str) -> Vectors:
        timeout_s = min(QUERY_TIMEOUT_S, settings.MODEL_TIMEOUT_S)
        vectors = self._embed([self.prefixes[0] + text], timeout_s=timeout_s)
        return np.asarray(vectors[0], dtype=np.float32)

    def _find_limits(self) -> breaker.Limits:
        if time.monotonic() - self._looked_at > LOOK_EVERY_S:
            self._looked_at = time.monotonic()
            self._limits = breaker.find_limits(self._breaker)
        return self._limits

    def _embed(self, texts: Sequence[str], *, timeout_s: float) -> Vectors:
        """Return vectors; of a request that is refused, of its halves: fewer texts, then shorter.

        Raises:
            ModelUnavailable, ModelMisbehaved: it is not the size of the request.
        """
        longest = self._find_limits().characters_at_most or CHARACTERS_AT_MOST
        cut = [text[:longest] for text in texts]
        try:
            with breaker.guard(self._breaker):
                return self._ask(cut, timeout_s=timeout_s)
        except RequestRefused as refusal:
            if len(cut) > 1:
                half, before = len(cut) // 2, self._limits
                parts = [cut[:half], cut[half:]]
                vectors = np.concatenate([self._embed(part, timeout_s=timeout_s) for part in parts])
                if self._limits.characters_at_most == before.characters_at_most:
                    self._learn(texts_at_most=min(half, self._limits.texts_at_most or half))
                return vectors
            size = len(cut[0])
            if not isinstance(refusal, PromptTooLong) or size <= CHARACTERS_AT_LEAST:
                raise
            self._limits = self._limits._replace(characters_at_most=size // 2)
            vectors = self._embed(cut, timeout_s=timeout_s)
            self._learn(characters_at_most=self._limits.characters_at_most or size)
            return vectors

    def _learn(self, **limits: int) -> None:
        self._limits = self._limits._replace(**limits)
        breaker.keep_limits(self._breaker, **limits)

    def _ask(self, texts: Sequence[str], *, timeout_s: float) -> Vectors:
        """Ask for floats as bytes, which are half as long; of a server that refuses, as numbers."""
        while True:
            try:
                rows = self._post(texts, timeout_s=timeout_s)
                return check_vectors(rows, count=len(texts), dim=self.dim)
            except RequestRefused as error:
                refused = (error.blamed & OPTIONAL) - self._refused
                if not refused:
                    raise
                self._refused |= refused

    def _post(self, texts: Sequence[str], *, timeout_s: float) -> list[Any]:
        optional: dict[str, Any] = {}
        if refusals.ENCODING_FORMAT in self._refused:  # else the package asks for bytes
            optional["encoding_format"] = "float"
        if refusals.DIMENSIONS not in self._refused:
            optional["dimensions"] = self.dim
        return providers.ask(
            providers.find_embedding_endpoint(),
            lambda client, timeout: _read_rows(
                client.embeddings.create(
                    model=self.model, input=list(texts), timeout=timeout, **optional
                )
            ),
            timeout_s=timeout_s,
        )


def _read_rows(answer: CreateEmbeddingResponse) -> list[Any]:
    """Return the vectors in the order of the texts; without places they come in it."""
    rows = answer.data
    places: list[Any] = [row.index for row in rows]
    if places == [None] * len(rows):
        return [row.embedding for row in rows]
    if sorted(places) != list(range(len(rows))):
        raise ModelMisbehaved("The embedding model's answer mixes up its texts.")
    return [row.embedding for row in sorted(rows, key=lambda row: row.index)]


def check_vectors(rows: Sequence[Sequence[float]], *, count: int, dim: int) -> Vectors:
    """Return `rows` as unit vectors of shape (count, dim).

    Raises:
        OperatorFault: they have another size.
        ModelMisbehaved: a wrong count, a number that is none, or no direction.
    """
    if len(rows) != count:
        raise ModelMisbehaved(f"The embedding model answered {len(rows)} vectors for {count}.")
    sizes = {len(row) for row in rows}
    if sizes - {dim}:
        raise OperatorFault(
            f"the embedding model answers vectors of size {min(sizes - {dim})}, not {dim}:"
            " see MEMORY_EMBEDDING_DIM"
        )
    try:
        vectors = np.asarray(rows, dtype=np.float64).reshape(count, dim)
    except (TypeError, ValueError):
        raise ModelMisbehaved("The embedding model's answer holds no vectors.") from None
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not np.isfinite(vectors).all() or (largest < 1e-6).any():
        raise ModelMisbehaved("The embedding model answered a vector without direction.")
    vectors /= largest  # so that the squares of huge numbers stay finite
    unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return unit
