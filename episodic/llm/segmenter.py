"""The segmenter that asks a language model, and never trusts its counting."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from episodic.anchor_checks import add_dates, drop_wrong_dates
from episodic.engines import Line, Segment, Segmentation, Segmenter, Vectors
from episodic.llm.partition import read_partition
from episodic.llm.replies import SegmentationReply, SegmentReply, SurpriseLevel
from episodic.text_sizes import clip_words, count_words
from episodic.window import FEWEST_TO_SPLIT, SILENCE_CUTS, silences
from jobs.calls import Asker, ask_mended
from memoryproject.ai import prompts
from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.text.cleaning import drop_unseen

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "segment.md"
LEVELS = {SurpriseLevel.LOW: 0.2, SurpriseLevel.HIGH: 0.6, SurpriseLevel.EXTREMELY_HIGH: 0.9}
TITLE_WORDS = 15
SUMMARY_WORDS = 50
RULE = "The final episode ends with message {last}."
LINES_A_FACT_LINE = 2
"""Ratio of the messages in a question about episodes to those in one about facts."""
SHARE_OF_A_LINE = 4
"""Largest share of the prompt for one line; its beginning and end are enough to tell its topic."""


ShownLine = tuple[str, int]
"""A line as the prompt shows it, and how many characters it lost."""


class LLMSegmenter:
    """Implements `Segmenter`: ask, repair, ask once more, else let `offline` answer.

    The model gives topics, texts and surprise. A window that is too long for one question, or for
    an answer in time, is split into parts; the last segment of a part is repeated in the next one,
    where it may continue.
    """

    def __init__(self, *, ask: Asker, offline: Segmenter) -> None:
        self._ask = ask
        self._offline = offline

    def segment(
        self, *, lines: Sequence[Line], vectors: Vectors, previous_summary: str
    ) -> Segmentation:
        """Return the model's partition of `lines`, or the offline one marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        segments: list[Segment] = []
        before, start = previous_summary, 0
        asked_at_most = self._ask.lines_at_most
        at_most = None if asked_at_most is None else LINES_A_FACT_LINE * asked_at_most
        while start < len(lines):
            shown = fit_lines(lines[start:])[:at_most]
            end = start + len(shown)
            part = self._ask_about(lines[start:end], shown, vectors[start:end], before)
            if part is None:
                offline = self._offline.segment(
                    lines=lines, vectors=vectors, previous_summary=previous_summary
                )
                return replace(offline, degraded=True)
            closed = part[:-1] if end < len(lines) and len(part) > 1 else part
            segments += [_shift(segment, by=start) for segment in closed]
            before, start = segments[-1].summary, segments[-1].last + 1
        return Segmentation(segments=tuple(segments), engine=ENGINE)

    def _ask_about(
        self, lines: Sequence[Line], shown: Sequence[ShownLine], vectors: Vectors, before: str
    ) -> list[Segment] | None:
        """Return checked segments of a part, or None where both answers are of no use."""
        opening = [f"Before: {prompts.put_on_one_line(before)}"] if before else []
        material = "\n".join([*opening, *(text for text, _ in shown)])
        return ask_mended(
            self._ask,
            file=PROMPT,
            material=material,
            reply=SegmentationReply,
            check=partial(self._read, lines=lines, vectors=vectors),
            rule=RULE.format(last=len(lines) - 1),
            left_out=sum(left_out for _, left_out in shown),
            lines=-(-len(shown) // LINES_A_FACT_LINE),
        )

    def _read(
        self, reply: SegmentationReply, *, lines: Sequence[Line], vectors: Vectors
    ) -> list[Segment]:
        """Return the segments of an answer; raise ModelMisbehaved if it has no usable ones."""
        runs = read_partition([row.last for row in reply.episodes], count=len(lines))
        if runs is None:
            raise ModelMisbehaved("Its episodes leave messages out, overlap or are not in order.")
        segments: list[Segment] = []
        for (first, last), row in zip(runs, reply.episodes, strict=False):
            parts = _cut_at_silences(lines, first, last)
            longest = max(parts, key=lambda part: part[1] - part[0])
            for part in parts:
                worded = _word(row, lines, *part) if part == longest else None
                segments += [worded] if worded else self._segment_offline(lines, vectors, *part)
        return segments

    def _segment_offline(
        self, lines: Sequence[Line], vectors: Vectors, first: int, last: int
    ) -> list[Segment]:
        """Return segments of a part for which the model has no words."""
        run = slice(first, last + 1)
        answer = self._offline.segment(lines=lines[run], vectors=vectors[run], previous_summary="")
        return [_shift(segment, by=first) for segment in answer.segments]


def fit_lines(lines: Sequence[Line]) -> list[ShownLine]:
    """Return as many of the lines, from the first on, as one question takes: one at least.

    They are numbered, with their times and the long silences between them.
    """
    room = prompts.find_room(file=PROMPT, reply=SegmentationReply)
    shown: list[ShownLine] = []
    for number, (line, gap) in enumerate(zip(lines, [None, *silences(lines)], strict=True)):
        short, left_out = prompts.shorten_line(line.content, tokens=room // SHARE_OF_A_LINE)
        silence = ""
        if gap is not None and gap >= SILENCE_CUTS:
            silence = f"(silence of {gap.total_seconds() / 3600:.0f} hours)\n"
        text = prompts.show_line(number, short, at=line.at, name=line.name, role=line.role)
        shown.append((silence + text, left_out))
    costs = [count_prompt_tokens(text) for text, _ in shown]
    return shown[next(prompts.fill(costs, room=room))]


def _shift(segment: Segment, *, by: int) -> Segment:
    return replace(segment, first=segment.first + by, last=segment.last + by)


def _cut_at_silences(lines: Sequence[Line], first: int, last: int) -> list[tuple[int, int]]:
    """Return the parts of a model's run between long silences; two messages are never split."""
    gaps = silences(lines[first : last + 1]) if len(lines) >= FEWEST_TO_SPLIT else []
    cuts = [first + index for index, gap in enumerate(gaps) if gap >= SILENCE_CUTS]
    return list(zip([first, *(cut + 1 for cut in cuts)], [*cuts, last], strict=True))


def _word(row: SegmentReply, lines: Sequence[Line], first: int, last: int) -> Segment | None:
    """Return the segment in the model's words; None if they are missing or the example's."""
    run = lines[first : last + 1]
    title = _tidy(row.title, lines=run, at_most=TITLE_WORDS)
    summary = _tidy(row.summary, lines=run, at_most=SUMMARY_WORDS)
    material = " ".join(line.content for line in run)
    if not title or not summary or prompts.repeats_example(title + summary, material=material):
        return None
    surprise = LEVELS[row.surprise]
    return Segment(first=first, last=last, title=title, summary=summary, surprise=surprise)


def _tidy(text: str, *, lines: Sequence[Line], at_most: int) -> str:
    """Return a model's text with wrong dates removed, and missing ones added where they fit."""
    text = clip_words(" ".join(drop_unseen(text).split()), at_most)
    text = drop_wrong_dates(text, lines=lines)
    dated = add_dates(text, lines=lines)
    return dated if count_words(dated) <= at_most else text
