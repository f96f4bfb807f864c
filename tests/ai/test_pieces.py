"""A vocabulary's pieces are found in a word, wherever they stand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoryproject.ai.pieces import Pieces

VOCABULARY = ["a", "ab", "abc", "b", "▁", "▁b", "波", "波尔图", "😀", "é", "<unk>"]


def make(pieces: list[str]) -> Pieces:
    sizes = [len(piece.encode()) for piece in pieces]
    return Pieces("".join(pieces).encode(), np.cumsum([0, *sizes]).astype(np.uint32))


def find_slowly(word: str) -> list[tuple[int, int, int]]:
    spans = ((start, end) for start in range(len(word)) for end in range(start + 1, len(word) + 1))
    return [
        (start, end, VOCABULARY.index(word[start:end]))
        for start, end in spans
        if word[start:end] in VOCABULARY
    ]


@given(st.text(alphabet="abc▁波尔图😀é<unk>\0\ud800z", max_size=40))
def test_pieces_are_found_where_they_stand(word: str) -> None:
    assert make(VOCABULARY).find(word) == find_slowly(word)


@pytest.mark.parametrize("length", [1_023, 1_024, 1_025, 3_000])
def test_a_long_word_is_read_to_its_end(length: int) -> None:
    assert make(VOCABULARY).find("z" * length + "ab")[-2:] == [
        (length, length + 2, 1),
        (length + 1, length + 2, 3),
    ]
