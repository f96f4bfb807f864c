"""Reads whole conversations from files, and posts them as an agent would."""

import hashlib
import json
import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone
from rest_framework.exceptions import ValidationError

from episodic import services
from episodic.api import MessageInput, make_message
from episodic.models import Message, Role
from episodic.services import IdempotencyKey
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant

NAMESPACE = uuid.UUID("6d1f3f9e-94a8-5b0e-8f0c-2f6d0b8f7a11")
BATCH = 20
"""Messages a request: windows then close while the load is still going on."""
Named = tuple[str, tuple[Message, ...]]
"""A conversation's name, and its messages."""
Turns = list[dict[str, Any]]
TURN_LENGTH = timedelta(seconds=40)
"""LoCoMo dates sessions, not turns."""
LOCOMO_TIME = "%I:%M %p on %d %B, %Y"


class UnreadableFile(Problem):
    """The file does not hold conversations in a known form; the message says where."""


@dataclass(frozen=True, slots=True)
class LoadedConversation:
    """A conversation from a file, under the id that it gets in a tenant."""

    name: str
    external_id: uuid.UUID
    messages: tuple[Message, ...]


def read_conversations(path: Path) -> list[LoadedConversation]:
    """Return the conversations of a JSONL file of ours, or of LoCoMo's JSON, else UnreadableFile.

    A line of JSONL is `{"id", "messages": [{role, content, name?, timestamp?,
    metadata?}]}`; an id that is no UUID is turned into one, always the same.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"{path} cannot be read as UTF-8 text.") from error
    is_locomo = text.lstrip().startswith("[")
    rows = _from_locomo(text, path) if is_locomo else _from_lines(text, path)
    return [LoadedConversation(name, to_uuid(name), messages) for name, messages in rows]


def _parse(text: str, *, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UnreadableFile(f"{where} is not valid JSON.") from error


def _from_lines(text: str, path: Path) -> Iterator[Named]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        row = _parse(line, where=where)
        try:
            yield str(row["id"]), tuple(_to_message(message) for message in row["messages"])
        except (KeyError, TypeError, ValueError, ValidationError) as error:
            raise UnreadableFile(
                f'{where} must be {{"id", "messages": [{{"role", "content", …}}]}} with known '
                "roles, no empty content, and times with an offset."
            ) from error


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


def _from_locomo(text: str, path: Path) -> Iterator[Named]:
    for sample in _parse(text, where=str(path)):
        try:
            yield str(sample["sample_id"]), tuple(_locomo_messages(sample["conversation"]))
        except (KeyError, TypeError, ValueError) as error:
            raise UnreadableFile("A JSON array must hold LoCoMo's samples.") from error


def locomo_sessions(conversation: dict[str, Any]) -> Iterator[tuple[datetime, Turns]]:
    """Yield (start, turns) of each session, in order."""
    numbers = (re.fullmatch(r"session_(\d+)", key) for key in conversation)
    for number in sorted(int(match[1]) for match in numbers if match):
        start = datetime.strptime(conversation[f"session_{number}_date_time"], LOCOMO_TIME)
        yield start.replace(tzinfo=UTC), conversation[f"session_{number}"]


def _locomo_messages(conversation: dict[str, Any]) -> Iterator[Message]:
    for start, turns in locomo_sessions(conversation):
        for number, turn in enumerate(turns):
            caption = turn.get("blip_caption")
            shared = f" [shared a photo: {caption}]" if caption else ""
            yield Message(
                role=Role.USER,
                content=(turn["text"] + shared).strip() or "…",
                occurred_at=start + number * TURN_LENGTH,
                name=turn["speaker"],
                metadata={"dia_id": turn["dia_id"]},
            )


def post_conversations(
    conversations: Sequence[LoadedConversation],
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
            )
            report(len(batch))


def _digest(batch: Sequence[Message]) -> str:
    body = [[message.role, message.name, message.content, message.metadata] for message in batch]
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
