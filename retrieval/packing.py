"""Packing the most useful text into a budget of tokens.

Facts come first, those that answer best, in a share of the budget; then messages, best
first, each by itself. The first ones are shown whole but for filler, later ones by the sentences
that tell most: more of them fit. Cost is counted in quarters of a token, which add up
exactly over the parts of a block: nothing is rendered twice.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from django.conf import settings

from memoryproject.text.cleaning import clean, clean_line, prints_plain_links
from memoryproject.text.tokens import count_quarters, count_tokens, in_use
from retrieval import markdown
from retrieval.hits import FactHit, MessageRow
from retrieval.truncation import Trimmer

Item = TypeVar("Item")
FACTS_HEADING = "## Semantic Memory\n"
LINES_HEADING = "## Episodic Memories\n\n"
FACT_SHARE = 0.3
"""Of the budget, for facts, the ones that answer best; what is left over goes to more of them."""
OFFLINE_FACT_TOKENS = 100
"""At most, where no language model writes the facts: each repeats a message that may be shown."""
PINNED_SHARE = 0.08
"""Of the budget, for guidelines and dangers that the question did not ask for."""
CATEGORY_SHARE = 0.5
"""Where the caller asks for one category of facts, he wants facts."""
WHOLE_SHARE = 0.5
"""Of the budget, in which messages are shown whole but for filler."""
LARGEST_SHARE = 0.5
"""Of the budget, for one message; a longer one is cut to what matches best."""
LARGE_TOKENS = 200
"""A message of so many tokens is never cut while a budget is there for it."""
LEAST_LEFT_SHARE = 0.3
"""Of a message that is shortened; where less fits it is not tried."""
LEAST_CUT_TOKENS = 12
"""Less of a message says nothing."""
REMEMBERED_LINES, REMEMBERED_CHARACTERS = 8_192, 1_000
"""Facts, lines, headings and names whose sizes a process keeps in mind; longer ones not."""


@dataclass(slots=True)
class Budget:
    """How much may be spent in all, of one unit (tokens, or quarters of one); None: no limit."""

    limit: int | None
    spent: int = 0

    def take(self, size: int, *, at_most: int | None = None) -> bool:
        """Spend `size`; False, and nothing spent, where that goes above the limit.

        With `at_most`, which is lower, that is the limit this once.
        """
        limit = self.limit if at_most is None else at_most
        if limit is not None and self.spent + size > limit:
            return False
        self.spent += size
        return True


def fit(items: Iterable[Item], budget: Budget, *, size: Callable[[Item], int]) -> list[Item]:
    """Return the items that a budget holds, in order; what does not fit is passed over."""
    return [item for item in items if budget.take(size(item))]


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text: all facts, or one day of one episode. Ends in a line break."""

    text: str
    messages: tuple[MessageRow, ...]
    """Those that the part shows, or that say its facts."""
    cut: tuple[str, ...] = ()
    """Of the messages that it shows those of which something is left out, by id."""


FULL_DATE = re.compile(r"\d{1,2}\.? \w+ (?:de )?\d{4}\b|\b\d{4}-\d\d-\d\d\b|\d{4}年\d+月\d+日")
Day = tuple[str | None, str]
"""An episode, and a day of it as it is printed."""
Shown = tuple[MessageRow, str]
"""A chosen message and what is shown of it."""


