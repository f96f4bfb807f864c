"""Stores what a run suggests, and follows what becomes of the run.

A pair of facts is suggested once: what was declined does not come back.
"""

import uuid
from collections.abc import Collection, Sequence

from django.db.models import Q

from semantic.models import Change, Changeset, Suggestion
from semantic.services import Ledger
from semantic.user_facts import list_ids_beside

SUGGESTIONS_A_RUN = 50
"""Suggestions of a run; more are left out, so that no run floods the review queue."""
CAP = "cap"
"""Reason and note of what one run may not do more often."""


def create_suggestions(suggested: Sequence[Suggestion], *, ledger: Ledger) -> None:
    """Store what a run suggests, but for pairs that were suggested before, either way round.

    The rows have kind, facts and reason. What an undone run had suggested counts again, as
    this run's.
    """
    tenant = ledger.changeset.tenant
    ids = {fact_id for new in suggested for fact_id in (new.old_fact_id, new.new_fact_id)}
    rows = Suggestion.objects.of(tenant).filter(old_fact__in=ids)
    known = {_name_pair(row): row for row in rows}
    count = 0
    for new in suggested:
        row = known.setdefault(_name_pair(new), new)
        if row.changeset_id is not None and not row.is_withdrawn:
            continue
        if count == SUGGESTIONS_A_RUN:
            ledger.note(Change.Action.SKIP, note=CAP)
            break
        count += 1
        row.tenant, row.conversation = tenant, ledger.conversation
        row.changeset, row.is_withdrawn = ledger.changeset, False
        row.save()
        pair = (new.old_fact_id, new.new_fact_id)
        ledger.note(Change.Action.SUGGEST, *pair, note=new.reason)


def _name_pair(row: Suggestion) -> tuple[str, frozenset[uuid.UUID | None]]:
    return row.kind, frozenset({row.old_fact_id, row.new_fact_id})


def follow_revert(changeset: Changeset, *, undone: Collection[uuid.UUID]) -> None:
    """Withdraw what undone changesets suggested and reopen what they decided, or the reverse.

    `undone` are the changesets of the user's conversations that are out of effect from now on.
    """
    homes = list_ids_beside(changeset.conversation)
    rows = Suggestion.objects.of(changeset.tenant).filter(conversation__in=homes)
    for flag, field in (("is_withdrawn", "changeset__in"), ("is_reopened", "decided_by__in")):
        is_undone = Q(**{field: undone})
        rows.filter(is_undone, **{flag: False}).update(**{flag: True})
        rows.filter(~is_undone, **{flag: True}).update(**{flag: False})
