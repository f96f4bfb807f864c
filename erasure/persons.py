"""Erases a person, part by part: what they said and what is known of them, anywhere.

Their conversations go, then notes about them, then what they said in other conversations, and
at last their names and ids. A person who was merged into them goes with them.
"""

import uuid

from django.conf import settings

from episodic.models import Message
from erasure import acts
from erasure.models import Erasure
from notes import erasing as notes
from people import queries, services
from people.models import Person
from people.queries import Identity


def erase_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next part of what is a person's; None: there is none any more."""
    tenant = erasure.tenant
    person = Person.objects.of(tenant).filter(id__in=[erasure.target]).first()
    if person is None:
        return None
    identity = queries.find_identity(person)
    homes = queries.conversations_of(tenant, identity).order_by("id")
    home = homes.values_list("id", flat=True).first()
    if home is not None:
        return acts.erase_conversation(tenant=tenant, conversation_id=home)
    note_ids = _find_notes(erasure, identity)
    if note_ids:
        return acts.erase_notes(tenant=tenant, note_ids=note_ids)
    said = Message.objects.of(tenant).filter(name__in=identity.speakers)
    done = acts.erase_some_messages(said.order_by("id"), erasure)
    if not done.counts:
        erased = services.erase_people(tenant=tenant, person_ids=identity.person_ids)
        done.counts["people"] += erased
    return done


def is_large(erasure: Erasure) -> bool:
    """Return whether nobody should wait for the erasure of a person."""
    person = Person.objects.of(erasure.tenant).get(id__in=[erasure.target])
    belongings = queries.list_belongings(erasure.tenant, queries.find_identity(person))
    large: int = settings.ERASURE_WAITS_FOR_MESSAGES
    rows = (belongings["messages"], belongings["notes"])
    return sum(some.order_by()[: large + 1].count() for some in rows) > large


def _find_notes(erasure: Erasure, identity: Identity) -> list[uuid.UUID]:
    """Return some notes that are, or once were, about one of the user ids."""
    at_most = settings.ERASED_NOTES_AT_ONCE
    for user_id in identity.user_ids:
        found = notes.notes_of_user(tenant=erasure.tenant, user_id=user_id, at_most=at_most)
        if found:
            return found
    return []
