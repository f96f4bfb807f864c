"""Texts that follow from others are short, whole, and the same each time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexing.kinds import SourceType
from memoryproject.text.sentences import shorten
from tests.notes.test_writing import THREAD
from wings.notes.wording import (
    LABEL_AT_MOST,
    PASSAGE_AT_MOST,
    SNIPPET_AT_MOST,
    derive,
    label_of,
    own_text,
    passages,
    snippet,
)

TEXTS = st.text(max_size=400) | st.text(alphabet="ab .\n。中", min_size=1_000, max_size=5_000)


@pytest.mark.gate
@given(TEXTS)
def test_the_parts_of_a_text_hold_all_of_it_in_order(text: str) -> None:
    parts = passages(label="", description="", content=text)
    held = "".join("".join(part.words.split()) for part in parts)
    assert held == "".join(text.split())
    assert all(len(part.meaning) <= PASSAGE_AT_MOST for part in parts)


@pytest.mark.gate
@given(TEXTS, st.integers(2, 300))
def test_a_shortened_text_is_one_line_of_its_beginning(text: str, at_most: int) -> None:
    short = shorten(text, at_most)
    flat = " ".join(text.split())
    assert len(short) <= at_most and "\n" not in short
    assert short == flat or flat.startswith(short.removesuffix("…"))


def test_a_text_is_cut_where_it_breaks() -> None:
    paragraph = "One sentence here. " * 50
    parts = passages(label="L", description="", content=f"{paragraph}\n\n{paragraph}")
    assert [part.meaning for part in parts] == [f"L\n{paragraph.strip()}"] * 2
    unbroken = passages(label="L", description="", content="x" * (2 * PASSAGE_AT_MOST + 1))
    assert [len(part.meaning) - 2 for part in unbroken] == [PASSAGE_AT_MOST, PASSAGE_AT_MOST, 1]


def test_a_description_that_the_content_says_counts_once() -> None:
    (part,) = passages(label="L", description="tea", content="All about tea.", more=["steam"])
    assert part.words == "L\nAll about tea.\nsteam"
    assert part.meaning == "L\nAll about tea."
    (part,) = passages(label="L", description="Short", content="All about tea.")
    assert part.meaning == "L\nShort\nAll about tea."


@pytest.mark.parametrize("source_type", list(SourceType))
def test_nothing_follows_from_no_metadata(source_type: str) -> None:
    assert derive(source_type, {}) == {}
    columns = {"source_type": source_type, "metadata": {}, "content": "C"}
    assert own_text("description", columns) == "" and own_text("label", columns) == "C"


def test_one_is_not_told_in_the_plural() -> None:
    one = {**THREAD, "message_count": 1, "participant_count": 1, "key_points": []}
    del one["sentiment"], one["last_activity_at"]
    told = derive(SourceType.THREAD_SUMMARY, one)
    assert told["label"] == "Thread: instagram (1 message)"
    assert told["content"] == "Thread on instagram: 1 message, 1 participant."
    assert told["description"] == ""


def test_a_snippet_is_of_the_best_text_there_is() -> None:
    texts = {"source_type": "note", "metadata": {}}
    assert snippet(**texts, description="D", content="C") == "D"
    assert snippet(**texts, description="", content="C " * 500).endswith("…")
    assert len(snippet(**texts, description="x" * 999, content="")) == SNIPPET_AT_MOST
    summary = {"source_type": "thread_summary", "metadata": THREAD}
    assert snippet(**summary, description="D", content="C").startswith("User asked")


def test_a_label_is_the_first_line_that_says_something() -> None:
    assert label_of("\n \n  Hello  there \nmore") == "Hello there"
    assert len(label_of("word " * 100)) <= LABEL_AT_MOST
