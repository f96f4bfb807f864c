"""A memory as a page of markdown, and back: what the mirror keeps of it.

A page shows texts cleaned, so that no viewer loads or follows anything. Where that changed
one, the field `Exact` keeps it to the letter, packed.
"""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from memoryproject.cleaning import break_definitions, clean

HEADING = "# Memory: "
CONTENT = "\n## Content\n\n"
LINKS = "\n\n## Links\n"
FIELD = re.compile(r"^\*\*([A-Z][a-z]+)\*\*: (.*)", re.M)
EMOTION = re.compile(r"(.*) \((?:([0-9.e-]+), )?([a-z]*)\)")
CLEANED = ("source_id", "label", "content", "category", "emotion_type", "user_id")
LINK = re.compile(r"- ([a-z_]+): ([0-9a-f-]{36})")


class UnreadablePage(ValueError):
    """The file is not as the mirror writes it."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a page says. `conversation` is the agent's own id of it."""

    id: uuid.UUID
    kind: str
    source_type: str
    """Of a note its own, else the kind."""
    label: str
    content: str
    importance: float
    at: datetime
    created_at: datetime
    source_id: str = ""
    conversation: uuid.UUID | None = None
    user_id: str = ""
    category: str = ""
    emotion_type: str = ""
    emotion_intensity: float | None = None
    emotion_valence: str = ""
    tags: tuple[str, ...] = ()
    links: tuple[tuple[str, uuid.UUID], ...] = ()
    """Type and target of those drawn from it."""


def write_page(page: Page) -> str:
    """Return the markdown. What a page says is read back from it exactly."""
    page, exact = _clean(page)
    fields = {
        "Kind": page.kind,
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


def _clean(page: Page) -> tuple[Page, dict[str, Any]]:
    """Return what a page shows, and by field the texts that it does not show to the letter."""
    shown: dict[str, Any] = {name: _clean_text(getattr(page, name)) for name in CLEANED}
    shown["tags"] = tuple(_clean_text(tag) for tag in page.tags)
    exact = {name: getattr(page, name) for name in shown if getattr(page, name) != shown[name]}
    return replace(page, **shown), exact


def _clean_text(text: str) -> str:
    return break_definitions(clean(text))


def _restore(page: Page, exact: str) -> Page:
    """Return a page with the texts that were kept to the letter."""
    kept = json.loads(base64.b64decode(exact, validate=True)) if exact else {}
    if not set(kept) <= {*CLEANED, "tags"}:
        raise UnreadablePage("The field Exact is malformed.")
    texts: dict[str, Any] = {**kept, "tags": tuple(kept.get("tags", page.tags))}
    return replace(page, **texts)


def _write_emotion(page: Page) -> str:
    told = "" if page.emotion_intensity is None else f"{page.emotion_intensity!r}, "
    known = page.emotion_type or page.emotion_valence or told
    return f"{_fold(page.emotion_type)} ({told}{page.emotion_valence})" if known else ""


def _fold(text: str) -> str:
    """Return a text without breaks between lines, which could pass for other fields."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _unfold(text: str) -> str:
    return re.sub(r"\\([\\n])", lambda found: "\n" if found[1] == "n" else "\\", text)


def _write_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(sep=" ")


def read_page(text: str) -> Page:
    """Return what a page says.

    Raises:
        UnreadablePage: it is not as `write_page` writes it.
    """
    # What people wrote stands between the first of one heading and the last of the other.
    head, found, rest = text.partition(CONTENT)
    content, ended, links = rest.rpartition(LINKS)
    if not (found and ended and head.startswith(HEADING)):
        raise UnreadablePage("A heading is missing.")
    fields = dict(FIELD.findall(head))
    try:
        return _read_fields(head, fields, content, LINK.findall(links))
    except (KeyError, ValueError) as error:
        raise UnreadablePage("A field is missing or malformed.") from error


def _read_fields(
    head: str, fields: dict[str, str], content: str, links: Sequence[tuple[str, str]]
) -> Page:
    emotion = EMOTION.fullmatch(fields.get("Emotion", " ()"))
    if emotion is None:
        raise UnreadablePage("The emotion is malformed.")
    conversation = fields.get("Conversation")
    page = Page(
        id=uuid.UUID(head[len(HEADING) :].partition("\n")[0]),
        kind=fields["Kind"],
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
