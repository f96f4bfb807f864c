"""The segmenter that asks a language model, and never trusts its counting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from episodic.anchor_checks import check_anchors
from episodic.engines import Line, Segment, Segmentation, Vectors
from episodic.offline_boundaries import FEWEST_TO_SPLIT, SILENCE, silences
from episodic.offline_segmenter import OfflineSegmenter, describe_segment
from episodic.offline_surprise import line_surprises
from episodic.partition import Run, is_partition, mend_partition
from episodic.replies import SegmentationReply, SegmentReply, SurpriseLevel
from episodic.text_sizes import clip_words
from jobs.calls import Asker, ask_mended
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.llm import Prompt
from memoryproject.ai.local_model import count_prompt_tokens
from memoryproject.ai.prompts import (
    build_prompt,
    fill,
    find_room,
    put_on_one_line,
    shorten_line,
    show_said,
)
from memoryproject.cleaning import drop_unseen

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "segment.md"
LEVELS = {
    SurpriseLevel.LOW: 0.2,
    SurpriseLevel.HIGH: 0.6,
    SurpriseLevel.EXTREMELY_HIGH: 0.9,
}
RULE = "Every message from 0 to {last} belongs to exactly one episode."
SHARE_OF_A_LINE = 4
"""A line takes at most a quarter of the room: where it begins and ends tells its topic."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A line as the prompt shows it, and how many characters it lost."""

    text: str
    left_out: int


class LLMSegmenter:
    """Implements `Segmenter`: ask, mend, ask once more, else answer offline.

    Both channels count: the model finds topics, the vectors find surprise, and a
    segment is as surprising as the louder of the two says. A window that is too long
    for one question is asked about in parts; the last segment of a part opens the next
    one, as it may go on there.
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
        found: list[Segment] = []
        before, start = previous_summary, 0
        while start < len(lines):
            shown = fit_lines(lines[start:])
            end = start + len(shown)
            part = self._ask_about(lines[start:end], shown, vectors[start:end], before)
            if part is None:
                offline = self._offline.segment(
                    lines=lines, vectors=vectors, previous_summary=previous_summary
                )
                return replace(offline, degraded=True)
            closed = part[:-1] if end < len(lines) and len(part) > 1 else part
            found += [
                replace(segment, first=segment.first + start, last=segment.last + start)
                for segment in closed
            ]
            before, start = found[-1].summary, found[-1].last + 1
        return Segmentation(segments=tuple(found), engine=ENGINE)

    def _ask_about(
        self, lines: Sequence[Line], shown: Sequence[ShownLine], vectors: Vectors, before: str
    ) -> list[Segment] | None:
        """Return checked segments of a part, or None where both answers are of no use."""
        opening = [f"Before: {put_on_one_line(before)}"] if before else []
        material = "\n".join([*opening, *(line.text for line in shown)])

        def build(reminder: str) -> Prompt:
            return build_prompt(
                file=PROMPT,
                purpose="segment",
                material=material,
                reminder=reminder and f"{reminder} {RULE.format(last=len(lines) - 1)}",
                left_out=sum(line.left_out for line in shown),
            )

        return ask_mended(
            self._ask,
            build=build,
            reply=SegmentationReply,
            check=partial(read_reply, lines=lines, vectors=vectors),
        )


def read_reply(
    reply: SegmentationReply, *, lines: Sequence[Line], vectors: Vectors
) -> list[Segment]:
    """Return the segments that an answer means.

    Raises:
        ModelMisbehaved: it means no partition of the lines.
    """
    runs = find_runs(reply, count=len(lines))
    if runs is None:
        raise ModelMisbehaved("Its episodes leave messages out, overlap or are not in order.")
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


def fit_lines(lines: Sequence[Line]) -> list[ShownLine]:
    """Return as many of the lines, from the first on, as one question takes: one at least.

    They are numbered, with their times and the long silences between them.
    """
    room = find_room(file=PROMPT, reply=SegmentationReply)
    shown: list[ShownLine] = []
    for number, (line, gap) in enumerate(zip(lines, [None, *silences(lines)], strict=True)):
        short, left_out = shorten_line(line.content, tokens=room // SHARE_OF_A_LINE)
        text = show_said(short, name=line.name, role=line.role)
        silence = ""
        if gap is not None and gap >= SILENCE:
            silence = f"(silence of {gap.total_seconds() / 3600:.0f} hours)\n"
        numbered = f"{silence}{number} [{line.at:%Y-%m-%d %H:%M}] {text}"
        shown.append(ShownLine(text=numbered, left_out=left_out))
    costs = [count_prompt_tokens(line.text) for line in shown]
    return shown[next(fill(costs, room=room))]


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
            said_of = lines[part[0] : part[1] + 1]
            own = replace(
                own,
                title=_clip(check_anchors(said.title, lines=said_of), words=15) or own.title,
                summary=_clip(check_anchors(said.summary, lines=said_of), words=50) or own.summary,
                surprise=max(own.surprise, LEVELS[said.surprise]),
            )
        found.append(own)
    return found


def _clip(text: str, *, words: int) -> str:
    return clip_words(" ".join(drop_unseen(text).split()), words)
