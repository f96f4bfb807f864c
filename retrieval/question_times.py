"""Reads the times a question asks about: days, their order, and which words are left.

Times are read step by step. Each time found is replaced by a mark, one private-use character, so
that a later step sees "end of ▯", "between ▯ and ▯" or "before ▯", whatever the time is and however
it was written. The text that is left is the words of the question.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any

from memoryproject.text.date_phrases import CJK, Language
from memoryproject.text.dates import find_phrases
from retrieval.question import Span, drop_repeated, find_dates
from retrieval.time_grammar import MARKS, Pattern, find_question_language, grammar_of
from retrieval.time_meanings import LEAST_YEAR_DAYS, MOST_YEAR_DAYS

REMEMBERED_QUESTIONS = 200
READ_CHARACTERS = 1_000
"""Number of characters of a question that are searched for times."""
MARK = re.compile(f"[{MARKS}]")
FIRST_MARK = ord(MARKS[0])
YEARS_BACK, YEARS_AHEAD = 10, 1
"""Range of years searched for a day that recurs every year."""
LONGEST_SEARCHED_DAYS = MOST_YEAR_DAYS
"""Length of the longest span used for searching; a longer one narrows too little."""


@dataclass(frozen=True, slots=True)
class TimesAsked:
    """The times that a question asks about."""

    spans: tuple[Span, ...] = ()
    words: str = ""
    """The question without its times; the whole question if nothing else is in it."""
    order: int = 0
    """EARLIEST or LATEST if it asks for the first or the last of several times; else 0."""

    def to_parameters(self, *, at: date) -> dict[str, Any]:
        """Return the times as parameters of a statement, for a question asked on day `at`."""
        years = range(at.year - YEARS_BACK, at.year + YEARS_AHEAD + 1)
        exact = [
            one
            for span in self.spans
            for one in ([span.in_year(year) for year in years] if span.yearly else [span])
        ]
        return {
            "timely": bool(exact),
            "since": [_midnight(span.first) for span in exact],
            "until": [_midnight(span.last + timedelta(days=1)) for span in exact],
            "narrow": [span.days <= LONGEST_SEARCHED_DAYS for span in exact],
        }


NO_TIMES = TimesAsked()


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)


@lru_cache(REMEMBERED_QUESTIONS)
def read_times(question: str, *, at: datetime) -> TimesAsked:
    """Return the times that a question asked on day `at` asks about, in all supported languages."""
    head, rest = question[:READ_CHARACTERS], question[READ_CHARACTERS:]
    times = _Reader(head, find_question_language(head), at).read()
    return replace(times, words=times.words + rest)


class _Reader:
    """A question in which times are replaced by marks, one by one."""

    def __init__(self, question: str, language: Language | None, at: datetime) -> None:
        self.question = question
        self.language = language
        self.text = MARK.sub(" ", question).replace("'", "’")
        self.at = at
        self.grammar = grammar_of(language, is_cjk=bool(CJK.search(question)))
        self.spans: list[Span] = []
        """Spans of time, by the number of their mark."""
        self.relative: set[int] = set()
        """Marks of times that depend on when the question is asked."""

    def read(self) -> TimesAsked:
        """Return the times that the question asks about."""
        for dated in reversed(find_dates(self.text)):
            self._replace(dated.start, dated.end, dated.span)
        self._read(self.grammar.exact)
        self._read_around()
        phrases = find_phrases(self.text, at=self.at, language=self.language)
        for phrase in reversed(phrases):
            span = Span(phrase.when.first, phrase.when.last)
            self._replace(phrase.start, phrase.end, span, is_relative=True)
        self._read(self.grammar.relative, is_relative=True)
        self._read(self.grammar.bare)
        self._read_around()
        spans, order = self._join_spans(), self._read_order()
        return TimesAsked(
            spans, self._join_words() if self.spans or order else self.question, order
        )

    def _join_words(self) -> str:
        """Return the words that are left, or all if none is."""
        words = " ".join(MARK.sub(" ", self.text).split())
        if "'" in self.question:
            words = words.replace("’", "'")
        return words if re.search(r"\w", words) else self.question

    def _mark(self, span: Span, *, is_relative: bool = False) -> str:
        if is_relative:
            self.relative.add(len(self.spans))
        self.spans.append(span)
        return chr(FIRST_MARK + len(self.spans) - 1)

    def _replace(self, start: int, end: int, span: Span, *, is_relative: bool = False) -> None:
        mark = self._mark(span, is_relative=is_relative)
        self.text = self.text[:start] + mark + self.text[end:]

    def _read(self, patterns: list[Pattern], *, is_relative: bool = False) -> None:
        """Replace matches by marks; of "in May" only the month."""
        for regex, meaning, _ in patterns:

            def replace(match: re.Match[str], meaning: object = meaning) -> str:
                span = _apply(meaning, match, self.at.date())
                if span is None:
                    return match[0]
                start = match.start("time") if "time" in match.re.groupindex else match.start()
                before = match[0][: start - match.start()]
                return before + self._mark(span, is_relative=is_relative)

            self.text = regex.sub(replace, self.text)

    def _read_around(self) -> None:
        """Replace a time and the words that modify it by one mark."""
        for pattern in self.grammar.around if MARK.search(self.text) else ():

            def replace(match: re.Match[str], pattern: Pattern = pattern) -> str:
                marks = [ord(mark) - FIRST_MARK for mark in MARK.findall(match[0])]
                times = [self.spans[mark] for mark in marks]
                if pattern.is_bound:
                    times = [self._find_latest(time) for time in times]
                span = _apply(pattern.meaning, match, *times)
                is_relative = self.relative.issuperset(marks)
                return self._mark(span, is_relative=is_relative) if span else match[0]

            self.text = pattern.regex.sub(replace, self.text)

    def _find_latest(self, span: Span) -> Span:
        """Return a yearly span in the latest year in which it has begun."""
        if not span.yearly:
            return span
        this_year = span.in_year(self.at.year)
        has_begun = this_year.first <= self.at.date()
        return this_year if has_begun else span.in_year(self.at.year - 1)

    def _join_spans(self) -> tuple[Span, ...]:
        """Return the spans; relative ones are dropped if there is an exact date."""
        marks = [ord(mark) - FIRST_MARK for mark in MARK.findall(self.text)]
        exact = [mark for mark in marks if mark not in self.relative]
        if any(not self.spans[mark].yearly for mark in exact):
            marks = exact
        spans = [self.spans[mark] for mark in marks]
        years = [one for one in spans if LEAST_YEAR_DAYS <= one.days <= MOST_YEAR_DAYS]
        if len(years) == 1 and any(one.yearly for one in spans):  # "in May of last year"
            year = years[0].first.year
            spans = [one.in_year(year) if one.yearly else one for one in spans if one != years[0]]
        return drop_repeated(dict.fromkeys(spans))

    def _read_order(self) -> int:
        for order, regex in self.grammar.orders:
            self.text, count = regex.subn(" ", self.text)
            if count:
                return order
        return 0


def _apply(meaning: object, *arguments: object) -> Span | None:
    """Return the meaning of a match; None if its days do not exist."""
    try:
        return meaning(*arguments)  # type: ignore[operator, no-any-return]
    except (OverflowError, ValueError):  # before year 1, or 31 February
        return None
