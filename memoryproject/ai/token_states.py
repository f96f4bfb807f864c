"""Packs the embedded model's states of a text's rarer tokens, for late interaction.

The mean of a text's states tells its topic, but hides details; comparing the states token by token
with a question's finds them. They are centered, projected to the axes along which chats differ
most, and stored in 4 bits a number: a twelfth of their size.

`python -m bench.quality states` fits all constants on the chats of `bench/labels`, and writes them
as `e5_states.npz` beside this file, with a card.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from memoryproject.ai.e5 import Reading, Vectors

CONSTANTS = Path(__file__).with_name("e5_states.npz")
VERSION = 1
"""The first byte of packed states: states made with other constants cannot be compared."""
AXES = 128
BYTES_A_TOKEN = AXES // 2
TOKENS_AT_MOST = 96
"""Number of a text's tokens that are stored, the rarest: 6 kB."""
ASKED_AT_MOST = 32
"""Number of a question's tokens that are compared, the rarest: 16 kB, and a limit on the time."""
LARGEST, ZERO = 7, 8
"""The largest 4-bit number, and the one that stands for 0."""


class Embedded(NamedTuple):
    """A text's unit vector and, by the embedded model, its packed token states."""

    vector: Vectors
    states: bytes | None = None
    """Packed token states, as `Constants.keep` returns them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The token states of a question of m tokens."""

    states: Vectors
    """Unit vectors of the tokens: shape (m, AXES)."""
    weights: Vectors
    """Rarity of each token: shape (m,), above 0."""


@dataclass(frozen=True, slots=True)
class Constants:
    """The fitted constants: `pieces`, sorted, have the `rarities`; 0 means without meaning.

    A piece that is not in the list has the rarity `unseen`.
    """

    mean: Vectors
    axes: Vectors
    pieces: npt.NDArray[np.int32]
    rarities: Vectors
    unseen: float

    def keep(self, reading: Reading, *, prefix: int) -> bytes:
        """Return the packed states of a text's rarest tokens, after the version byte.

        The first `prefix` pieces are the model's own. Only the version byte: no token counts.
        """
        states, _ = self._project(reading, prefix, at_most=TOKENS_AT_MOST)
        return bytes([VERSION]) + pack(states)

    def ask(self, reading: Reading, *, prefix: int) -> Asked:
        """Return the token states of a question; empty if no token counts."""
        states, weights = self._project(reading, prefix, at_most=ASKED_AT_MOST)
        return Asked(states / np.linalg.norm(states, axis=1, keepdims=True), weights)

    def _project(self, reading: Reading, prefix: int, *, at_most: int) -> tuple[Vectors, Vectors]:
        """Return the projected states of the rarest tokens that count, and their rarities."""
        weights = self.weigh(reading.tokens[prefix:])
        rarest = np.sort(np.argsort(-weights, kind="stable")[:at_most])
        rarest = rarest[weights[rarest] > 0]
        states: Vectors = np.matmul(reading.states[prefix:][rarest] - self.mean, self.axes)
        return states, weights[rarest]

    def weigh(self, tokens: Sequence[int]) -> Vectors:
        """Return the rarity of each piece: shape (len(tokens),)."""
        numbers = np.asarray(tokens, dtype=np.int32)
        places = np.minimum(np.searchsorted(self.pieces, numbers), len(self.pieces) - 1)
        is_listed = self.pieces[places] == numbers
        weights: Vectors = np.where(is_listed, self.rarities[places], np.float32(self.unseen))
        return weights


@cache
def load_constants() -> Constants:
    """Return the fitted constants; 400 kB, read once."""
    with np.load(CONSTANTS) as file:
        return Constants(
            file["mean"].astype(np.float32),
            file["axes"].astype(np.float32),
            file["pieces"],
            file["rarities"].astype(np.float32),
            float(file["unseen"]),
        )


def pack(states: Vectors) -> bytes:
    """Return the directions of states (n, AXES) with 4 bits a number, BYTES_A_TOKEN bytes each.

    A byte has a number of the first half of the axes in its high bits and one of the second in its
    low bits.
    """
    if not len(states):
        return b""
    scale = LARGEST / np.maximum(np.abs(states).max(axis=1, keepdims=True), 1e-9)
    numbers = (np.rint(states * scale) + ZERO).astype(np.uint8)
    packed: npt.NDArray[np.uint8] = numbers[:, :BYTES_A_TOKEN] << 4 | numbers[:, BYTES_A_TOKEN:]
    return packed.tobytes()


def unpack(packed: bytes) -> Vectors:
    """Return the directions given to `pack`, unscaled: shape (n, AXES)."""
    return np.hstack(_unpack_halves(packed))


def read_directions(text: Embedded) -> Vectors:
    """Return the vectors of a text's rarer tokens, scaled to length one: shape (n, AXES)."""
    directions = unpack((text.states or b"")[1:])
    unit: Vectors = directions / np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), 1e-9)
    return unit


def measure_cosines(packed: bytes, asked: Asked) -> Vectors:
    """Return the cosine of each packed token with each question token: shape (n, m)."""
    first, second = _unpack_halves(packed)  # joined they would take twice the time
    squares = np.einsum("ij,ij->i", first, first) + np.einsum("ij,ij->i", second, second)
    products = first @ np.ascontiguousarray(asked.states[:, :BYTES_A_TOKEN].T)
    products += second @ np.ascontiguousarray(asked.states[:, BYTES_A_TOKEN:].T)
    cosines: Vectors = products / np.sqrt(squares)[:, np.newaxis]
    return cosines


def _unpack_halves(packed: bytes) -> tuple[Vectors, Vectors]:
    pairs = np.frombuffer(packed, dtype=np.uint8).reshape(-1, BYTES_A_TOKEN)
    first, second = (pairs >> 4).astype(np.float32), (pairs & 15).astype(np.float32)
    first -= ZERO
    second -= ZERO
    return first, second