class Packed:
    """What has been chosen within `max_tokens`."""

    def __init__(self, *, max_tokens: int, trimmer: Trimmer, explain: bool) -> None:
        self.max_tokens = max_tokens
        self.trimmer = trimmer
        self.explain = explain
        """Whether facts and episodes say their ids."""
        self.facts: list[FactHit] = []
        self.days: dict[Day, list[Shown]] = {}
        """Messages in order of choice."""
        self._quarters: dict[Day | None, int] = {}
        """The size of each block; None is that of facts."""
        self._rendered: dict[str, str] = {}
        """The lines of facts, by id: one that does not fit at first is tried again."""
        self.budget = Budget(max_tokens)

    def add_fact(self, hit: FactHit, *, at_most: int) -> None:
        """Add a fact unless it would take what is spent above `at_most`."""
        text = self._render_fact(hit) if self.facts else FACTS_HEADING + self._render_fact(hit)
        if self._pay(None, _count(text), at_most=at_most):
            self.facts.append(hit)

    def add_message(self, message: MessageRow, *, is_tight: bool) -> None:
        """Add a message, as whole as it fits, with the headings that it needs.

        `is_tight`: what tells little is left out, to have room for others.
        """
        content = clean(message.content or "")
        quarters = _measure(message, content)
        size = math.ceil(quarters / 4)
        room = self.max_tokens - self.budget.spent
        largest = min(self.max_tokens, max(int(LARGEST_SHARE * self.max_tokens), LARGE_TOKENS))
        if size <= largest and size * LEAST_LEFT_SHARE > room:
            return
        frame = self._render(message, "")
        overhead = 0
        if 2 * size > largest:  # what stands around what it says, were it alone
            overhead = count_tokens(LINES_HEADING) + count_tokens(frame + "\n")
        if size + overhead > largest:
            room_left = min(largest, room) - overhead
            if room_left >= LEAST_CUT_TOKENS:
                self._show(message, self.trimmer.cut(content, at_most=room_left), frame)
            return
        is_early = self.budget.spent < WHOLE_SHARE * self.max_tokens
        whole = self.trimmer.drop_filler(content) if is_tight and is_early else content
        size_of_whole = quarters if whole == content else 0  # not known
        if (is_early or not is_tight) and self._show(message, whole, frame, size_of_whole):
            return
        shortened = self.trimmer.shorten(content, room=self._count_room(frame))
        self._show(message, shortened, frame)

    def _show(self, message: MessageRow, content: str, frame: str, quarters: int = 0) -> bool:
        """Return whether it fits in its frame; an empty one never does. `quarters`: its size."""
        if len(content) > self._count_room(frame) or not content:
            return False
        cost = quarters + _count(frame if quarters else self._render(message, content))
        key = _day_of(message)
        fits = self._pay(key, cost, at_most=self.max_tokens)
        if fits:
            self.days.setdefault(key, []).append((message, content))
        return fits

    def _count_room(self, frame: str) -> float:
        """Return the characters in a frame that may fit: all counters but one count those."""
        if in_use().name == "e5":
            return math.inf
        return 4 * (self.max_tokens - self.budget.spent + 1) - len(frame)

    def _render(self, message: MessageRow, content: str) -> str:
        """Return a message with the heading of its day, unless that is there already."""
        key = _day_of(message)
        heading = "" if key in self.days else self._render_heading(key)
        return heading + _render_line(message, content)

    def _pay(self, key: Day | None, quarters: int, *, at_most: int) -> bool:
        """Grow a block by a text's quarters, unless that takes what is spent above `at_most`.

        A block counts with the line break that parts it from the next. The heading above
        all days counts apart.
        """
        before = self._quarters.get(key, 0)
        after = (before or count_quarters("\n")) + quarters
        cost = math.ceil(after / 4) - math.ceil(before / 4)
        if key is not None and not self.days:
            cost += count_tokens(LINES_HEADING)
        if not self.budget.take(cost, at_most=at_most):
            return False
        self._quarters[key] = after
        return True

    def messages(self) -> dict[str | None, list[MessageRow]]:
        """Return the chosen messages of each episode, oldest first."""
        by_episode: dict[str | None, list[MessageRow]] = {}
        for (episode_id, _), shown in self.days.items():
            by_episode.setdefault(episode_id, []).extend(message for message, _ in shown)
        return {key: sorted(rows, key=lambda row: row.seq) for key, rows in by_episode.items()}

    def blocks(self) -> list[Block]:
        """Return the text in parts: facts, then episodes, that of the best message first."""
        blocks = []
        if self.facts:
            text = FACTS_HEADING + "".join(self._render_fact(hit) for hit in self.facts)
            says = {row.seq: row for hit in self.facts for row in hit.messages}
            blocks.append(Block(text, tuple(says[seq] for seq in sorted(says))))
        heading = LINES_HEADING
        for messages in self.messages().values():
            for day in dict.fromkeys(map(_day_of, messages)):
                rows = sorted(self.days[day], key=lambda shown: shown[0].seq)
                lines = [_render_line(message, content) for message, content in rows]
                heading += self._render_heading(day)
                cut = tuple(row.id for row, shown in rows if shown != clean(row.content or ""))
                blocks.append(Block(heading + "".join(lines), tuple(row for row, _ in rows), cut))
                heading = ""
        return blocks

    def _render_fact(self, hit: FactHit) -> str:
        """Return a bullet with the day since when it is true, unless the fact names a date."""
        if hit.fact.id in self._rendered:
            return self._rendered[hit.fact.id]
        dated = FULL_DATE.search(hit.fact.fact)
        day = "" if dated else f", {markdown.render_date(hit.fact.valid_at)}"
        label = f"{hit.fact.category}{day}"
        mark = f" [id: {hit.found.memory_id}]" if self.explain else ""
        text = f"- [{label}] {clean_line(hit.fact.fact)}{markdown.mark(hit.fact)}{mark}\n"
        return self._rendered.setdefault(hit.fact.id, text)

    def _render_heading(self, key: Day) -> str:
        episode_id, day = key
        mark = f" [id: {episode_id}]" if self.explain else ""
        return f"### {day}{mark}\n"


