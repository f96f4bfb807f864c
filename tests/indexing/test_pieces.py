"""A text is cut to what a unit holds, and nothing of it is lost."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from indexing import text
from indexing.models import SearchUnit
from indexing.pieces import NUMBERS_A_UNIT, cut
from tests.conftest import Agent

WORDS = st.lists(st.sampled_from([f"w{i}" for i in range(700)]), max_size=2000)


@given(WORDS)
def test_the_pieces_are_the_text(words: list[str]) -> None:
    pieces = cut(" ".join(words))
    assert " ".join(pieces).split() == words
    for piece in pieces:
        counts = [piece.split().count(word) for word in set(piece.split())]
        assert len(counts) + sum(count > 1 for count in counts) <= NUMBERS_A_UNIT


def test_neighbours_fill_what_is_left_the_nearest_first() -> None:
    near, far = [" ".join(f"{name}{i}" for i in range(200)) for name in ("near", "far")]
    (piece,) = cut("own words", neighbours=[near, far])
    assert piece.split()[:3] == ["own", "words", "near0"]
    assert "near199" in piece and "far0" in piece and "far199" not in piece


def test_a_long_text_has_no_room_for_neighbours() -> None:
    pieces = cut(" ".join(f"own{i}" for i in range(301)), neighbours=["near"])
    assert len(pieces) == 2 and not any("near" in piece for piece in pieces)


@pytest.mark.django_db
def test_the_database_keeps_every_word_of_a_piece() -> None:
    long = text.prepare(" ".join(f"word{i} 北京{i}" for i in range(400)))
    with connection.cursor() as cursor:
        for piece in cut(long):
            cursor.execute(
                "SELECT length(public.memory_ts('simple', %s)), "
                "l2_norm(public.memory_words('simple', %s)) ^ 2",
                [piece, piece],
            )
            lexemes, squares = cursor.fetchone()
            assert squares >= lexemes - 1e-3  # 1 for each lexeme that is there


@pytest.mark.django_db
def test_the_end_of_a_very_long_message_is_found(ana: Agent, conversation: uuid.UUID) -> None:
    filler = " ".join(f"filler{i}" for i in range(3000))
    ana.say(conversation, f"{filler} The password is xylophone.", name="Ana")
    ana.flush(conversation)
    assert SearchUnit.objects.of(ana.tenant).filter(kind="message").count() >= 10
    body = {"conversation_id": str(conversation), "query": "xylophone", "explain": True}
    answer = ana.post("retrieve_memory/raw", body).json()
    hit = answer["explain"]["hits"][answer["episodic"][0]["id"]]
    assert (hit["lexical_rank"], hit["terms"]) == (1, ["xylophone"])
