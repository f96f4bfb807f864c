"""Whatever people say, the offline engines answer: a job that raised would block its window."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic.engines import Line, Segment, ServedEpisode, Vectors
from episodic.offline.reviewer import OfflineReviewer
from episodic.offline.segmenter import OfflineSegmenter
from memoryproject.ai.embeddings import read_built_in
from memoryproject.text.sentences import split_sentences
from semantic.echoes import ANYBODY, Echoes, content_words
from semantic.engines import Action, EpisodeText, Served
from semantic.offline.consolidator import OfflineConsolidator
from semantic.sources import Sources
from tests.semantic.fact_makers import learn

SPOKEN = [
    "I moved to Paris",
    "I don't like tea any more",
    "it's the 14th, not the 13th",
    "```x = 1```",
    "我搬到上海了",
    "我不喜欢咖啡",
    "ฉันชอบ",
    "한국어",
    "😀",
    "\u202e",
    "I've",
    "we",
    "?",
    "??",
    "My cat is called Pixel.",
    "...",
    "'s",
    "(",
    "\\",
    "call me Bo",
    "please always answer briefly",
    "31 February",
    "yesterday",
    "去年",
    "1e309",
    "ß",
    "İ",
    "[shared a photo: a dog]",
    "I no longer work at X, I work at Y",
    "used to",
    "%s {0}",
    "Mr. Smith said no.",
]
WORDS = st.lists(st.one_of(st.sampled_from(SPOKEN), st.text(max_size=20)), min_size=1, max_size=8)
CONTENT = st.tuples(WORDS, st.sampled_from([" ", "", ". ", "\n"])).map(lambda t: t[1].join(t[0]))
NAME = st.sampled_from(["", "Ana", "Bo", "安娜", "I", "...", "Ana (admin)"])
ROLE = st.sampled_from(["user", "assistant", "system", "tool"])
PAUSE = st.sampled_from([0, 1, 30, -50, 4000, 90_000])


def point(texts: Sequence[str]) -> Vectors:
    """Return a direction for each text: any, but for the same text the same."""
    rows = [np.random.default_rng(zlib.crc32(t.encode("utf-8", "replace"))).normal(size=384)
            for t in texts]  # fmt: skip
    vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), 384)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@st.composite
def talks(draw: st.DrawFn) -> list[Line]:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    lines = []
    for seq, said in enumerate(draw(st.lists(CONTENT, min_size=1, max_size=25)), start=1):
        at += timedelta(seconds=draw(PAUSE))
        lines.append(Line(seq, draw(ROLE), draw(NAME), said.strip() or "x", at))
    return lines


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(talks())
def test_every_line_is_in_one_worded_segment_and_every_proposal_says_something(
    lines: list[Line],
) -> None:
    vectors = point([line.text for line in lines])
    found = OfflineSegmenter().segment(lines=lines, vectors=vectors, previous_summary="").segments
    covered = [index for segment in found for index in range(segment.first, segment.last + 1)]
    assert covered == list(range(len(lines)))
    assert all(is_worded(segment) for segment in found)
    episodes = [to_episode(segment, lines) for segment in found]
    answer = OfflineConsolidator(read_built_in).consolidate(episodes=episodes, known=[])
    assert all(item.fact.strip() or item.action is Action.INVALIDATE for item in answer.proposals)
    served = ServedEpisode("E1", "q", found[0].title, found[0].summary, vectors[0])
    OfflineReviewer().review(served=[served], lines=lines, vectors=vectors)


def is_worded(segment: Segment) -> bool:
    return bool(segment.title.strip() and segment.summary.strip()) and 0 <= segment.surprise <= 1


def to_episode(segment: Segment, lines: list[Line]) -> EpisodeText:
    return EpisodeText(
        segment.title, segment.summary, tuple(lines[segment.first : segment.last + 1])
    )


def test_a_pasted_book_yields_no_more_facts_than_one_can_compare() -> None:
    book = " ".join(f"I bought {number} apples in Porto." for number in range(3000))
    assert 1 <= len(learn(("Ana", "user", book))) <= 20


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(talks())
def test_what_was_learnt_and_served_is_recognised(lines: list[Line]) -> None:
    """Whatever the text is, it repeats itself, if it has words enough to be recognised."""
    reach = frozenset(line.seq for line in lines)
    consolidator = OfflineConsolidator(read_built_in)
    text = EpisodeText(title="", summary="", lines=tuple(lines))
    for proposal in consolidator.consolidate(episodes=[text], known=[]).proposals:
        served = Served(proposal.fact, "", reach)
        line = replace(lines[0], role="assistant", content=proposal.fact)
        parts = [content_words(ANYBODY.sub("", part)) for part in split_sentences(proposal.fact)]
        if any(parts) and all(len(part) != 1 for part in parts):
            assert Echoes([served]).find_origin(proposal.fact, line=line) == served
    everything = tuple(Served(line.content, line.name, reach) for line in lines)
    heard = replace(text, served=everything)
    sources = Sources([heard], quotes=True)
    for proposal in consolidator.consolidate(episodes=[heard], known=[]).proposals:
        sources.find_echo(proposal)
        assert set(sources.own_seqs(proposal)) <= set(proposal.seqs)
