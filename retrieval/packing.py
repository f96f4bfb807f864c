"""Packs the most useful text into a budget of tokens: ranks single messages, and chooses.

Scores of messages are deviations from the mean message, so that they add up: one that is a
deviation closer in meaning outweighs one that is half a deviation richer in words.

Facts come first, those that answer best, in a share of the budget; then messages, best
first, each by itself. The first ones are shown whole but for filler, later ones by the sentences
that tell most: more of them fit. Cost is counted in quarters of a token, which add up
exactly over the parts of a block: nothing is rendered twice.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import TypeVar

from django.conf import settings

from memoryproject.text.cleaning import PLAIN, break_definitions, clean, clean_line
from memoryproject.text.parts import Excerpt, Kind, Part, Quote, join
from memoryproject.text.tokens import count_quarters, count_tokens, in_use
from retrieval import markdown
from retrieval.hits import Candidates, FactHit, Hit, MessageRow, Place
from retrieval.markdown import EPISODES_HEADING, FACTS_HEADING, Block, render_message
from retrieval.question import Span, closeness, days_named, speakers_named
from retrieval.question_times import TimesAsked
from retrieval.request import RecallRequest
from retrieval.time_order import order_messages
from retrieval.truncation import Trimmer

Item = TypeVar("Item")
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
TIMELY_RANK = 3.0
"""A fact of the days asked for counts as if this many times further up."""
READ_FOR_DATES = 2_000
"""Characters of a message."""
SPEAKER_BONUS = 0.8
"""For a message by somebody whom the question names."""
POINTER_BONUS = 1.25
"""For a message that says the best fact; less for lesser facts."""
TIME_BONUS = 6.0
"""For a message of the days that the question names; less for days near them."""
UNLIKE_SHARE = 0.25
"""Of a score below the mean, for a message of these days: that it was said then tells more."""
OVER_PENALTY = 2.0
"""For a message of which the facts are retired: what replaced them comes first."""
POINTER_K = 9
"""Halves the bonus of the fact at rank 11: facts agree less with the question further down."""
HOME_LETTERS = 8
"""Of a conversation's id, in headings."""
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


FULL_DATE = re.compile(r"\d{1,2}\.? \w+ (?:de )?\d{4}\b|\b\d{4}-\d\d-\d\d\b|\d{4}年\d+月\d+日")
Day = tuple[str | None, str]
"""An episode, and a day of it as it is printed."""
Shown = tuple[MessageRow, Excerpt]
"""A chosen message and what is shown of it."""
Frame = tuple[str, str]
"""What stands before and behind what a message says."""


