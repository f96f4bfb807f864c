"""Short ways to say things to the offline consolidator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from episodic.engines import Line
from memoryproject.ai.embeddings import read_built_in
from semantic.engines import Consolidation, EpisodeText, KnownFact, Proposal
from semantic.offline.consolidator import OfflineConsolidator

MONDAY = datetime(2024, 3, 4, 10, 0, tzinfo=UTC)


def say(*spoken: tuple[str, str, str]) -> EpisodeText:
    """Return an episode of (name, role, words), a minute apart."""
    lines = tuple(
        Line(seq=seq, role=role, name=name, content=words, at=MONDAY + timedelta(minutes=seq))
        for seq, (name, role, words) in enumerate(spoken)
    )
    return EpisodeText(title="", summary="", lines=lines)


def know(
    fact: str,
    *,
    category: str = "identity",
    alias: str = "F1",
    keywords: tuple[str, ...] = ("Bo",),
) -> KnownFact:
    """Return a fact that is active since the day before."""
    return KnownFact(alias, category, fact, keywords, MONDAY - timedelta(days=1))


def consolidate(*spoken: tuple[str, str, str], known: Sequence[KnownFact] = ()) -> Consolidation:
    """Return what the offline consolidator answers after one episode."""
    return OfflineConsolidator(read_built_in).consolidate(episodes=[say(*spoken)], known=known)


def learn(*spoken: tuple[str, str, str], known: Sequence[KnownFact] = ()) -> list[Proposal]:
    """Return what the offline consolidator proposes after one episode."""
    return list(consolidate(*spoken, known=known).proposals)
