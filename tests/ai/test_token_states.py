"""What is kept of a text's tokens: the directions of the rarest, in 4 bits a number."""

from __future__ import annotations

import numpy as np
import pytest

from memoryproject.ai import embeddings
from memoryproject.ai.e5 import E5, Reading, Vectors, load_e5
from memoryproject.ai.token_states import (
    ASKED_AT_MOST,
    AXES,
    BYTES_A_TOKEN,
    TOKENS_AT_MOST,
    VERSION,
    Constants,
    load_constants,
    pack,
    unpack,
)

DICE = np.random.default_rng(7)
LOCAL = embeddings.LocalEmbedder()


def normalize(states: Vectors) -> Vectors:
    unit: Vectors = states / np.linalg.norm(states, axis=1, keepdims=True)
    return unit


def test_numbers_come_back_in_their_places() -> None:
    states = np.zeros((2, AXES), dtype=np.float32)
    states[0, :4] = [7, -7, 3, 1]
    states[1, AXES - 1] = -0.01
    packed = pack(states)
    assert len(packed) == 2 * BYTES_A_TOKEN
    wanted = states.copy()
    wanted[1, AXES - 1] = -7  # each token by its own largest number
    assert np.array_equal(unpack(packed), wanted)


def test_directions_are_kept_whatever_the_length() -> None:
    lengths = DICE.uniform(0.01, 90, (300, 1))
    states = (DICE.normal(size=(300, AXES)) * lengths).astype(np.float32)
    cosines = (normalize(states) * normalize(unpack(pack(states)))).sum(axis=1)
    assert cosines.min() > 0.97


def test_nothing_is_packed_of_no_token() -> None:
    assert pack(np.zeros((0, AXES), dtype=np.float32)) == b""
    assert unpack(b"").shape == (0, AXES)


def make_constants(rarities: dict[int, float]) -> Constants:
    """Return constants that leave a state as it is."""
    pieces = np.array(sorted(rarities), dtype=np.int32)
    values = np.array([rarities[piece] for piece in sorted(rarities)], dtype=np.float32)
    return Constants(np.zeros(AXES, np.float32), np.eye(AXES, dtype=np.float32), pieces, values, 9)


def read_pieces(tokens: list[int]) -> Reading:
    """Return a reading in which the n-th piece has the n-th axis as its state."""
    states = np.eye(AXES, dtype=np.float32)[: len(tokens)]
    return Reading(states[0], tokens, states)


def test_the_prefix_and_what_says_nothing_are_left_out() -> None:
    constants = make_constants({5: 0.0, 6: 2.0})
    reading = read_pieces([1, 5, 6, 77])
    kept = constants.keep(reading, prefix=1)
    assert kept[0] == VERSION
    assert unpack(kept[1:]).argmax(axis=1).tolist() == [2, 3]
    asked = constants.ask(reading, prefix=1)
    assert asked.weights.tolist() == [2, 9]
    assert asked.states.argmax(axis=1).tolist() == [2, 3]


def test_of_a_long_text_the_rarest_are_kept() -> None:
    constants = make_constants({piece: 1 + piece / 1000 for piece in range(AXES)})
    kept = constants.keep(read_pieces(list(range(AXES))), prefix=0)
    rarest = list(range(AXES - TOKENS_AT_MOST, AXES))
    assert unpack(kept[1:]).argmax(axis=1).tolist() == rarest
    asked = constants.ask(read_pieces(list(range(AXES))), prefix=0)
    assert asked.states.argmax(axis=1).tolist() == rarest[-ASKED_AT_MOST:]


def test_a_text_that_says_nothing_keeps_the_version_alone() -> None:
    (kept,) = embeddings.keep_states(["and the"], embedder=LOCAL)
    assert kept == bytes([VERSION])
    _, asked = embeddings.read_query("and the", LOCAL)
    assert asked is not None
    assert len(asked.weights) == 0


@pytest.mark.parametrize(
    ("common", "rare"),
    [("the", "unicycle"), ("und", "Nashorn"), ("的", "钢琴"), ("и", "велосипед")],
)
def test_what_is_common_in_a_language_is_told_from_what_is_rare(common: str, rare: str) -> None:
    weigh, tokenize = load_constants().weigh, load_e5().tokenize
    assert weigh(tokenize(common)).max() < 1.5
    assert weigh(tokenize(rare)).max() > 4


def test_a_text_is_read_once_for_its_vector_and_its_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    plain = E5.read

    def note(self: E5, text: str) -> Reading:
        read.append(text)
        return plain(self, text)

    monkeypatch.setattr(E5, "read", note)
    texts = ["Ana: My unicycle is in the shed.", "Ben: Mine is not."]
    embeddings.embed_passages(texts, embedder=LOCAL)
    states = embeddings.keep_states(texts, embedder=LOCAL)
    assert read == [f"passage: {text}" for text in texts]
    assert all(len(packed or b"") > BYTES_A_TOKEN for packed in states)
