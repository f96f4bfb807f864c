"""Scores a consolidator and the merge rule on labelled cases, without a database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from episodic.engines import Line, Vectors
from semantic.engines import (
    Action,
    Consolidator,
    EpisodeText,
    KnownFact,
    Proposal,
    fact_embedding_text,
)
from semantic.merge import is_same_fact

Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Which facts are held after all runs, and which no longer are."""

    held: tuple[str, ...]
    closed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContradictionScore:
    """`wrong` has, by case id, what was expected and is not so."""

    cases: int
    wrong: Mapping[str, tuple[str, ...]]

    @property
    def accuracy(self) -> float:
        """The share of cases that are right in every expectation, 0.0..1.0."""
        return 1.0 - len(self.wrong) / self.cases if self.cases else 0.0


@dataclass(frozen=True, slots=True)
class MergeScore:
    """Precision and recall (0.0..1.0) of merging, and the ids judged wrongly."""

    pairs: int
    precision: float
    recall: float
    false_merges: tuple[str, ...]
    missed_merges: tuple[str, ...]


def score_contradictions(
    cases: Iterable[Mapping[str, Any]],
    *,
    consolidator: Consolidator,
    embed: Embed,
    runs: int = 2,
) -> ContradictionScore:
    """Return how many cases end with the right facts held and closed.

    A case has `messages` (name, role, text, at) and lists of content words that some
    held fact, no held fact, or some closed fact must contain. `runs` is 1 or more:
    how many consolidations the messages are spread over; 1 tests one run with two
    episodes.
    """
    wrong: dict[str, tuple[str, ...]] = {}
    count = 0
    for case in cases:
        count += 1
        lines = [read_line(seq, message) for seq, message in enumerate(case["messages"])]
        ledger = run_in_memory(lines, consolidator=consolidator, embed=embed, runs=runs)
        if failed := _unmet(case, ledger):
            wrong[case["id"]] = failed
    return ContradictionScore(cases=count, wrong=wrong)


def run_in_memory(
    lines: Sequence[Line], *, consolidator: Consolidator, embed: Embed, runs: int
) -> Ledger:
    """Return the facts held and closed after consolidating `lines` in `runs` steps."""
    known: list[KnownFact] = []
    closed: list[str] = []
    size = -(-len(lines) // max(runs, 1))
    for start in range(0, len(lines), size):
        part = tuple(lines[start : start + size])
        middle = (len(part) + 1) // 2
        chunks = (part,) if runs > 1 else (part[:middle], part[middle:])
        episodes = [EpisodeText(title="", summary="", lines=chunk) for chunk in chunks if chunk]
        answer = consolidator.consolidate(episodes=episodes, known=known)
        known, gone = apply_proposals(known, answer.proposals, embed=embed)
        closed += gone
    return Ledger(held=tuple(fact.fact for fact in known), closed=tuple(closed))


def apply_proposals(
    known: Sequence[KnownFact], proposals: Sequence[Proposal], *, embed: Embed
) -> tuple[list[KnownFact], list[str]]:
    """Return the facts held after `proposals`, with new aliases, and the texts closed.

    "P<index>" names an earlier proposal; an unknown alias closes nothing.
    """
    held = {fact.alias: fact for fact in known}
    closed: list[str] = []
    for index, proposal in enumerate(proposals):
        if proposal.action in {Action.UPDATE, Action.INVALIDATE}:
            gone = held.pop(proposal.alias or "", None)
            closed += [gone.fact] if gone else []
        if proposal.action in {Action.NEW, Action.UPDATE}:
            held[f"P{index}"] = _know(f"P{index}", proposal, embed=embed)
    renamed = [
        KnownFact(f"F{n}", fact.category, fact.fact, fact.keywords, fact.valid_at, fact.vector)
        for n, fact in enumerate(held.values(), start=1)
    ]
    return renamed, closed


def score_merges(pairs: Sequence[Mapping[str, Any]], *, embed: Embed) -> MergeScore:
    """Return precision and recall of `is_same_fact` on labelled pairs of one category."""
    texts = [_pair_text(pair, side) for pair in pairs for side in ("a", "b")]
    vectors = embed(texts)
    merged: list[bool] = []
    for index, pair in enumerate(pairs):
        merged.append(
            is_same_fact(
                pair["a"],
                pair["b"],
                category_a=pair["category"],
                category_b=pair.get("category_b", pair["category"]),
                cosine=float(vectors[2 * index] @ vectors[2 * index + 1]),
            )
        )
    both = list(zip(pairs, merged, strict=True))
    right = sum(pair["same"] and said for pair, said in both)
    return MergeScore(
        pairs=len(pairs),
        precision=right / sum(merged) if any(merged) else 1.0,
        recall=right / max(sum(pair["same"] for pair in pairs), 1),
        false_merges=tuple(pair["id"] for pair, said in both if said and not pair["same"]),
        missed_merges=tuple(pair["id"] for pair, said in both if pair["same"] and not said),
    )


def _pair_text(pair: Mapping[str, Any], side: str) -> str:
    category = pair["category"] if side == "a" else pair.get("category_b", pair["category"])
    return fact_embedding_text(category=category, fact=pair[side], keywords=())


def read_line(seq: int, message: Mapping[str, str]) -> Line:
    """Return a case's message as the engines see it."""
    return Line(
        seq=seq,
        role=message["role"],
        name=message["name"],
        content=message["text"],
        at=datetime.fromisoformat(message["at"]),
    )


def _know(alias: str, proposal: Proposal, *, embed: Embed) -> KnownFact:
    if proposal.valid_at is None:
        raise ValueError(f"proposal {alias} does not say since when it holds")
    text = fact_embedding_text(
        category=proposal.category, fact=proposal.fact, keywords=proposal.keywords
    )
    return KnownFact(
        alias,
        proposal.category,
        proposal.fact,
        proposal.keywords,
        proposal.valid_at,
        embed([text])[0],
    )


def _unmet(case: Mapping[str, Any], ledger: Ledger) -> tuple[str, ...]:
    """Return the expectations of a case that the ledger does not meet."""
    failed = [f"held {w}" for w in case["held"] if not _any_has(ledger.held, w)]
    failed += [f"not_held {w}" for w in case["not_held"] if _any_has(ledger.held, w)]
    failed += [f"known_before {w}" for w in case["known_before"] if not _any_has(ledger.closed, w)]
    return tuple(failed)


def _any_has(facts: Sequence[str], words: Sequence[str]) -> bool:
    return any(all(word.lower() in fact.lower() for word in words) for fact in facts)
