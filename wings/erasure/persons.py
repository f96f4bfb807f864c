"""Erases a person in parts, each a transaction; stores names and ids only until it is done.

First their conversations are erased, including those in which nobody else speaks, then notes about
them, then what was said to and by them in shared conversations, and finally their names and ids,
including all people merged into them.
"""

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from django.conf import settings
from django.db.models import QuerySet, TextChoices

from episodic.models import Conversation, Message
from memoryproject.database.clock import read_database_clock
from memoryproject.edge.errors import Problem
from memoryproject.tenancy import erasing as tenancy
from wings.erasure import acts, other_rows, receipts
from wings.erasure.models import Erasure, Scope
from wings.notes import erasing as notes
from wings.people import queries, services
from wings.people.models import Person

PRESENCES_AT_MOST = 200
"""Number of conversations that a dry run lists."""


class Choice(TextChoices):
    """How much is erased of a conversation that a person shares with others."""

    WORDS = "words", "only what they said"
    REPLIES = "replies", "what they said, and what the assistant said to them"
    ALL = "all", "the whole conversation, with what others said in it"


DEFAULT = Choice.REPLIES


@dataclass(frozen=True, slots=True)
class Subject:
    """Who is erased, with the choices; an erasure stores it only until it is done."""

    names: list[str] = field(default_factory=list)
    """Names of the person, under which messages are posted."""
    user_ids: list[str] = field(default_factory=list)
    choices: dict[str, str] = field(default_factory=dict)
    """Choice for a shared conversation, by its row's id; `DEFAULT` for others."""

    @classmethod
    def load(cls, text: str) -> Self:
        return cls(**json.loads(text)) if text else cls()

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)


def draft_subject(person: Person, choices: Mapping[uuid.UUID, str]) -> Subject:
    """Return a person with the choices, given by the agents' ids of conversations.

    Raises:
        Problem: the person does not share one of these conversations with others.
    """
    tenant, identity = person.tenant, queries.find_identity(person)
    shared = queries.conversations_shared(tenant, identity).filter(external_id__in=list(choices))
    found = {row.external_id: row.id for row in shared}
    if unknown := sorted(str(external_id) for external_id in choices.keys() - found.keys()):
        raise Problem(
            "The request has errors.",
            fields={"shared": [f"They share no conversation {unknown[0]} with others."]},
        )
    people = Person.objects.of(tenant).filter(id__in=identity.person_ids).order_by("id")
    called = [*people.values_list("name", flat=True), *identity.speakers]
    return Subject(
        names=list(dict.fromkeys(called)),
        user_ids=list(identity.user_ids),
        choices={str(found[external_id]): choice for external_id, choice in choices.items()},
    )


def find_person(erasure: Erasure) -> Person | None:
    return Person.objects.of(erasure.tenant).filter(id__in=[erasure.target]).first()


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is erased of one conversation of a person."""

    presence: queries.Presence
    erases: str
    """A `Choice`."""


def list_plans(erasure: Erasure) -> list[Plan] | None:
    """Return the plans for a person's conversations, up to 200; None: the subject is no person.

    A person's own are erased whole; shared ones by choice.
    """
    person = find_person(erasure) if erasure.scope == Scope.PERSON else None
    if person is None:
        return None
    choices = Subject.load(erasure.subject).choices
    rows = queries.list_presences(
        erasure.tenant, queries.find_identity(person), at_most=PRESENCES_AT_MOST
    )
    return [
        Plan(row, Choice.ALL if row.is_theirs else choices.get(str(row.conversation.id), DEFAULT))
        for row in rows
    ]


def erase_person_part(erasure: Erasure) -> acts.Done | None:
    """Erase the next part of a person; None: nothing is left."""
    tenant, person = erasure.tenant, find_person(erasure)
    if person is None:
        return None
    identity = queries.find_identity(person)
    home = _find_whole(erasure, identity).order_by("id").values_list("id", flat=True).first()
    if home is not None:
        done = acts.erase_conversation(tenant=tenant, conversation_id=home)
        done.counts["conversations"] += 1
        return done
    some = acts.erase_some_notes(tenant, notes.notes_about(tenant, identity.user_ids))
    if some is not None:
        return some
    # A reply's addressee is found by earlier messages, so these are erased last.
    for messages in (_find_replies(erasure, identity), queries.said_by(tenant, identity)):
        done = acts.erase_some_messages(messages.order_by("conversation", "seq"), erasure)
        if done.counts:
            return done
    return _erase_identity(erasure, identity)


def _find_whole(erasure: Erasure, identity: queries.Identity) -> QuerySet[Conversation]:
    """Return the conversations to erase whole that are not empty yet."""
    chosen = _find_chosen(erasure, Choice.ALL)
    shared = queries.conversations_shared(erasure.tenant, identity).filter(id__in=chosen)
    return queries.conversations_of(erasure.tenant, identity) | shared


def _find_replies(erasure: Erasure, identity: queries.Identity) -> QuerySet[Message]:
    kept = _find_chosen(erasure, Choice.WORDS)
    return queries.replies_to(erasure.tenant, identity).exclude(conversation__in=kept)


def _find_chosen(erasure: Erasure, choice: Choice) -> list[uuid.UUID]:
    choices = Subject.load(erasure.subject).choices
    return [uuid.UUID(row_id) for row_id, chosen in choices.items() if chosen == choice]


def _erase_identity(erasure: Erasure, identity: queries.Identity) -> acts.Done:
    """Delete a person's names and ids, and remove them from keys and the admin's log."""
    tenant, person_ids = erasure.tenant, identity.person_ids
    done = acts.Done()
    other_rows.forget_names(person_ids)
    done.counts["key_bindings"] += tenancy.forget_users(
        tenant, identity.user_ids, now=read_database_clock()
    )
    done.counts["receipts"] += receipts.erase_receipts_about(
        tenant=tenant, user_ids=identity.user_ids
    )
    done.counts["people"] += services.erase_people(tenant=tenant, person_ids=person_ids)
    return done


def rows_of_person(erasure: Erasure) -> dict[str, QuerySet[Any]]:
    """Return by kind what is erased with a person: conversations, messages, notes; unordered."""
    person = find_person(erasure)
    assert person is not None
    identity = queries.find_identity(person)
    about = notes.notes_about(erasure.tenant, identity.user_ids)
    return {**queries.list_belongings(erasure.tenant, identity), "notes": about}


def is_large_person(erasure: Erasure) -> bool:
    """Return whether the erasure of a person is too large to wait for."""
    theirs = rows_of_person(erasure)
    large: int = settings.ERASURE_WAITS_FOR_MESSAGES
    rows = (theirs["messages"], theirs["notes"])
    return sum(some.order_by()[: large + 1].count() for some in rows) > large
