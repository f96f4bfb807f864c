"""The way of memories into an answer, as columns from the two legs of the search to the text.

Each column is an order of memories: by words, by meaning, by both, by how well they are
remembered, and what the answer holds. The same memory has the same key in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.urls import reverse

from memoryproject.adminkit.values import MEMORY_PAGES
from retrieval.analysis import Analysis, Outcome, RankedMemory

HUES = 8
"""Colours by which memories of the answer are told apart."""


@dataclass(frozen=True, slots=True)
class Card:
    """A memory in one column."""

    row: Row
    rank: int
    score: str
    note: str


@dataclass(frozen=True, slots=True)
class Column:
    """One order of memories, best first; `more` of them are left out."""

    name: str
    title: str
    hint: str
    cards: Sequence[Card]
    total: int
    narrow: bool = False

    @property
    def more(self) -> int:
        """How many are left out."""
        return self.total - len(self.cards)


@dataclass(frozen=True, slots=True)
class Row:
    """A candidate, its page, and its words. `hue` is None where the answer does not have it."""

    candidate: RankedMemory
    href: str
    text: str
    hue: int | None


@dataclass(frozen=True, slots=True)
class KindOfMemory:
    """Facts or episodes, and their way through the columns."""

    name: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]

    @property
    def served(self) -> int:
        """How many are in the answer."""
        return sum(row.candidate.outcome is Outcome.SERVED for row in self.rows)


def list_kinds(analysis: Analysis, *, at_most: int) -> list[KindOfMemory]:
    """Return facts and episodes with at most so many memories a column."""
    kinds = (("fact", "Facts", analysis.facts), ("episode", "Episodes", analysis.episodes))
    return [_to_kind(name, title, rows, at_most) for name, title, rows in kinds if rows]


def _to_kind(
    name: str, title: str, candidates: Sequence[RankedMemory], at_most: int
) -> KindOfMemory:
    served = [row.found.memory_id for row in candidates if row.outcome is Outcome.SERVED]
    hues = {memory_id: place % HUES for place, memory_id in enumerate(served)}
    rows = [
        Row(row, _page_of(row), _words_of(row), hues.get(row.found.memory_id)) for row in candidates
    ]
    fades = name == "episode"
    orders = [order for order in ORDERS if fades or order.name != "fading"]
    columns = [_to_column(order, rows, at_most, fades) for order in orders]
    return KindOfMemory(name, title, columns, rows)


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


def _to_column(order: Order, rows: Sequence[Row], at_most: int, fades: bool) -> Column:
    ranked = [(rank, row) for row in rows if (rank := order.rank(row)) is not None]
    if order.name == "fused":
        by_rrf = sorted(ranked, key=lambda pair: (-pair[1].candidate.found.rrf, pair[0]))
        ranked = [(place, row) for place, (_, row) in enumerate(by_rrf, start=1)]
    elif order.name in {"lexical", "vector"}:
        ranked.sort(key=lambda pair: pair[0])
    cards = [Card(row, rank, order.score(row), order.note(row)) for rank, row in ranked[:at_most]]
    hint = "facts do not fade" if order.name == "answer" and not fades else order.hint
    return Column(order.name, order.title, hint, cards, len(ranked), order.narrow)
