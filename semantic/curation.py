"""What curators do to facts: invalidate, restore, approve and reject them.

Each act is a changeset with its actor and reason, and so can be reverted. A fact that
was declared wrong is not derived again from the same words, until it is restored.
"""

import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction

from episodic import queries as episodic_queries
from episodic.models import Conversation
from memoryproject.edge.errors import Conflict, NotFound, Problem
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings
from semantic import queries, services
from semantic.models import Changeset, Evidence, Fact
from semantic.states import State
from semantic.user_facts import lock_homes

REASON_AT_MOST = 2_000
SENTENCE_AT_MOST = 1_000
KEYWORDS_AT_MOST = 20
KEYWORD_AT_MOST = 100
APPROVED = "approved"
REJECTED = "rejected"
"""Note of the step that rejects a pending fact; the other notes are of approving it."""


@dataclass(frozen=True, slots=True)
class Act:
    """Who changes facts, and why. The reason must not be empty."""

    tenant: Tenant
    actor: str
    reason: str
    case_id: uuid.UUID | None = None
    """The receipt of the answer that led to the act."""


def _change_all(
    change: Callable[[Fact, services.Ledger], None],
    *,
    act: Act,
    fact_ids: Sequence[uuid.UUID],
    versions: Mapping[uuid.UUID, int] = {},
) -> list[Changeset]:
    """Change facts, all or none; return a changeset for each conversation.

    `versions`: those that the person has seen, by fact; if one fact has changed since, nothing is
    done.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: one of them has changed, or is not in a state to be changed so.
        Problem: no reason, no fact, or too many.
    """
    with transaction.atomic():
        changesets = []
        for conversation, facts in lock_facts(act, fact_ids, versions):
            ledger = open_ledger(act, conversation)
            for fact in facts:
                change(fact, ledger)
            ledger.close()
            changesets.append(ledger.changeset)
        return changesets


def _invalidate(fact: Fact, ledger: services.Ledger, *, because: Fact.Because) -> None:
    if fact.invalid_at is not None:
        raise Conflict(f"Fact {fact.id} is not active.")
    services.invalidate_fact(fact, ledger=ledger, valid_until=ledger.now, because=because)
    for wing in list_wings():
        wing.on_retired(fact, ledger.changeset, "")


def _restore(fact: Fact, ledger: services.Ledger) -> None:
    if fact.invalid_at is None:
        raise Conflict(f"Fact {fact.id} is active already.")
    if fact.invalidated_because == Fact.Because.WAITING:
        raise Conflict(f"Fact {fact.id} is pending review: approve or reject it.")
    if fact.invalidated_because == Fact.Because.ERASED:
        raise Conflict(f"Fact {fact.id} was erased.")
    if fact.invalidated_because == Fact.Because.FORGOTTEN:
        raise Conflict(f"Fact {fact.id} was to be forgotten: decline the suggestion to erase it.")
    _activate(fact, ledger)


def _approve(fact: Fact, ledger: services.Ledger) -> None:
    _check_pending(fact)
    _activate(fact, ledger, note=APPROVED)


def _reject(fact: Fact, ledger: services.Ledger) -> None:
    _check_pending(fact)
    services.invalidate_fact(
        fact, ledger=ledger, valid_until=ledger.now, because=Fact.Because.WRONG, note=REJECTED
    )


def _check_pending(fact: Fact) -> None:
    if fact.invalidated_because != Fact.Because.WAITING:
        raise Conflict(f"Fact {fact.id} is not pending review.")


def _activate(fact: Fact, ledger: services.Ledger, *, note: str = "") -> None:
    same = queries.find_active(conversation=ledger.conversation, fact=fact.fact)
    if same is not None:
        raise Conflict(f"Fact {same.id} says the same and is active.")
    services.put_state(fact, State(), ledger=ledger, note=note)


