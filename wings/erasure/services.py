"""Drafts, previews and requests erasures; applies retention policies; places and lifts holds."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from episodic.models import Conversation, Message
from jobs.claims import LIMITS
from jobs.enqueue import wake
from jobs.models import Job, Kind
from jobs.tasks import run_job
from memoryproject.database.clock import execute
from memoryproject.edge import deadlines
from memoryproject.edge.errors import Conflict, NotFound, Problem, get_row
from memoryproject.edge.fields import CANONICAL_UUID
from memoryproject.process.crash_points import Point, pass_point
from memoryproject.tenancy.models import Tenant
from semantic.curation import check_reason
from semantic.models import Fact
from wings.erasure import flow, parts, persons, proof, spellings, tenants
from wings.erasure.models import Erasure, Hold, Kept, RetentionPolicy, Scope, State
from wings.erasure.parts import find_due, holds_of, imports_of
from wings.notes import erasing as notes
from wings.notes.models import Note
from wings.people.models import Person

USER_ID_AT_MOST = 1_000
NO_CHOICES: Mapping[uuid.UUID, str] = {}
NAMED_BY: dict[Scope, tuple[Callable[[Tenant], QuerySet[Any]], str, str]] = {
    Scope.MESSAGE: (Message.objects.of, "message", "id"),
    Scope.NOTE: (Note.objects.of, "note", "id"),
    Scope.FACT: (Fact.objects.of, "fact", "id"),
    Scope.CONVERSATION: (Conversation.objects.of, "conversation", "external_id"),
    Scope.PERSON: (Person.objects.of, "person", "id"),
    Scope.RETENTION: (RetentionPolicy.objects.of, "policy", "id"),
    Scope.IMPORT: (imports_of, "import", "id"),
}
"""By scope: the tenant's rows, their name, and the column by which a request identifies one."""


def draft_erasure(
    *, tenant: Tenant, scope: Scope, name: str, choices: Mapping[uuid.UUID, str] = NO_CHOICES
) -> Erasure:
    """Return an unsaved erasure of the subject that `name` identifies in a scope.

    A message, a note, a person or a retention policy is identified by its id, a conversation by the
    agent's id, a user by the `user_id` of notes, an import by its changeset, and the tenant by id
    or name. `choices` say how much to erase of a person's shared conversations, by the agents' ids.

    Raises:
        NotFound: the tenant has nothing of that name.
        Problem: a name is not a UUID, where one is needed; a choice is for an unshared
            conversation.
    """
    if choices and scope is not Scope.PERSON:
        fault = "Only a person shares conversations with others."
        raise Problem("The request has errors.", fields={"shared": [fault]})
    if scope is Scope.TENANT:
        if name not in {str(tenant.id), tenant.name}:
            raise NotFound("There is no such tenant.")
        return Erasure(tenant=tenant, scope=scope, target=tenant.id)
    if scope is Scope.USER:
        if not notes.notes_about(tenant, [name]).exists():
            raise NotFound("There is no such user.")
        return Erasure(tenant=tenant, scope=scope, subject=name)
    if not CANONICAL_UUID.fullmatch(name):
        message = "This must be a UUID, 8-4-4-4-12 hexadecimal digits."
        raise Problem("The request has errors.", fields={"id": [message]})
    find_rows, what, column = NAMED_BY[scope]
    row = get_row(find_rows(tenant), what, **{column: uuid.UUID(name)})
    erasure = Erasure(tenant=tenant, scope=scope, target=row.pk)
    if scope is Scope.PERSON:
        erasure.subject = persons.draft_subject(row, choices).dump()
    return erasure


POLICIES_EVERY = timedelta(hours=1)
POLICIES_AT_ONCE = 5
POLICY_ACTOR = "retention policy"
NOTES_WAITED_FOR = 200


def preview(erasure: Erasure) -> dict[str, int]:
    """Return how many rows an unsaved erasure would delete now, by kind.

    It erases and rolls back, so the figures are exact; the conversation is locked meanwhile. For a
    tenant, an import or a policy the rows are counted instead.
    """
    if erasure.scope == Scope.TENANT:
        return dict(+tenants.count_tenant(erasure.tenant))
    if erasure.scope == Scope.IMPORT:
        return dict(+parts.count_import(erasure))
    if erasure.scope == Scope.RETENTION:
        policy = RetentionPolicy.objects.of(erasure.tenant).get(id__in=[erasure.target])
        return dict(+parts.count_due(policy))
    erasure.actor, erasure.reason = "nobody", "to see what it would do"
    with transaction.atomic():
        execute(LIMITS)
        erasure.save(force_insert=True)
        counts: Counter[str] = Counter()
        while (done := flow.erase_next(erasure)) is not None:
            counts += done.counts
            if erasure.scope not in flow.PARTS:
                break
        transaction.set_rollback(True)
    return dict(+counts)


def ask(erasure: Erasure, *, actor: str, reason: str) -> bool:
    """Save an erasure, with a job that does it unless the caller does.

    Return whether it takes long, so that a worker was told to do it.

    Raises:
        Problem: the reason is missing, too long (2,000 characters), or names the erased person.
        Conflict: some of it is on hold.
    """
    erasure.actor, erasure.reason = actor, check_reason(reason)
    if spellings.find(proof.match_subject_of(erasure), erasure.reason):
        fault = "The reason stays on record for good: it must not name whom it erases."
        raise Problem("The request has errors.", fields={"reason": [fault]})
    check_holds(erasure)
    with transaction.atomic():
        job = Job.objects.create(tenant=erasure.tenant, kind=Kind.ERASE, scope=erasure.id)
        erasure.job_id = job.id
        erasure.save(force_insert=True)
        takes_long = is_large(erasure)
        if takes_long:
            wake(job.id)
    pass_point(Point.ERASURE_ASKED)
    return takes_long


