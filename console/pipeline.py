"""How an answer came about, as columns that are read from left to right.

Each column is an order of memories: by words, by meaning, by both, by how well they are
remembered, and what the answer holds. The same memory has the same key in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from django.urls import reverse

from memoryproject.admin_values import MEMORY_PAGES
from retrieval.analysis import Analysis, Candidate, Outcome

HUES = 8
"""Colours by which memories of the answer are told apart."""


@dataclass(frozen=True, slots=True)
class Card:
    """A memory in one column. `hue` is None where the answer does not hold it."""

    key: str
    href: str
    text: str
    rank: int
    score: str
    note: str = ""
    hue: int | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Column:
    """One order of memories, best first; `more` of them are not drawn."""

    name: str
    title: str
    hint: str
    cards: Sequence[Card]
    total: int
    narrow: bool = False

    @property
    def more(self) -> int:
        """How many are not drawn."""
        return self.total - len(self.cards)


@dataclass(frozen=True, slots=True)
class Row:
    """All that is known of how one memory was found."""

    candidate: Candidate
    href: str
    text: str
    hue: int | None


@dataclass(frozen=True, slots=True)
class Shelf:
    """One kind of memory and its way through the columns."""

    name: str
    title: str
    columns: Sequence[Column] = field(default_factory=list)
    rows: Sequence[Row] = field(default_factory=list)

    @property
    def served(self) -> int:
        """How many the answer holds."""
        return sum(row.candidate.outcome is Outcome.SERVED for row in self.rows)


def draw_shelves(analysis: Analysis, *, drawn: int) -> list[Shelf]:
    """Return facts and episodes with at most `drawn` memories a column."""
    kinds = (("fact", "Facts", analysis.facts), ("episode", "Episodes", analysis.episodes))
    return [_draw(name, title, found, drawn) for name, title, found in kinds if found]


def _draw(name: str, title: str, found: Sequence[Candidate], drawn: int) -> Shelf:
    served = [one for one in found if one.outcome is Outcome.SERVED]
    hues = {one.found.memory_id: place % HUES for place, one in enumerate(served)}
    rows = [Row(one, _page_of(one), _words_of(one), hues.get(one.found.memory_id)) for one in found]
    fades = name == "episode"
    columns = [
        _lexical(rows, drawn),
        _vector(rows, drawn),
        _fused(rows, drawn),
        *([_fading(rows, drawn)] if fades else []),
        _answer(rows, drawn, fades=fades),
    ]
    return Shelf(name=name, title=title, columns=columns, rows=rows)


def _page_of(one: Candidate) -> str:
    place = MEMORY_PAGES[one.found.shelf.value]
    return reverse(f"admin:{place}_change", args=[one.found.memory_id])


def _words_of(one: Candidate) -> str:
    """Return the sentence of a fact, or the title of an episode."""
    shown = one.found.shown
    if not shown:
        return str(one.found.memory_id)
    return str(shown[1] if one.found.shelf == "fact" else shown[0])


def _lexical(rows: Sequence[Row], drawn: int) -> Column:
    found = [row for row in rows if row.candidate.found.lexical_rank is not None]
    found.sort(key=lambda row: row.candidate.found.lexical_rank or 0)
    cards = _cards(
        found[:drawn],
        rank=lambda row, _: row.candidate.found.lexical_rank or 0,
        score=lambda row: _say(row.candidate.found.lexical_score, 2),
        note=lambda row: " ".join(row.candidate.found.terms),
    )
    return Column("lexical", "Words", "BM25 of shared stems", cards, len(found))


def _vector(rows: Sequence[Row], drawn: int) -> Column:
    found = [row for row in rows if row.candidate.found.vector_rank is not None]
    found.sort(key=lambda row: row.candidate.found.vector_rank or 0)
    cards = _cards(
        found[:drawn],
        rank=lambda row, _: row.candidate.found.vector_rank or 0,
        score=lambda row: _say(row.candidate.found.cosine, 3),
    )
    return Column("vector", "Meaning", "cosine of the vectors", cards, len(found))


def _fused(rows: Sequence[Row], drawn: int) -> Column:
    ordered = sorted(rows, key=lambda row: (-row.candidate.found.rrf, row.candidate.found.rank))
    cards = _cards(
        ordered[:drawn],
        rank=lambda _, place: place,
        score=lambda row: _say(row.candidate.found.rrf, 4),
    )
    return Column("fused", "Fused", "reciprocal ranks", cards, len(rows), narrow=True)


def _fading(rows: Sequence[Row], drawn: int) -> Column:
    cards = _cards(
        rows[:drawn],
        rank=lambda row, _: row.candidate.found.rank,
        score=lambda row: f"× {row.candidate.found.retrievability:.3f}",
    )
    return Column("fading", "Retrievability", "still remembered", cards, len(rows), narrow=True)


def _answer(rows: Sequence[Row], drawn: int, *, fades: bool) -> Column:
    cards = _cards(
        rows[:drawn],
        rank=lambda row, _: row.candidate.found.rank,
        score=lambda row: _say(row.candidate.found.score, 4),
        note=lambda row: _say_cut(row.candidate.outcome),
    )
    hint = "fused × retrievability" if fades else "facts do not fade"
    return Column("answer", "Answer", hint, cards, len(rows))


def _say_cut(outcome: Outcome) -> str:
    return "" if outcome is Outcome.SERVED else outcome.value


def _say(score: float | None, digits: int) -> str:
    return "–" if score is None else f"{score:.{digits}f}"


def _cards(
    rows: Iterable[Row],
    *,
    rank: Callable[[Row, int], int],
    score: Callable[[Row], str],
    note: Callable[[Row], str] = lambda row: "",
) -> list[Card]:
    return [
        Card(
            key=f"m{row.candidate.found.memory_id.hex}",
            href=row.href,
            text=row.text,
            rank=rank(row, place),
            score=score(row),
            note=note(row),
            hue=row.hue,
            outcome=row.candidate.outcome.name.lower(),
        )
        for place, row in enumerate(rows, start=1)
    ]
