"""The relative time phrases of each language, as patterns with their meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memoryproject.text.date_languages import Language
from memoryproject.text.date_meanings import (
    CHINESE,
    ENGLISH,
    MONTHS,
    SEASONS,
    UNITS,
    WEEKDAYS,
    Meaning,
    Rule,
    around,
    cjk_month_day,
    cjk_weekday,
    cjk_year_month,
    counted,
    days,
    if_future,
    months,
    named_month,
    season,
    weekday,
    weekends,
    weeks,
    years,
)

_NUMBER = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple(?: of)?)"
_CJK_NUMBER = r"(?<![\d零一二两三四五六七八九十百千万几数])(?P<n>\d{1,3}|[一二两三四五六七八九十])"
_NOT_THE = r"(?<!the )(?<!my )(?<!our )"
"""Keeps out durations that end now: "over the last year"."""
_FEW = r"(?:a few|several|some)"
_ENGLISH: tuple[tuple[str, Meaning], ...] = (
    (r"the day before yesterday", days(-2)),
    (r"the day after tomorrow", days(2)),
    (r"yesterday|last night", days(-1)),
    (r"today|tonight|this (?:morning|afternoon|evening)", days(0)),
    (r"tomorrow", days(1)),
    (rf"(?:{_FEW}|a couple of) days (?:ago|back)", around("shortly before {day}")),
    (r"the other day", around("shortly before {day}")),
    (rf"{_FEW} weeks (?:ago|back)", around("some weeks before {day}")),
    (rf"{_FEW} months (?:ago|back)", around("some months before {month}")),
    (rf"{_FEW} years (?:ago|back)", around("some years before {year}")),
    (_NOT_THE + r"last weekend|(?:this|the) past weekend", weekends(-1)),
    (r"this weekend", weekends(0)),
    (_NOT_THE + r"next weekend", weekends(1)),
    (_NUMBER + r" weekends? ago", counted(weekends, -1)),
    (r"(?:last|this past) (?P<day>" + "|".join(WEEKDAYS) + ")", weekday(-1)),
    (r"(?:this|this coming) (?P<day>" + "|".join(WEEKDAYS) + ")", weekday(0)),
    (r"next (?P<day>" + "|".join(WEEKDAYS) + ")", weekday(1)),
    (r"last (?P<month>" + "|".join(MONTHS) + ")", named_month(-1)),
    (r"next (?P<month>" + "|".join(MONTHS) + ")", named_month(1)),
    *(
        row
        for unit, meaning in zip(("day", "week", "month", "year"), UNITS, strict=True)
        for row in (
            (_NUMBER + rf" {unit}s? ago", counted(meaning, -1)),
            (_NUMBER + rf" {unit}s? from now", counted(meaning, 1)),
            (rf"in {_NUMBER} {unit}s?", if_future(meaning)),
        )
    ),
    *(
        row
        for unit, meaning in zip(("week", "month", "year"), UNITS[1:], strict=True)
        for row in (
            (_NOT_THE + rf"last {unit}|this past {unit}", meaning(-1)),
            (rf"this {unit}", meaning(0)),
            (_NOT_THE + rf"next {unit}", meaning(1)),
        )
    ),
    *((rf"last (?:{name})", season(index, -1)) for index, name in enumerate(SEASONS)),
    *((rf"next (?:{name})", season(index, 1)) for index, name in enumerate(SEASONS)),
)
_LAST, _THIS, _NEXT = "(?<!以)上个?", "(?:这个?|本)", "(?<!以)下个?"
_CJK_WEEK = "(?:周|星期|礼拜)"
_CJK_DAY = "(?P<day>[一二三四五六日天])(?!个)"
_CJK_DATE = r"(?P<date>\d{1,2})[号日]"
_CJK_MONTH = r"(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
_CJK: tuple[tuple[str, Meaning], ...] = (
    (r"大前天", days(-3)),
    (r"(?<![以之从])前天(?!天)|一昨日|おととい", days(-2)),
    (r"昨[天日晚夜]", days(-1)),
    (r"今[天日晚早]|今夜", days(0)),
    (r"明[天日晚早]", days(1)),
    (r"(?<![以之今])后天(?!天)|明後日", days(2)),
    (r"大后天", days(3)),
    ("上" + _LAST + _CJK_WEEK, weeks(-2)),
    ("下" + _NEXT + _CJK_WEEK, weeks(2)),
    *(
        row
        for word, distance, week, weekend, month in (
            (_LAST, -1, "先週", "先週末", "先月"),
            (_THIS, 0, "今週", "今週末", "今月"),
            (_NEXT, 1, "来週", "来週末", "来月"),
        )
        for row in (
            (f"{word}{_CJK_WEEK}|{week}", weeks(distance)),
            (f"{word}周末|{weekend}", weekends(distance)),
            (word + _CJK_WEEK + _CJK_DAY, cjk_weekday(distance)),
            (f"{word}月(?!球)|{month}", months(distance)),
            (f"{word}月{_CJK_DATE}", cjk_month_day(distance)),
        )
    ),
    *(
        (_CJK_NUMBER + unit + ends, counted(meaning, sign))
        for unit, meaning in zip(("天", "个?" + _CJK_WEEK, "个月", "年"), UNITS, strict=True)
        for ends, sign in (("(?:以)?前", -1), ("(?:以)?后", 1))
    ),
    (r"(?<![以之])前年", years(-2)),
    (r"去年|昨年", years(-1)),
    (r"今年", years(0)),
    (r"明年|来年", years(1)),
    (r"(?<![以之])后年", years(2)),
    *(
        (year + _CJK_MONTH, cjk_year_month(distance))
        for year, distance in (("去年", -1), ("今年", 0), ("明年", 1))
    ),
)


def _phrases_of(language: Language) -> Iterator[tuple[str, Meaning]]:
    """Yield the phrases of a language that is given by its words of time."""
    for distance, words in language.days.items():
        yield words, days(int(distance))
    units = (*zip(language.units[1:], UNITS[1:], strict=True), (language.weekend, weekends))
    for direction, forms in ((-1, language.last), (0, language.this), (1, language.next)):
        for form in forms:
            for words, unit in units:
                yield form.format(x=words), unit(direction)
            for index, words in enumerate(language.weekdays):
                yield form.format(x=words), weekday(direction, index)
            for index, words in enumerate(language.seasons):
                if direction:
                    yield form.format(x=words), season(index, direction)
    for sign, forms in ((-1, language.ago), (1, language.ahead)):
        for form in forms:
            for words, unit in zip(language.units, UNITS, strict=True):
                number = rf"(?P<n>\d{{1,3}}|{'|'.join(language.numbers)}) "
                yield form.format(x=number + words), counted(unit, sign, language.numbers)


@cache
def rules_of(language: Language | None) -> tuple[Rule, ...]:
    """Return the rules for a language; None: English, Chinese and Japanese."""
    if language is not None:
        return tuple(
            Rule(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), meaning, language)
            for words, meaning in _phrases_of(language)
        )
    return tuple(
        Rule(re.compile(rf"\b(?:{words})\b(?:['’]s\b)?", re.IGNORECASE), meaning, ENGLISH)
        for words, meaning in _ENGLISH
    ) + tuple(Rule(re.compile(words), meaning, CHINESE) for words, meaning in _CJK)
