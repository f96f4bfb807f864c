"""What a search found, as the page shows it: facts, episodes, notes and messages of a tenant."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.utils.safestring import SafeString

from console.highlights import show_marked, show_snippet
from episodic import queries
from episodic.models import Conversation, Episode, Message
from episodic.revealing import Reader
from indexing import tenant_search
from indexing.languages import SIMPLE
from indexing.models import UnitKind
from indexing.tenant_search import Match, Scope, Sought
from notes.models import Note
from semantic.models import Fact

WAITING_SHOWN_AT_MOST = 20
HELD, CLOSED = "held", "closed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the results. `text` is escaped, or a mask."""

    kind: str
    id: uuid.UUID
    text: SafeString | str
    conversation: Conversation | None
    """None: of a note that belongs to the whole tenant."""
    at: datetime
    about: str = ""
    """Category of a fact, type of a note, speaker of a message."""
    state: str = ""
    is_masked: bool = False
    more: SafeString | str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """What was found of one kind. `total` counts all; `complete`: none was left unread."""

    kind: str
    findings: Sequence[Finding]
    total: int
    complete: bool
    waiting: Sequence[Finding] = field(default=())

    @property
    def title(self) -> str:
        """The kind in the plural."""
        return f"{self.kind.capitalize()}s"


@dataclass(frozen=True, slots=True)
class Wish:
    """What somebody looks for, read from the form."""

    sought: Sought
    scope: Scope
    state: str = ""
    """Of facts: held, closed, or empty for both."""


def find_group(kind: UnitKind, wish: Wish, *, reader: Reader, first: int, at_most: int) -> Group:
    """Return a stretch of what was found of a kind, the best first, in a few queries."""
    if kind is UnitKind.MESSAGE and not reader.reads_all:
        wish = replace(wish, sought=wish.sought.in_whole_words)
    matches = tenant_search.find(wish.sought, kind=kind, scope=wish.scope)
    found = matches.found
    if kind is UnitKind.FACT and wish.state:
        found = _in_state(found, wish.state)
    shown = SHOW[kind](found[first : first + at_most], reader)
    waiting: Sequence[Finding] = ()
    if kind is UnitKind.MESSAGE and first == 0:
        waiting = find_waiting(wish, reader=reader)
    return Group(kind.value, shown, len(found), matches.complete, waiting)


def _in_state(found: Sequence[Match], state: str) -> tuple[Match, ...]:
    ids = [match.memory_id for match in found]
    held = set(Fact.across_tenants.filter(id__in=ids, invalid_at=None).values_list("id", flat=True))
    return tuple(match for match in found if (match.memory_id in held) == (state == HELD))


def show_facts(found: Sequence[Match], reader: Reader) -> list[Finding]:
    """Return facts with the words marked; facts are not masked."""
    rows = Fact.across_tenants.select_related("conversation").in_bulk(
        [match.memory_id for match in found]
    )
    return [
        Finding(
            kind="fact",
            id=fact.id,
            text=show_marked(fact.fact, match.lexemes, match.language),
            conversation=fact.conversation,
            at=fact.created_at,
            about=fact.category,
            state=fact.invalidated_because or "active",
        )
        for match in found
        if (fact := rows.get(match.memory_id)) is not None
    ]


def show_episodes(found: Sequence[Match], reader: Reader) -> list[Finding]:
    """Return episodes, title and summary, with the words marked."""
    rows = Episode.across_tenants.select_related("conversation").in_bulk(
        [match.memory_id for match in found]
    )
    return [
        Finding(
            kind="episode",
            id=episode.id,
            text=show_marked(episode.title, match.lexemes, match.language),
            more=show_snippet(episode.summary, match.lexemes, match.language),
            conversation=episode.conversation,
            at=episode.start_at,
            about=f"messages {episode.first_seq} to {episode.last_seq}",
        )
        for match in found
        if (episode := rows.get(match.memory_id)) is not None
    ]


def show_notes(found: Sequence[Match], reader: Reader) -> list[Finding]:
    """Return notes, label and text, with the words marked; notes are not masked."""
    held = Note.across_tenants.filter(deleted_at=None).select_related("conversation")
    rows = held.in_bulk([match.memory_id for match in found])
    return [
        Finding(
            kind="note",
            id=note.id,
            text=show_marked(note.label, match.lexemes, match.language),
            more=show_snippet(_read_note(note), match.lexemes, match.language),
            conversation=note.conversation,
            at=note.occurred_at,
            about=note.source_type.replace("_", " "),
        )
        for match in found
        if (note := rows.get(match.memory_id)) is not None
    ]


def _read_note(note: Note) -> str:
    """Return what a note says below its label, which may be its beginning."""
    texts = [note.description if note.description not in note.content else "", note.content]
    return "\n".join(text for text in texts if text)


def show_messages(found: Sequence[Match], reader: Reader) -> list[Finding]:
    """Return messages, those that the person may read with the words marked."""
    said = queries.messages_in_places([(match.conversation_id, match.seq or 0) for match in found])
    rows = {
        (message.conversation_id, message.seq): message
        for message in said.select_related("conversation")
    }
    return [
        show_message(message, match.lexemes, match.language, reader)
        for match in found
        if (message := rows.get((match.conversation_id, match.seq or 0))) is not None
    ]


def show_message(
    message: Message, lexemes: Sequence[str], language: str, reader: Reader
) -> Finding:
    """Return a message around the words, or its mask."""
    readable = reader.may_read(message.conversation_id)
    return Finding(
        kind="message",
        id=message.id,
        text=show_snippet(message.content, lexemes, language)
        if readable
        else reader.show(message.content, message.conversation_id),
        conversation=message.conversation,
        at=message.occurred_at,
        about=f"{message.name or message.role}, message {message.seq}",
        is_masked=not readable,
    )


def find_waiting(wish: Wish, *, reader: Reader) -> list[Finding]:
    """Return the newest messages that are in no episode yet and hold the words as typed."""
    scope, words = wish.scope, wish.sought.words.split()
    if not words:
        return []
    ids = queries.waiting_with_words(
        [*words, *wish.sought.phrases],
        tenant_id=scope.tenant_id,
        conversation_id=scope.conversation_id,
        whole=wish.sought.whole,
    )
    held = Message.across_tenants.filter(id__in=ids)
    if scope.since is not None:
        held = held.filter(occurred_at__gte=scope.since)
    if scope.until is not None:
        held = held.filter(occurred_at__lt=scope.until)
    rows = held.select_related("conversation").order_by("-received_at", "-id")
    lexemes = [word.casefold() for word in words]
    return [show_message(row, lexemes, SIMPLE, reader) for row in rows[:WAITING_SHOWN_AT_MOST]]


Show = Callable[[Sequence[Match], Reader], list[Finding]]
SHOW: dict[Any, Show] = {
    UnitKind.FACT: show_facts,
    UnitKind.EPISODE: show_episodes,
    UnitKind.NOTE: show_notes,
    UnitKind.MESSAGE: show_messages,
}
