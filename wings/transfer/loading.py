"""Reads whole conversations from files, and posts them as an agent would."""

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
"""Messages of one conversation in a file, all of which are in memory at once."""
BATCH = 20
"""Messages a request: windows then close while the load is still going on."""
Named = tuple[str, tuple[Message, ...]]
"""A conversation's name, and its messages."""


class UnreadableFile(Problem):
    """The file does not hold conversations in a known form; the message says where."""


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation from a file, under the id that it gets in a tenant."""

    name: str
    external_id: uuid.UUID
    messages: tuple[Message, ...]
    user_id: str = ""
    """User whose it is; empty: nobody is named."""


def read_conversations(path: Path, *, watch: Watch = ignore) -> Iterator[LoadedConversation]:
    """Yield the conversations of a JSONL file, one after another.

    A line of JSONL is `{"id", "messages": [{role, content, name?, timestamp?,
    metadata?}]}`; an id that is no UUID is turned into one, always the same. One conversation
    is in memory at a time; `watch` gets the bytes that are read.

    Raises:
        UnreadableFile: it is none; the message names the first fault.
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
    """Yield the messages of a line; the first that is none is named with its field."""
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
    """Return the name itself if it is a UUID, else one made from it."""
    try:
        return uuid.UUID(name)
    except ValueError:
        return uuid.uuid5(NAMESPACE, name)


def _to_message(row: dict[str, Any]) -> Message:
    """Return a message of a file, checked as the API checks one; other fields are passed over."""
    form = MessageInput()
    known = {name: value for name, value in dict(row).items() if name in form.fields}
    return make_message(form.run_validation(known), now=timezone.now())


def post_conversations(
    conversations: Iterable[LoadedConversation],
    *,
    tenant: Tenant,
    report: Callable[[int], object] = lambda stored: None,
) -> None:
    """Post through the same service as the API, in batches; `report` gets their sizes.

    Each batch carries an idempotency key, so that a load that was broken off goes on
    where it stopped when it is run again.
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
