"""The segmenter that asks a language model, and never trusts its counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.offline_boundaries import SILENCE, silences
from episodic.offline_segmenter import OfflineSegmenter, describe_segment
from episodic.offline_surprise import line_surprises
from episodic.partition import is_partition, mend_partition
from episodic.replies import SegmentationReply, SegmentReply, SurpriseLevel
from jobs.calls import Asker
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "segment.md"
LEVELS = {
    SurpriseLevel.LOW: 0.2,
    SurpriseLevel.HIGH: 0.6,
    SurpriseLevel.EXTREMELY_HIGH: 0.9,
}
REMINDER = (
    "\n\nAn earlier answer did not cover the messages. Cover every message from 0 to {last} "
    "exactly once, in order."
)


class LLMSegmenter:
    """Implements `Segmenter`: ask, mend, ask once more, else answer offline.

    Both channels count: the model finds topics, the vectors find surprise, and a
    segment is as surprising as the louder of the two says.
    """

    def __init__(self, *, ask: Asker) -> None:
        self._ask = ask
        self._offline = OfflineSegmenter()

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        """Return the model's partition of `lines`, or the offline one marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        material = describe_window(lines, previous_summary)
        for reminder in ("", REMINDER.format(last=len(lines) - 1)):
            segments = self._ask_once(lines, vectors, material + reminder)
            if segments is not None:
                return Segmentation(segments=tuple(segments), engine=ENGINE)
        offline = self._offline.segment(
            lines=lines, vectors=vectors, previous_summary=previous_summary
        )
        return replace(offline, degraded=True)

    def _ask_once(
        self, lines: Sequence[Line], vectors: Vectors, material: str
    ) -> list[Segment] | None:
        """Return checked segments, or None where the answer is of no use."""
        prompt = build_prompt(file=PROMPT, purpose="segment", material=material)
        try:
            reply = self._ask(prompt, SegmentationReply)
        except ModelMisbehaved:
            return None
        runs = [(episode.first, episode.last) for episode in reply.episodes]
        if not is_partition(runs, count=len(lines)):
            mended = mend_partition(runs, count=len(lines))
            if mended is None:
                return None
            runs = mended
        surprise = line_surprises(lines, vectors)
        segments: list[Segment] = []
        for (first, last), said in zip(runs, reply.episodes, strict=True):
            segments += _cut_at_silences(lines, vectors, surprise, first, last, said)
        return segments


def describe_window(lines: Sequence[Line], previous_summary: str) -> str:
    """Return the window as the prompt shows it: numbered lines, times, long silences."""
    shown = [f"Before: {previous_summary}"] if previous_summary else []
    gaps = [None, *silences(lines)]
    for number, (line, gap) in enumerate(zip(lines, gaps, strict=True)):
        if gap is not None and gap >= SILENCE:
            shown.append(f"(silence of {gap.total_seconds() / 3600:.0f} hours)")
        shown.append(f"{number} [{line.at:%Y-%m-%d %H:%M}] {line.text}")
    return "\n".join(shown)


def _cut_at_silences(
    lines: Sequence[Line],
    vectors: Vectors,
    surprise: Sequence[float],
    first: int,
    last: int,
    said: SegmentReply,
) -> list[Segment]:
    """Return the model's segment, cut where a long silence lies inside it.

    The longest part keeps the model's words; the others get the offline engine's. Two
    messages are never split.
    """
    gaps = silences(lines[first : last + 1])
    cuts = [first + index for index, gap in enumerate(gaps) if gap >= SILENCE]
    starts = [first, *(cut + 1 for cut in cuts)]
    parts = list(zip(starts, [*cuts, last], strict=True))
    longest = max(parts, key=lambda part: part[1] - part[0])
    found: list[Segment] = []
    for part in parts:
        own = describe_segment(lines, vectors, surprise, *part)
        if part == longest:
            own = replace(
                own,
                title=_trim(said.title, words=15) or own.title,
                summary=_trim(said.summary, words=50) or own.summary,
                surprise=max(own.surprise, LEVELS[said.surprise]),
            )
        found.append(own)
    return found


def _trim(text: str, *, words: int) -> str:
    parts = text.split()
    return " ".join(parts) if len(parts) <= words else " ".join(parts[:words]) + " …"
