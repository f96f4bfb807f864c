"""Precision and recall of the rule that decides whether two facts say the same.

Asks the rule about labelled pairs of facts, with the configured embedder, and prints the pairs
judged wrongly, too. Needs no database.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field, StrictBool, TypeAdapter
from tqdm import tqdm

from bench.quality.files import Labelled, read_rows
from bench.quality.report import Report, render_figures
from memoryproject.ai.embeddings import embed_passages
from semantic.duplicates import is_same_fact
from semantic.engines import fact_embedding_text

TEXTS_AT_ONCE = 32
Text = Annotated[str, Field(min_length=1)]


class Pair(Labelled):
    """Two facts, and whether they say the same; `category_b` where the categories differ."""

    a: Text
    b: Text
    category: Text
    category_b: Text | None = None
    same: StrictBool


PAIRS: TypeAdapter[Pair] = TypeAdapter(Pair)


@dataclass(frozen=True, slots=True)
class MergeScore:
    """Precision and recall (0.0..1.0) of merging, and the ids judged wrongly."""

    pairs: int
    precision: float
    recall: float
    false_merges: tuple[str, ...]
    missed_merges: tuple[str, ...]


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    form = '{"id", "a", "b", "category", "same"} a line; "category_b" if they differ'
    parser.add_argument("path", type=Path, help=form)


def measure(options: Namespace) -> Report:
    """Return precision, recall and the pairs judged wrongly."""
    score = score_merges(read_rows(options.path, PAIRS))
    labels = {key: key for key in ("pairs", "precision", "recall")}
    lines = [render_figures(asdict(score), labels)]
    lines += [f"merged wrongly: {id}" for id in score.false_merges]
    lines += [f"not merged: {id}" for id in score.missed_merges]
    return Report(asdict(score), "\n".join(lines))


def score_merges(pairs: Sequence[Pair]) -> MergeScore:
    """Return precision and recall of `is_same_fact`."""
    texts = [
        fact_embedding_text(category=category, fact=fact, keywords=())
        for pair in pairs
        for category, fact in (
            (pair.category, pair.a),
            (pair.category_b or pair.category, pair.b),
        )
    ]
    batches = tqdm(range(0, len(texts), TEXTS_AT_ONCE), unit=" batches")
    vectors = np.concatenate(
        [embed_passages(texts[start : start + TEXTS_AT_ONCE]) for start in batches]
    )
    merged = [
        is_same_fact(
            pair.a,
            pair.b,
            category_a=pair.category,
            category_b=pair.category_b or pair.category,
            cosine=float(a @ b),
        )
        for pair, a, b in zip(pairs, vectors[::2], vectors[1::2], strict=True)
    ]
    verdicts = [(str(pair.id), pair.same, said) for pair, said in zip(pairs, merged, strict=True)]
    right = sum(same and said for _, same, said in verdicts)
    return MergeScore(
        pairs=len(pairs),
        precision=right / sum(merged) if any(merged) else 1.0,
        recall=right / max(sum(pair.same for pair in pairs), 1),
        false_merges=tuple(id for id, same, said in verdicts if said and not same),
        missed_merges=tuple(id for id, same, said in verdicts if same and not said),
    )
