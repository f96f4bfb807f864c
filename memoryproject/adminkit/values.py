"""Renders values in the admin by the kind of their field; all text is escaped."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from unfold.decorators import display  # type: ignore[import-untyped]

NOTHING = "-"
CUT_AT = 100
AN_ID = re.compile(
    r"\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{6}([0-9a-f]{6})\b"
)
Shown = Callable[..., Any]
Method = TypeVar("Method", bound=Callable[..., str | tuple[str, str] | None])

COLOURS = {
    **dict.fromkeys(["done", "active", "good", "easy", "passes"], "success"),
    **dict.fromkeys(["ready", "new"], "info"),
    **dict.fromkeys(["running", "hard", "expired"], "warning"),
    **dict.fromkeys(
        ["dead", "again", "wrong", "erased", "deleted", "revoked", "locked", "fails"], "danger"
    ),
}
"""Color of a value from a short list of words; others are gray."""


def coloured_word(
    description: str, colours: Mapping[str, str] = COLOURS, *, ordering: str | None = None
) -> Callable[[Method], Method]:
    """Make a method of an admin a column with a colored word.

    If the text differs from the word of the color, the method returns both.
    """
    column: Callable[[Method], Method]
    column = display(description=description, label=dict(colours), ordering=ordering)
    return column


def column(description: str, show: Callable[[Any], Any], ordering: str | None = None) -> Any:
    """Return a column of an admin that shows something of each row."""
    return display(description=description, ordering=ordering)(lambda admin, row: show(row))


def show(field: models.Field[Any, Any], points_at: Mapping[str, str], *, brief: bool) -> Any:
    """Return how a field is shown in a list or on a page; just its name if Django's way will do.

    `brief`: for a list, which shortens long texts; a page shows them whole, with line breaks.
    `points_at` names the page (`app_model`) of a field that holds an id without a foreign key.
    """
    if brief and field.choices and isinstance(field, models.CharField):
        return _shown(field, lambda value: (value, value) if value else None, label=COLOURS)
    form = _form(field, points_at.get(field.name), brief=brief)
    return _shown(field, form) if form else field.name


def _form(field: models.Field[Any, Any], page: str | None, *, brief: bool) -> Shown | None:
    if page:
        return partial(link_to_page, page)
    if field.is_relation:
        return link
    if isinstance(field, models.DateTimeField):
        return partial(moment, zone="" if brief else " UTC")
    if isinstance(field, models.BooleanField):
        # A word: an icon in red would call every no bad.
        return lambda value: "yes" if value else "no"
    if isinstance(field, models.JSONField):
        return _join if brief else pretty_json
    if isinstance(field, ArrayField):
        return lambda value: ", ".join(map(str, value or [])) or NOTHING
    if isinstance(field, models.UUIDField):
        return lambda value: (short if brief else str)(value or NOTHING)
    if isinstance(field, models.TextField):
        return lambda value: (short if brief else keep_lines)(value or NOTHING)
    if isinstance(field, models.FloatField):
        return number
    if isinstance(field, models.IntegerField):
        return lambda value: NOTHING if value is None else str(value)
    return None


def _join(value: Any) -> Any:
    """Return a list of texts on one line, other JSON on several."""
    is_plain = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return (", ".join(value) or NOTHING) if is_plain else pretty_json(value)


def _shown(field: models.Field[Any, Any], form: Shown, **options: Any) -> Any:
    """Set the field's name on a function, so that Django finds its label, help and order.

    A list names the rows that a column points at: in `row.names`, by the column.
    """

    def cell(row: Any) -> Any:
        name = getattr(row, "names", {}).get(field.name)
        return form(getattr(row, field.name), name) if name else form(getattr(row, field.name))

    cell.__name__ = field.name
    return display(description=field.verbose_name, ordering=field.name, **options)(cell)


def number(value: float | None) -> str:
    """Return a number with up to four significant digits: RRF scores are small."""
    return NOTHING if value is None else f"{value:.4g}"


def moment(value: datetime | None, *, zone: str = "") -> str:
    """Return a time to the second, in UTC, as in logs."""
    if value is None:
        return NOTHING
    return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") + zone


def duration(span: timedelta) -> str:
    """Return a span of time in its largest unit: `12 s`, `4 min`, `3 h`, `2 days`."""
    seconds = max(0.0, span.total_seconds())
    for size, unit in ((172_800, "days"), (7_200, "h"), (120, "min")):
        if seconds >= size:
            return f"{seconds // (size // 2):.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"


def short(value: Any) -> str:
    """Return a text cut to one line, and each id in it shortened to its two ends."""
    return Truncator(AN_ID.sub(r"\1…\2", str(value))).chars(CUT_AT)


def keep_lines(text: str) -> SafeString:
    return format_html('<span style="white-space: pre-wrap">{}</span>', text)


def pretty_json(value: Any) -> SafeString:
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    return format_html('<code style="white-space: pre-wrap">{}</code>', text)


def page_address(row: models.Model) -> str:
    return reverse(f"admin:{row._meta.label_lower.replace('.', '_')}_change", args=[row.pk])


def link(row: models.Model | None, text: Any = None) -> str:
    """Return a link to the page of a row, by the row's own name if none is given."""
    if row is None:
        return NOTHING
    place = f"{row._meta.app_label}_{row._meta.model_name}"
    return link_to_page(place, row.pk, str(row) if text is None else text)


MEMORY_PAGES = {"episode": "episodic_episode", "fact": "semantic_fact", "note": "notes_note"}


def link_to_memory(kind: str, memory_id: uuid.UUID, text: Any = None) -> str:
    return link_to_page(MEMORY_PAGES[kind], memory_id, text)


def link_to_page(place: str, row_id: uuid.UUID | None, text: Any = None) -> str:
    """Return a link to a page of the admin, or just its text if there is no such page."""
    if row_id is None:
        return NOTHING
    words = short(row_id if text is None else text)
    try:
        address = reverse(f"admin:{place}_change", args=[row_id])
    except NoReverseMatch:
        return words
    return format_html('<a href="{}" class="text-link">{}</a>', address, words)


def list_address(model: type[models.Model], **equal: Any) -> str:
    """Return the address of a model's list, filtered by these values."""
    place = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return f"{place}?{urlencode({f'{name}__exact': value for name, value in equal.items()})}"


def lines(items: Iterable[Any]) -> SafeString:
    return format_html_join("", "<div>{}</div>", ((item,) for item in items))
