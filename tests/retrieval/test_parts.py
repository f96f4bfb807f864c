"""What a text is made of: quotations are where they say they are, whatever is left out."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic.models import Message
from memoryproject.text.cleaning import DEFANGED, LINK_STYLES, clean_line
from memoryproject.text.parts import (
    Kind,
    Mark,
    Part,
    Quote,
    is_marked,
    join,
    quote_excerpt,
    split_lines,
)
from retrieval.markdown import SHOWN_AT_MOST, render_message
from retrieval.receipts import keep_parts
from retrieval.truncation import Trimmer

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
AN_ID = uuid.UUID("019cade0-0000-7000-8000-000000000001")
WORDS = st.sampled_from(
    [
        "Priya",
        "coach",
        "…",
        " ",
        "  ",
        "\n",
        "\u00a0",
        ". ",
        "! ",
        "[",
        "]: ",
        "天。",
        "http://a.b/c",
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=40).map("".join))


def check(line: str, parts: list[Part]) -> None:
    for part in parts:
        if isinstance(part, Quote):
            assert part.text == (line if part.start is None else line[part.start : part.end])


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text=TEXT, at_most=st.integers(2, 40))
def test_an_excerpt_quotes_what_it_shows(text: str, at_most: int) -> None:
    line = clean_line(text)
    quote = Quote(Kind.MESSAGE, AN_ID.hex, line)
    trimmer = Trimmer(question="Which coach?", messages=[line, "The coach is Priya. Fine. Fine."])
    excerpts = (
        trimmer.drop_filler(line),
        trimmer.shorten(line),
        trimmer.cut(line, at_most=at_most),
    )
    for excerpt in excerpts:
        parts = list(quote_excerpt(quote, excerpt))
        assert join(parts) == excerpt.text
        check(line, parts)
        ours = "".join(part for part in parts if isinstance(part, str))
        assert set(ours) <= {"…", " "}


@settings(max_examples=200, deadline=None, derandomize=True)
@given(name=TEXT, text=TEXT, links=st.sampled_from(LINK_STYLES), with_day=st.booleans())
def test_a_message_is_a_line_of_ours_around_what_it_quotes(
    name: str, text: str, links: str, with_day: bool
) -> None:
    row = Message(id=AN_ID, seq=7, role="user", name=name, content=text, occurred_at=NOW)
    parts = render_message(row, links, with_day=with_day)
    assert join(parts).count("\n") == 1 and join(parts).endswith('"\n')
    by_kind = {Kind.NAME: clean_line(name, links), Kind.MESSAGE: clean_line(text, links)}
    for part in parts:
        if isinstance(part, Quote):
            check(by_kind[part.kind], [part])
    kept = keep_parts(parts, is_shared=False)
    assert [one[:2] for one in kept if isinstance(one, list)][-1] == ["m", 7]


def test_a_long_message_is_quoted_up_to_where_it_is_cut() -> None:
    content = "Steam rises. " * SHOWN_AT_MOST
    row = Message(id=AN_ID, seq=7, role="user", content=content, occurred_at=NOW)
    (_, _, quote, *_) = keep_parts(render_message(row, DEFANGED, whole=False), is_shared=False)[0:3]
    assert (
        quote == f'…" [the first {SHOWN_AT_MOST} of {len(content)} characters; message {AN_ID}]\n'
    )


@pytest.mark.parametrize(
    ("name", "quoted"),
    [("[x", ["- \\", ["n", 7]]), ("> [x", ["- ", ["n", 7, 0, 2], "\\", ["n", 7, 2, 4]])],
)
def test_a_name_that_could_say_where_a_reference_leads_gets_a_backslash(
    name: str, quoted: list[object]
) -> None:
    row = Message(id=AN_ID, seq=7, name=name, content="y]: /z", occurred_at=NOW)
    parts = keep_parts(render_message(row, DEFANGED), is_shared=False)
    assert parts == [*quoted, ': "', ["m", 7], '"\n']


def test_a_line_knows_whether_it_is_marked() -> None:
    right = Quote(Kind.CORRECTION, "1", "Ana has a dog.")
    parts = ["## Facts\n- ", "old", Mark(" [corrected: "), right, "]\n- new\n"]
    lines = list(split_lines(parts))
    assert [join(line) for line in lines] == join(parts).split("\n")
    assert [is_marked(line) for line in lines] == [False, True, False, False]
