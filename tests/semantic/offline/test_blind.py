"""What sets that judged the engine once still find: `blind/README.md` says what they are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from episodic.engines import Line
from memoryproject.ai.embeddings import read_built_in
from semantic.engines import Action, EpisodeText, KnownFact, Proposal
from semantic.offline.consolidator import OfflineConsolidator
from tests.semantic.fact_makers import MONDAY

pytestmark = pytest.mark.bench

FOLDER = Path(__file__).parent / "blind"
GOLD = {"37": 0.92, "42": 0.94, "44": 0.89, "48": 0.82}
"""Least share of the gold facts of each set of chats."""
FACTS_A_GOLD_FACT = 1.5
NEWS_KEPT = 0.85
CLOSES = {Action.UPDATE, Action.INVALIDATE}


def read(name: str) -> Iterator[dict[str, Any]]:
    """Yield the cases of a set."""
    with (FOLDER / f"{name}.jsonl").open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def learn(lines: list[Line], known: list[KnownFact]) -> tuple[Proposal, ...]:
    """Return what the engine proposes after one episode."""
    episode = EpisodeText(title="", summary="", lines=tuple(lines))
    engine = OfflineConsolidator(read_built_in)
    return engine.consolidate(episodes=[episode], known=known).proposals


@pytest.mark.parametrize("number", GOLD)
def test_what_matters_in_a_chat_is_kept_and_little_else(number: str) -> None:
    gold = found = facts = 0
    for chat in read(f"chats-{number}"):
        lines = [
            Line(
                seq=seq,
                role=said["role"],
                name=said.get("name") or "",
                content=said["content"],
                at=datetime.fromisoformat(said["timestamp"]),
            )
            for seq, said in enumerate(chat["messages"])
        ]
        kept = [proposal.fact for proposal in learn(lines, known=[])]
        facts += len(kept)
        gold += len(chat["gold"])
        found += sum(
            any(re.search(fact["words"], text, re.DOTALL) for text in kept) for fact in chat["gold"]
        )
    assert found >= GOLD[number] * gold
    assert facts <= FACTS_A_GOLD_FACT * gold


def tell(case: dict[str, Any]) -> tuple[Proposal, ...]:
    """Return what the engine proposes at a case's last message, a month after the first."""
    first, *_, last = (
        [
            Line(seq=seq, role="user", name=said["speaker"], content=said["text"], at=at),
            Line(seq=seq + 1, role="assistant", name="", content="I see.", at=at),
        ]
        for seq, at, said in (
            (2 * number, MONDAY + timedelta(days=29 * number), said)
            for number, said in enumerate(case["messages"])
        )
    )
    known = [
        KnownFact(f"F{number}", fact.category, fact.fact, fact.keywords, fact.valid_at)
        for number, fact in enumerate(learn(first, known=[]), start=1)
    ]
    return learn(last, known=known)


@pytest.mark.parametrize("number", ["41", "42", "48"])
def test_what_holds_now_is_kept(number: str) -> None:
    cases = list(read(f"updates-{number}"))
    kept = [
        any(re.search(case["current"], proposal.fact) for proposal in tell(case)) for case in cases
    ]
    assert sum(kept) >= NEWS_KEPT * len(cases)


@pytest.mark.parametrize("number", ["41", "42", "48"])
def test_nothing_true_is_ended(number: str) -> None:
    for case in read(f"traps-{number}"):
        assert not any(proposal.action in CLOSES for proposal in tell(case)), case
