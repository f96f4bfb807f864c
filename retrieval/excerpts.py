"""What is shown of a message: whether a part is missing, and the dates of relative phrases."""

from datetime import datetime

from memoryproject.text.dates import find_phrases, place_labels
from memoryproject.text.parts import Excerpt
from retrieval.truncation import ELLIPSIS

READ_AT_MOST = 2_000
"""Characters of a message in which phrases such as "yesterday" are looked for."""


def is_cut(excerpt: Excerpt) -> bool:
    """Return whether a part of the message is left out."""
    return any(
        start is None and words.startswith(ELLIPSIS) for words, start in excerpt.pieces or ()
    )


def add_dates(excerpt: Excerpt, line: str, *, at: datetime) -> Excerpt:
    """Return an excerpt of a line with the date behind each relative phrase: "(7 May 2023)".

    `at`: when it was said. The dates are words of ours.
    """
    line = " ".join(line.split())[:READ_AT_MOST]
    said_on = f"{at.day} {at:%B %Y}"  # "today" needs no date: it stands above the line
    phrases = [phrase for phrase in find_phrases(line, at=at) if phrase.label != said_on]
    labels = place_labels(line, phrases)
    if not labels or not excerpt.text:
        return excerpt
    whole = ((" ".join(excerpt.text.split()), 0),)
    pieces: list[tuple[str, int | None]] = []
    for words, start in whole if excerpt.pieces is None else excerpt.pieces:
        if start is None:
            pieces.append((words, None))
            continue
        done = start
        for end, label in labels:
            if done < end <= start + len(words):
                pieces += [(words[done - start : end - start], done), (label, None)]
                done = end
        if done < start + len(words):
            pieces.append((words[done - start :], done))
    return Excerpt("".join([words for words, _ in pieces]), tuple(pieces))