def pack(
    facts: Sequence[FactHit],
    messages: Sequence[MessageRow],
    *,
    pinned: Sequence[FactHit] = (),
    max_tokens: int,
    wants_facts: bool,
    trimmer: Trimmer,
    explain: bool = False,
) -> Packed:
    """Choose from facts and messages, both best first.

    The text of all blocks, a line break between two of them, never counts more than
    `max_tokens`. `wants_facts`: the caller asked for one category of them.
    """
    packed = Packed(max_tokens=max_tokens, trimmer=trimmer, explain=explain)
    for hit in facts:
        packed.add_fact(
            hit, at_most=_room_for_facts(max_tokens, wants_facts) if messages else max_tokens
        )
    chosen = {hit.fact.id for hit in packed.facts}
    rest = [hit for hit in facts if hit.fact.is_pinned and hit.fact.id not in chosen]
    at_most = packed.budget.spent + int(PINNED_SHARE * max_tokens)
    for hit in [*rest, *pinned]:
        packed.add_fact(hit, at_most=at_most)
    sizes = (_measure(message, message.content or "") for message in messages)
    is_tight = sum(sizes) > 4 * max_tokens
    for message in messages:
        packed.add_message(message, is_tight=is_tight)
    chosen = {hit.fact.id for hit in packed.facts}
    for hit in facts:
        if hit.fact.id not in chosen:
            packed.add_fact(hit, at_most=max_tokens)
    order = {hit.fact.id: place for place, hit in enumerate([*facts, *pinned])}
    packed.facts.sort(key=lambda hit: order[hit.fact.id])
    return packed


def _room_for_facts(max_tokens: int, wants_facts: bool) -> int:
    """Return the tokens that facts may take before messages are chosen."""
    if wants_facts:
        return int(max_tokens * CATEGORY_SHARE)
    room = int(max_tokens * FACT_SHARE)
    return room if settings.LLM == "openai" else min(room, OFFLINE_FACT_TOKENS)


def join(blocks: Sequence[Block]) -> str:
    """Return the whole text."""
    return "\n".join(block.text for block in blocks)


def _render_line(message: MessageRow, content: str) -> str:
    return markdown.render_message(message, content=content) + "\n"


def _measure(message: MessageRow, content: str) -> int:
    """Return the quarters of a message's content; what is stored of it has its links defanged."""
    if message.quarters is None or prints_plain_links():
        return count_quarters(content)
    return message.quarters


def _count(text: str) -> int:
    """Return the quarters of a line, or of a part of one; answers repeat many."""
    is_short = len(text) <= REMEMBERED_CHARACTERS
    return _remember_quarters(text, in_use().name) if is_short else count_quarters(text)


@lru_cache(REMEMBERED_LINES)
def _remember_quarters(text: str, counter: str) -> int:
    return count_quarters(text)


def _day_of(message: MessageRow) -> Day:
    return message.episode_id, markdown.render_date(message.occurred_at)
