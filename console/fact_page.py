"""The page of a fact: what says it, what it replaced, who changed it, and who was told it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from console.curation_forms import CURATE, CorrectForm, InvalidateForm, RestoreForm, UndoForm
from console.highlights import show_difference
from console.steps import tell_changes
from console.transcript import Said, read_transcript
from episodic.models import Episode, Message
from episodic.revealing import Reader
from indexing import queries as index
from indexing.models import MemoryKind
from memoryproject.admin_base import read_id
from memoryproject.ai import embeddings
from retrieval.models import RetrievalHit
from semantic import histories, queries, reverting
from semantic.merge import MERGE_COSINE
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.writing import DECLARED_WRONG

EPISODES_AT_MOST = 20
NEIGHBOURS = 3
"""Messages shown before and after one that says it."""
WHOLE_EPISODE_AT_MOST = 12
"""Messages shown of an episode that supports a fact as a whole."""
NEAR_AT_MOST = 6
EXPOSURES_AT_MOST = 50
COUNTED_AT_MOST = 10_000
NEVER_TRUE = frozenset(
    {Fact.Because.WRONG, Fact.Because.REVERTED, Fact.Because.ERASED, Fact.Because.WAITING}
)


@dataclass(frozen=True, slots=True)
class Line:
    """A message beside the evidence. `skips`: between it and the one before others are left out."""

    said: Said
    tells: bool
    """Whether it is one of those that say it."""
    skips: bool


@dataclass(frozen=True, slots=True)
class Source:
    """An episode that supports a fact, with the messages that say it and their neighbours."""

    evidence: Evidence
    episode: Episode
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Version:
    """A sentence in the chain. `shown` marks what it changed in the one that it replaced."""

    fact: Fact
    shown: SafeString | str
    is_this: bool


@dataclass(frozen=True, slots=True)
class Near:
    """A fact that lies near by its vector."""

    fact: Fact
    cosine: float

    @property
    def is_close(self) -> bool:
        """Whether it is as near as what consolidation merges, if the details agree."""
        return self.cosine >= MERGE_COSINE


def tell(request: HttpRequest, fact: Fact) -> Mapping[str, Any]:
    """Return what stands above a fact's columns."""
    reader, sees = Reader(request.user), request.user.has_perm
    changes = histories.changes_of(fact) if sees("semantic.view_change") else []
    suppressed = Change.objects.of(fact.tenant).filter(
        memory_id=fact.id, action=Change.Action.SKIP, note=DECLARED_WRONG
    )
    served = sees("retrieval.view_retrieval")
    return {
        "reader": reader if sees("episodic.view_message") else None,
        "conversation": fact.conversation,
        "never_true": fact.invalidated_because in NEVER_TRUE,
        "sources": read_sources(fact, reader),
        "versions": read_versions(fact),
        "history": tell_changes(fact.tenant, changes, about=fact),
        "near": read_near(fact),
        "suppressed": suppressed.count(),
        "exposures": newest_exposures(fact) if served else [],
        "exposed": count_exposures(fact) if served else 0,
        "counted_at_most": COUNTED_AT_MOST,
        **tell_acts(request, fact),
    }


