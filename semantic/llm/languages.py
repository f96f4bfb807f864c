"""Detects facts that a model wrote in another language than their messages."""

from collections.abc import Sequence
from dataclasses import dataclass

from indexing.detection import find_languages


@dataclass(frozen=True, slots=True)
class Worded:
    """A sentence of a model, and the text of its messages."""

    sentence: str
    said: str


def find_other_language(rows: Sequence[Worded]) -> tuple[str, str] | None:
    """Return the languages of messages and of their facts if these clearly differ, else None.

    All rows are read as one text, as a single fact is too short to tell; one that is long enough is
    read by itself, too.
    """
    together = Worded(
        " ".join(row.sentence for row in rows), " ".join(dict.fromkeys(row.said for row in rows))
    )
    for row in (together, *rows):
        written, spoken = find_languages(row.sentence), find_languages(row.said)
        if written and spoken and not set(written) & set(spoken):
            return spoken[0], written[0]
    return None