def do(erasure: Erasure, *, actor: str, reason: str) -> None:
    """Save an erasure and do it, or leave it to a worker if it would take long; see `state`."""
    if not ask(erasure, actor=actor, reason=reason):
        run_job(str(erasure.job_id))
        # It is on record now: who waited too long is told that it runs, not that nothing was done.
        with deadlines.outlasting():
            erasure.refresh_from_db()


def erase_forgotten(tenant: Tenant, fact_id: uuid.UUID, actor: str, reason: str) -> None:
    """Erase a fact that a user asked to forget, with its messages; raises as `ask`."""
    do(Erasure(tenant=tenant, scope=Scope.FACT, target=fact_id), actor=actor, reason=reason)


def is_large(erasure: Erasure) -> bool:
    """Return whether an erasure is too large to wait for."""
    scope, tenant, limit = erasure.scope, erasure.tenant, settings.ERASURE_WAITS_FOR_MESSAGES
    if scope in {Scope.TENANT, Scope.RETENTION}:
        return True
    if scope == Scope.PERSON:
        return persons.is_large_person(erasure)
    if scope == Scope.IMPORT:
        return bool(parts.count_import(erasure).total() > limit)
    if scope == Scope.USER:
        about = notes.notes_about(tenant, [erasure.subject])
        return about[: NOTES_WAITED_FOR + 1].count() > NOTES_WAITED_FOR
    rows = Message.objects.of(tenant).filter(conversation=erasure.target).order_by()
    return scope == Scope.CONVERSATION and rows[: limit + 1].count() > limit


def check_policy(policy: RetentionPolicy) -> None:
    """Raise Problem if an unsaved policy has no condition, or one that fits no row."""
    conditions = (policy.older_than_days, policy.unserved_days, policy.keep_newest)
    limits = [limit for limit in conditions if limit is not None]
    if not limits or min(limits) < 1:
        raise Problem("Say what is no longer kept, in whole numbers from 1.")
    if policy.source_type and policy.kind != Kept.NOTE:
        raise Problem("Only notes have a source type.")


def apply_policies(*, at_most: int) -> None:
    """Start an erasure for each policy not checked for an hour that has something due."""
    running = Erasure.across_tenants.filter(
        tenant=OuterRef("tenant"), scope=Scope.RETENTION, target=OuterRef("pk"), state=State.RUNNING
    )
    stale = Q(looked_at=None) | Q(looked_at__lt=Now() - POLICIES_EVERY)
    policies = RetentionPolicy.across_tenants.filter(stale, ~Exists(running))
    oldest = policies.select_related("tenant").order_by("id")
    for policy in oldest[: min(at_most, POLICIES_AT_ONCE)]:
        RetentionPolicy.objects.of(policy.tenant).filter(id=policy.id).update(looked_at=Now())
        if find_due(policy).exists():
            erasure = Erasure(tenant=policy.tenant, scope=Scope.RETENTION, target=policy.id)
            ask(erasure, actor=POLICY_ACTOR, reason=f"Policy: {policy}.")


def place_hold(
    *, tenant: Tenant, conversation_id: uuid.UUID | None, actor: str, reason: str
) -> Hold:
    """Protect a conversation, or with None the whole tenant, from erasure."""
    return Hold.objects.create(
        tenant=tenant, conversation_id=conversation_id, actor=actor, reason=check_reason(reason)
    )


def lift_hold(*, tenant: Tenant, hold_id: uuid.UUID, actor: str) -> None:
    """End a hold; raise NotFound if there is no active one of that id. Its row stays."""
    if not holds_of(tenant).filter(id=hold_id).update(lifted_at=Now(), lifted_by=actor[:200]):
        raise NotFound("There is no such hold.")


def check_holds(erasure: Erasure) -> None:
    """Raise Conflict if some of what an unsaved erasure names is on hold."""
    held = holds_of(erasure.tenant)
    if erasure.scope == Scope.RETENTION:
        return  # a policy skips rows on hold
    if erasure.scope not in {Scope.TENANT, Scope.IMPORT}:
        held = held.filter(Q(conversation_id=None) | Q(conversation_id__in=_homes_of(erasure)))
    if held.exists():
        raise Conflict("It is on hold, or something of it: nothing was erased.")


def _homes_of(erasure: Erasure) -> list[uuid.UUID | None]:
    """Return the conversations of which something would be erased."""
    tenant, target = erasure.tenant, erasure.target
    if erasure.scope == Scope.CONVERSATION:
        return [target]
    if erasure.scope == Scope.PERSON:
        theirs = persons.rows_of_person(erasure)
        homes = {"conversations": "id", "messages": "conversation_id", "notes": "conversation_id"}
        rows_of = (theirs[kind].order_by().values_list(home) for kind, home in homes.items())
        return [home for rows in rows_of for (home,) in rows.distinct()]
    rows: QuerySet[Any] = Note.objects.of(tenant).filter(id__in=[target])
    if erasure.scope == Scope.MESSAGE:
        rows = Message.objects.of(tenant).filter(id__in=[target])
    if erasure.scope == Scope.FACT:
        rows = Fact.objects.of(tenant).filter(id__in=[target])
    if erasure.scope == Scope.USER:
        rows = notes.notes_about(tenant, [erasure.subject])
    return list(rows.values_list("conversation_id", flat=True))