def invalidate_facts(
    *,
    act: Act,
    fact_ids: Sequence[uuid.UUID],
    because: Fact.Because,
    versions: Mapping[uuid.UUID, int] = {},
) -> list[Changeset]:
    """Retire active facts; answer and errors are those of `_change_all`.

    `because` superseded: they were true until now; wrong: they never were, and the same
    words do not bring them back.
    """
    if because not in {Fact.Because.SUPERSEDED, Fact.Because.WRONG}:
        raise Problem("A fact is over or wrong.", fields={"because": ["superseded or wrong"]})
    change = partial(_invalidate, because=because)
    return _change_all(change, act=act, fact_ids=fact_ids, versions=versions)


restore_facts = partial(_change_all, _restore)
"""Restores facts; what has replaced one of them stays as it is.

Conflict: one is active, pending review or erased, or its sentence is active as another.
"""
approve_facts = partial(_change_all, _approve)
"""Approves pending facts. Conflict: one is not pending, or its sentence is active as another."""
reject_facts = partial(_change_all, _reject)
"""Rejects pending facts: the same words do not bring them back. Conflict: one is not pending."""


def check_reason(text: str) -> str:
    """Return the reason of an act, stripped; raise Problem where it has none, or a longer one."""
    reason = text.strip()
    if not reason or len(reason) > REASON_AT_MOST or "\x00" in reason:
        message = f"Say why, in at most {REASON_AT_MOST} characters."
        raise Problem(message, fields={"reason": [message]})
    return reason


def open_ledger(act: Act, conversation: Conversation, **columns: Any) -> services.Ledger:
    """Start the changeset of a person's act in a locked conversation; raise as `check_reason`."""
    own = {"actor": act.actor, "reason": check_reason(act.reason), "case_id": act.case_id}
    columns = {"kind": Changeset.Kind.CURATION, **own, **columns}
    return services.start_changeset(conversation, now=episodic_queries.database_now(), **columns)


def lock_facts(
    act: Act, fact_ids: Sequence[uuid.UUID], versions: Mapping[uuid.UUID, int] = {}
) -> list[tuple[Conversation, list[Fact]]]:
    """Lock facts and, before them, conversations and users: as every writer does.

    The conversations are those of the facts, which are returned, and those with evidence of them.

    Raises:
        NotFound: the tenant lacks one of them.
        Conflict: one has changed since it had the version that is given.
        Problem: no fact, or too many.
    """
    unique_ids = set(fact_ids)
    if not unique_ids or len(unique_ids) > settings.FACTS_AT_ONCE:
        raise Problem(f"Choose 1 to {settings.FACTS_AT_ONCE} facts.")
    rows = queries.facts_by_id(tenant=act.tenant, fact_ids=unique_ids)
    homes = dict(rows.values_list("id", "conversation_id"))
    if len(homes) != len(unique_ids):
        raise NotFound("There is no such fact.")
    evidence = Evidence.objects.of(act.tenant).filter(fact__in=unique_ids)
    others = evidence.exclude(conversation=None).values_list("conversation_id", flat=True)
    locked: dict[uuid.UUID, tuple[Conversation, list[Fact]]] = {
        conversation.id: (conversation, [])
        for conversation in lock_homes(act.tenant, {*homes.values(), *others})
    }
    for fact in rows.select_for_update():
        if versions.get(fact.id, fact.version) != fact.version:
            raise Conflict(f"Fact {fact.id} has changed meanwhile: look at it again.")
        fact.conversation, facts = locked[fact.conversation_id]
        facts.append(fact)
    return [(conversation, facts) for conversation, facts in locked.values() if facts]


def support_of(fact: Fact, *, without: Collection[tuple[uuid.UUID, int]] = ()) -> services.Support:
    """Return the evidence of a fact that counts, `without` some messages.

    Messages are named by conversation and seq. An episode of which none is left is no evidence.
    """
    rows = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    support = []
    for row in rows.select_related("episode").order_by("id"):
        home = row.conversation_id or fact.conversation_id
        seqs = [seq for seq in row.message_seqs if (home, seq) not in without]
        if seqs or not row.message_seqs:
            support.append(Evidence(episode=row.episode, message_seqs=seqs))
    return support
