"""Adds and erases people, merges two into one, and undoes merges."""

import uuid
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Q

from memoryproject.edge.errors import Conflict, get_row
from memoryproject.tenancy.models import Tenant
from semantic.curation import check_reason
from wings.people import queries
from wings.people.models import Alias, Merge, Person


def get_person(*, tenant: Tenant, person_id: uuid.UUID) -> Person:
    return get_row(Person.objects.of(tenant), "person", id=person_id)


def add_person(
    *, tenant: Tenant, name: str, user_ids: Iterable[str], speakers: Iterable[str]
) -> Person:
    """Add a person; raise Conflict if a name or id is another person's."""
    named = {Alias.Kind.USER: user_ids, Alias.Kind.SPEAKER: speakers}
    try:
        with transaction.atomic():
            person = Person.objects.create(tenant=tenant, name=name)
            Alias.objects.bulk_create(
                Alias(tenant=tenant, person=person, kind=kind, value=value)
                for kind, values in named.items()
                for value in dict.fromkeys(values)
            )
    except IntegrityError:
        raise Conflict("One of these names or ids is another person's; merge the two.") from None
    return person


def merge(
    *, tenant: Tenant, person_id: uuid.UUID, into_id: uuid.UUID, actor: str, reason: str
) -> Person:
    """Merge a person into another; return the other.

    Raises:
        NotFound: the tenant has no such person.
        Conflict: they are merged already, or one of them is merged into somebody else.
        Problem: no reason, or one of more than 2,000 characters.
    """
    reason = check_reason(reason)
    with transaction.atomic():
        person, into = _lock(tenant, person_id, into_id)
        if person.id == into.id:
            raise Conflict("This is one and the same person.")
        if queries.find_merge(person) or queries.find_merge(into):
            raise Conflict("One of them was merged into another person; name that one.")
        Merge.objects.create(tenant=tenant, person=person, into=into, actor=actor, reason=reason)
    return into


def undo_merge(
    *, tenant: Tenant, person_id: uuid.UUID, actor: str, reason: str, now: datetime
) -> Person:
    """Undo the merge of a person into another; return the person.

    Raises:
        NotFound: the tenant has no such person.
        Conflict: the person is not merged.
        Problem: no reason, or one of more than 2,000 characters.
    """
    reason = check_reason(reason)
    with transaction.atomic():
        (person,) = _lock(tenant, person_id)
        merge = queries.find_merge(person)
        if merge is None:
            raise Conflict("This person was merged into nobody.")
        merge.undone_at, merge.undone_by, merge.undone_because = now, actor, reason
        merge.save(update_fields=["undone_at", "undone_by", "undone_because"])
    return person


def _lock(tenant: Tenant, *person_ids: uuid.UUID) -> Sequence[Person]:
    """Lock people until the transaction ends; return them in the order of the ids."""
    rows = Person.objects.of(tenant).filter(id__in=person_ids).order_by("id")
    by_id = {person.id: person for person in rows.select_for_update()}
    return [by_id.get(id_) or get_person(tenant=tenant, person_id=id_) for id_ in person_ids]


def erase_people(*, tenant: Tenant, person_ids: Sequence[uuid.UUID]) -> int:
    either = Q(person__in=person_ids) | Q(into__in=person_ids)
    Merge.objects.of(tenant).filter(either).delete()
    Alias.objects.of(tenant).filter(person__in=person_ids).delete()
    return Person.objects.of(tenant).filter(id__in=person_ids).delete()[0]
