"""The page of a fact: sources, versions, history, similar facts, the answers it was served in."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q
from django.http import HttpRequest
from django.utils.safestring import SafeString

from console.facts.changes import render_changes
from console.facts.forms import CURATE, ActForm, CorrectForm, InvalidateForm, UndoForm
from console.highlights import show_difference
from console.servings import COUNTED_AT_MOST, count_servings, list_servings
from console.transcript import ShownMessage, read_transcript
from episodic.models import Message
from episodic.revealing import Reader
from indexing import queries as index
from indexing.models import MemoryKind
from memoryproject.adminkit.base import read_id
from memoryproject.ai import embeddings
from semantic import queries, reverts, suggestions
from semantic.duplicates import MERGE_COSINE
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.proposal_writer import DECLARED_WRONG

EPISODES_AT_MOST = 20
NEIGHBOURS = 3
"""Messages shown before and after one that is evidence."""
WHOLE_EPISODE_AT_MOST = 12
"""Messages shown of an episode that supports a fact as a whole."""
NEAR_AT_MOST = 6
EXPOSURES_AT_MOST = 50
NEVER_TRUE = frozenset(
    {Fact.Because.WRONG, Fact.Because.REVERTED, Fact.Because.ERASED, Fact.Because.WAITING}
)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A message of a source. `skips`: between it and the one before others are left out."""

    message: ShownMessage
    is_evidence: bool
    skips: bool


@dataclass(frozen=True, slots=True)
class FactSource:
    """An episode that supports a fact, with the messages that are evidence and their neighbours."""

    evidence: Evidence
    lines: Sequence[SourceLine]


@dataclass(frozen=True, slots=True)
class FactVersion:
    """A sentence in the chain. `shown` marks its difference from the one before."""

    fact: Fact
    shown: SafeString | str
    is_this: bool


@dataclass(frozen=True, slots=True)
class SimilarFact:
    """An active fact with a similar vector."""

    fact: Fact
    cosine: float

    @property
    def is_close(self) -> bool:
        """Whether consolidation would merge it, if the details agree."""
        return self.cosine >= MERGE_COSINE


def get_story(request: HttpRequest, fact: Fact) -> Mapping[str, Any]:
    """Return what stands above a fact's columns."""
    reader, sees = Reader(request.user), request.user.has_perm
    changes = queries.changes_of(fact) if sees("semantic.view_change") else []
    suppressed = Change.objects.of(fact.tenant).filter(
        memory_id=fact.id, action=Change.Action.SKIP, note=DECLARED_WRONG
    )
    about = Q(old_fact=fact) | Q(new_fact=fact)
    served = sees("retrieval.view_retrieval")
    return {
        "reader": reader if sees("episodic.view_message") else None,
        "conversation": fact.conversation,
        "never_true": fact.invalidated_because in NEVER_TRUE,
        "sources": read_sources(fact, reader),
        "versions": read_versions(fact),
        "history": render_changes(fact.tenant, changes, about=fact),
        "near": read_near(fact),
        "suppressed": suppressed.count(),
        "suggested": suggestions.find_suggestions(fact.tenant).filter(about).count(),
        "exposures": list_servings(fact, at_most=EXPOSURES_AT_MOST) if served else [],
        "exposed": count_servings(fact) if served else 0,
        "counted_at_most": COUNTED_AT_MOST,
        **list_actions(request, fact),
    }


def list_actions(request: HttpRequest, fact: Fact) -> dict[str, Any]:
    """Return the acts that the person may do, and the one that he has just done."""
    if not request.user.has_perm(CURATE):
        return {}
    seen = {"version": fact.version}
    correcting = {
        **seen, "fact": fact.fact, "category": fact.category, "keywords": ", ".join(fact.keywords),
    }  # fmt: skip
    active = fact.invalid_at is None
    waits = fact.invalidated_because == Fact.Because.WAITING
    barred = active or waits or fact.invalidated_because == Fact.Because.ERASED
    return {
        "may_curate": True,
        "invalidate_form": InvalidateForm(initial=seen, prefix="invalidate") if active else None,
        "correct_form": CorrectForm(initial=correcting, prefix="correct") if active else None,
        "restore_form": None if barred else ActForm(initial=seen, prefix="restore"),
        "waits": waits,
        "undo_form": UndoForm(),
        "done": find_done(request, fact),
        "back_to": find_predecessor(fact) or fact,
    }


