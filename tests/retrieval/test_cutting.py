"""A text is cut to its limit, in three ways, and says that something is missing."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from indexing.models import MemoryKind
from memoryproject.ai.counting import COUNTERS
from memoryproject.text.cleaning import break_definitions, clean_block, clean_line
from memoryproject.text.tokens import CHARS4
from retrieval.memory import Memory
from retrieval.truncation import ELLIPSIS, GAP, Strategy, cut
from wings.navigation.reading import cut_memory

NOW = datetime(2026, 3, 2, tzinfo=UTC)
WORDS = st.sampled_from(
    [
        *("tea", "Porto.", "我们", "搬到了波尔图。", "Dr.", "yes!", "“Why?”", "x" * 60, "e.g."),
        *("\n", "\n\n", "\t", "  ", "😀", "नमस्ते", "7c1b5f3e-2d53", "…", "[…]"),
    ]
)
TEXTS = st.one_of(
    st.text(min_size=1, max_size=300),
    st.lists(WORDS, min_size=1, max_size=60).map(" ".join),
    st.lists(WORDS, min_size=1, max_size=60).map("".join),
).filter(lambda text: bool(text.strip()))
PROSE = (
    "Mira moved from Rotterdam to Ghent. She found a flat by the canal! Was it dear? "
    "Dr. Peeters helped her with the lease. In May she starts at the hospital."
)


def content_of(text: str, label: str = "A note") -> Memory:
    return Memory(
        id=uuid.uuid4(), kind=MemoryKind.NOTE, source_type="note", source_id="",
        label=label, content=text, importance=0.5, at=NOW, created_at=NOW,
    )  # fmt: skip


@given(
    text=TEXTS,
    label=st.text(min_size=1, max_size=100),
    limit=st.integers(1, 120),
    strategy=st.sampled_from(Strategy),
    include_header=st.booleans(),
    name=st.sampled_from([*COUNTERS]),
)
def test_a_chunk_is_never_over_its_limit_and_says_truncated_if_something_is_missing(
    text: str, label: str, limit: int, strategy: Strategy, include_header: bool, name: str
) -> None:
    counter = COUNTERS[name]
    chunk = cut_memory(
        content_of(text, label),
        max_tokens=limit,
        strategy=strategy,
        include_header=include_header,
        counter=counter,
    )
    text = clean_block(text)
    header = break_definitions(f"[note: {clean_line(label)}]\n") if include_header else ""
    assert chunk.token_count == counter.count(chunk.content) <= limit
    assert chunk.truncated == (chunk.content != header + text)
    assert chunk.truncated == (counter.count(header + text) > limit)
    assert chunk.content.startswith(chunk.header or "")
    assert chunk.header in {None, header or None}
    assert chunk.counter == name


@given(text=TEXTS, limit=st.integers(0, 100), strategy=st.sampled_from(Strategy))
def test_what_is_kept_is_from_the_text_and_the_rest_is_marked(
    text: str, limit: int, strategy: Strategy
) -> None:
    kept = cut(text, at_most=limit, strategy=strategy, count=CHARS4.count)
    if kept == text or not kept:
        return
    if strategy is Strategy.MIDDLE and not text.startswith(kept.removesuffix(ELLIPSIS)):
        places = [place for place in range(len(kept)) if kept.startswith(GAP.rstrip(), place)]
        parts = [(kept[:place], kept[place + len(GAP.rstrip()) :].lstrip()) for place in places]
        assert any(text.startswith(head) and text.rstrip().endswith(tail) for head, tail in parts)
    else:
        assert kept.endswith(ELLIPSIS)
        assert text.startswith(kept.removesuffix(ELLIPSIS).rstrip())


def test_the_beginning_ends_at_a_word_and_takes_what_room_there_is() -> None:
    for limit in range(60):
        kept = cut(PROSE, at_most=limit, strategy=Strategy.END, count=CHARS4.count)
        words, shown = PROSE.split(), kept.removesuffix(ELLIPSIS).split()
        assert shown == words[: len(shown)], limit
        assert CHARS4.count(kept) <= limit, limit
        if kept != PROSE:
            longer = " ".join(words[: len(shown) + 1]) + ELLIPSIS
            assert CHARS4.count(longer) > limit, limit


def test_sentences_are_kept_whole_where_one_fits() -> None:
    for limit in range(60):
        kept = cut(PROSE, at_most=limit, strategy=Strategy.SENTENCE, count=CHARS4.count)
        ends = ["to Ghent.", "the canal!", "it dear?", "the lease."]
        whole = [PROSE[: PROSE.index(end) + len(end)] + " " + ELLIPSIS for end in ends]
        fitting = [text for text in whole if CHARS4.count(text) <= limit]
        if CHARS4.count(PROSE) <= limit:
            assert kept == PROSE, limit
        elif fitting:
            assert kept == fitting[-1], limit
        else:
            assert kept == cut(PROSE, at_most=limit, strategy=Strategy.END, count=CHARS4.count), (
                limit
            )


def test_of_both_ends_the_beginning_gets_more() -> None:
    for limit in range(8, 36):
        kept = cut(PROSE, at_most=limit, strategy=Strategy.MIDDLE, count=CHARS4.count)
        head, gap, tail = kept.partition(GAP)
        assert gap and PROSE.startswith(head) and PROSE.endswith(tail), limit
        assert len(head) >= len(tail) - 10, limit
        assert PROSE.split()[: len(head.split())] == head.split(), limit
        assert PROSE.split()[-len(tail.split()) :] == tail.split(), limit


def test_scripts_without_spaces_are_cut_between_characters() -> None:
    text = "我们上周从里斯本搬到了波尔图" * 20
    kept = cut(text, at_most=50, strategy=Strategy.END, count=CHARS4.count)
    assert len(kept) == 50 and text.startswith(kept[:-1])


def test_a_header_that_leaves_no_room_is_left_out() -> None:
    content = content_of("Short.", label="a label that is far longer than what it stands above")
    chunk = cut_memory(
        content, max_tokens=4, strategy=Strategy.END, include_header=True, counter=CHARS4
    )
    assert (chunk.content, chunk.header, chunk.truncated) == ("Short.", None, True)


def test_where_nothing_fits_the_answer_is_empty_and_valid() -> None:
    chunk = cut_memory(
        content_of("我" * 9), max_tokens=1, strategy=Strategy.END, include_header=True,
        counter=CHARS4,
    )  # fmt: skip
    assert (chunk.content, chunk.token_count, chunk.truncated, chunk.header) == ("", 0, True, None)
