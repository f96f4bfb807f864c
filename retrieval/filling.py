"""Chooses facts and lines for a budget, best first, and shortens lines.

The first lines are shown whole except for filler, later ones only by their most informative
sentences, so that more lines fit. Replies of assistants show the sentences that answer.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime
from statistics import fmean

from django.conf import settings

from memoryproject.text.cleaning import PLAIN, clean, clean_line
from memoryproject.text.parts import Excerpt
from memoryproject.text.tokens import count_quarters, count_tokens
from memoryproject.text.words import WORD
from retrieval import tuning
from retrieval.excerpts import add_dates, drop_dates, keep_code
from retrieval.hits import FactHit, MessageRow, Place
from retrieval.layout import FIRST, FURTHER, Layout
from retrieval.markdown import EPISODES_HEADING
from retrieval.roles import holds_back_replies, is_reply
from retrieval.successions import find_succession, put_newest_first
from retrieval.truncation import ELLIPSIS, Trimmer
from semantic.engines import Category
from semantic.offline.quotations import parse_quote

SAID_AGAIN = 80
"""Characters from which on identical text counts as a copy: nobody repeats that much."""

Copy = tuple[str, date | None, str]


class Filling:
    """One answer while it is being filled."""

    def __init__(self, layout: Layout, trimmer: Trimmer, *, question: str) -> None:
        self.layout = layout
        self._trimmer = trimmer
        self._question = question
        self._holds_back = False
        """Whether replies show only the sentences that answer."""
        self._is_tight = True
        """Whether not everything fits, so that uninformative text is left out."""
        self._shown: dict[Place, tuple[MessageRow, str]] = {}
        """The messages that have lines, and the text shown of each."""
        self._copies: set[Copy] = set()
        """What is shown already: speakers and words of lines, categories and words of facts."""
        self._quoted: dict[Place, list[str]] = defaultdict(list)
        """Texts quoted by facts before the lines, and by facts that a newer value follows; a line
        would lack that."""
        self._told: set[str] = set()
        """Ids of facts that are printed, or whose text a line shows."""

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
        facts, layout.earlier = find_succession(facts)
        for hit in facts:
            if hit.id in layout.earlier:
                self._give_way(hit)
        unasked = [*(hit for hit in facts if hit.is_pinned), *pinned]
        for is_rule in (False, True):
            several = [hit for hit in unasked if (hit.category == Category.GUIDELINE) is is_rule]
            self._tell_first(several, at_most=self._room_for_pinned())
        wants_facts = request.category is not None or not lines
        room = layout.budget.spent + int(tuning.FACT_SHARE * layout.max_tokens)
        if wants_facts:
            room = int(layout.max_tokens * tuning.CATEGORY_SHARE) if lines else layout.max_tokens
        self._tell_first(self._find_best(facts), at_most=room)
        if wants_facts:
            self._tell(facts, FIRST, at_most=room)
        elif settings.LLM != "offline":
            self._tell([hit for hit in facts if not parse_quote(hit.fact)], FURTHER, at_most=room)
        for message, _ in _above_mean(lines) if self._is_tight else lines:
            if layout.room < tuning.LEAST_ROOM:
                break
            self.add_message(message)
        self._tell(facts, FURTHER if layout.days else FIRST, at_most=layout.max_tokens)
        return [hit for hit in (*facts, *pinned) if hit.id in self._told]

    def _find_best(self, facts: Sequence[FactHit]) -> list[FactHit]:
        """Return the best facts not shown yet, and others from the same messages."""
        left = [hit for hit in facts if hit.id not in self._told]
        best = left[: tuning.BEST_FACTS]
        places = {row.place for hit in best for row in hit.messages}
        others = left[tuning.BEST_FACTS :]
        return best + [hit for hit in others if any(row.place in places for row in hit.messages)]

    def _tell_first(self, facts: Sequence[FactHit], *, at_most: int) -> None:
        """Print facts before the lines: the best that fit, each speaker's in order of time."""
        first = self.layout.facts[FIRST]
        before = len(first)
        self._tell(facts, FIRST, at_most=at_most)
        first[before:] = put_newest_first(first[before:])

    def _room_for_pinned(self) -> int:
        """Return the tokens that dangers and standing instructions may use."""
        limit = self.layout.max_tokens
        if self.layout.request.preferences_only:
            return limit
        return int(max(tuning.PINNED_SHARE * limit, min(tuning.LEAST_PINNED_TOKENS, limit / 4)))

    def _tell(self, hits: Iterable[FactHit], section: str, *, at_most: int) -> None:
        """Print facts once each, unless a line shows them or a limit would be exceeded."""
        layout = self.layout
        for hit in hits:
            copy = _name_copy(hit.category, hit.fact, hit.valid_at)
            if hit.id not in self._told and (
                copy in self._copies
                or self._is_said(hit)
                or layout.add_fact(hit, section=section, at_most=at_most)
            ):
                self._told.add(hit.id)
                self._copies.add(copy)
                if section == FIRST:
                    self._give_way(hit)

    def _give_way(self, hit: FactHit) -> None:
        """Note the text a fact quotes: a line that shows nothing more is left out."""
        for row in hit.messages:
            self._quoted[row.place] += _list_quoted(hit)

    def _is_quoted(self, message: MessageRow) -> bool:
        """Return whether facts quote the whole message."""
        if message.place not in self._quoted:
            return False
        words = drop_dates(" ".join(clean_line(message.content or "").split()))
        for quoted in sorted(self._quoted[message.place], key=len, reverse=True):
            words = words.replace(quoted, " ")
        return WORD.search(words) is None

    def _is_said(self, hit: FactHit) -> bool:
        """Return whether lines show all that a fact quotes, even if it was said elsewhere."""
        quotation, parts = parse_quote(hit.fact), _list_quoted(hit)
        if quotation is None or self.layout.request.category is not None:
            return False
        own, (speaker, words) = {row.place for row in hit.messages}, quotation
        speaker, day = speaker.casefold(), _part_by_day(words, hit.true_since)
        shown = [
            drop_dates(text)
            for row, text in self._shown.values()
            if row.place in own or (_speaker(row) == speaker and day in {None, row.said_at.date()})
        ]
        return all(any(part in text for text in shown) for part in parts)

    def add_message(self, message: MessageRow) -> None:
        """Add a message once, as complete as fits, with its headings."""
        copy = _name_copy(_speaker(message), message.content or "", message.said_at)
        if message.place in self._shown or copy in self._copies or self._is_quoted(message):
            return
        if self._show(message):
            self._copies.add(copy)

    def _show(self, message: MessageRow) -> bool:
        """Add as much of a message as fits; return whether any did."""
        layout, links = self.layout, self.layout.request.links
        limit = layout.max_tokens
        if self._holds_back and is_reply(message):
            room = min(int(tuning.REPLY_SHARE * limit), layout.room)
            return self._show_answer(message, at_most=room)
        quarters = measure(message, links, count=lambda text: count_quarters(clean(text, links)))
        size = math.ceil(quarters / 4)
        largest = min(limit, max(int(tuning.LARGEST_SHARE * limit), tuning.LARGE_TOKENS))
        if size <= largest and size * tuning.LEAST_LEFT_SHARE > layout.room:
            return False
        content = clean_line(message.content or "", links)
        frame = layout.frame(message)
        overhead = 0
        if 2 * size > largest:  # the frame counts as if it were alone
            overhead = count_tokens(EPISODES_HEADING) + count_tokens(layout.write(frame) + "\n")
        if size + overhead > largest:
            room = min(largest, layout.room) - overhead
            is_enough = room >= tuning.LEAST_CUT_TOKENS
            return is_enough and self._add(
                message, self._trimmer.cut(content, at_most=room), content
            )
        is_early = layout.budget.spent < tuning.WHOLE_SHARE * limit
        whole = Excerpt(content)
        if self._is_tight and is_early:
            whole = self._trimmer.drop_filler(content)
        size_of_whole = quarters if whole.pieces is None else 0  # not known
        if (is_early or not self._is_tight) and self._add(message, whole, content, size_of_whole):
            return True
        characters = layout.count_characters(frame)
        return self._add(message, self._trimmer.shorten(content, room=characters), content)

    def _show_answer(self, message: MessageRow, *, at_most: int) -> bool:
        """Add the sentences of a reply that answer the question; return whether they fit."""
        if at_most < tuning.LEAST_CUT_TOKENS:
            return False
        content = clean_line(message.content or "", self.layout.request.links)
        return self._add(message, self._trimmer.answer(content, at_most=at_most), content)

    def _add(self, message: MessageRow, excerpt: Excerpt, content: str, quarters: int = 0) -> bool:
        """Add the excerpt of a message, with dates if these fit; return whether it fits.

        `content`: the whole cleaned message, on one line.
        """
        dated = add_dates(excerpt, content, at=message.said_at)
        dated = keep_code(dated, message.content or "", self.layout.request.links)
        if dated is not excerpt and self.layout.add_line(message, dated):
            self._shown[message.place] = message, dated.text
        elif self.layout.add_line(message, excerpt, quarters=quarters):
            self._shown[message.place] = message, " ".join(excerpt.text.split())
        return message.place in self._shown