def find_done(request: HttpRequest, fact: Fact) -> Changeset | None:
    """Return the person's own act that the address names, if it can still be undone."""
    done_id = read_id(request.GET.get("done", ""))
    if done_id is None:
        return None
    mine = Changeset.objects.of(fact.tenant).filter(
        id=done_id, conversation=fact.conversation_id, actor=request.user.get_username()
    )
    done = mine.first()
    return done if done is not None and reverts.find_revert(done) is None else None


def find_predecessor(fact: Fact) -> Fact | None:
    """Return a fact that this one has replaced: the one to show when that is undone."""
    return Fact.objects.of(fact.tenant).filter(superseded_by=fact).order_by("-id").first()


def read_sources(fact: Fact, reader: Reader) -> list[FactSource]:
    """Return the episodes behind a fact, in three queries; withdrawn ones come last."""
    rows = Evidence.objects.of(fact.tenant).filter(fact=fact)
    rows = rows.select_related("episode", "changeset", "withdrawn_by")
    evidence = sorted(
        rows.order_by("id")[:EPISODES_AT_MOST], key=lambda row: row.withdrawn_by_id is not None
    )
    seqs = {seq for row in evidence for seq in _seqs_shown(row)}
    messages = Message.objects.of(fact.tenant).filter(
        conversation=fact.conversation_id, seq__in=seqs
    )
    shown = read_transcript(messages, conversation_id=fact.conversation_id, reader=reader)
    return [FactSource(row, _lines_of(row, shown)) for row in evidence]


def _seqs_shown(row: Evidence) -> list[int]:
    first, last = row.episode.first_seq, row.episode.last_seq
    if not row.message_seqs:
        return list(range(first, min(last, first + WHOLE_EPISODE_AT_MOST - 1) + 1))
    near = {seq + step for seq in row.message_seqs for step in range(-NEIGHBOURS, NEIGHBOURS + 1)}
    return sorted(seq for seq in near if first <= seq <= last)


def _lines_of(row: Evidence, shown: Sequence[ShownMessage]) -> list[SourceLine]:
    seqs = set(_seqs_shown(row))
    lines: list[SourceLine] = []
    before = row.episode.first_seq - 1
    for one in shown:
        if one.seq in seqs:
            lines.append(SourceLine(one, one.seq in row.message_seqs, skips=one.seq != before + 1))
            before = one.seq
    return lines


def read_versions(fact: Fact) -> list[FactVersion]:
    """Return the chain that a fact stands in, oldest first; empty where it stands alone."""
    chain = queries.versions_of(fact)
    replaced: dict[uuid.UUID, Fact] = {
        one.superseded_by_id: one for one in chain if one.superseded_by_id is not None
    }
    if len(chain) < 2:
        return []
    return [
        FactVersion(
            one,
            show_difference(replaced[one.id].fact, one.fact) if one.id in replaced else one.fact,
            is_this=one.id == fact.id,
        )
        for one in chain
    ]


def read_near(fact: Fact) -> list[SimilarFact]:
    """Return the active facts with the most similar vectors, most similar first."""
    model = embeddings.get_embedder().name
    vector = index.find_vector(tenant=fact.tenant, memory_id=fact.id, model=model)
    if vector is None:
        return []
    near = index.nearest(
        tenant=fact.tenant,
        conversation=fact.conversation_id,
        shelf=MemoryKind.FACT,
        invalid_at=None,
        model=model,
        vector=vector,
        at_most=NEAR_AT_MOST,
    )
    active = queries.active_facts(tenant=fact.tenant, fact_ids=[row.memory_id for row in near])
    similar = [
        SimilarFact(active[one.memory_id], one.cosine) for one in near if one.memory_id in active
    ]
    return [one for one in similar if one.fact.id != fact.id][: NEAR_AT_MOST - 1]
