"""Finds who may be the same person as somebody: by a word of the name, or by who speaks alone."""

import re
from collections.abc import Iterable, Iterator

from django.db.models import Exists, OuterRef, Q

from episodic.models import Conversation, Message, Role
from memoryproject.tenancy.models import Tenant
from wings.people.models import Alias, Merge, Person
from wings.people.queries import Identity, Known, find_known, is_said_by

AT_MOST, LOOKED_AT = 6, 60
"""Numbers of people returned, and of those with the first word of the name that are looked at."""
WORD = re.compile(r"[^\W\d_]{3,}")
LIKE, ALONE = "a name like theirs", "alone in the same conversations"


def find_same(tenant: Tenant, identity: Identity, name: str) -> list[tuple[Known, str]]:
    """Return who may be the same person, each with the reason.

    People merged with them before, even if that was undone, or into others are left out.
    """
    found: dict[object, tuple[Known, str]] = {}
    for one, why in _find_candidates(tenant, identity, name):
        found.setdefault(one.person_id or (one.kind, one.name), (one, why))
    ids, own = [one.person_id for one, _ in found.values() if one.person_id], identity.person_ids
    merges = Merge.objects.of(tenant).filter(
        Q(person__in=ids, undone_at=None)
        | Q(person__in=ids, into__in=own)
        | Q(person__in=own, into__in=ids)
    )
    pairs = list(merges.values_list("person", "into"))
    left_out = {*own, *(person for person, _ in pairs)}
    left_out |= {into for person, into in pairs if person in own}
    names = {*identity.user_ids, *identity.speakers}
    others = [
        (one, why)
        for one, why in found.values()
        if one.person_id not in left_out and (one.person_id or one.name not in names)
    ]
    return others[:AT_MOST]


def find_pairs(known: Iterable[Known]) -> list[tuple[Known, Known]]:
    """Return user ids and, for each, who alone speaks in its conversations; none has a person."""
    named = {(one.tenant, one.kind, one.name): one for one in known if one.person_id is None}
    users = [one for one in named.values() if one.kind == Alias.Kind.USER][:AT_MOST]
    found = ((user, *pair) for user in users for pair in _find_alone(user.tenant, user.identity))
    speaker = Alias.Kind.SPEAKER
    return [
        (user, named[user.tenant, kind, name])
        for user, kind, name in found
        if kind == speaker and (user.tenant, kind, name) in named
    ]


def _find_candidates(tenant: Tenant, identity: Identity, name: str) -> Iterator[tuple[Known, str]]:
    names = _find_alone(tenant, identity)
    aliases = Alias.objects.of(tenant).filter(value__in=[value for _, value in names])
    taken = {(alias.kind, alias.value): alias.person_id for alias in aliases}
    people = Person.objects.of(tenant).in_bulk(set(taken.values()))
    for kind, value in names:
        person = people.get(taken.get((kind, value)))
        if person is not None:
            yield Known(tenant, person.name, person_id=person.id), ALONE
        else:
            yield Known(tenant, value, kind), ALONE
    words = _find_words(name)
    for one in find_known(tenant.id, words[0], at_most=LOOKED_AT) if words else ():
        if words[0] in _find_words(one.name):
            yield one, LIKE


def _find_alone(tenant: Tenant, identity: Identity) -> list[tuple[str, str]]:
    """Return kind and name of the only other speaker under a person's user ids, and of users.

    Those are the users in whose conversations only this person speaks.
    """
    said = Message.objects.of(tenant).filter(role=Role.USER).order_by()
    owned = Conversation.objects.of(tenant).exclude(user_id="").order_by()
    theirs = owned.filter(user_id__in=identity.user_ids)
    strangers = said.filter(conversation__in=theirs.values("id")).exclude(is_said_by(identity))
    speakers = list(strangers.exclude(name="").values_list("name").distinct()[:2])
    others = said.filter(conversation=OuterRef("pk")).exclude(name__in=identity.speakers)
    spoke = said.filter(name__in=identity.speakers).values("conversation")
    alone = owned.filter(~Exists(others), id__in=spoke).exclude(user_id__in=identity.user_ids)
    users = alone.values_list("user_id").distinct()[:AT_MOST]
    return [
        *((Alias.Kind.SPEAKER.value, row[0]) for row in speakers if len(speakers) == 1),
        *((Alias.Kind.USER.value, row[0]) for row in users),
    ]


def _find_words(name: str) -> list[str]:
    return WORD.findall(name.casefold())
