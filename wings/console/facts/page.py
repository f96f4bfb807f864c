"""The page of a fact: sources, versions, history, similar facts, answers that served it."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest
from django.utils.safestring import SafeString

from episodic.models import Message
from episodic.revealing import Reader
from indexing import queries as index
from indexing.model_change import choose_embedder
from indexing.models import MemoryKind
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import link
from memoryproject.tenancy.models import Tenant
from retrieval.models import RetrievalHit
from semantic import queries, reverts
from semantic.admin import NEVER
from semantic.corrections import CORRECTED
from semantic.duplicates import MERGE_COSINE
from semantic.engines import SuggestionKind
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.proposal_writer import DECLARED_WRONG
from wings.console.facts.changes import ShownChange, render_changes
from wings.console.facts.forms import CURATE, ActForm, CorrectForm, InvalidateForm, UndoForm
from wings.console.facts.marks import MarksForm, read_marks
from wings.console.highlights import show_difference
from wings.console.labels import count_servings, list_servings
from wings.console.transcript import ShownMessage, read_transcript
from wings.suggestions import suggestions

EPISODES_AT_MOST = 20
NEIGHBOURS = 3
"""Number of messages shown before and after one that is evidence."""
WHOLE_EPISODE_AT_MOST = 12
"""Number of messages shown of an episode that supports a fact as a whole."""
NEAR_AT_MOST = 6
EXPOSURES_AT_MOST = 50
MOMENTS_AT_MOST = 60
"""Number of newest moments on the timeline."""


def get_story(request: HttpRequest, fact: Fact) -> Mapping[str, Any]:
    reader, sees = Reader(request.user), request.user.has_perm
    changes = queries.changes_of(fact) if sees("semantic.view_change") else []
    suppressed = Change.objects.of(fact.tenant).filter(
        memory_id=fact.id, action=Change.Action.SKIP, note=DECLARED_WRONG
    )
    about = Q(old_fact=fact) | Q(new_fact=fact)
    suggested = suggestions.find_suggestions(fact.tenant).filter(about).order_by("-id")
    rows = list(suggested[: settings.COUNTED_AT_MOST])
    kind = SuggestionKind.CONTRADICTION
    rivals = [row.new_fact for row in rows if row.old_fact_id == fact.id and row.kind == kind]
    served = sees("retrieval.view_retrieval")
    sources = read_sources([fact], reader)[fact.id]
    history = render_changes(fact.tenant, changes, about=fact)
    exposures = list_servings(fact, EXPOSURES_AT_MOST) if served else []
    return {
        "reader": reader if sees("episodic.view_message") else None,
        "conversation": fact.conversation,
        "never_true": fact.invalidated_because in NEVER,
        "sources": sources,
        "timeline": build_timeline(sources, history, exposures),
        "versions": read_versions(fact),
        "history": history,
        "near": read_near(fact),
        "merge_cosine": MERGE_COSINE,
        "suppressed": suppressed.count(),
        "suggested": len(rows),
        "contradiction": next(filter(None, rivals), None),
        "exposures": exposures,
        "exposed": count_servings(fact) if served else 0,
        "counted_at_most": settings.COUNTED_AT_MOST,
        "marks": read_marks(fact, reader) if sees("semantic.view_correctionmark") else [],
        "corrected_by": find_correction(fact),
        **list_actions(request, fact),
    }


def build_timeline(
    sources: Sequence[Evidence],
    history: Sequence[ShownChange],
    servings: Sequence[RetrievalHit],
) -> list[tuple[datetime, str, str]]:
    """Return the moments of a fact, oldest first: time, event, and link.

    Events are: said, changed, served, in any conversation; masked texts stay masked.
    """
    episodes = [source.episode for source in sources]
    acts = [(step.changeset, step.what) for step in history]
    answers = [hit.retrieval for hit in servings]
    moments = [
        *((row.start_at, "said", link(row, row.title)) for row in episodes),
        *((row.started_at, "changed", link(row, f"{what} by {row.actor}")) for row, what in acts),
        *((row.created_at, "served", link(row, row.query)) for row in answers),
    ]
    return sorted(moments, key=lambda moment: moment[:2])[-MOMENTS_AT_MOST:]


def find_correction(fact: Fact) -> Changeset | None:
    """Return the change with which a person created the fact as a correction, or None."""
    steps = Change.objects.of(fact.tenant).filter(memory_id=fact.id, note=CORRECTED)
    step = steps.select_related("changeset").order_by("id").first()
    changeset: Changeset | None = step.changeset if step else None
    return changeset


def list_actions(request: HttpRequest, fact: Fact) -> dict[str, Any]:
    """Return the person's permitted actions, and the one just done."""
    if not request.user.has_perm(CURATE):
        return {}
    seen = {"version": fact.version, "case_id": read_id(request.GET.get("case", ""))}
    correcting = {
        **seen, "fact": fact.fact, "category": fact.category, "keywords": ", ".join(fact.keywords),
    }  # fmt: skip
    active = fact.invalid_at is None
    waits = fact.invalidated_because == Fact.Because.WAITING
    predecessors = Fact.objects.of(fact.tenant).filter(superseded_by=fact)
    barred = active or fact.invalidated_because in {Fact.Because.ERASED, *Fact.HIDDEN}
    return {
        "may_curate": True,
        "invalidate_form": InvalidateForm(initial=seen, prefix="invalidate") if active else None,
        "correct_form": CorrectForm(initial=correcting, prefix="correct") if active else None,
        "restore_form": None if barred else ActForm(initial=seen, prefix="restore"),
        "waits": waits,
        "undo_form": UndoForm(),
        "marks_form": MarksForm(prefix="marks"),
        "done": find_done(request, fact.tenant),
        "back_to": predecessors.order_by("-id").first() or fact,
    }


