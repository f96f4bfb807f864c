"""Says which date a relative phrase means: "last week" becomes "last week (1–7 May 2023)".

A memory is read long after it was said, when "yesterday" means another day. The
speaker's words stay; the anchor is added behind them, never more precise than the
phrase. Weeks run from Monday to Sunday. A phrase that cannot be placed is left alone.
English, Chinese and the common Japanese words. Pure: no clock, no locale, no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

Anchor = Callable[[re.Match[str], date], str | None]


class Phrase(NamedTuple):
    """Where a relative time phrase stands in a text, and the date it means, as printed."""

    start: int
    end: int
    label: str


MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
WEEKDAYS = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a an one 一",
            "two couple 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
        ),
        start=1,
    )
    for word in words.split()
}
MOST_YEARS_AWAY = 60
"""Beyond this a count of years is a figure of speech or history, not a date."""

_ALREADY_ANCHORED = re.compile(r"\s*[((][^))]*\d{4}")
_NUMBER = r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple(?: of)?)"
_CJK_NUMBER = r"(?<![\d零一二两三四五六七八九十百千万几数])(?P<n>\d{1,3}|[一二两三四五六七八九十])"
_WEEKDAY = "(?P<day>" + "|".join(WEEKDAYS) + ")"
_MONTH = "(?P<month>" + "|".join(MONTHS) + ")"
_FUTURE = re.compile(
    r"(?:\b(?:will|going to|gonna|leaving|moving|starting|due|coming|happening)|['’]ll)\b[^.!?]*$",
    re.IGNORECASE,
)


def anchor_times(text: str, *, at: datetime) -> str:
    """Return `text` with an absolute date behind each relative time phrase.

    `at` is when it was said; its own calendar day counts. Anchoring twice changes
    nothing. Example, said on 8 May 2023: "I ran yesterday" becomes "I ran yesterday
    (7 May 2023)"; 我去年毕业 becomes 我去年(2022年)毕业.
    """
    return insert_labels(text, find_phrases(text, at=at))


def find_phrases(text: str, *, at: datetime) -> list[Phrase]:
    """Return the relative time phrases of a text in order, each with the date it means."""
    said_on = at.date()
    found: list[Phrase] = []
    for pattern, anchor in _RULES:
        for match in pattern.finditer(text):
            label = _label_or_none(anchor, match, said_on)
            if label:
                found.append(Phrase(match.start(), match.end(), label))
    apart: list[Phrase] = []
    for phrase in sorted(found, key=lambda phrase: (phrase.start, -phrase.end)):
        if not apart or phrase.start >= apart[-1].end:
            apart.append(phrase)
    return apart


def insert_labels(text: str, phrases: Sequence[Phrase]) -> str:
    """Return a text with each phrase's date behind it, unless one stands there."""
    parts: list[str] = []
    done = 0
    for phrase in phrases:
        parts.append(text[done : phrase.end])
        if not _ALREADY_ANCHORED.match(text, phrase.end):
            space = "" if _is_cjk(text[phrase.end - 1]) else " "
            parts.append(f"{space}({phrase.label})")
        done = phrase.end
    return "".join(parts) + text[done:]


def _label_or_none(anchor: Anchor, match: re.Match[str], said_on: date) -> str | None:
    try:
        return anchor(match, said_on)
    except (OverflowError, ValueError):  # before year 1, or 31 February
        return None


def _is_cjk(character: str) -> bool:
    return "\u3040" <= character <= "\u9fff"


def _count(match: re.Match[str]) -> int:
    word = match["n"].lower().removesuffix(" of").removeprefix("a ")
    return NUMBERS[word] if word in NUMBERS else int(word)


# -- how a date, a week, a month and a year are printed


def _print_day(day: date, match: re.Match[str]) -> str:
    if _is_cjk(match[0][-1]):
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _print_span(first: date, last: date, match: re.Match[str]) -> str:
    if _is_cjk(match[0][-1]):
        return f"{_print_day(first, match)}至{last.month}月{last.day}日"
    start = _print_day(first, match)
    if first.year == last.year:
        start = start.rsplit(" ", 1)[0]
    if first.month == last.month:
        start = str(first.day)
    return f"{start}–{_print_day(last, match)}"


def _print_month(months: int, match: re.Match[str]) -> str:
    """`months` counts from year 0."""
    year, month = divmod(months, 12)
    date(year, month + 1, 1)
    return f"{year}年{month + 1}月" if _is_cjk(match[0][-1]) else f"{MONTHS[month]} {year}"


def _print_year(year: int, match: re.Match[str]) -> str:
    date(year, 1, 1)
    return f"{year}年" if _is_cjk(match[0][-1]) else str(year)


# -- anchors of a fixed distance


def _days(distance: int) -> Anchor:
    return lambda match, at: _print_day(at + timedelta(days=distance), match)


def _monday(at: date, weeks: int) -> date:
    return at + timedelta(days=7 * weeks - at.weekday())


