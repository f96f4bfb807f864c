"""Derives the texts of a note: label, description, content, snippet and search passages.

Pure functions: deriving a text again gives the same text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from indexing.kinds import SourceType
from memoryproject.text.cleaning import DEFANGED, clean_alone
from memoryproject.text.sentences import shorten

LABEL_AT_MOST = 80
"""Characters of a derived label; a given one may be longer."""
SNIPPET_AT_MOST = 200
POINTS_IN_SNIPPET = 2
POINTS = {
    SourceType.THREAD_SUMMARY.value: "key_points",
    SourceType.PLAN_SUMMARY.value: "key_milestones",
}
"""Keys of a summary's metadata with its points."""
PASSAGE_AT_MOST = 1_500
"""Characters embedded in one vector. The embedded model reads 2,000, label included."""
BREAKS = [
    re.compile(pattern) for pattern in (r"\n\s*\n", r"\n", r"(?<=[.!?])\s|(?<=[。！？])", r"\s")
]
"""Positions at which a text may be split: end of a paragraph, a line, a sentence, a word."""


def derive(source_type: str, metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts, by name, derived from a summary's metadata; empty for other notes.

    The metadata has been checked.
    """
    if metadata and source_type == SourceType.THREAD_SUMMARY:
        return _render_thread(metadata)
    if metadata and source_type == SourceType.PLAN_SUMMARY:
        return _render_plan(metadata)
    return {}


def _render_thread(metadata: Mapping[str, Any]) -> dict[str, str]:
    count = metadata["message_count"]
    messages = f"{count} message{'' if count == 1 else 's'}"
    people = metadata["participant_count"]
    lines = [
        f"Thread on {metadata['platform']}: {messages}, "
        f"{people} participant{'' if people == 1 else 's'}."
    ]
    if metadata.get("sentiment"):
        lines.append(f"Sentiment: {metadata['sentiment']}.")
    if metadata.get("last_activity_at"):
        lines.append(f"Last activity: {metadata['last_activity_at']}.")
    label = f"Thread: {metadata['platform']} ({messages})"
    return _render_summary(label, lines, metadata["key_points"])


def _render_plan(metadata: Mapping[str, Any]) -> dict[str, str]:
    total, completed = metadata["total_nodes"], metadata["completed_nodes"]
    percent = round(100 * completed / total) if total else 0
    lines = [
        f"Plan {metadata['plan_type']}: {completed} of {total} nodes completed, "
        f"{metadata['pending_nodes']} pending, {metadata['failed_nodes']} failed."
    ]
    if metadata.get("current_phase"):
        lines.append(f"Phase: {metadata['current_phase']}.")
    label = f"Plan: {metadata['plan_type']} ({percent}% complete)"
    return _render_summary(label, lines, metadata["key_milestones"])


def _render_summary(label: str, lines: Sequence[str], points: Sequence[str]) -> dict[str, str]:
    content = "\n".join([*lines, *(f"- {point}" for point in points)])
    return {"label": label, "description": join_points(points), "content": content}


TEXTS = ("description", "content", "label")
"""Texts of a note, in the order in which they are derived."""


def own_text(name: str, columns: Mapping[str, Any]) -> str:
    """Return the derived value of one text, from a note's other columns.

    For a summary it is derived from the metadata; else excerpt, description or label replace a
    missing content, and the beginning of the content a missing label.
    """
    derived = derive(columns["source_type"], columns["metadata"])
    if derived:
        return derived[name]
    if name == "label":
        return label_of(columns["content"])
    if name == "content":
        stand_ins = (columns.get(other, "") for other in ("excerpt", "description", "label"))
        return next((text for text in stand_ins if text.strip()), "")
    return ""


def join_points(points: Sequence[str]) -> str:
    return " ".join(f"{point.rstrip(' .')}." for point in points if point.strip(" ."))


def label_of(text: str) -> str:
    return shorten(next((line for line in text.splitlines() if line.strip()), ""), LABEL_AT_MOST)


def snippet(
    *,
    source_type: str,
    description: str,
    content: str,
    metadata: Mapping[str, Any],
    links: str = DEFANGED,
) -> str:
    """Return the text of a note in a list or search, beside its label, cleaned for a prompt."""
    points = metadata.get(POINTS[source_type], []) if source_type in POINTS else []
    text = join_points(points[:POINTS_IN_SNIPPET])
    return clean_alone(shorten(text or description or content, SNIPPET_AT_MOST), links)


class Passage(NamedTuple):
    """A part of a note that is indexed by itself, by words and by one vector."""

    words: str
    meaning: str


def passages(
    *, label: str, description: str, content: str, more: Sequence[str] = ()
) -> list[Passage]:
    """Return the passages of a note in order, at least one.

    `more` (tags, names, a document's path) is added to the words of the first passage.
    """
    # A description that the content says already would count its words twice.
    intro = "" if description in content else description
    parts = list(_cut(f"{intro}\n{content}".strip())) or [""]
    return [
        Passage(
            words="\n".join([label, part, *(more if place == 0 else ())]),
            meaning=f"{label}\n{part}".strip(),
        )
        for place, part in enumerate(parts)
    ]


def _cut(text: str) -> Iterator[str]:
    """Yield passages of at most PASSAGE_AT_MOST characters, split at natural breaks."""
    while len(text) > PASSAGE_AT_MOST:
        end = _find_break(text)
        yield text[:end].strip()
        text = text[end:].strip()
    if text:
        yield text


def _find_break(text: str) -> int:
    """Return the end of the first passage: in its second half, at the best kind of break."""
    for pattern in BREAKS:
        ends = [match.end() for match in pattern.finditer(text[:PASSAGE_AT_MOST])]
        if ends and ends[-1] > PASSAGE_AT_MOST // 2:
            return ends[-1]
    return PASSAGE_AT_MOST
