"""Finds people, and all that the tenant has of one of them. Every query names its tenant."""

import uuid
from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, Q, QuerySet

from episodic.models import Conversation, Episode, Message
from memoryproject.tenancy.models import Tenant
from notes.models import Note
from people.models import Alias, Merge, Person
from retrieval.models import Retrieval, RetrievalHit
from semantic.beliefs import IsOneOf
from semantic.models import Evidence, Fact


class Identity(NamedTuple):
    """Under which names and ids a person is known, those of merged people included."""

    person_ids: tuple[uuid.UUID, ...]
    """The person first."""
    user_ids: tuple[str, ...]
    speakers: tuple[str, ...]


def find_identity(person: Person) -> Identity:
    """Return who a person is, with all who were merged into them: a query a generation."""
    merges = Merge.objects.of(person.tenant).filter(undone_at=None)
    person_ids, newest = [person.id], [person.id]
    while newest:
        found = merges.filter(into__in=newest).order_by("person_id")
        newest = list(found.values_list("person_id", flat=True))
        person_ids += newest
    aliases = Alias.objects.of(person.tenant).filter(person__in=person_ids).order_by("value")
    return Identity(
        person_ids=tuple(person_ids),
        user_ids=tuple(alias.value for alias in aliases if alias.kind == Alias.Kind.USER),
        speakers=tuple(alias.value for alias in aliases if alias.kind == Alias.Kind.SPEAKER),
    )


def find_merge(person: Person) -> Merge | None:
    """Return the merge that makes a person another one; None: there is none that holds."""
    rows = Merge.objects.of(person.tenant).filter(person=person, undone_at=None)
    return rows.select_related("into").first()


def conversations_of(tenant: Tenant, identity: Identity) -> QuerySet[Conversation]:
    """Return the conversations of a person. Uses index: episodic_conversation_by_user."""
    named = ~Q(user_id="")  # as the index has it
    return Conversation.objects.of(tenant).filter(named, user_id__in=identity.user_ids)


def list_belongings(tenant: Tenant, identity: Identity) -> dict[str, QuerySet[Any]]:
    """Return by kind, in no order, what is a person's: theirs is a conversation with all in it.

    Of other conversations what they said under their names, the episodes with it, and the
    facts that it supports. `answers` are receipts: asked in their conversations, or having
    served one of these facts or episodes.
    """
    homes = Q(conversation__in=conversations_of(tenant, identity))
    said = Message.objects.of(tenant).filter(name__in=identity.speakers)
    is_evidence = IsOneOf("seq", OuterRef("message_seqs"))
    behind = Exists(said.filter(is_evidence, episode=OuterRef("episode")))
    supported = Evidence.objects.of(tenant).filter(behind, withdrawn_by=None).values("fact")
    facts = Fact.objects.of(tenant).filter(homes | Q(id__in=supported))
    episodes = Episode.objects.of(tenant).filter(
        homes | Q(id__in=said.exclude(episode=None).values("episode")), withheld_by=None
    )
    hits = RetrievalHit.objects.of(tenant)
    serving = hits.filter(
        Q(memory_id__in=facts.values("id")) | Q(memory_id__in=episodes.values("id"))
    )
    return {
        "conversations": conversations_of(tenant, identity),
        "messages": Message.objects.of(tenant).filter(homes | Q(name__in=identity.speakers)),
        "episodes": episodes,
        "facts": facts.exclude(invalidated_because=Fact.Because.WAITING),
        "notes": Note.objects.of(tenant).filter(Note.of_users(identity.user_ids), deleted_at=None),
        "answers": Retrieval.objects.of(tenant).filter(
            homes | Q(id__in=serving.values("retrieval"))
        ),
    }