def _weeks(distance: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        first = _monday(at, distance)
        return _print_span(first, first + timedelta(days=6), match)

    return anchor


def _weekends(distance: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        saturday = _monday(at, distance) + timedelta(days=5)
        return _print_span(saturday, saturday + timedelta(days=1), match)

    return anchor


def _months(distance: int) -> Anchor:
    return lambda match, at: _print_month(at.year * 12 + at.month - 1 + distance, match)


def _years(distance: int) -> Anchor:
    return lambda match, at: _print_year(at.year + distance, match)


# -- anchors that read the phrase


def _ago(unit: Callable[[int], Anchor], sign: int = -1) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str | None:
        if unit is _years and _count(match) > MOST_YEARS_AWAY:
            return None
        return unit(sign * _count(match))(match, at)

    return anchor


def _if_future(unit: Callable[[int], Anchor]) -> Anchor:
    """ "In two weeks" is also a duration; take it as a date only after a word of future."""

    def anchor(match: re.Match[str], at: date) -> str | None:
        if not _FUTURE.search(match.string, 0, match.start()):
            return None
        return unit(_count(match))(match, at)

    return anchor


def _before(words: str) -> Anchor:
    return lambda match, at: words.format(
        day=_print_day(at, match),
        month=f"{MONTHS[at.month - 1]} {at.year}",
        year=at.year,
    )


def _last_weekday(match: re.Match[str], at: date) -> str:
    back = (at.weekday() - WEEKDAYS.index(match["day"].lower()) - 1) % 7 + 1
    return _print_day(at - timedelta(days=back), match)


def _this_weekday(match: re.Match[str], at: date) -> str:
    ahead = (WEEKDAYS.index(match["day"].lower()) - at.weekday()) % 7
    return _print_day(at + timedelta(days=ahead), match)


def _next_weekday(match: re.Match[str], at: date) -> str:
    """Print both days where English speakers disagree: the coming one, and next week's."""
    wanted = WEEKDAYS.index(match["day"].lower())
    coming = at + timedelta(days=(wanted - at.weekday() - 1) % 7 + 1)
    next_week = _monday(at, 1) + timedelta(days=wanted)
    if coming == next_week:
        return _print_day(coming, match)
    return f"{_print_day(coming, match)} or {_print_day(next_week, match)}"


def _named_month(direction: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        names = [name.lower() for name in MONTHS]
        month = names.index(match["month"].lower())
        months = at.year * 12 + month
        if (months - (at.year * 12 + at.month - 1)) * direction <= 0:
            months += 12 * direction
        return _print_month(months, match)

    return anchor


def _cjk_weekday(weeks: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        day = "一二三四五六日天".index(match["day"])
        return _print_day(_monday(at, weeks) + timedelta(days=min(day, 6)), match)

    return anchor


def _cjk_month_day(months: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        year, month = divmod(at.year * 12 + at.month - 1 + months, 12)
        return _print_day(date(year, month + 1, int(match["date"])), match)

    return anchor


def _cjk_year_month(years: int) -> Anchor:
    def anchor(match: re.Match[str], at: date) -> str:
        word = match["month"]
        ones = word.rpartition("十")[2]
        month = int(word) if word.isdigit() else (NUMBERS.get(ones, 0) + 10 * ("十" in word))
        return _print_month((at.year + years) * 12 + month - 1, match)

    return anchor


_NOT_THE = r"(?<!the )(?<!my )(?<!our )"
"""Keeps out durations that end now: "over the last year"."""

_ENGLISH: tuple[tuple[str, Anchor], ...] = (
    (r"the day before yesterday", _days(-2)),
    (r"the day after tomorrow", _days(2)),
    (r"yesterday|last night", _days(-1)),
    (r"today|tonight|this (?:morning|afternoon|evening)", _days(0)),
    (r"tomorrow", _days(1)),
    (
        r"(?:a few|a couple of|several|some) days (?:ago|back)",
        _before("shortly before {day}"),
    ),
    (_NUMBER + r" days? ago", _ago(_days)),
    (_NUMBER + r" days? from now", _ago(_days, 1)),
    (r"in " + _NUMBER + r" days?", _if_future(_days)),
    (_NOT_THE + r"last week|this past week", _weeks(-1)),
    (r"this week", _weeks(0)),
    (_NOT_THE + r"next week", _weeks(1)),
    (_NUMBER + r" weeks? ago", _ago(_weeks)),
    (_NUMBER + r" weeks? from now", _ago(_weeks, 1)),
    (r"in " + _NUMBER + r" weeks?", _if_future(_weeks)),
    (_NOT_THE + r"last weekend|(?:this|the) past weekend", _weekends(-1)),
    (r"this weekend", _weekends(0)),
    (_NOT_THE + r"next weekend", _weekends(1)),
    (_NUMBER + r" weekends? ago", _ago(_weekends)),
    (_NOT_THE + r"last month|this past month", _months(-1)),
    (r"this month", _months(0)),
    (_NOT_THE + r"next month", _months(1)),
    (_NUMBER + r" months? ago", _ago(_months)),
    (_NUMBER + r" months? from now", _ago(_months, 1)),
    (r"in " + _NUMBER + r" months?", _if_future(_months)),
    (_NOT_THE + r"last year", _years(-1)),
    (r"this year", _years(0)),
    (_NOT_THE + r"next year", _years(1)),
    (_NUMBER + r" years? ago", _ago(_years)),
    (_NUMBER + r" years? from now", _ago(_years, 1)),
    (r"in " + _NUMBER + r" years?", _if_future(_years)),
    (r"(?:last|this past) " + _WEEKDAY, _last_weekday),
    (r"(?:this|this coming) " + _WEEKDAY, _this_weekday),
    (r"next " + _WEEKDAY, _next_weekday),
    (r"last " + _MONTH, _named_month(-1)),
    (r"next " + _MONTH, _named_month(1)),
    (r"the other day", _before("shortly before {day}")),
    (r"(?:a few|several|some) weeks (?:ago|back)", _before("some weeks before {day}")),
    (
        r"(?:a few|several|some) months (?:ago|back)",
        _before("some months before {month}"),
    ),
    (r"(?:a few|several|some) years (?:ago|back)", _before("some years before {year}")),
)
_LAST, _THIS, _NEXT = "(?<!以)上个?", "(?:这个?|本)", "(?<!以)下个?"
_CJK_WEEK = "(?:周|星期|礼拜)"
_CJK_DAY = "(?P<day>[一二三四五六日天])(?!个)"
_CJK_DATE = r"(?P<date>\d{1,2})[号日]"
_CJK_MONTH = r"(?P<month>\d{1,2}|十[一二]?|[一二三四五六七八九])月"
_CJK: tuple[tuple[str, Anchor], ...] = (
    (r"大前天", _days(-3)),
    (r"(?<![以之从])前天(?!天)|一昨日|おととい", _days(-2)),
    (r"昨[天日晚夜]", _days(-1)),
    (r"今[天日晚早]|今夜", _days(0)),
    (r"明[天日晚早]", _days(1)),
    (r"(?<![以之今])后天(?!天)|明後日", _days(2)),
    (r"大后天", _days(3)),
    (_CJK_NUMBER + "天(?:以)?前", _ago(_days)),
    (_CJK_NUMBER + "天(?:以)?后", _ago(_days, 1)),
    ("上" + _LAST + _CJK_WEEK, _weeks(-2)),
    (_LAST + _CJK_WEEK + "|先週", _weeks(-1)),
    (_THIS + _CJK_WEEK + "|今週", _weeks(0)),
    (_NEXT + _CJK_WEEK + "|来週", _weeks(1)),
    ("下" + _NEXT + _CJK_WEEK, _weeks(2)),
    (_CJK_NUMBER + "个?" + _CJK_WEEK + "(?:以)?前", _ago(_weeks)),
    (_CJK_NUMBER + "个?" + _CJK_WEEK + "(?:以)?后", _ago(_weeks, 1)),
    (_LAST + "周末|先週末", _weekends(-1)),
    (_THIS + "周末|今週末", _weekends(0)),
    (_NEXT + "周末|来週末", _weekends(1)),
    (_LAST + _CJK_WEEK + _CJK_DAY, _cjk_weekday(-1)),
    (_THIS + _CJK_WEEK + _CJK_DAY, _cjk_weekday(0)),
    (_NEXT + _CJK_WEEK + _CJK_DAY, _cjk_weekday(1)),
    (_LAST + "月|先月", _months(-1)),
    (_THIS + "月(?!球)|今月", _months(0)),
    (_NEXT + "月|来月", _months(1)),
    (_LAST + "月" + _CJK_DATE, _cjk_month_day(-1)),
    (_THIS + "月" + _CJK_DATE, _cjk_month_day(0)),
    (_NEXT + "月" + _CJK_DATE, _cjk_month_day(1)),
    (_CJK_NUMBER + "个月(?:以)?前", _ago(_months)),
    (_CJK_NUMBER + "个月(?:以)?后", _ago(_months, 1)),
    (r"(?<![以之])前年", _years(-2)),
    (r"去年|昨年", _years(-1)),
    (r"今年", _years(0)),
    (r"明年|来年", _years(1)),
    (r"(?<![以之])后年", _years(2)),
    ("去年" + _CJK_MONTH, _cjk_year_month(-1)),
    ("今年" + _CJK_MONTH, _cjk_year_month(0)),
    ("明年" + _CJK_MONTH, _cjk_year_month(1)),
    (_CJK_NUMBER + "年(?:以)?前", _ago(_years)),
    (_CJK_NUMBER + "年(?:以)?后", _ago(_years, 1)),
)
_RULES: tuple[tuple[re.Pattern[str], Anchor], ...] = tuple(
    (re.compile(rf"\b(?:{words})\b(?:['’]s\b)?", re.IGNORECASE), anchor)
    for words, anchor in _ENGLISH
) + tuple((re.compile(words), anchor) for words, anchor in _CJK)