def measure(message: MessageRow, links: str, *, count: Callable[[str], int]) -> int:
    """Return the quarters of a message's content; the stored size is with defanged links."""
    if message.quarters is None or links == PLAIN:
        return count(message.content or "")
    return message.quarters


def _list_quoted(hit: FactHit) -> list[str]:
    """Return the parts of a fact's quotation, without added dates; empty if it quotes nothing."""
    quotation = parse_quote(hit.fact)
    if quotation is None:
        return []
    words = drop_dates(" ".join(clean_line(quotation[1]).split()))
    return [part.strip() for part in words.split(ELLIPSIS)]


def _speaker(message: MessageRow) -> str:
    return (message.name or message.role).casefold()


def _name_copy(whose: str, words: str, at: datetime) -> Copy:
    """Return the key under which identical texts count as copies."""
    return whose, _part_by_day(words, at), " ".join(words.split())


def _part_by_day(words: str, at: datetime) -> date | None:
    """Return the day for short texts, which may be repeated on another day; None for long ones."""
    return None if len(" ".join(words.split())) > SAID_AGAIN else at.date()


def _above_mean(
    lines: Sequence[tuple[MessageRow, float]],
) -> Iterator[tuple[MessageRow, float]]:
    """Yield the lines that match better than the mean; replies are compared with replies."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for message, score in lines:
        scores[is_reply(message)].append(score)
    means = {kind: fmean(several) for kind, several in scores.items() if several}
    for message, score in lines:
        if score >= means[is_reply(message)]:
            yield message, score
