"""Short ways to say things to the offline consolidator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from episodic.engines import Line, Vectors
from memoryproject.ai.local_model import load_local_model
from semantic.engines import EpisodeText, KnownFact, Proposal, fact_embedding_text
from semantic.offline_consolidator import OfflineConsolidator

MONDAY = datetime(2024, 3, 4, 10, 0, tzinfo=UTC)


VECTORS: dict[str, Vectors] = {}
BATCH = 32


def embed(texts: Sequence[str]) -> Vectors:
    """Return one unit vector a text; the same texts come back all the time."""
    unseen = sorted({text for text in texts if text not in VECTORS}, key=len)
    for start in range(0, len(unseen), BATCH):
        batch = unseen[start : start + BATCH]
        vectors = np.asarray(load_local_model().passage(batch), dtype=np.float32)
        VECTORS.update(zip(batch, vectors, strict=True))
    return np.stack([VECTORS[text] for text in texts])


def say(*spoken: tuple[str, str, str]) -> EpisodeText:
    """Return an episode of (name, role, words), a minute apart."""
    lines = tuple(
        Line(seq=seq, role=role, name=name, content=words, at=MONDAY + timedelta(minutes=seq))
        for seq, (name, role, words) in enumerate(spoken)
    )
    return EpisodeText(title="", summary="", lines=lines)


def know(fact: str, *, category: str = "identity", alias: str = "F1") -> KnownFact:
    """Return a fact held since the day before."""
    text = fact_embedding_text(category=category, fact=fact, keywords=())
    return KnownFact(alias, category, fact, (), MONDAY - timedelta(days=1), embed([text])[0])


def learn(*spoken: tuple[str, str, str], known: Sequence[KnownFact] = ()) -> list[Proposal]:
    """Return what the offline consolidator proposes after one episode."""
    consolidator = OfflineConsolidator(embed=embed)
    return list(consolidator.consolidate(episodes=[say(*spoken)], known=known).proposals)
