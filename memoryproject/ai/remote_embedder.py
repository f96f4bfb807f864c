"""Embeds texts by an OpenAI-compatible endpoint, and learns its limits."""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from memoryproject.ai import breaker, providers, refusals
from memoryproject.ai.errors import ModelMisbehaved, OperatorFault, PromptTooLong, RequestRefused
from memoryproject.database.batches import in_batches

Vectors = npt.NDArray[np.float32]
OPENAI_BATCH = 32
CHARACTERS_AT_MOST = 8_000
"""Characters of a text: providers refuse above 8,192 tokens, and a Chinese character is about one.

A refused text would keep its conversation from ever being segmented; the rest of a longer text is
still found by its words.
"""
CHARACTERS_AT_LEAST = 200
"""Length to which a text is cut at most: a server that refuses that embeds no sentence."""
OPTIONAL = {refusals.ENCODING_FORMAT, refusals.DIMENSIONS}
"""Parameters that are left out for servers that refuse them."""
LOOK_EVERY_S = 600.0
"""Seconds between two reads of what other processes have learned of the server's limits."""
QUERY_TIMEOUT_S = 5.0
"""Timeout for a query, since an agent waits: then words alone answer."""


class OpenAIEmbedder:
    """Any endpoint that speaks OpenAI's embeddings API.

    How many texts it takes at once, and how long they may be, is found by halving, and stored for
    all processes. `prefixes` come before a query and before a text, as the model was trained.
    """

    def __init__(
        self, *, model: str, dim: int, prefixes: tuple[str, str] = ("", ""), sends_dim: bool = False
    ) -> None:
        self.model = model
        self.dim = dim
        self.prefixes = prefixes
        digest = hashlib.sha256("\0".join(prefixes).encode()).hexdigest()
        # Vectors made with other prefixes count as another model's.
        self.name = f"{model}+{digest[:6]}" if any(prefixes) else model
        self._breaker = breaker.find_embedding_model(model)
        self._refused: set[str] = set() if sends_dim else {refusals.DIMENSIONS}
        """Parameters that this server refuses."""
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
        """Return vectors; if a request is refused, split it: fewer texts first, then shorter ones.

        Raises:
            ModelUnavailable, ModelMisbehaved: for another reason than the request's size.
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
        """Request floats as bytes, which are half as long; if the server refuses, as numbers."""
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
        """Return one row of numbers per text.

        The answer is read as plain JSON: turning it into the package's objects takes .7 of a
        query's 3.5 ms.
        """
        is_plain = refusals.ENCODING_FORMAT in self._refused
        body: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "encoding_format": "float" if is_plain else "base64",
        }
        if refusals.DIMENSIONS not in self._refused:
            body["dimensions"] = self.dim
        answer = providers.ask(
            providers.find_embedding_endpoint(),
            lambda client, timeout: client.post(
                "/embeddings", cast_to=object, body=body, options={"timeout": timeout}
            ),
            timeout_s=timeout_s,
        )
        try:
            return _read_rows(answer)
        except (AttributeError, TypeError, ValueError):
            raise ModelMisbehaved("The embedding model's answer holds no vectors.") from None


def _read_rows(answer: Any) -> list[Any]:
    """Return the vectors in the order of the texts; without an index they are in order."""
    rows = answer.get("data") or []
    places = [row.get("index") for row in rows]
    if places != [None] * len(rows):
        if sorted(places) != list(range(len(rows))):
            raise ModelMisbehaved("The embedding model's answer mixes up its texts.")
        rows = sorted(rows, key=lambda row: row["index"])
    return [_read_vector(row.get("embedding")) for row in rows]


def _read_vector(value: Any) -> Any:
    """Return a vector's numbers; base64 contains 32-bit floats, lowest byte first."""
    return np.frombuffer(base64.b64decode(value), "<f4") if isinstance(value, str) else value


def check_vectors(rows: Sequence[Any], *, count: int, dim: int) -> Vectors:
    """Return `rows` as unit vectors of shape (count, dim).

    Raises:
        OperatorFault: they have a different size.
        ModelMisbehaved: a wrong count, an invalid number, or a zero vector.
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