class Packed:
    """What has been chosen within `max_tokens`."""

    def __init__(
        self,
        request: RecallRequest,
        *,
        max_tokens: int,
        trimmer: Trimmer,
        homes: Mapping[str, str],
    ) -> None:
        self.request = request
        self.max_tokens = max_tokens
        self.trimmer = trimmer
        self.homes = homes
        """By episode the name of its conversation, where that is told."""
        self.facts: list[FactHit] = []
        self._fact_ids: set[str] = set()
        self.days: dict[Day, list[Shown]] = {}
        """Messages in order of choice."""
        self._quarters: dict[Day | None, int] = {}
        """The size of each block; None is that of facts."""
        self._rendered: dict[str, list[Part]] = {}
        """The bullets of facts, by id: one that does not fit at first is tried again."""
        self.budget = Budget(max_tokens)

    def fill(
        self,
        facts: Sequence[FactHit],
        messages: Sequence[MessageRow],
        pinned: Sequence[FactHit],
    ) -> None:
        """Choose from facts and messages, both best first."""
        unasked = [*(hit for hit in facts if hit.is_pinned), *pinned]
        for hit in unasked if self.request.preferences_only else ():
            self.add_fact(hit, at_most=self.max_tokens)
        room = self._room_for_facts() if messages else self.max_tokens
        for hit in facts:
            self.add_fact(hit, at_most=room)
        at_most = self.budget.spent + int(PINNED_SHARE * self.max_tokens)
        for hit in unasked:
            self.add_fact(hit, at_most=at_most)
        links = self.request.links
        sizes = (_measure(message, links, count=count_quarters) for message in messages)
        is_tight = sum(sizes) > 4 * self.max_tokens
        for message in messages:
            self.add_message(message, is_tight=is_tight)
        for hit in facts:
            self.add_fact(hit, at_most=self.max_tokens)
        self.facts = [hit for hit in (*facts, *pinned) if hit.id in self._fact_ids]

    def _room_for_facts(self) -> int:
        """Return the tokens that facts may take before messages are chosen."""
        if self.request.category is not None:
            return int(self.max_tokens * CATEGORY_SHARE)
        room = int(self.max_tokens * FACT_SHARE)
        return room if settings.LLM != "offline" else min(room, OFFLINE_FACT_TOKENS)

    def add_fact(self, hit: FactHit, *, at_most: int) -> None:
        """Add a fact, once, unless it would take what is spent above `at_most`."""
        if hit.id in self._fact_ids:
            return
        text = join(self._render_fact(hit))
        heading = "" if self._fact_ids else FACTS_HEADING
        if self._pay(None, _count(heading + text), at_most=at_most):
            self._fact_ids.add(hit.id)

    def add_message(self, message: MessageRow, *, is_tight: bool) -> None:
        """Add a message, as whole as it fits, with the headings that it needs.

        `is_tight`: what tells little is left out, to have room for others.
        """
        said, links = message.content or "", self.request.links
        content = clean_line(said, links)
        quarters = _measure(message, links, count=lambda text: count_quarters(clean(text, links)))
        size = math.ceil(quarters / 4)
        room = self.max_tokens - self.budget.spent
        largest = min(self.max_tokens, max(int(LARGEST_SHARE * self.max_tokens), LARGE_TOKENS))
        if size <= largest and size * LEAST_LEFT_SHARE > room:
            return
        frame = self._render_frame(message)
        overhead = 0
        if 2 * size > largest:  # what stands around what it says, were it alone
            overhead = count_tokens(EPISODES_HEADING) + count_tokens(self._write(frame) + "\n")
        if size + overhead > largest:
            room_left = min(largest, room) - overhead
            if room_left >= LEAST_CUT_TOKENS:
                self._show(message, self.trimmer.cut(content, at_most=room_left), frame)
            return
        is_early = self.budget.spent < WHOLE_SHARE * self.max_tokens
        whole = Excerpt(content)
        if is_tight and is_early:
            whole = self.trimmer.drop_filler(content)
        size_of_whole = quarters if whole.pieces is None else 0  # not known
        if (is_early or not is_tight) and self._show(message, whole, frame, size_of_whole):
            return
        shortened = self.trimmer.shorten(content, room=self._count_room(frame))
        self._show(message, shortened, frame)

    def _show(self, message: MessageRow, excerpt: Excerpt, frame: Frame, quarters: int = 0) -> bool:
        """Return whether it fits in its frame; an empty one never does. `quarters`: its size."""
        if len(excerpt.text) > self._count_room(frame) or not excerpt.text:
            return False
        cost = quarters + _count(self._write(frame, "" if quarters else excerpt.text))
        key = _day_of(message)
        fits = self._pay(key, cost, at_most=self.max_tokens)
        if fits:
            self.days.setdefault(key, []).append((message, excerpt))
        return fits

    def _count_room(self, frame: Frame) -> float:
        """Return the characters in a frame that may fit: all counters but one count those."""
        if in_use().name == "e5":
            return math.inf
        return 4 * (self.max_tokens - self.budget.spent + 1) - len(self._write(frame))

    def _render_frame(self, message: MessageRow) -> Frame:
        """Return what is around a message, with its day's heading unless that is there already."""
        key = _day_of(message)
        heading = "" if key in self.days else self._render_heading(key)
        opening, closing = markdown.frame_message(message, self.request.links)
        return heading + join(opening), join(closing)

    def _write(self, frame: Frame, said: str = "") -> str:
        """Return a message in its frame as `render_message` prints it."""
        return break_definitions(said.join(frame), self.request.links)

    def _pay(self, key: Day | None, quarters: int, *, at_most: int) -> bool:
        """Grow a block by a text's quarters, unless that takes what is spent above `at_most`.

        A block counts with the line break that parts it from the next. The heading above
        all days counts apart.
        """
        before = self._quarters.get(key, 0)
        after = (before or count_quarters("\n")) + quarters
        cost = math.ceil(after / 4) - math.ceil(before / 4)
        if key is not None and not self.days:
            cost += count_tokens(EPISODES_HEADING)
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
            bullets = chain.from_iterable(map(self._render_fact, self.facts))
            says = {row.place: row for hit in self.facts for row in hit.messages}
            rows = sorted(says.values(), key=lambda row: (row.seq, row.id))
            blocks.append(Block([FACTS_HEADING, *bullets], rows))
        heading = EPISODES_HEADING
        for messages in self.messages().values():
            for day in dict.fromkeys(map(_day_of, messages)):
                shown = sorted(self.days[day], key=lambda pair: pair[0].seq)
                parts: list[Part] = [heading + self._render_heading(day)]
                for row, excerpt in shown:
                    parts += render_message(row, self.request.links, excerpt=excerpt)
                cut = tuple(row.id for row, excerpt in shown if excerpt.pieces is not None)
                blocks.append(Block(parts, [row for row, _ in shown], cut))
                heading = ""
        return blocks

    def _render_fact(self, hit: FactHit) -> list[Part]:
        """Return a bullet with the day since when it is true, unless the fact names a date."""
        if hit.id in self._rendered:
            return self._rendered[hit.id]
        links = self.request.links
        dated = FULL_DATE.search(hit.fact)
        day = "" if dated else f", {markdown.render_date(hit.valid_at)}"
        quote = Quote(Kind.FACT, hit.id, clean_line(hit.fact, links))
        trace = f" [id: {hit.found.memory_id}]" if self.request.explain else ""
        parts = [f"- [{hit.category}{day}] ", quote, *markdown.mark(hit, links), f"{trace}\n"]
        return self._rendered.setdefault(hit.id, parts)

    def _render_heading(self, key: Day) -> str:
        episode_id, day = key
        home = self.homes.get(episode_id or "", "")
        trace = f" [id: {episode_id}]" if self.request.explain else ""
        return f"### {day}{home}{trace}\n"


