"""Search results for the page: facts, episodes, notes and messages of a tenant."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import QuerySet

from episodic import queries
from episodic.models import Episode, Message
from episodic.revealing import Reader
from indexing import tenant_search
from indexing.languages import SIMPLE
from indexing.models import UnitKind
from indexing.tenant_search import Match, Scope, Sought
from semantic.models import Fact
from wings.console.highlights import show_marked, show_snippet
from wings.console.labels import label_memory
from wings.notes.models import Note

WAITING_SHOWN_AT_MOST = 20
HELD, CLOSED = "held", "closed"
MEMORIES: dict[UnitKind, Any] = {
    UnitKind.FACT: Fact,
    UnitKind.EPISODE: Episode,
    UnitKind.NOTE: Note,
}


class Group(NamedTuple):
    """The results of one kind. `total`: number of all; `complete`: no match was left unread.

    A result is a row with the values of its line: `kind`, `text` (escaped, or a mask), `at`,
    `about` (category of a fact, type of a note, speaker of a message), `state`, and `more`.
    """

    kind: str
    results: Sequence[Any]
    total: int
    complete: bool
    unprocessed: Sequence[Any] = ()


class SearchParams(NamedTuple):
    """What to search for, read from the form."""

    sought: Sought
    scope: Scope
    state: str = ""
    """State of facts: `held`, `closed`, or empty for both."""


def find_group(
    kind: UnitKind, params: SearchParams, *, reader: Reader, first: int, at_most: int, pool: int
) -> Group:
    """Return a page of results of a kind, best first, by a few queries.

    If there are more matches than `pool`, the newest are ranked.
    """
    answer = tenant_search.find(params.sought, kind=kind, scope=params.scope, pool=pool)
    matches = answer.found
    if kind is UnitKind.MESSAGE:
        matches = restrict_matches(matches, reader)
    elif kind is UnitKind.EPISODE and not reader.reads_all:
        matches = _keep(matches, reader.keep_readable(Episode.across_tenants.all()))
    elif kind is UnitKind.FACT and params.state:
        active = Fact.across_tenants.filter(invalid_at=None)
        matches = _keep(matches, active, others=params.state != HELD)
    part = matches[first : first + at_most]
    if kind is not UnitKind.MESSAGE:
        return Group(kind.value, show_memories(kind, part), len(matches), answer.complete)
    unprocessed = [] if first else find_unprocessed(params, reader=reader)
    shown = show_messages(part, reader)
    return Group(kind.value, shown, len(matches), answer.complete, unprocessed)


def restrict_matches(matches: Sequence[Match], reader: Reader) -> tuple[Match, ...]:
    """Return matches in conversations that the person may read: others would reveal words."""
    return tuple(match for match in matches if reader.may_read(match.conversation_id))


def _keep(
    matches: Sequence[Match], rows: QuerySet[Any], *, others: bool = False
) -> tuple[Match, ...]:
    """Return the matches that are among the rows; with `others`, those that are not."""
    of_matches = rows.filter(id__in=[match.memory_id for match in matches])
    ids = set(of_matches.values_list("id", flat=True))
    return tuple(match for match in matches if (match.memory_id in ids) != others)


def show_memories(kind: UnitKind, matches: Sequence[Match]) -> list[Any]:
    """Return facts, episodes or notes with the words marked; none is masked."""
    rows = MEMORIES[kind].across_tenants.select_related("conversation")
    if kind is UnitKind.NOTE:
        rows = rows.filter(deleted_at=None)
    by_id = rows.in_bulk([match.memory_id for match in matches])
    return [_render(by_id[match.memory_id], match) for match in matches if match.memory_id in by_id]


def _render(row: Any, match: Match) -> Any:
    named = label_memory(row)
    rest = _read_note(row) if isinstance(row, Note) else getattr(row, "summary", "")
    row.kind, row.about, row.at, row.state = named.kind, named.about, named.at, named.state
    if named.kind == "fact":
        row.at, row.state = row.created_at, named.state or "active"
    row.text = show_marked(named.label, match.lexemes, match.language)
    row.more = show_snippet(rest, match.lexemes, match.language)
    return row


def _read_note(note: Note) -> str:
    """Return the text of a note without its label, which may be its beginning."""
    texts = [note.description if note.description not in note.content else "", note.content]
    return "\n".join(text for text in texts if text)


def show_messages(matches: Sequence[Match], reader: Reader) -> list[Any]:
    """Return messages; those that the person may read have the words marked."""
    places = [(match.conversation_id, match.seq or 0) for match in matches]
    messages = queries.messages_in_places(places).select_related("conversation")
    rows = {(message.conversation_id, message.seq): message for message in messages}
    return [
        show_message(rows[place], match.lexemes, match.language, reader)
        for place, match in zip(places, matches, strict=True)
        if place in rows
    ]


def show_message(message: Any, lexemes: Sequence[str], language: str, reader: Reader) -> Any:
    """Return a message with the text around the words, or its mask."""
    message.is_masked = not reader.may_read(message.conversation_id)
    message.text = reader.show(message.content, message.conversation_id)
    if not message.is_masked:
        message.text = show_snippet(message.content, lexemes, language)
    message.kind, message.at = "message", message.occurred_at
    message.about = f"{message.name or message.role}, message {message.seq}"
    return message


def find_unprocessed(params: SearchParams, *, reader: Reader) -> list[Any]:
    """Return the newest unprocessed messages that contain the words as typed."""
    scope, words = params.scope, params.sought.words.split()
    if not words:
        return []
    ids = queries.waiting_with_words(
        [*words, *params.sought.phrases],
        tenant_id=scope.tenant_id,
        conversation_id=scope.conversation_id,
    )
    messages = Message.across_tenants.filter(id__in=ids)
    if not reader.reads_all:
        messages = messages.filter(conversation__in=reader.revealed)
    if scope.since is not None:
        messages = messages.filter(occurred_at__gte=scope.since)
    if scope.until is not None:
        messages = messages.filter(occurred_at__lt=scope.until)
    rows = messages.select_related("conversation").order_by("-received_at", "-id")
    lexemes = [word.casefold() for word in words]
    return [show_message(row, lexemes, SIMPLE, reader) for row in rows[:WAITING_SHOWN_AT_MOST]]
