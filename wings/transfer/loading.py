"""Reads whole conversations from files, and posts them like an agent."""

import hashlib
import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from django.utils import timezone
from rest_framework.exceptions import ValidationError

from episodic import services
from episodic.api import MessageInput, make_message
from episodic.models import Message
from episodic.services import IdempotencyKey
from memoryproject.edge.errors import Problem
from memoryproject.edge.json_files import (
    Watch,
    ignore,
    name_fault,
    parse_line,
    read_lines,
)
from memoryproject.tenancy.models import Tenant

NAMESPACE = uuid.UUID("6d1f3f9e-94a8-5b0e-8f0c-2f6d0b8f7a11")
MESSAGES_AT_MOST = 20_000
"""Number of messages of a conversation in a file; all are in memory at once."""
BATCH = 20
"""Number of messages per request, so that windows close while loading continues."""
Named = tuple[str, tuple[Message, ...]]
"""A conversation's name, and its messages."""


class UnreadableFile(Problem):
    """The file does not contain conversations in a known form; the message says where."""


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation from a file, with the id that it gets in a tenant."""

    name: str
    external_id: uuid.UUID
    messages: tuple[Message, ...]
    user_id: str = ""
    """Its user; empty: none is named."""


def read_conversations(path: Path, *, watch: Watch = ignore) -> Iterator[LoadedConversation]:
    """Yield the conversations of a JSONL file, one after another.

    A line of JSONL is `{"id", "messages": [{role, content, name?, timestamp?, metadata?}]}`; an id
    that is no UUID is turned into one, always the same. One conversation is in memory at a time;
    `watch` gets the bytes that are read.

    Raises:
        UnreadableFile: it is invalid; the message names the first error.
    """
    try:
        with path.open("rb") as file:
            for name, messages in _from_lines(file, watch):
                yield LoadedConversation(name, to_uuid(name), messages)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror}.") from error
    except UnreadableFile:
        raise
    except Problem as problem:
        raise UnreadableFile(f"{path}: {problem.message}") from problem


def _from_lines(file: IO[bytes], watch: Watch) -> Iterator[Named]:
    for line in read_lines(file, watch=watch):
        where = f"line {line.number}"
        try:
            row = parse_line(line)
        except Problem as problem:
            raise Problem(f"{where}: {problem.message}") from problem
        if (
            not isinstance(row, dict)
            or not isinstance(row.get("messages"), list)
            or "id" not in row
        ):
            raise Problem(
                f'{where}: This must be {{"id", "messages": [{{"role", "content", …}}]}}.'
            )
        yield str(row["id"]), tuple(_read_messages(row["messages"], where=where))


def _read_messages(rows: list[Any], *, where: str) -> Iterator[Message]:
    """Yield the messages of a line; an invalid one raises with its field."""
    if len(rows) > MESSAGES_AT_MOST:
        raise Problem(f"{where}: A line holds at most {MESSAGES_AT_MOST:,} messages.")
    for number, row in enumerate(rows):
        place = f"{where}, messages[{number}]"
        if not isinstance(row, dict):
            raise Problem(f"{place}: This is no object.")
        try:
            yield _to_message(row)
        except ValidationError as error:
            raise Problem(name_fault(error.detail, place)) from error
        except (TypeError, ValueError) as error:
            raise Problem(f"{place}: This is no message.") from error


def to_uuid(name: str) -> uuid.UUID:
    """Return the name if it is a UUID, or else a UUID made from it."""
    try:
        return uuid.UUID(name)
    except ValueError:
        return uuid.uuid5(NAMESPACE, name)


def _to_message(row: dict[str, Any]) -> Message:
    """Return a message of a file, checked as by the API; other fields are ignored."""
    form = MessageInput()
    known = {name: value for name, value in dict(row).items() if name in form.fields}
    return make_message(form.run_validation(known), now=timezone.now())


def post_conversations(
    conversations: Iterable[LoadedConversation],
    *,
    tenant: Tenant,
    report: Callable[[int], object] = lambda stored: None,
) -> None:
    """Post through the API's service, in batches; `report` gets their sizes.

    Each batch has an idempotency key, so that running an interrupted load again continues where it
    stopped.
    """
    for conversation in conversations:
        for start in range(0, len(conversation.messages), BATCH):
            batch = conversation.messages[start : start + BATCH]
            services.add_messages(
                tenant=tenant,
                posted_by=None,
                external_id=conversation.external_id,
                messages=batch,
                idempotency=IdempotencyKey(key=f"load-{start}", body_sha256=_digest(batch)),
                user_id=conversation.user_id,
            )
            report(len(batch))


def _digest(batch: Sequence[Message]) -> str:
    body = [[message.role, message.name, message.content, message.metadata] for message in batch]
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
