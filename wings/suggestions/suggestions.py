"""Finds, accepts and declines suggested contradictions and duplicates.

A curator's decision is a changeset with its actor and reason, and so can be reverted.
"""

import uuid
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain

from django.db import transaction
from django.db.models import Q, QuerySet

from memoryproject.edge.errors import Conflict, NotFound, Problem, get_row
from memoryproject.tenancy.models import Tenant
from semantic import curation
from semantic.curation import Act
from semantic.engines import SuggestionKind
from semantic.models import Change, Fact, Suggestion
from semantic.services import Ledger, invalidate_fact, reinforce_fact
from wings.marks.mark_finding import mark_places

Decision = Suggestion.Decision
"""A decision on a suggestion, also the note of its step."""
OPEN = Q(is_withdrawn=False) & (Q(decision="") | Q(is_reopened=True))
_ACTIVE = Q(old_fact__invalid_at=None, new_fact__invalid_at=None)  # no new fact, none invalid
_FORGOTTEN = Q(kind=SuggestionKind.ERASE, old_fact__invalidated_because=Fact.Because.FORGOTTEN)
OPEN &= _ACTIVE | _FORGOTTEN


def find_suggestions(tenant: Tenant, *, is_open: bool = True) -> QuerySet[Suggestion]:
    """Return open suggestions, or the others, with facts and conversation.

    None is about a pending fact. Uses index: semantic_suggestion_undecided.
    """
    rows = Suggestion.objects.of(tenant).select_related("old_fact", "new_fact", "conversation")
    if is_open:
        return rows.filter(OPEN)
    waiting = Fact.Because.WAITING
    visible = rows.exclude(old_fact__invalidated_because=waiting)
    return visible.exclude(new_fact__invalidated_because=waiting).exclude(OPEN)


def group_suggestions(rows: Iterable[Suggestion]) -> list[list[Suggestion]]:
    """Return suggestions by question: those of one kind whose facts hang together.

    What others said in a user's conversation is a question of that conversation alone, since a
    changeset of another one could not be undone for it.
    """
    groups: dict[Hashable, list[Suggestion]] = {}
    for row in rows:
        beside = {id(group): group for key in _keys_of(row) if (group := groups.get(key))}
        joined = [*chain.from_iterable(beside.values()), row]
        groups |= {key: joined for other in joined for key in _keys_of(other)}
    return [*{id(group): group for group in groups.values()}.values()]


def _keys_of(row: Suggestion) -> list[Hashable]:
    homes = frozenset(fact.conversation_id for fact in facts_of(row) if fact.user_id)
    return [(row.kind, homes, fact.id) for fact in facts_of(row)]


def facts_of(row: Suggestion) -> list[Fact]:
    """Return the facts of a suggestion, the old one first."""
    return [fact for fact in (row.old_fact, row.new_fact) if fact is not None]


def find_between(tenant: Tenant, kind: str, fact_ids: Collection[uuid.UUID]) -> list[uuid.UUID]:
    """Return the ids of the open suggestions of a kind that are about these facts alone."""
    rows = find_suggestions(tenant).filter(kind=kind, old_fact__in=fact_ids)
    between = rows.filter(Q(new_fact=None) | Q(new_fact__in=fact_ids))
    return list(between.order_by("id").values_list("id", flat=True))


def accept_suggestion(*, act: Act, suggestion_id: uuid.UUID) -> Suggestion:
    """Retire a fact as superseded: the old one, or the shorter of two duplicates.

    Raises as `decide_together`.
    """
    named = get_row(find_by_id(act.tenant, [suggestion_id]), "suggestion")
    is_same = named.kind == SuggestionKind.DUPLICATE
    kept = (
        max(facts_of(named)[::-1], key=lambda fact: len(fact.fact)) if is_same else named.new_fact
    )
    holding = {kept.id} if kept else set()
    return decide_together(act=act, suggestion_ids=[suggestion_id], holding=holding)[0]


def decline_suggestion(*, act: Act, suggestion_id: uuid.UUID) -> Suggestion:
    """Leave both facts as they are, and do not suggest this again; raises as accepting."""
    named = get_row(find_by_id(act.tenant, [suggestion_id]), "suggestion")
    holding = {fact.id for fact in facts_of(named)}
    return decide_together(act=act, suggestion_ids=[suggestion_id], holding=holding)[0]


