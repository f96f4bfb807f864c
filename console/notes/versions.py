"""The versions of a note, each with its changes against the one before."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import takewhile, zip_longest

from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.highlights import mark_difference, show_difference
from console.texts import TEXTS
from notes.models import Note, NoteState
from notes.queries import earlier_versions

VERSIONS_AT_MOST = 20
COMPARED_AT_MOST = 4_000
"""Characters of both texts together; of longer ones whole lines are compared."""
LINES_AT_MOST = 4_000
CONTEXT = 80
"""Characters that are shown around a change."""
Changes = list[tuple[str, SafeString | str]]


def read_versions(note: Note) -> tuple[list[tuple[NoteState, Changes]], bool]:
    """Return the newest versions of a note with their changes, and whether there are older ones."""
    earlier = list(earlier_versions(note, below=note.version)[: VERSIONS_AT_MOST + 1])
    states: list[NoteState] = [note, *earlier]
    shown = [
        (state, list(compare(before, state)) if before else [])
        for state, before in zip_longest(states, earlier)
    ]
    return shown[:VERSIONS_AT_MOST], len(states) > VERSIONS_AT_MOST


def compare(before: NoteState, after: NoteState) -> Iterator[tuple[str, SafeString | str]]:
    """Yield name and text, escaped, of the columns that differ, with the changes marked."""
    for column, name in TEXTS["note_columns"].items():
        old, new = getattr(before, column), getattr(after, column)
        if old != new:
            yield name, show_change(_render(old), _render(new))
    if before.metadata != after.metadata:
        yield "metadata", "other ones"


def _render(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def show_change(old: str, new: str) -> SafeString:
    """Return both texts in one, escaped; of equal parts only what is next to the change.

    Equal beginnings and ends are cut off first, so that a small change of a long text costs
    little; a long rest is compared by lines.
    """
    head = _count_same(old, new)
    tail = _count_same(old[head:][::-1], new[head:][::-1])
    deleted, inserted = old[head : len(old) - tail], new[head : len(new) - tail]
    lead = old[:head][-CONTEXT:]
    follow = old[len(old) - tail :][:CONTEXT]
    return format_html(
        "{}{}{}{}{}",
        "… " if head > CONTEXT else "",
        lead,
        show_difference(deleted, inserted)
        if len(deleted + inserted) <= COMPARED_AT_MOST
        else _by_lines(deleted, inserted),
        follow,
        " …" if tail > CONTEXT else "",
    )


def _count_same(one: str, other: str) -> int:
    """Return with how many letters both begin."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _by_lines(old: str, new: str) -> SafeString:
    before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(before) + len(after) > LINES_AT_MOST:
        before, after = [old], [new]
    return mark_difference(before, after, shorten=_shorten)


def _shorten(text: str) -> str:
    return text if len(text) <= 2 * CONTEXT else f"{text[:CONTEXT]} … {text[-CONTEXT:]}"
