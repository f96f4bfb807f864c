"""The ranks of an answer's candidates, as columns: keyword, semantic, fused, and the answer.

For episodes the retrievability stands before the answer. A memory has the same colour in all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from memoryproject.adminkit.values import MEMORY_PAGES
from retrieval.analysis import Analysis, Outcome, RankedMemory
from retrieval.hits import Hit

HUES = 8
"""Colours by which memories of the answer are told apart."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate of the answer. `hue` is None where the answer does not have it."""

    found: Hit
    outcome: Outcome
    hue: int | None

    @property
    def href(self) -> str:
        """The address of the memory's page."""
        place = MEMORY_PAGES[self.found.shelf.value]
        return reverse(f"admin:{place}_change", args=[self.found.memory_id])

    @property
    def text(self) -> str:
        """The sentence of a fact, or the title of an episode."""
        if not self.found.shown:
            return str(self.found.memory_id)
        return str(self.found.shown[1 if self.found.shelf == "fact" else 0])


@dataclass(frozen=True, slots=True)
class Order:
    """What a column shows of each memory: two fields of a hit, the score with so many digits.

    A memory without a rank is not in it.
    """

    name: str
    title: str
    hint: str
    rank: str
    score: str
    digits: int
    narrow: bool = False


ORDERS = (
    Order("lexical", "Keyword rank", "BM25 of shared stems", "lexical_rank", "lexical_score", 2),
    Order("vector", "Semantic rank", "cosine of the vectors", "vector_rank", "cosine", 3),
    Order("fused", "Fused", "reciprocal ranks", "rank", "rrf", 4, narrow=True),
    Order("fading", "Retrievability", "FSRS", "rank", "retrievability", 3, narrow=True),
    Order("answer", "Answer", "fused × retrievability", "rank", "score", 4),
)


def list_kinds(analysis: Analysis, *, at_most: int) -> list[dict[str, Any]]:
    """Return facts and episodes, and their columns with at most so many memories in each."""
    kinds = (("fact", "Facts", analysis.facts), ("episode", "Episodes", analysis.episodes))
    return [_to_kind(name, title, rows, at_most) for name, title, rows in kinds if rows]


def _to_kind(
    name: str, title: str, candidates: Sequence[RankedMemory], at_most: int
) -> dict[str, Any]:
    served = [row.found.memory_id for row in candidates if row.outcome is Outcome.SERVED]
    hues = {memory_id: place % HUES for place, memory_id in enumerate(served)}
    rows = [Row(row.found, row.outcome, hues.get(row.found.memory_id)) for row in candidates]
    orders = [order for order in ORDERS if name == "episode" or order.name != "fading"]
    columns = [_to_column(order, rows, at_most) for order in orders]
    return {
        "name": name, "title": title, "columns": columns, "rows": rows, "served": len(served),
    }  # fmt: skip


def _to_column(order: Order, rows: Sequence[Row], at_most: int) -> dict[str, Any]:
    """Return one order of the memories, best first; `more` of them are left out."""
    ranked = [(rank, row) for row in rows if (rank := getattr(row.found, order.rank)) is not None]
    ranked.sort(key=lambda pair: pair[0])
    if order.name == "fused":
        by_rrf = sorted(ranked, key=lambda pair: -pair[1].found.rrf)
        ranked = [(place, row) for place, (_, row) in enumerate(by_rrf, start=1)]
    cards = [
        {
            "row": row,
            "rank": rank,
            "score": getattr(row.found, order.score),
            "note": _render_note(order, row),
        }
        for rank, row in ranked[:at_most]
    ]
    return {"order": order, "cards": cards, "more": max(len(ranked) - at_most, 0)}


def _render_note(order: Order, row: Row) -> str:
    """Return the stems that matched, or why the answer does not have the memory."""
    if order.name == "lexical":
        return " ".join(row.found.terms)
    is_cut = order.name == "answer" and row.outcome is not Outcome.SERVED
    return row.outcome.value if is_cut else ""
