"""Derives a note's missing texts from its other columns."""

from collections.abc import Mapping
from typing import Any

from memoryproject.edge.errors import Problem
from wings.notes import wording
from wings.notes.models import Note, NoteVersion

KEPT = [
    field.attname
    for field in NoteVersion._meta.local_fields
    if field.name not in {"id", "tenant", "note", "replaced_at"}
]
"""Columns that a version stores."""


def complete(fields: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the columns of a new note, with the derived texts.

    `path` leads to the note in the request, for errors.
    """
    columns = {"metadata": {}, **fields}
    for name in wording.TEXTS:
        if not columns.get(name, "").strip():
            columns[name] = wording.own_text(name, columns)
    return _check_texts(columns, path)


def follow(note: Note, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the changed columns, with the derived texts.

    A text that was derived from the old columns is derived again from the new ones.
    """
    before = {name: getattr(note, name) for name in KEPT}
    after = {**before, **fields}
    after["occurred_at"] = after["occurred_at"] or note.created_at
    derived = {name for name in wording.TEXTS if before[name] == wording.own_text(name, before)}
    unset = {name for name in wording.TEXTS if name in fields and fields[name] is None}
    after |= dict.fromkeys(unset, "")
    if "content" not in unset:
        after["label"] = after["label"] or before["label"]  # a content may be derived from it
    elif "label" in derived - set(fields):
        after["label"] = ""  # the beginning of what is taken back
    for name in wording.TEXTS:
        is_needed = name in fields and name != "description"
        value = fields.get(name) or ""
        if not value.strip() and (name in derived or is_needed or name in unset):
            after[name] = wording.own_text(name, after)
    return _check_texts(after)


def _check_texts(columns: dict[str, Any], path: str = "") -> dict[str, Any]:
    if not columns["content"].strip():
        raise Problem(
            "The request has errors.",
            fields={f"{path}content": ["This is needed, or something that it follows from."]},
        )
    return columns
