"""The text of an answer within a budget: its order, and the size of each addition.

First facts (dangers, standing instructions, the best ones), then lines in chronological order under
headings for each day of a conversation, then further facts.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import chain

from memoryproject.text.cleaning import break_definitions, clean_line
from memoryproject.text.parts import Excerpt, Kind, Part, Quote, join
from memoryproject.text.tokens import count_quarters, count_tokens
from retrieval import markdown
from retrieval.budget import Budget, count_part
from retrieval.excerpts import is_cut
from retrieval.hits import FactHit, MessageRow
from retrieval.markdown import EPISODES_HEADING, FACTS_HEADING, Block, render_message
from retrieval.request import RecallRequest

FULL_DATE = re.compile(r"\d{1,2}\.? \w+ (?:de )?\d{4}\b|\b\d{4}-\d\d-\d\d\b|\d{4}年\d+月\d+日")
HOME_LETTERS = 8
"""Letters of a conversation's id that headings show."""
FIRST, FURTHER = "first", "further"
"""Names of the fact sections before and after the lines."""
Day = tuple[date, str]
"""A day, and the name of the conversation that its heading shows."""
Section = Day | str
TIME = "%H:%M "


@dataclass(slots=True)
class Lines:
    """The lines of a day, in the order in which they were chosen."""

    shown: list[tuple[MessageRow, Excerpt]] = field(default_factory=list)
    episodes: list[str | None] = field(default_factory=list)
    """Episodes of the lines."""
    is_timed: bool = False
    """Whether each line shows its time of day, as they differ by at least a minute."""

    def differs(self, moment: datetime) -> bool:
        """Return whether a line of that moment would be the first of a different minute."""
        if self.is_timed or not self.shown:
            return False
        return self.shown[0][0].said_at.strftime(TIME) != moment.strftime(TIME)


@dataclass(frozen=True, slots=True)
class Frame:
    """The text before and after a message's words, and the extra cost of its line."""

    opening: str
    closing: str
    others: int = 0
    """Quarters of a token by which existing lines grow."""


