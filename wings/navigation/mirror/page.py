"""Writes a memory as a page of markdown, and reads it back, for the mirror.

A page shows cleaned texts, so that no viewer loads or follows anything. If cleaning changed a text,
the field `Exact` has the original, packed.
"""

import base64
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from indexing.models import MemoryKind
from memoryproject.text.cleaning import break_definitions, clean
from retrieval.memory import Memory

HEADING = "# Memory: "
CONTENT = "\n## Content\n\n"
LINKS = "\n\n## Links\n"
FIELD = re.compile(r"^\*\*([A-Z][a-z]+)\*\*: (.*)", re.M)
EMOTION = re.compile(r"(.*) \((?:([0-9.e-]+), )?([a-z]*)\)")
CLEANED = ("source_id", "label", "content", "category", "emotion_type", "user_id")
LINK = re.compile(r"- ([a-z_]+): ([0-9a-f-]{36})")


class UnreadablePage(ValueError):
    """The file is not as the mirror writes it."""


def write_page(page: Memory) -> str:
    """Return the markdown. All of it can be read back exactly."""
    page, exact = _clean(page)
    fields = {
        "Kind": page.kind.value,
        "Type": page.source_type,
        "Source": _fold(page.source_id),
        "Label": _fold(page.label),
        "Category": _fold(page.category),
        "Importance": repr(page.importance),
        "Emotion": _write_emotion(page),
        "Created": _write_moment(page.created_at),
        "When": _write_moment(page.at),
        "User": _fold(page.user_id),
        "Conversation": str(page.conversation or ""),
        "Tags": json.dumps(list(page.tags), ensure_ascii=False) if page.tags else "",
        "Exact": base64.b64encode(json.dumps(exact).encode()).decode() if exact else "",
    }
    lines = [f"{HEADING}{page.id}", ""]
    lines += [f"**{name}**: {value}" for name, value in fields.items() if value]
    links = [f"- {link_type}: {target}" for link_type, target in page.links]
    return "\n".join([*lines, ""]) + CONTENT + page.content + LINKS + "\n".join(["", *links, ""])


def _clean(page: Memory) -> tuple[Memory, dict[str, Any]]:
    """Return the cleaned page, and by field the original texts that differ."""
    shown: dict[str, Any] = {name: _clean_text(getattr(page, name)) for name in CLEANED}
    shown["tags"] = tuple(_clean_text(tag) for tag in page.tags)
    exact = {name: getattr(page, name) for name in shown if getattr(page, name) != shown[name]}
    return replace(page, **shown), exact


def _clean_text(text: str) -> str:
    return break_definitions(clean(text))


def _restore(page: Memory, exact: str) -> Memory:
    """Return a page with its original texts."""
    texts_kept = json.loads(base64.b64decode(exact, validate=True)) if exact else {}
    if not set(texts_kept) <= {*CLEANED, "tags"}:
        raise UnreadablePage("The field Exact is malformed.")
    texts: dict[str, Any] = {**texts_kept, "tags": tuple(texts_kept.get("tags", page.tags))}
    return replace(page, **texts)


def _write_emotion(page: Memory) -> str:
    intensity = "" if page.emotion_intensity is None else f"{page.emotion_intensity!r}, "
    known = page.emotion_type or page.emotion_valence or intensity
    return f"{_fold(page.emotion_type)} ({intensity}{page.emotion_valence})" if known else ""


def _fold(text: str) -> str:
    """Return a text without line breaks, which could look like other fields."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _unfold(text: str) -> str:
    return re.sub(r"\\([\\n])", lambda match: "\n" if match[1] == "n" else "\\", text)


def _write_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(sep=" ")


def read_page(text: str) -> Memory:
    """Return the contents of a page.

    Raises:
        UnreadablePage: it is not as `write_page` writes it.
    """
    # Text of people is between the first of one heading and the last of the other.
    head, opening, rest = text.partition(CONTENT)
    content, ended, links = rest.rpartition(LINKS)
    if not (opening and ended and head.startswith(HEADING)):
        raise UnreadablePage("A heading is missing.")
    fields = dict(FIELD.findall(head))
    try:
        return _read_fields(head, fields, content, LINK.findall(links))
    except (KeyError, ValueError) as error:
        raise UnreadablePage("A field is missing or malformed.") from error


def _read_fields(
    head: str, fields: dict[str, str], content: str, links: Sequence[tuple[str, str]]
) -> Memory:
    emotion = EMOTION.fullmatch(fields.get("Emotion", " ()"))
    if emotion is None:
        raise UnreadablePage("The emotion is malformed.")
    conversation = fields.get("Conversation")
    page = Memory(
        id=uuid.UUID(head[len(HEADING) :].partition("\n")[0]),
        kind=MemoryKind(fields["Kind"]),
        source_type=fields["Type"],
        source_id=_unfold(fields.get("Source", "")),
        label=_unfold(fields.get("Label", "")),
        content=content,
        importance=float(fields["Importance"]),
        at=datetime.fromisoformat(fields["When"]),
        created_at=datetime.fromisoformat(fields["Created"]),
        conversation=uuid.UUID(conversation) if conversation else None,
        user_id=_unfold(fields.get("User", "")),
        category=_unfold(fields.get("Category", "")),
        emotion_type=_unfold(emotion[1]),
        emotion_intensity=float(emotion[2]) if emotion[2] else None,
        emotion_valence=emotion[3],
        tags=tuple(json.loads(fields.get("Tags", "[]"))),
        links=tuple((link_type, uuid.UUID(target)) for link_type, target in links),
    )
    return _restore(page, fields.get("Exact", ""))
