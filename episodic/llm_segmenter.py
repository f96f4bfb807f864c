"""The segmenter that asks a language model, and never trusts its counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.offline_boundaries import FEWEST_TO_SPLIT, SILENCE, silences
from episodic.offline_segmenter import OfflineSegmenter, describe_segment
from episodic.offline_surprise import line_surprises
from episodic.partition import Run, is_partition, mend_partition
from episodic.replies import SegmentationReply, SegmentReply, SurpriseLevel
from episodic.text_sizes import clip_words
from jobs.calls import Asker
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt, fit_lines

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "segment.md"
LEVELS = {
    SurpriseLevel.LOW: 0.2,
    SurpriseLevel.HIGH: 0.6,
    SurpriseLevel.EXTREMELY_HIGH: 0.9,
}
REMINDER = (
    "An earlier answer was of no use. Answer in the asked-for form, and cover every message "
    "from 0 to {last} exactly once, in order."
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
            segments = self._ask_once(lines, vectors, material, reminder)
            if segments is not None:
                return Segmentation(segments=tuple(segments), engine=ENGINE)
        offline = self._offline.segment(
            lines=lines, vectors=vectors, previous_summary=previous_summary
        )
        return replace(offline, degraded=True)

    def _ask_once(
        self, lines: Sequence[Line], vectors: Vectors, material: str, reminder: str
    ) -> list[Segment] | None:
        """Return checked segments, or None where the answer is of no use."""
        prompt = build_prompt(file=PROMPT, purpose="segment", material=material, reminder=reminder)
        try:
            reply = self._ask(prompt, SegmentationReply)
        except ModelMisbehaved:
            return None
        runs = find_runs(reply, count=len(lines))
        if runs is None:
            return None
        surprise = line_surprises(lines, vectors)
        segments: list[Segment] = []
        for (first, last), said in zip(runs, reply.episodes, strict=False):
            segments += _cut_at_silences(lines, vectors, surprise, first, last, said)
        return segments


def find_runs(reply: SegmentationReply, *, count: int) -> list[Run] | None:
    """Return the partition that the answer means, or None where it means none.

    Fewer than three messages are never split: the first answer's words stand for all.
    """
    if 0 < count < FEWEST_TO_SPLIT and reply.episodes:
        return [(0, count - 1)]
    runs = [(episode.first, episode.last) for episode in reply.episodes]
    return runs if is_partition(runs, count=count) else mend_partition(runs, count=count)


def describe_window(lines: Sequence[Line], previous_summary: str) -> str:
    """Return the window as the prompt shows it: numbered lines, times, long silences."""
    shown = [f"Before: {previous_summary}"] if previous_summary else []
    gaps = [None, *silences(lines)]
    texts = fit_lines([line.text for line in lines])
    for number, (line, text, gap) in enumerate(zip(lines, texts, gaps, strict=True)):
        if gap is not None and gap >= SILENCE:
            shown.append(f"(silence of {gap.total_seconds() / 3600:.0f} hours)")
        shown.append(f"{number} [{line.at:%Y-%m-%d %H:%M}] {text}")
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

    The longest part keeps the model's words; the others get the offline engine's. A
    window of two messages is never split.
    """
    gaps = silences(lines[first : last + 1]) if len(lines) >= FEWEST_TO_SPLIT else []
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
                title=_clip(said.title, words=15) or own.title,
                summary=_clip(said.summary, words=50) or own.summary,
                surprise=max(own.surprise, LEVELS[said.surprise]),
            )
        found.append(own)
    return found


def _clip(text: str, *, words: int) -> str:
    return clip_words(" ".join(text.split()), words)
