"""The exact search that the statement is held against is itself right."""

from __future__ import annotations

import uuid

import pytest
from rank_bm25 import BM25Okapi

from bench.retrieval import exactness

TEXTS = ["cat sat mat", "cat cat dog", "dog barked", "bird sang cat song long", "mat mat mat rug"]


def test_scores_are_those_of_okapi_bm25() -> None:
    documents = [text.split() for text in TEXTS]
    lengths = [len(document) for document in documents]
    average = sum(lengths) / len(lengths)
    memories = [uuid.uuid4() for _ in documents]
    asked = ["cat", "mat", "absent"]
    postings = {
        ("fact", word): [
            ((memory, memory), float(document.count(word)), float(len(document)))
            for memory, document in zip(memories, documents, strict=True)
            if word in document
        ]
        for word in asked
    }
    scores = exactness.score_question(asked, postings, {"fact": (len(TEXTS), average)})["fact"]
    reference = BM25Okapi(documents, k1=exactness.K1, b=exactness.B)
    for word in asked:  # its own form of idf may be negative; ours, Lucene's, may not
        held = sum(word in document for document in documents)
        reference.idf[word] = exactness.idf(len(TEXTS), held)
    expected = reference.get_scores(asked)
    for memory, score in zip(memories, expected, strict=True):
        assert scores.get(memory, 0.0) == pytest.approx(score)


def test_a_tie_may_be_broken_either_way_but_a_worse_memory_counts_as_missed() -> None:
    best, tied, also_tied, worse = (uuid.uuid4() for _ in range(4))
    exact = {"fact": {best: 3.0, tied: 2.0, also_tied: 2.0, worse: 1.0}}
    assert exactness.share_found({"fact": [best, also_tied]}, exact, 2) == [1.0]
    assert exactness.share_found({"fact": [best, worse]}, exact, 2) == [0.5]
    assert exactness.share_found({}, exact, 2) == [0.0]