def find_done(request: HttpRequest, tenant: Tenant) -> Changeset | None:
    """Return the person's own change named in the address, if it can still be undone."""
    mine = Changeset.objects.of(tenant).filter(actor=request.user.get_username())
    done = mine.filter(id__in=[read_id(request.GET.get("done", ""))]).first()
    return done if done is not None and reverts.find_revert(done) is None else None


def read_sources(facts: Sequence[Fact], reader: Reader) -> dict[uuid.UUID, list[Any]]:
    """Return the evidence of a tenant's facts with episodes, by fact, withdrawn evidence last.

    One query, and one for each conversation with evidence. `lines` has the messages that are
    evidence and their neighbors; each with whether it is evidence, and whether others before it
    are left out.
    """
    homes = {fact.id: fact.conversation_id for fact in facts}
    sources: dict[uuid.UUID, list[Any]] = {fact.id: [] for fact in facts}
    rows = reader.rows(Evidence.objects.of(facts[0].tenant).filter(fact__in=facts))
    rows = rows.select_related("episode", "changeset", "withdrawn_by").order_by("id")
    for row in rows[: EPISODES_AT_MOST * len(facts)]:
        if len(sources[row.fact_id]) < EPISODES_AT_MOST:
            sources[row.fact_id].append(row)
    by_home: dict[uuid.UUID, list[Any]] = {}
    for row in chain.from_iterable(sources.values()):
        by_home.setdefault(row.conversation_id or homes[row.fact_id], []).append(row)
    for home, own in by_home.items():
        seqs = {seq for row in own for seq in _seqs_shown(row)}
        messages = Message.objects.of(facts[0].tenant).filter(conversation=home, seq__in=seqs)
        shown = read_transcript(messages, conversation_id=home, reader=reader)
        for row in own:
            row.lines = list(_lines_of(row, shown))
    for several in sources.values():
        several.sort(key=lambda row: row.withdrawn_by_id is not None)
    return sources


def _seqs_shown(row: Evidence) -> list[int]:
    first, last = row.episode.first_seq, row.episode.last_seq
    if not row.message_seqs:
        return list(range(first, min(last, first + WHOLE_EPISODE_AT_MOST - 1) + 1))
    near = {seq + step for seq in row.message_seqs for step in range(-NEIGHBOURS, NEIGHBOURS + 1)}
    return sorted(seq for seq in near if first <= seq <= last)


def _lines_of(
    row: Evidence, shown: Sequence[ShownMessage]
) -> Iterator[tuple[ShownMessage, bool, bool]]:
    seqs = set(_seqs_shown(row))
    before = row.episode.first_seq - 1
    for message in shown:
        if message.seq in seqs:
            yield message, message.seq in row.message_seqs, message.seq != before + 1
            before = message.seq


def read_versions(fact: Fact) -> list[tuple[Fact, SafeString | str]]:
    """Return the fact's chain of versions, oldest first; empty if it is the only one.

    Each has its sentence, with the difference from the one before marked.
    """
    chain = queries.versions_of(fact)
    replaced = {version.superseded_by_id: version for version in chain}
    if len(chain) < 2:
        return []
    return [
        (version, show_difference(replaced[version.id].fact, version.fact))
        if version.id in replaced
        else (version, version.fact)
        for version in chain
    ]


def read_near(fact: Fact) -> list[tuple[Fact, float]]:
    """Return the active facts with the most similar vectors, and the cosine, best first."""
    model = choose_embedder(tenant=fact.tenant, conversation_id=fact.conversation_id).name
    vector = index.find_vector(tenant=fact.tenant, memory_id=fact.id, model=model)
    if vector is None:
        return []
    near = index.nearest(
        tenant=fact.tenant,
        conversation=fact.conversation_id,
        shelf=MemoryKind.FACT,
        invalid_at=None,
        vector=vector,
        model=model,
        at_most=NEAR_AT_MOST,
    )
    others = {row.memory_id: row.cosine for row in near if row.memory_id != fact.id}
    active = queries.active_facts(tenant=fact.tenant, fact_ids=others).in_bulk()
    similar = [(active[fact_id], cosine) for fact_id, cosine in others.items() if fact_id in active]
    return similar[: NEAR_AT_MOST - 1]