def tell_acts(request: HttpRequest, fact: Fact) -> dict[str, Any]:
    """Return what the person may do about a fact, and what he has just done."""
    if not request.user.has_perm(CURATE):
        return {}
    seen = {"version": fact.version}
    correcting = {
        **seen, "fact": fact.fact, "category": fact.category, "keywords": ", ".join(fact.keywords),
    }  # fmt: skip
    held = fact.invalid_at is None
    waits = fact.invalidated_because == Fact.Because.WAITING
    barred = held or waits or fact.invalidated_because == Fact.Because.ERASED
    return {
        "may_curate": True,
        "invalidate_form": InvalidateForm(initial=seen, prefix="invalidate") if held else None,
        "correct_form": CorrectForm(initial=correcting, prefix="correct") if held else None,
        "restore_form": None if barred else RestoreForm(initial=seen, prefix="restore"),
        "waits": waits,
        "undo_form": UndoForm(),
        "done": find_done(request, fact),
        "back_to": find_replaced(fact) or fact,
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
    return done if done is not None and reverting.find_revert(done) is None else None


def find_replaced(fact: Fact) -> Fact | None:
    """Return a fact that this one has replaced: the one to look at when that is undone."""
    return Fact.objects.of(fact.tenant).filter(superseded_by=fact).order_by("-id").first()


def read_sources(fact: Fact, reader: Reader) -> list[Source]:
    """Return the episodes behind a fact, in three queries; what counts comes first."""
    rows = Evidence.objects.of(fact.tenant).filter(fact=fact)
    rows = rows.select_related("episode", "changeset", "withdrawn_by")
    evidence = sorted(
        rows.order_by("id")[:EPISODES_AT_MOST], key=lambda row: row.withdrawn_by_id is not None
    )
    said = read_transcript(
        _messages_around(fact, evidence), conversation_id=fact.conversation_id, reader=reader
    )
    return [Source(row, row.episode, _lines_of(row, said)) for row in evidence]


def _messages_around(fact: Fact, evidence: Iterable[Evidence]) -> QuerySet[Message]:
    """Return the messages that say it, their neighbours, and the heads of whole episodes."""
    wanted: set[int] = set()
    for row in evidence:
        wanted |= set(_seqs_shown(row))
    return Message.objects.of(fact.tenant).filter(conversation=fact.conversation_id, seq__in=wanted)


def _seqs_shown(row: Evidence) -> list[int]:
    first, last = row.episode.first_seq, row.episode.last_seq
    if not row.message_seqs:
        return list(range(first, min(last, first + WHOLE_EPISODE_AT_MOST - 1) + 1))
    near = {seq + step for seq in row.message_seqs for step in range(-NEIGHBOURS, NEIGHBOURS + 1)}
    return sorted(seq for seq in near if first <= seq <= last)


def _lines_of(row: Evidence, said: Sequence[Said]) -> list[Line]:
    shown, tells = set(_seqs_shown(row)), set(row.message_seqs)
    lines: list[Line] = []
    before = row.episode.first_seq - 1
    for one in said:
        if one.seq in shown:
            lines.append(Line(one, one.seq in tells, skips=one.seq != before + 1))
            before = one.seq
    return lines


def read_versions(fact: Fact) -> list[Version]:
    """Return the chain that a fact stands in, oldest first; empty where it stands alone."""
    chain = histories.versions_of(fact)
    replaced: dict[uuid.UUID, Fact] = {
        one.superseded_by_id: one for one in chain if one.superseded_by_id is not None
    }
    if len(chain) < 2:
        return []
    return [
        Version(
            one,
            show_difference(replaced[one.id].fact, one.fact) if one.id in replaced else one.fact,
            is_this=one.id == fact.id,
        )
        for one in chain
    ]


def read_near(fact: Fact) -> list[Near]:
    """Return the facts that are held and lie nearest by its stored vector, nearest first."""
    model = embeddings.get_embedder().name
    vector = index.find_vector(tenant=fact.tenant, memory_id=fact.id, model=model)
    if vector is None:
        return []
    near = index.nearest_active(
        tenant=fact.tenant,
        conversation_id=fact.conversation_id,
        shelf=MemoryKind.FACT,
        model=model,
        vector=vector,
        at_most=NEAR_AT_MOST,
    )
    held = queries.active_facts(tenant=fact.tenant, fact_ids=[one.memory_id for one in near])
    found = [Near(held[one.memory_id], one.cosine) for one in near if one.memory_id in held]
    return [one for one in found if one.fact.id != fact.id][: NEAR_AT_MOST - 1]


def newest_exposures(fact: Fact) -> list[RetrievalHit]:
    """Return the newest answers that served a fact. Uses index: retrieval_hit_by_memory."""
    hits = RetrievalHit.objects.of(fact.tenant).filter(memory_id=fact.id)
    return list(hits.select_related("retrieval__asked_by").order_by("-id")[:EXPOSURES_AT_MOST])


def count_exposures(fact: Fact) -> int:
    """Return how many answers served a fact, up to 10,000."""
    hits = RetrievalHit.objects.of(fact.tenant).filter(memory_id=fact.id)
    return hits[:COUNTED_AT_MOST].count()
