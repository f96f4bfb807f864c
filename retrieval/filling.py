"""Chooses facts and lines for a budget, best first, and how much of each line is shown.

The first lines are shown whole but for filler, later ones by the sentences that tell most: more
of them fit. Of a reply of an assistant the sentences that answer are shown.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from statistics import fmean

from django.conf import settings

from memoryproject.text.cleaning import PLAIN, clean, clean_line
from memoryproject.text.parts import Excerpt
from memoryproject.text.tokens import count_quarters, count_tokens
from retrieval.budget import count_part
from retrieval.excerpts import add_dates, drop_dates, keep_code
from retrieval.hits import FactHit, MessageRow, Place
from retrieval.layout import FIRST, FURTHER, Layout
from retrieval.markdown import EPISODES_HEADING
from retrieval.roles import REPLY_SHARE, holds_back_replies, is_reply
from retrieval.successions import find_succession
from retrieval.truncation import ELLIPSIS, Trimmer
from semantic.engines import Category
from semantic.offline.quotations import parse_quote

FACT_SHARE = 0.3
"""Of the budget, for facts that are chosen before the lines: the best ones, and where a language
model writes them, further ones. What the lines leave goes to more of them."""
PINNED_SHARE = 0.08
"""Of the budget, for guidelines and dangers that the question did not ask for."""
CATEGORY_SHARE = 0.5
"""Where the caller asks for one category of facts, he wants facts."""
BEST_FACTS = 2
"""Facts that stand before the lines, unless one of the lines shown whole says them."""
WHOLE_SHARE = 0.5
"""Of the budget, in which messages are shown whole but for filler."""
LARGEST_SHARE = 0.5
"""Of the budget, for one message; a longer one is cut to what matches best."""
LARGE_TOKENS = 200
"""A message of so many tokens is never cut while a budget is there for it."""
LEAST_LEFT_SHARE = 0.3
"""Of a message that is shortened; where less fits it is not tried."""
LEAST_ROOM = 4
"""Tokens; no line is shorter."""
LEAST_CUT_TOKENS = 12
"""Less of a message says nothing."""
LEAST_PINNED_TOKENS = 60
"""Of a small budget, up to a quarter of it: a danger takes so many."""
SAID_AGAIN = 80
"""Characters; nobody says so many twice to the letter: the second time it is a copy."""


class Filling:
    """One answer while it is filled."""

    def __init__(self, layout: Layout, trimmer: Trimmer, *, question: str) -> None:
        self.layout = layout
        self._trimmer = trimmer
        self._question = question
        self._holds_back = False
        """Whether of replies only the sentences that answer are shown."""
        self._is_tight = True
        """Whether not all that was found fits: what tells little is left out."""
        self._shown: dict[Place, str] = {}
        """What lines show of messages."""
        self._copies: set[tuple[str, str]] = set()
        """Speakers and words of the lines."""
        self._quoted: dict[Place, str] = {}
        """What facts before the lines quote of messages."""
        self._older: set[str] = set()
        """The ids of facts that a newer one about the same stands before."""
        self._told: set[str] = set()
        """The ids of facts that are printed, or that a line says."""

    def fill(
        self,
        facts: Sequence[FactHit],
        lines: Sequence[tuple[MessageRow, float]],
        pinned: Sequence[FactHit],
    ) -> list[FactHit]:
        """Choose from facts and lines, both best first; return the facts that the text tells.

        A line comes with its score.
        """
        layout, request = self.layout, self.layout.request
        links = request.links
        sizes = (measure(message, links, count=count_quarters) for message, _ in lines)
        self._is_tight = sum(sizes) > 4 * layout.max_tokens
        rows = [message for message, _ in lines]
        self._holds_back = self._is_tight and holds_back_replies(rows, question=self._question)
        facts, self._older, layout.earlier = find_succession(facts)
        unasked = sorted((*(hit for hit in facts if hit.is_pinned), *pinned), key=_is_guideline)
        self._tell(unasked, FIRST, at_most=self._room_for_pinned())
        if request.category is not None or not lines:
            room = int(layout.max_tokens * CATEGORY_SHARE) if lines else layout.max_tokens
            self._tell(facts, FIRST, at_most=room)
        else:
            self._tell_best(facts, lines)
        for message, _ in _above_mean(lines) if self._is_tight else lines:
            if layout.room < LEAST_ROOM:
                break
            self.add_message(message)
        self._tell(facts, FURTHER if layout.days else FIRST, at_most=layout.max_tokens)
        return [hit for hit in (*facts, *pinned) if hit.id in self._told]

    def _tell_best(
        self, facts: Sequence[FactHit], lines: Sequence[tuple[MessageRow, float]]
    ) -> None:
        """Tell the best facts before the lines, but for those that one of the best lines says."""
        layout = self.layout
        expected: dict[Place, MessageRow] = {}
        quarters = 0
        for message, _ in lines:
            quarters += measure(message, layout.request.links, count=count_part)
            if quarters > 4 * WHOLE_SHARE * layout.max_tokens:
                break
            expected[message.place] = message
        quoted = {
            hit.id
            for hit in facts
            if parse_quote(hit.fact) and all(row.place in expected for row in hit.messages)
        }
        best = [hit for hit in facts if hit.id not in self._told][:BEST_FACTS]
        if not any(hit.id in self._older for hit in best):  # else lines show the older first
            best = [hit for hit in best if hit.id not in quoted]
        at_most = layout.budget.spent + int(FACT_SHARE * layout.max_tokens)
        self._tell(best, FIRST, at_most=at_most)
        if settings.LLM != "offline":
            others = [hit for hit in facts if hit.id not in quoted]
            self._tell(others, FURTHER, at_most=at_most)

    def _room_for_pinned(self) -> int:
        """Return the tokens that dangers and standing instructions may take."""
        limit = self.layout.max_tokens
        if self.layout.request.preferences_only:
            return limit
        return int(max(PINNED_SHARE * limit, min(LEAST_PINNED_TOKENS, limit / 4)))

    def _tell(self, hits: Iterable[FactHit], section: str, *, at_most: int) -> None:
        """Print facts, each once, unless a line says it or it takes what is spent above a limit."""
        layout = self.layout
        for hit in hits:
            if hit.id not in self._told and (
                self._is_said(hit) or layout.add_fact(hit, section=section, at_most=at_most)
            ):
                self._told.add(hit.id)
                if section == FIRST:
                    quotation = parse_quote(hit.fact) or ("", "")
                    self._quoted |= dict.fromkeys((row.place for row in hit.messages), quotation[1])

    def _is_said(self, hit: FactHit) -> bool:
        """Return whether lines show all that a fact quotes."""
        quotation = parse_quote(hit.fact)
        if quotation is None or self.layout.request.category is not None:
            return False
        shown = [self._shown[row.place] for row in hit.messages if row.place in self._shown]
        parts = drop_dates(" ".join(clean_line(quotation[1]).split())).split(ELLIPSIS)
        return all(any(part.strip() in drop_dates(text) for text in shown) for part in parts)

    def add_message(self, message: MessageRow) -> None:
        """Add a message, as whole as it fits, with the headings that it needs; once."""
        words = " ".join((message.content or "").split())
        day = "" if len(words) > SAID_AGAIN else f" {message.said_at.date()}"
        copy = (message.name or message.role) + day, words
        is_quoted = self._quoted.get(message.place) == words
        if message.place in self._shown or copy in self._copies or is_quoted:
            return
        if self._show(message):
            self._copies.add(copy)

    def _show(self, message: MessageRow) -> bool:
        """Add a message unless no part of it fits; return whether one does."""
        layout, links = self.layout, self.layout.request.links
        limit = layout.max_tokens
        if self._holds_back and is_reply(message):
            return self._show_answer(message, at_most=min(int(REPLY_SHARE * limit), layout.room))
        quarters = measure(message, links, count=lambda text: count_quarters(clean(text, links)))
        size = math.ceil(quarters / 4)
        largest = min(limit, max(int(LARGEST_SHARE * limit), LARGE_TOKENS))
        if size <= largest and size * LEAST_LEFT_SHARE > layout.room:
            return False
        content = clean_line(message.content or "", links)
        frame = layout.frame(message)
        overhead = 0
        if 2 * size > largest:  # what stands around what it says, were it alone
            overhead = count_tokens(EPISODES_HEADING) + count_tokens(layout.write(frame) + "\n")
        if size + overhead > largest:
            room = min(largest, layout.room) - overhead
            is_enough = room >= LEAST_CUT_TOKENS
            return is_enough and self._add(
                message, self._trimmer.cut(content, at_most=room), content
            )
        is_early = layout.budget.spent < WHOLE_SHARE * limit
        whole = Excerpt(content)
        if self._is_tight and is_early:
            whole = self._trimmer.drop_filler(content)
        size_of_whole = quarters if whole.pieces is None else 0  # not known
        if (is_early or not self._is_tight) and self._add(message, whole, content, size_of_whole):
            return True
        characters = layout.count_characters(frame)
        return self._add(message, self._trimmer.shorten(content, room=characters), content)

    def _show_answer(self, message: MessageRow, *, at_most: int) -> bool:
        """Add the sentences of a reply that answer; return whether they fit."""
        if at_most < LEAST_CUT_TOKENS:
            return False
        content = clean_line(message.content or "", self.layout.request.links)
        return self._add(message, self._trimmer.answer(content, at_most=at_most), content)

    def _add(self, message: MessageRow, excerpt: Excerpt, content: str, quarters: int = 0) -> bool:
        """Add what is shown of a message, with dates if these fit; return whether it fits.

        `content`: all that it says, cleaned, on one line.
        """
        dated = add_dates(excerpt, content, at=message.said_at)
        dated = keep_code(dated, message.content or "", self.layout.request.links)
        if dated is not excerpt and self.layout.add_line(message, dated):
            self._shown[message.place] = dated.text
        elif self.layout.add_line(message, excerpt, quarters=quarters):
            self._shown[message.place] = " ".join(excerpt.text.split())
        return message.place in self._shown


def measure(message: MessageRow, links: str, *, count: Callable[[str], int]) -> int:
    """Return the quarters of a message's content; what is stored of it has its links defanged."""
    if message.quarters is None or links == PLAIN:
        return count(message.content or "")
    return message.quarters


def _is_guideline(hit: FactHit) -> bool:
    return hit.category == Category.GUIDELINE


def _above_mean(
    lines: Sequence[tuple[MessageRow, float]],
) -> Iterator[tuple[MessageRow, float]]:
    """Yield the lines that match better than the mean line: of replies the mean reply."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for message, score in lines:
        scores[is_reply(message)].append(score)
    means = {kind: fmean(several) for kind, several in scores.items() if several}
    for message, score in lines:
        if score >= means[is_reply(message)]:
            yield message, score
