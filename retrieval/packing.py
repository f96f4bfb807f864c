"""Packing the most useful text into a budget of tokens.

Messages come first, best first, each by itself; facts that those do not say already get
a small share. Cost is counted piece by piece and each piece is rounded up: the whole
never counts more than its pieces, so nothing is rendered twice.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from episodic.models import Message
from memoryproject.tokens import count_tokens
from retrieval import markdown
from retrieval.hits import FactHit

FACTS_HEADING = "## Semantic Memory\n"
LINES_HEADING = "## Episodic Memories\n\n"
FACT_SHARE = 0.06
"""Of the budget. Sentences drawn from messages repeat their words: more of them cost
more evidence than they add."""
CATEGORY_SHARE = 0.5
"""Where the caller asks for one category of facts, he wants facts."""
SAID_BY = 20
"""A fact that is said by one of so many best messages waits until there is room to spare."""


@dataclass(frozen=True, slots=True)
class Line:
    """A message that may be packed, and the episode that it stands in."""

    episode_id: uuid.UUID
    message: Message


@dataclass(frozen=True, slots=True)
class Block:
    """A part of the text: all facts, or one day of one episode. Ends in a line break."""

    text: str
    messages: tuple[Message, ...]
    """Those that the part shows, or that say its facts."""


@dataclass(slots=True)
class Packed:
    """What has been chosen within `max_tokens`."""

    max_tokens: int
    explain: bool = False
    """Whether facts and episodes say their ids."""
    facts: list[FactHit] = field(default_factory=list)
    days: dict[tuple[uuid.UUID, str], list[Message]] = field(default_factory=dict)
    """Messages by episode and day, in order of choice."""
    spent: int = 0

    def add_fact(self, hit: FactHit, *, at_most: int) -> None:
        """Add a fact unless it would take what is spent above `at_most`."""
        heading = "" if self.facts else FACTS_HEADING
        if self._pay(heading, self._render_fact(hit), at_most=at_most):
            self.facts.append(hit)

    def add_line(self, line: Line) -> None:
        """Add a message, with the headings that it needs, unless it does not fit."""
        key = (line.episode_id, _day(line.message))
        headings = "" if self.days else LINES_HEADING
        if key not in self.days:
            headings += self._render_heading(*key) + "\n"
        text = markdown.render_message(line.message) + "\n"
        if self._pay(headings, text, at_most=self.max_tokens):
            self.days.setdefault(key, []).append(line.message)

    def _pay(self, *texts: str, at_most: int) -> bool:
        cost = sum(count_tokens(text) for text in texts)
        if self.spent + cost > at_most:
            return False
        self.spent += cost
        return True

    def messages(self) -> dict[uuid.UUID, list[Message]]:
        """Return the chosen messages of each episode, oldest first."""
        found: dict[uuid.UUID, list[Message]] = {}
        for (episode_id, _), chosen in self.days.items():
            found.setdefault(episode_id, []).extend(chosen)
        return {key: sorted(rows, key=lambda row: row.seq) for key, rows in found.items()}

    def blocks(self) -> list[Block]:
        """Return the text in parts: facts, then episodes, that of the best message first."""
        blocks = []
        if self.facts:
            text = FACTS_HEADING + "".join(self._render_fact(hit) for hit in self.facts)
            says = {row.seq: row for hit in self.facts for row in hit.messages}
            blocks.append(Block(text, tuple(says[seq] for seq in sorted(says))))
        heading = LINES_HEADING
        for episode_id, chosen in self.messages().items():
            for day in dict.fromkeys(_day(row) for row in chosen):
                rows = tuple(row for row in chosen if _day(row) == day)
                lines = "".join(markdown.render_message(row) + "\n" for row in rows)
                heading += self._render_heading(episode_id, day)
                blocks.append(Block(heading + lines, rows))
                heading = ""
        return blocks

    def _render_fact(self, hit: FactHit) -> str:
        """Return a bullet with the day from which the fact was true."""
        label = f"{hit.fact.category}, {markdown.say_day(hit.fact.valid_at)}"
        found = f" [id: {hit.found.memory_id}]" if self.explain else ""
        return f"- [{label}] {markdown.one_line(hit.fact.fact)}{found}\n"

    def _render_heading(self, episode_id: uuid.UUID, day: str) -> str:
        found = f" [id: {episode_id}]" if self.explain else ""
        return f"### {day}{found}\n"


def pack(
    facts: Sequence[FactHit],
    lines: Sequence[Line],
    *,
    max_tokens: int,
    wants_facts: bool,
    explain: bool = False,
) -> Packed:
    """Choose from facts and messages, both best first.

    The text of all blocks, a line break between two of them, never counts more than
    `max_tokens`. `wants_facts`: the caller asked for one category of them.
    """
    packed = Packed(max_tokens=max_tokens, explain=explain)
    share = (CATEGORY_SHARE if wants_facts else FACT_SHARE) if lines else 1.0
    said = {line.message.seq for line in lines[:SAID_BY]}
    for hit in facts:
        if wants_facts or not any(row.seq in said for row in hit.messages):
            packed.add_fact(hit, at_most=int(max_tokens * share))
    for line in lines:
        packed.add_line(line)
    chosen = {hit.found.memory_id for hit in packed.facts}
    for hit in facts:
        if hit.found.memory_id not in chosen:
            packed.add_fact(hit, at_most=max_tokens)
    packed.facts.sort(key=lambda hit: hit.found.rank)
    return packed


def join(blocks: Sequence[Block]) -> str:
    """Return the whole text."""
    return "\n".join(block.text for block in blocks)


def _day(message: Message) -> str:
    return markdown.say_day(message.occurred_at)