class Layout:
    """The chosen facts and lines within `max_tokens`, in order."""

    def __init__(
        self, request: RecallRequest, *, max_tokens: int, homes: Mapping[str, str]
    ) -> None:
        self.request = request
        self.budget = Budget(max_tokens)
        self.facts: dict[str, list[FactHit]] = {FIRST: [], FURTHER: []}
        self.earlier: set[str] = set()
        """Facts placed after a newer one about the same subject, by id."""
        self.days: dict[Day, Lines] = {}
        self._homes = homes
        """Name of an episode's conversation, if headings show it."""
        self._quarters: dict[Section, int] = {}
        """The size of each block."""
        self._rendered: dict[str, list[Part]] = {}
        """The bullets of facts, by id, kept since a fact that does not fit is tried again."""

    @property
    def max_tokens(self) -> int:
        """Return the budget."""
        return self.budget.limit or 0

    @property
    def room(self) -> int:
        """Return the remaining tokens."""
        return self.max_tokens - self.budget.spent

    @property
    def fact_ids(self) -> set[str]:
        """Return the ids of the facts that are printed."""
        return {hit.id for hit in chain(*self.facts.values())}

    def add_fact(self, hit: FactHit, *, section: str, at_most: int) -> bool:
        """Add a fact unless the total would exceed `at_most`; return whether it fits."""
        heading = "" if self.facts[section] else FACTS_HEADING
        cost = count_part(heading + join(self._render_fact(hit)))
        fits = self._pay(section, cost, at_most=at_most)
        if fits:
            self.facts[section].append(hit)
        return fits

    def add_line(self, message: MessageRow, excerpt: Excerpt, *, quarters: int = 0) -> bool:
        """Add a message; return whether it fits. An empty excerpt never does.

        `quarters`: its size, if known.
        """
        frame = self.frame(message)
        if len(excerpt.text) > self.count_characters(frame) or not excerpt.text:
            return False
        said = "" if quarters else excerpt.text
        cost = quarters + frame.others + count_part(self.write(frame, said))
        day = self._day_of(message)
        if not self._pay(day, cost, at_most=self.max_tokens):
            return False
        lines = self.days.setdefault(day, Lines())
        lines.is_timed = lines.is_timed or lines.differs(message.said_at)
        lines.shown.append((message, excerpt))
        if message.episode_id not in lines.episodes:
            lines.episodes.append(message.episode_id)
        return True

    def count_characters(self, frame: Frame) -> int:
        """Return an upper bound of the characters that fit into a frame."""
        return 4 * (self.room + 1) - len(self.write(frame))

    def frame(self, message: MessageRow) -> Frame:
        """Return the frame of a message, with its day's heading unless that exists already."""
        day = self._day_of(message)
        lines = self.days.get(day, Lines())
        heading, others = "", 0
        if not lines.shown:
            heading = self._render_heading(day, [message.episode_id])
        elif self.request.explain and message.episode_id not in lines.episodes:
            others = count_quarters(_trace(message.episode_id))
        is_timed = lines.is_timed or lines.differs(message.said_at)
        if is_timed and not lines.is_timed:
            others += sum(count_part(row.said_at.strftime(TIME)) for row, _ in lines.shown)
        time = message.said_at.strftime(TIME) if is_timed else ""
        opening, closing = markdown.frame_message(message, self.request.links, time=time)
        return Frame(heading + join(opening), join(closing), others)

    def write(self, frame: Frame, said: str = "") -> str:
        """Return a message in its frame, as `render_message` prints it."""
        return break_definitions(frame.opening + said + frame.closing, self.request.links)

    def _pay(self, section: Section, quarters: int, *, at_most: int) -> bool:
        """Add a text's quarters to a block, unless the total would exceed `at_most`.

        A block's size includes the line break after it. The heading above all days is counted
        separately.
        """
        before = self._quarters.get(section, 0)
        after = (before or count_quarters("\n")) + quarters
        cost = math.ceil(after / 4) - math.ceil(before / 4)
        if not isinstance(section, str) and not self.days:
            cost += count_tokens(EPISODES_HEADING)
        if not self.budget.take(cost, at_most=at_most):
            return False
        self._quarters[section] = after
        return True

    def messages(self) -> dict[str | None, list[MessageRow]]:
        """Return the chosen messages of each episode, oldest first."""
        by_episode: dict[str | None, list[MessageRow]] = {}
        for lines in self.days.values():
            for message, _ in lines.shown:
                by_episode.setdefault(message.episode_id, []).append(message)
        return {key: sorted(rows, key=lambda row: row.seq) for key, rows in by_episode.items()}

    def blocks(self) -> list[Block]:
        """Return the parts of the text: facts, the days in chronological order, further facts."""
        days = [
            self._render_day(day, self.days[day], heading=EPISODES_HEADING if is_first else "")
            for day, is_first in zip(
                sorted(self.days), chain([True], [False] * len(self.days)), strict=False
            )
        ]
        first, further = (self._render_facts(hits) for hits in self.facts.values())
        return [*first, *days, *further]

    def _render_facts(self, hits: Sequence[FactHit]) -> list[Block]:
        if not hits:
            return []
        bullets = chain.from_iterable(map(self._render_fact, hits))
        says = {row.place: row for hit in hits for row in hit.messages}
        rows = sorted(says.values(), key=lambda row: (row.seq, row.id))
        return [Block([FACTS_HEADING, *bullets], rows)]

    def _render_day(self, day: Day, lines: Lines, *, heading: str) -> Block:
        shown = sorted(lines.shown, key=lambda line: (line[0].said_at, line[0].seq, line[0].id))
        parts: list[Part] = [heading + self._render_heading(day, lines.episodes)]
        for row, excerpt in shown:
            time = row.said_at.strftime(TIME) if lines.is_timed else ""
            parts += render_message(row, self.request.links, excerpt=excerpt, time=time)
        cut = tuple(row.id for row, excerpt in shown if is_cut(excerpt))
        return Block(parts, [row for row, _ in shown], cut)

    def _render_fact(self, hit: FactHit) -> list[Part]:
        """Return a bullet with the day since when the fact is true, unless it names a date.

        The name of its conversation is added if names are shown.
        """
        if hit.id in self._rendered:
            return self._rendered[hit.id]
        links = self.request.links
        dated = FULL_DATE.search(hit.fact)
        day = "" if dated else f", {markdown.render_day(hit.true_since.date())}"
        earlier = ", earlier" if hit.id in self.earlier else ""
        quote = Quote(Kind.FACT, hit.id, clean_line(hit.fact, links))
        trace = f" [id: {hit.found.memory_id}]" if self.request.explain else ""
        episodes = [row.episode_id or "" for row in hit.messages]
        home = next((self._homes[one] for one in episodes if one in self._homes), "")
        opening = f"- [{hit.category}{day}{earlier}{home}] "
        parts = [opening, quote, *markdown.mark(hit, links), f"{trace}\n"]
        return self._rendered.setdefault(hit.id, parts)

    def _render_heading(self, day: Day, episodes: Sequence[str | None]) -> str:
        on, home = day
        traces = "".join(map(_trace, episodes)) if self.request.explain else ""
        return f"### {markdown.render_day(on)}{home}{traces}\n"

    def _day_of(self, message: MessageRow) -> Day:
        return message.said_at.date(), self._homes.get(message.episode_id or "", "")


def _trace(episode_id: str | None) -> str:
    return f" [id: {episode_id}]"
