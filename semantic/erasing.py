"""Erases facts and evidence, inside the transaction of one erasure, under `user_facts.lock_home`.

Facts from an episode with an erased message are deleted: each fact worded from it, each that only
it supports, and their later replacements, since these may keep the old words. Facts are extracted
again from the other episodes behind them. A fact worded elsewhere stays, and loses that evidence. A
fact with evidence from another conversation of the user is deleted with its own conversation, and
extracted again from the other one.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from episodic.models import Conversation, Message
from memoryproject.database.batches import delete_rows, in_batches, lock_rows
from memoryproject.database.clock import execute, read_database_clock
from memoryproject.tenancy.models import Tenant
from semantic.copies import place_copies
from semantic.models import (
    Change,
    Changeset,
    CorrectionMark,
    Evidence,
    Fact,
    Suggestion,
    Triage,
)
from semantic.services import Ledger, put_state, start_changeset
from semantic.states import State, read_state
from semantic.user_facts import facts_beside, list_ids_beside

ERASED = "erased"
"""Note of the steps of an erasure."""


@dataclass(frozen=True, slots=True)
class Tainted:
    """Facts to erase, and other episodes from which facts must be extracted again.

    `bereft` are facts that stay but lose evidence.
    """

    fact_ids: list[uuid.UUID]
    redrawn: list[uuid.UUID]
    bereft: list[uuid.UUID]


def facts_of(conversation: Conversation) -> list[uuid.UUID]:
    """Return the ids of all facts of a conversation, active or not."""
    rows = Fact.objects.within(conversation)
    return list(rows.order_by("id").values_list("id", flat=True))


def messages_forgotten_with(*, tenant: Tenant, fact_id: uuid.UUID) -> QuerySet[Message]:
    """Return the messages quarantined because somebody asked to forget a fact."""
    requests = Suggestion.objects.of(tenant).filter(old_fact=fact_id)
    quarantines = requests.filter(withholding__lifted_at=None)
    ids = quarantines.exclude(withholding=None).values_list("withholding__message_ids", flat=True)
    messages = Message.objects.of(tenant).filter(id__in=[one for some in ids for one in some or ()])
    return messages.order_by("conversation_id", "id")


def lock_all(conversation: Conversation, *, episode_ids: Sequence[uuid.UUID]) -> Tainted:
    """Lock and return what is erased with a whole conversation: its facts and their replacements.

    `episode_ids` are all of its episodes. Without a user it shares no facts, so nothing is locked.
    """
    own = facts_of(conversation)
    if not conversation.user_id:
        return Tainted(own, [], [])
    tainted = lock_replacing(tenant=conversation.tenant, fact_ids=own)
    evidence = Evidence.objects.of(conversation.tenant).filter(episode__in=list(episode_ids))
    bereft = set(evidence.values_list("fact_id", flat=True)) - set(tainted.fact_ids)
    redrawn = set(tainted.redrawn) - set(episode_ids)
    return Tainted(tainted.fact_ids, sorted(redrawn), sorted(bereft))


def lock_tainted(*, tenant: Tenant, episode_ids: Sequence[uuid.UUID]) -> Tainted:
    """Return what is erased with the episodes made from an erased message, locked."""
    evidence = Evidence.objects.of(tenant).filter(episode__in=list(episode_ids))
    others = Evidence.objects.of(tenant).filter(
        fact=OuterRef("fact"), withdrawn_by=None, conversation=None
    )
    is_alone = ~Exists(others.exclude(episode__in=list(episode_ids)))
    going = evidence.filter(Q(changeset=F("fact__changeset")) | is_alone, conversation=None)
    tainted = lock_replacing(tenant=tenant, fact_ids=going.values_list("fact_id", flat=True))
    redrawn = set(tainted.redrawn) - set(episode_ids)
    bereft = set(evidence.values_list("fact_id", flat=True)) - set(tainted.fact_ids)
    return Tainted(tainted.fact_ids, sorted(redrawn), sorted(bereft))


def lock_replacing(*, tenant: Tenant, fact_ids: Iterable[uuid.UUID]) -> Tainted:
    """Return facts with all their later replacements, locked, and the episodes behind them."""
    tainted_ids, fresh = set(fact_ids), set(fact_ids)
    replacing = Change.objects.of(tenant).filter(action=Change.Action.UPDATE)
    while fresh:
        newer = replacing.filter(other_memory_id__in=fresh).values_list("memory_id", flat=True)
        fresh = set(filter(None, newer)) - tainted_ids
        tainted_ids |= fresh
    lock_rows(Fact.objects.of(tenant), sorted(tainted_ids))
    behind = Evidence.objects.of(tenant).filter(fact__in=tainted_ids)
    redrawn = set(behind.values_list("episode_id", flat=True))
    return Tainted(sorted(tainted_ids), sorted(redrawn), [])


def note_erased(
    conversation: Conversation, *, fact_ids: Sequence[uuid.UUID], actor: str
) -> list[uuid.UUID]:
    """Record the erased facts as a changeset, and restore facts that only they had retired.

    Comes before `erase_facts`. Returns the facts that are restored.
    """
    if not fact_ids:
        return []
    ledger = start_changeset(
        conversation, now=read_database_clock(), kind=Changeset.Kind.ERASURE, actor=actor
    )
    rows = Fact.objects.of(conversation.tenant)
    for fact in rows.filter(id__in=list(fact_ids)).order_by("id"):
        pair = (read_state(fact), State(Fact.Because.ERASED, fact.valid_until))
        ledger.note(Change.Action.INVALIDATE, fact.id, note=ERASED, states={fact.id: pair})
    reopened = _reopen(conversation, fact_ids, ledger)
    ledger.close()
    return reopened


def note_erased_elsewhere(
    conversation: Conversation, *, fact_ids: Sequence[uuid.UUID], actor: str
) -> list[uuid.UUID]:
    """Do as `note_erased` for other conversations' facts when a whole one goes.

    `fact_ids` are all facts to erase. If no other conversation loses or regains a fact, nothing is
    written.
    """
    facts, own = Fact.objects.of(conversation.tenant), Q(conversation=conversation)
    others = facts.filter(id__in=list(fact_ids)).exclude(own).order_by("id")
    ended = _find_ended(conversation, fact_ids).exclude(own)
    if not (others.exists() or ended.exists()):
        return []
    return note_erased(conversation, fact_ids=list(fact_ids), actor=actor)


def _reopen(
    conversation: Conversation, fact_ids: Sequence[uuid.UUID], ledger: Ledger
) -> list[uuid.UUID]:
    """Restore the facts that nothing replaces any longer.

    Left out: facts that a person declared wrong, and sentences of other active facts.
    """
    facts, going = Fact.objects.of(conversation.tenant), set(fact_ids)
    reopened = []
    for fact in _find_ended(conversation, fact_ids).select_for_update().order_by("id"):
        same = facts.filter(
            conversation=fact.conversation_id, content_hash=fact.content_hash, invalid_at=None
        ).first()
        if same is not None and same.id not in going:
            continue
        if same is not None:  # erased in this transaction, so its sentence is freed first
            facts.filter(id=same.id).update(
                invalid_at=ledger.now, invalidated_because=Fact.Because.ERASED
            )
        put_state(fact, State(), ledger=ledger, note=ERASED)
        reopened.append(fact.id)
    return reopened


def _find_ended(conversation: Conversation, fact_ids: Sequence[uuid.UUID]) -> QuerySet[Fact]:
    """Return the remaining facts that only these facts had retired."""
    ended = facts_beside(conversation).filter(
        superseded_by__in=list(fact_ids), invalidated_because=Fact.Because.SUPERSEDED
    )
    return ended.exclude(id__in=list(fact_ids))


def erase_acts(conversation: Conversation) -> None:
    """Delete what changesets of a conversation to be erased left on facts of other conversations.

    That is evidence, suggestions and marks that refer to the changesets.
    """
    tenant = conversation.tenant
    acts = Changeset.objects.of(tenant).filter(conversation=conversation).values("id")
    by_them = Q(changeset__in=acts)
    evidence = Evidence.objects.of(tenant).filter(by_them | Q(withdrawn_by__in=acts))
    fact_ids = set(evidence.values_list("fact_id", flat=True))
    evidence.delete()
    place_copies(tenant, fact_ids)
    Suggestion.objects.of(tenant).filter(by_them | Q(decided_by__in=acts)).delete()
    CorrectionMark.objects.of(tenant).filter(by_them).delete()


def erase_facts(
    *, tenant: Tenant, fact_ids: Sequence[uuid.UUID], episode_ids: Sequence[uuid.UUID]
) -> Counter[str]:
    """Delete facts with evidence and suggestions, and the evidence that episodes give.

    Facts that these had replaced stay closed. Returns how many facts and rows of evidence there
    were.
    """
    evidence = Evidence.objects.of(tenant)
    counts = Counter(evidence=delete_rows(evidence, "fact__in", fact_ids))
    counts["evidence"] += delete_rows(evidence, "episode__in", episode_ids)
    for ids in in_batches(fact_ids):
        of_them = Q(old_fact__in=ids) | Q(new_fact__in=ids)
        Suggestion.objects.of(tenant).filter(of_them).delete()
        Triage.objects.of(tenant).filter(fact__in=ids).delete()
        replaced = Fact.objects.of(tenant).filter(superseded_by__in=ids)
        replaced.update(superseded_by=None)
    counts["facts"] = delete_rows(Fact.objects.of(tenant), "id__in", fact_ids)
    return counts


def forget_reasons(
    *, conversation: Conversation, fact_ids: Sequence[uuid.UUID] | None = None
) -> None:
    """Clear the reasons and comments that people gave for changes: they may quote erased text.

    They are those of the conversation's changesets, or of its user's that touched the facts.
    Who made a change, and when, is kept. The tables are append-only; a database function may change
    them only while an erasure of this tenant is on record and running.
    """
    tenant = conversation.tenant
    triage = Triage.objects.of(tenant).filter(conversation=conversation)
    (triage if fact_ids is None else triage.filter(fact__in=list(fact_ids))).update(comment="")
    changesets = Changeset.objects.of(tenant).exclude(reason="")
    if fact_ids is None:
        changesets = changesets.filter(conversation=conversation)
    else:
        changesets = changesets.filter(conversation__in=list_ids_beside(conversation))
        of_them = Q(memory_id__in=list(fact_ids)) | Q(other_memory_id__in=list(fact_ids))
        touching = Change.objects.of(tenant).filter(of_them)
        changesets = changesets.filter(id__in=touching.values("changeset_id"))
    ids = list(changesets.values_list("id", flat=True))
    execute("SELECT public.memory_forget_reasons(%s, %s)", [tenant.id, ids])