def pack(
    candidates: Candidates,
    episodes: Sequence[Hit],
    *,
    request: RecallRequest,
    max_tokens: int,
    now: datetime,
) -> Packed:
    """Choose what to serve within `max_tokens`, which may be less than the request's.

    Facts below the request's `semantic_limit` only point at their messages. The text of all
    blocks, a line break between two of them, never counts more than `max_tokens`.
    """
    query, times = request.query, request.read_times(now)
    asked = times.spans
    ranks = rank_facts(candidates.facts, asked)
    facts = sorted(candidates.facts, key=lambda hit: ranks[hit.id])[: request.semantic_limit]
    messages = rank_messages(candidates, episodes, ranks, query=query, times=times)
    trimmer = Trimmer(
        question=times.words,
        messages=[message.content or "" for message in messages],
        speakers={message.name for message in messages},
    )
    homes = _name_homes(candidates)
    packed = Packed(request, max_tokens=max_tokens, trimmer=trimmer, homes=homes)
    packed.fill(facts, messages, candidates.pinned)
    return packed


def _name_homes(candidates: Candidates) -> dict[str, str]:
    """Return what headings say of an episode's conversation, by episode; nothing where it is one.

    It is the beginning of the conversation's id: that it is the same one as elsewhere, or not,
    is what a reader needs to know.
    """
    homes = {hit.id: str(hit.conversation_id)[:HOME_LETTERS] for hit in candidates.episodes}
    if len(set(homes.values())) < 2:
        return {}
    return {episode_id: f" (conversation {home})" for episode_id, home in homes.items()}


def weigh(
    *,
    score: float,
    retrievability: float,
    closeness: float = 0.0,
    is_over: bool = False,
    is_named: bool = False,
    fact_rank: float | None = None,
) -> float:
    """Return the score of a message with all that speaks for it.

    `score` is the search's own; `closeness` 1.0 on the days asked for, 0.0 far from them;
    `is_over`: it says what is no longer true; `fact_rank`: of the best fact that it says. A
    factor, retrievability, enters a sum by its logarithm.
    """
    if closeness >= 1:
        score = max(score, UNLIKE_SHARE * score)
    score += math.log(max(retrievability, 1e-9)) + TIME_BONUS * closeness
    if is_over:
        score -= OVER_PENALTY
    if is_named:
        score += SPEAKER_BONUS
    if fact_rank is not None:
        score += POINTER_BONUS * (POINTER_K + 1) / (POINTER_K + fact_rank)
    return score


def rank_facts(facts: Sequence[FactHit], asked: Sequence[Span]) -> dict[str, float]:
    """Return the rank of each fact, less for those of the days asked for; 1 is best."""
    ranks: dict[str, float] = {}
    for hit in facts:
        near = _closeness(asked, at=hit.valid_at, text=hit.fact)
        ranks[hit.id] = hit.found.rank / (1 + (TIMELY_RANK - 1) * near)
    return ranks


def rank_messages(
    candidates: Candidates,
    episodes: Sequence[Hit],
    fact_ranks: Mapping[str, float],
    *,
    query: str,
    times: TimesAsked,
) -> list[MessageRow]:
    """Return those of the messages that were found, best first.

    What only retired facts were drawn from is no longer true; what contradicts a correction
    counts likewise.
    """
    scores = {
        (str(hit.memory_id), seq): (score, hit.retrievability)
        for hit in episodes
        for seq, score in hit.lines
    }
    messages = {place: row for place, row in candidates.messages.items() if place in scores}
    pointed = _ranks_by_place(candidates.facts, fact_ranks)
    named = speakers_named(query, [row.name or row.role for row in messages.values()])
    weights = {
        place: weigh(
            score=scores[place][0],
            retrievability=scores[place][1],
            closeness=_closeness(
                times.spans, at=message.occurred_at, text=(message.content or "")[:READ_FOR_DATES]
            ),
            is_over=place in candidates.retired or bool(message.correction),
            is_named=(message.name or message.role) in named,
            fact_rank=pointed.get(place),
        )
        for place, message in messages.items()
    }
    return order_messages(messages, weights, order=times.order)


def _closeness(asked: Sequence[Span], *, at: datetime, text: str) -> float:
    return closeness(asked, on=at.date(), named=days_named(text)) if asked else 0.0


def _ranks_by_place(facts: Sequence[FactHit], ranks: Mapping[str, float]) -> dict[Place, float]:
    """Return, by place of a message, the rank of the best fact drawn from it."""
    by_place: dict[Place, float] = {}
    for hit in facts:
        rank = ranks[hit.id]
        for message in hit.messages:
            by_place[message.place] = min(rank, by_place.get(message.place, rank))
    return by_place


def _measure(message: MessageRow, links: str, *, count: Callable[[str], int]) -> int:
    """Return the quarters of a message's content; what is stored of it has its links defanged."""
    if message.quarters is None or links == PLAIN:
        return count(message.content or "")
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