def decide_together(
    *,
    act: Act,
    suggestion_ids: Collection[uuid.UUID],
    holding: Collection[uuid.UUID],
    merges: bool = False,
    versions: Mapping[uuid.UUID, int] = {},
) -> list[Suggestion]:
    """Decide on suggestions by which of their facts hold, in one changeset; return them.

    The other facts are retired, each superseded by the newest fact that holds: of those that it was
    suggested with, or else of all. A fact that another has followed was true until then. With
    `merges`, and for duplicates, facts that hold take over the evidence of those they supersede.
    `versions`: those that the person has seen.

    Raises:
        NotFound: the tenant lacks one of the suggestions.
        Conflict: one is no longer open, or a fact has changed.
        Problem: no reason, or nothing holds that could take over evidence.
    """
    with transaction.atomic():
        rows, ledger = lock_open(act, suggestion_ids, versions=versions)
        merges = merges or rows[0].kind == SuggestionKind.DUPLICATE
        facts = {fact.id: fact for row in rows for fact in facts_of(row)}
        held = [fact for fact in facts.values() if fact.id in holding]
        if merges and not held:
            raise Problem("Choose the fact that stays.")
        for fact in sorted(facts.values(), key=_by_time):
            if fact not in held:
                _retire(fact, rows, held, ledger, merges=merges)
        accepted = [row for row in rows if _is_accepted(row, held, merges=merges)]
        declined = [row for row in rows if row not in accepted]
        for row in declined:
            ids = (row.old_fact_id, row.new_fact_id)
            ledger.note(Change.Action.SKIP, *ids, note=Decision.DECLINED)
        decide(accepted, Decision.ACCEPTED, ledger)
        decide(declined, Decision.DECLINED, ledger)
        ledger.close()
        return rows


def _is_accepted(row: Suggestion, held: Sequence[Fact], *, merges: bool) -> bool:
    """Return whether what was suggested is done: the old fact is retired, or one of two alike."""
    retired = [fact for fact in facts_of(row) if fact not in held]
    return row.old_fact in retired or (merges and bool(retired))


def _by_time(fact: Fact) -> tuple[datetime, uuid.UUID]:
    return fact.valid_at, fact.id


def _retire(
    fact: Fact, rows: Sequence[Suggestion], held: Sequence[Fact], ledger: Ledger, *, merges: bool
) -> None:
    """Retire a fact in favor of the newest that holds, and mark the places that still state it."""
    about = [row for row in rows if fact in facts_of(row)]
    rivals = {rival for row in about for rival in facts_of(row)} - {fact}
    heir = max(rivals.intersection(held) or held, key=_by_time, default=None)
    ends = [rival.valid_at for rival in rivals if rival.valid_at > fact.valid_at]
    if heir is None:
        ends = [row.valid_until or ledger.now for row in about]
    elif merges:
        support = curation.support_of(fact)
        reinforce_fact(heir, support, ledger, Change.Action.MERGE, Decision.ACCEPTED)
    invalidate_fact(
        fact,
        ledger=ledger,
        valid_until=min([*ends, heir.valid_at] if heir else ends),
        superseded_by=heir,
        note=Decision.ACCEPTED,
    )
    if not merges:
        mark_places(fact, ledger.changeset, heir.fact if heir else "", heir=heir)


def find_by_id(tenant: Tenant, ids: Collection[uuid.UUID]) -> QuerySet[Suggestion]:
    """Return suggestions with their facts."""
    rows = Suggestion.objects.of(tenant).select_related("old_fact", "new_fact")
    return rows.filter(id__in=ids)


def lock_open(
    act: Act,
    suggestion_ids: Collection[uuid.UUID],
    *,
    erases: bool = False,
    versions: Mapping[uuid.UUID, int] = {},
) -> tuple[list[Suggestion], Ledger]:
    """Lock open suggestions with their facts, and start the changeset of a decision.

    Suggestions to erase are handled by `forgetting`.
    """
    named = find_by_id(act.tenant, suggestion_ids)
    ids = {fact.id for row in named for fact in facts_of(row)}
    if len(named) < len(set(suggestion_ids)):
        raise NotFound("There is no such suggestion.")
    if any((row.kind == SuggestionKind.ERASE) != erases for row in named):
        raise Conflict("What somebody asked to forget is decided on by a person, one by one.")
    locked = curation.lock_facts(act, list(ids), versions) if ids else []
    rows = list(named.filter(OPEN).order_by("id"))
    if not rows or len(rows) < len(named):
        raise Conflict("The suggestion is no longer open.")
    by_id: dict[uuid.UUID | None, Fact] = {fact.id: fact for _, facts in locked for fact in facts}
    for row in rows:
        row.old_fact, row.new_fact = by_id[row.old_fact_id], by_id.get(row.new_fact_id)
        row.tenant = act.tenant
    home = next((fact for fact in by_id.values() if fact.user_id), rows[0].old_fact)
    return rows, curation.open_ledger(act, home.conversation)


def decide(rows: Sequence[Suggestion], decision: Decision, ledger: Ledger) -> None:
    """Store a decision on suggestions."""
    values = {"decision": decision, "decided_by": ledger.changeset, "is_reopened": False}
    for row in rows:
        row.decision, row.decided_by, row.is_reopened = decision, ledger.changeset, False
    ids = [row.id for row in rows]
    Suggestion.objects.of(ledger.conversation.tenant).filter(id__in=ids).update(**values)
