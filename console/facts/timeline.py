"""A fact's moments in one line: said, changed, served, in whatever conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from console.facts.changes import ChangeLine
from memoryproject.adminkit.values import link
from retrieval.models import RetrievalHit
from semantic.models import Evidence

MOMENTS_AT_MOST = 60
"""The newest."""
Moment = tuple[datetime, str, str]
"""When, what happened (said, changed or served), and a link to it."""


def build_timeline(
    evidence: Sequence[Evidence], history: Sequence[ChangeLine], servings: Sequence[RetrievalHit]
) -> list[Moment]:
    """Return the moments of a fact, oldest first; what is masked stays so."""
    said = [
        (row.episode.start_at, "said", link(row.episode, row.episode.title)) for row in evidence
    ]
    changesets = [(step.change.changeset, step.what) for step in history]
    changed = [
        (row.started_at, "changed", link(row, f"{what} by {row.actor}")) for row, what in changesets
    ]
    answers = [hit.retrieval for hit in servings]
    served = [(row.created_at, "served", link(row, row.query)) for row in answers]
    moments = sorted([*said, *changed, *served], key=lambda moment: moment[:2])
    return moments[-MOMENTS_AT_MOST:]
