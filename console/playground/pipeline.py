"""The ranks of an answer's candidates, as columns: keyword, semantic, fused, and the answer.

For episodes the retrievability stands before the answer. A memory has the same colour in all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from memoryproject.adminkit.values import MEMORY_PAGES
from retrieval.analysis import Analysis, Outcome, RankedMemory

HUES = 8
"""Colours by which memories of the answer are told apart."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate, its page, and its words. `hue` is None where the answer does not have it."""

    candidate: RankedMemory
    href: str
    text: str
    hue: int | None


def list_kinds(analysis: Analysis, *, at_most: int) -> list[dict[str, Any]]:
    """Return facts and episodes, and their columns with at most so many memories in each."""
    kinds = (("fact", "Facts", analysis.facts), ("episode", "Episodes", analysis.episodes))
    return [_to_kind(name, title, rows, at_most) for name, title, rows in kinds if rows]


def _to_kind(
    name: str, title: str, candidates: Sequence[RankedMemory], at_most: int
) -> dict[str, Any]:
    served = [row.found.memory_id for row in candidates if row.outcome is Outcome.SERVED]
    hues = {memory_id: place % HUES for place, memory_id in enumerate(served)}
    rows = [
        Row(row, _page_of(row), _words_of(row), hues.get(row.found.memory_id)) for row in candidates
    ]
    orders = [order for order in ORDERS if name == "episode" or order.name != "fading"]
    columns = [_to_column(order, rows, at_most, fades=name == "episode") for order in orders]
    return {
        "name": name, "title": title, "columns": columns, "rows": rows, "served": len(served),
    }  # fmt: skip


def _page_of(candidate: RankedMemory) -> str:
    place = MEMORY_PAGES[candidate.found.shelf.value]
    return reverse(f"admin:{place}_change", args=[candidate.found.memory_id])


def _words_of(candidate: RankedMemory) -> str:
    """Return the sentence of a fact, or the title of an episode."""
    shown = candidate.found.shown
    if not shown:
        return str(candidate.found.memory_id)
    return str(shown[1] if candidate.found.shelf == "fact" else shown[0])


@dataclass(frozen=True, slots=True)
class Order:
    """What a column shows of each memory; without a rank the memory is not in it."""

    name: str
    title: str
    hint: str
    rank: Callable[[Row], int | None]
    score: Callable[[Row], str]
    note: Callable[[Row], str] = lambda row: ""
    narrow: bool = False


def _render_score(score: float | None, digits: int) -> str:
    return "–" if score is None else f"{score:.{digits}f}"


def _render_cut(row: Row) -> str:
    outcome = row.candidate.outcome
    return "" if outcome is Outcome.SERVED else outcome.value


ORDERS = (
    Order(
        "lexical", "Keyword rank", "BM25 of shared stems",
        rank=lambda row: row.candidate.found.lexical_rank,
        score=lambda row: _render_score(row.candidate.found.lexical_score, 2),
        note=lambda row: " ".join(row.candidate.found.terms),
    ),
    Order(
        "vector", "Semantic rank", "cosine of the vectors",
        rank=lambda row: row.candidate.found.vector_rank,
        score=lambda row: _render_score(row.candidate.found.cosine, 3),
    ),
    Order(
        "fused", "Fused", "reciprocal ranks",
        rank=lambda row: row.candidate.found.rank,
        score=lambda row: _render_score(row.candidate.found.rrf, 4),
        narrow=True,
    ),
    Order(
        "fading", "Retrievability", "FSRS",
        rank=lambda row: row.candidate.found.rank,
        score=lambda row: f"× {row.candidate.found.retrievability:.3f}",
        narrow=True,
    ),
    Order(
        "answer", "Answer", "fused × retrievability",
        rank=lambda row: row.candidate.found.rank,
        score=lambda row: _render_score(row.candidate.found.score, 4),
        note=_render_cut,
    ),
)  # fmt: skip


def _to_column(order: Order, rows: Sequence[Row], at_most: int, *, fades: bool) -> dict[str, Any]:
    """Return one order of the memories, best first; `more` of them are left out."""
    ranked = [(rank, row) for row in rows if (rank := order.rank(row)) is not None]
    if order.name == "fused":
        by_rrf = sorted(ranked, key=lambda pair: (-pair[1].candidate.found.rrf, pair[0]))
        ranked = [(place, row) for place, (_, row) in enumerate(by_rrf, start=1)]
    elif order.name in {"lexical", "vector"}:
        ranked.sort(key=lambda pair: pair[0])
    return {
        "order": order,
        "hint": "facts do not fade" if order.name == "answer" and not fades else order.hint,
        "cards": [
            {"row": row, "rank": rank, "score": order.score(row), "note": order.note(row)}
            for rank, row in ranked[:at_most]
        ],
        "more": max(len(ranked) - at_most, 0),
    }
