"""Stores the suggestions of a run, and updates them when the run is reverted.

A pair of facts is suggested once: what was declined does not come back.
"""

import uuid
from collections.abc import Collection, Sequence

from django.db.models import Q

from semantic.models import Change, Changeset, Suggestion
from semantic.services import Ledger
from semantic.user_facts import list_ids_beside

SUGGESTIONS_A_RUN = 50
"""Largest number of suggestions of a run, so that none floods the review queue."""
CAP = "cap"
"""Reason and note of a limit on what one run may do."""


def create_suggestions(suggested: Sequence[Suggestion], *, ledger: Ledger) -> None:
    """Store the suggestions of a run, except pairs that were suggested before.

    The rows have kind, facts and reason. A suggestion of an undone run is used again, as this
    run's.
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
    """Withdraw suggestions of undone changesets and reopen what they decided, or the reverse.

    `undone` are the user's changesets that are now out of effect.
    """
    homes = list_ids_beside(changeset.conversation)
    rows = Suggestion.objects.of(changeset.tenant).filter(conversation__in=homes)
    for flag, field in (("is_withdrawn", "changeset__in"), ("is_reopened", "decided_by__in")):
        is_undone = Q(**{field: undone})
        rows.filter(is_undone, **{flag: False}).update(**{flag: True})
        rows.filter(~is_undone, **{flag: True}).update(**{flag: False})
