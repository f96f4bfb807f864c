"""The segmenter that needs no model: deterministic, a few milliseconds a window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.offline_boundaries import choose_boundaries
from episodic.offline_summaries import compose_summary
from episodic.offline_surprise import line_surprises
from episodic.offline_titles import compose_title

ENGINE = "offline"
MOST_CHARACTERS_READ = 2000


class OfflineSegmenter:
    """Implements `Segmenter` with the vectors and words of the window alone."""

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        """Return a partition of `lines`; no lines give no segments.

        `previous_summary` only tells that episodes exist before this window.
        """
        if not lines:
            return Segmentation(segments=(), engine=ENGINE)
        lines = [shorten_line(line) for line in lines]
        surprise = line_surprises(lines, vectors)
        ends = choose_boundaries(
            lines=lines,
            vectors=vectors,
            surprise=surprise,
            ongoing=bool(previous_summary),
        )
        starts = [0, *(end + 1 for end in ends[:-1])]
        return Segmentation(
            segments=tuple(
                describe_segment(lines, vectors, surprise, first, last)
                for first, last in zip(starts, ends, strict=True)
            ),
            engine=ENGINE,
        )


def shorten_line(line: Line) -> Line:
    """Return the line with the part of its content that is read: a pasted book takes seconds."""
    if len(line.content) <= MOST_CHARACTERS_READ:
        return line
    return replace(line, content=line.content[:MOST_CHARACTERS_READ])


def describe_segment(
    lines: Sequence[Line],
    vectors: Vectors,
    surprise: Sequence[float],
    first: int,
    last: int,
) -> Segment:
    """Name, summarise and rate the lines `first`..`last`, both included."""
    run = slice(first, last + 1)
    return Segment(
        first=first,
        last=last,
        title=compose_title(lines[run], vectors[run], window=lines),
        summary=compose_summary(lines[run], vectors[run]),
        surprise=max(surprise[run]),
    )
