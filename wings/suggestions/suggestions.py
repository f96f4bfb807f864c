"""Finds, accepts and declines suggested contradictions and duplicates.

A curator's decision is a changeset with its actor and reason, and so can be reverted.
"""

import uuid

from django.db import transaction
from django.db.models import Q, QuerySet

from memoryproject.edge.errors import Conflict, get_row
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

    Without those about pending facts. Uses index: semantic_suggestion_undecided.
    """
    rows = Suggestion.objects.of(tenant).select_related("old_fact", "new_fact", "conversation")
    if is_open:
        return rows.filter(OPEN)
    waiting = Fact.Because.WAITING
    visible = rows.exclude(old_fact__invalidated_because=waiting)
    return visible.exclude(new_fact__invalidated_because=waiting).exclude(OPEN)


def accept_suggestion(*, act: Act, suggestion_id: uuid.UUID, merges: bool = False) -> Suggestion:
    """Close a fact as superseded: the old one, or the shorter of two duplicates.

    The other duplicate takes over its evidence; with `merges` any two facts count as duplicates.

    Raises:
        NotFound: the tenant has no such suggestion.
        Conflict: it is no longer open.
        Problem: no reason.
    """
    with transaction.atomic():
        suggestion, ledger = lock_open(act, suggestion_id)
        old, new = suggestion.old_fact, suggestion.new_fact
        merges = merges or suggestion.kind == SuggestionKind.DUPLICATE
        if new is not None and merges:
            old, new = sorted((old, new), key=lambda fact: len(fact.fact))
            support = curation.support_of(old)
            reinforce_fact(new, support, ledger, Change.Action.MERGE, Decision.ACCEPTED)
        invalidate_fact(
            old,
            ledger=ledger,
            valid_until=new.valid_at if new else suggestion.valid_until or ledger.now,
            superseded_by=new,
            note=Decision.ACCEPTED,
        )
        if not merges:
            mark_places(old, ledger.changeset, new.fact if new else "")
        return decide(suggestion, Decision.ACCEPTED, ledger)


def decline_suggestion(*, act: Act, suggestion_id: uuid.UUID) -> Suggestion:
    """Leave both facts as they are, and do not suggest this again; raises as accepting."""
    with transaction.atomic():
        suggestion, ledger = lock_open(act, suggestion_id)
        pair = (suggestion.old_fact_id, suggestion.new_fact_id)
        ledger.note(Change.Action.SKIP, *pair, note=Decision.DECLINED)
        return decide(suggestion, Decision.DECLINED, ledger)


def lock_open(
    act: Act, suggestion_id: uuid.UUID, *, erases: bool = False
) -> tuple[Suggestion, Ledger]:
    """Lock an open suggestion with its facts, and start the changeset of a decision.

    Suggestions to erase are handled by `forgetting`.
    """
    rows = Suggestion.objects.of(act.tenant).filter(id=suggestion_id)
    named = get_row(rows, "suggestion")
    if (named.kind == SuggestionKind.ERASE) != erases:
        raise Conflict("What somebody asked to forget is decided on by a person, one by one.")
    ids = (named.old_fact_id, named.new_fact_id)
    locked = curation.lock_facts(act, list(filter(None, ids)))
    suggestion = rows.filter(OPEN).first()
    if suggestion is None:
        raise Conflict("The suggestion is no longer open.")
    by_id: dict[uuid.UUID | None, Fact] = {fact.id: fact for _, facts in locked for fact in facts}
    suggestion.old_fact, suggestion.new_fact = by_id[ids[0]], by_id.get(ids[1])
    suggestion.tenant = act.tenant
    return suggestion, curation.open_ledger(act, suggestion.old_fact.conversation)


def decide(suggestion: Suggestion, decision: Decision, ledger: Ledger) -> Suggestion:
    suggestion.decision, suggestion.decided_by = decision, ledger.changeset
    suggestion.is_reopened = False
    suggestion.save(update_fields=["decision", "decided_by", "is_reopened"])
    ledger.close()
    return suggestion
