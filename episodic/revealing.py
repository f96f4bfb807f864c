"""Masks messages from people in the admin, and unmasks a conversation for an hour.

Curators may read messages. Auditors see masks until they unmask a conversation for an hour, with a
reason; this leaves a record that nobody can change.
"""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.query import ModelIterable

from episodic import queries
from episodic.models import Conversation, Episode, Reveal
from memoryproject.edge.errors import Problem

MODEL = "llm"
"""Name of the engine whose titles and summaries quote no message, as a model words them anew."""
REVEALED_FOR = timedelta(hours=1)
REASON_AT_MOST = 500
READ, REVEAL = "episodic.read_content", "episodic.reveal_content"

Person = User | AnonymousUser
Row = TypeVar("Row", bound=Model)


class Reader:
    """What one person may read, for the length of a request: one query, however much is shown."""

    def __init__(self, person: Person) -> None:
        self._person = person

    def may_read(self, conversation_id: uuid.UUID | None) -> bool:
        """Return whether the person may read the messages of a conversation."""
        return self.reads_all or conversation_id in self.revealed

    @cached_property
    def reads_all(self) -> bool:
        return self._person.has_perm(READ)

    @cached_property
    def may_reveal(self) -> bool:
        return self._person.has_perm(REVEAL)

    @cached_property
    def revealed(self) -> frozenset[uuid.UUID]:
        """Ids of the conversations that are unmasked for this person at the moment."""
        reveals = Reveal.across_tenants.filter(
            person=self._person.get_username(), until__gt=queries.database_now()
        )
        return frozenset(reveals.values_list("conversation", flat=True))

    def rows(self, rows: QuerySet[Row]) -> QuerySet[Row]:
        """Return rows to show; texts that quote messages are masked if they may not be read."""
        if self.reads_all:
            return rows
        keys = [field.name for field in rows.model._meta.fields if field.related_model is Episode]
        seen = rows.select_related(*keys) if keys else rows.all()
        vars(seen)["_iterable_class"] = type("RowsOfReader", (MaskedRows,), {"reader": self})
        return seen

    def keep_readable(self, episodes: QuerySet[Episode]) -> QuerySet[Episode]:
        """Return the episodes whose titles and summaries the person sees unmasked."""
        if self.reads_all:
            return episodes
        shown = Q(conversation__in=self.revealed)
        if not settings.MASK_SUMMARIES:
            shown |= Q(engine=MODEL)
        return episodes.filter(shown)

    def mask(self, text: str, conversation_id: uuid.UUID | None, engine: str) -> str:
        """Return a title or summary, or a mask if it may quote messages (offline engine)."""
        is_shown = engine == MODEL and not settings.MASK_SUMMARIES
        return text if is_shown else self.show(text, conversation_id)

    def show(self, text: str, conversation_id: uuid.UUID | None) -> str:
        """Return the text, or a mask of its length."""
        hidden = text and not self.may_read(conversation_id)
        return mask_of_length(len(text)) if hidden else text


class MaskedRows(ModelIterable):  # type: ignore[type-arg]
    """Loads rows as one person sees them."""

    reader: Reader

    def __iter__(self) -> Iterator[Any]:
        for row in super().__iter__():
            for quoting in (row, *row._state.fields_cache.values()):
                if isinstance(quoting, (Conversation, Episode)):
                    quoting.mask(self.reader.mask)
            yield row


def mask_of_length(characters: int) -> str:
    """Return the mask for a text of this length, without loading the text."""
    return f"•••••• ({characters} characters)"


def reveal(*, person: Person, conversation: Conversation, reason: str) -> Reveal:
    """Unmask a conversation for a person for an hour, and record it."""
    if not person.has_perm(REVEAL):
        raise Problem("You may not have messages shown.")
    reason = reason.strip()
    if not reason or len(reason) > REASON_AT_MOST:
        raise Problem(f"Say why, in at most {REASON_AT_MOST} characters.")
    with transaction.atomic():
        return Reveal.objects.create(
            tenant=conversation.tenant,
            conversation=conversation,
            person=person.get_username(),
            reason=reason,
            until=queries.database_now() + REVEALED_FOR,
        )
