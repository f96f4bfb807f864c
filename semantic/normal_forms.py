"""Writes numbers, dates and times in one way, so that texts can be compared."""

from __future__ import annotations

import re

MONTHS = (
    "January February March April May June July August September October November December"
).split()
ISO_DATE = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
FULL_HOUR = re.compile(r"\b(\d{1,2}):00\b")
MERIDIEM = re.compile(r"\b([ap])\.m\.?(?=\W|$)|(?<=\d)([ap])m\b", re.IGNORECASE)
INITIALS = re.compile(r"\b(?:[A-Z]\.){2,}")
HAN_NUMBER = re.compile(
    r"(?<![周期拜第万])[零一二两三四五六七八九十百千万]+(?=[个只条辆位岁年月日号点次名家台本杯天周口公斤米里元块分秒层张件双套瓶小半])"
)
DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"两": 2}
UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}


def write_alike(text: str) -> str:
    """Return `text` with dates, times, initials and Chinese numbers in one form.

    "2023-03-16" becomes "March 16, 2023", "9:00 p.m." "9 pm", "U.S." "US", 四十二岁 42岁.
    """
    plain = ISO_DATE.sub(_name_date, text)
    plain = MERIDIEM.sub(lambda m: f"{m[1] or ' ' + m[2]}m".lower(), FULL_HOUR.sub(r"\1", plain))
    plain = INITIALS.sub(lambda m: m[0].replace(".", ""), plain)
    return HAN_NUMBER.sub(lambda m: m[0] if m[0] == "一" else str(read_han_number(m[0])), plain)


def _name_date(match: re.Match[str]) -> str:
    month = int(match[2])
    name = MONTHS[month - 1] if 1 <= month <= len(MONTHS) else match[2]
    return f"{name} {int(match[3])}, {match[1]}"


def read_han_number(text: str) -> int:
    """Return the number that Chinese numerals write: 四十二 is 42, 三千 3000."""
    total = part = 0
    for character in text:
        if character in DIGITS:
            part = DIGITS[character]
        elif character == "万":
            total, part = (total + part or 1) * UNITS[character], 0
        else:
            total, part = total + (part or 1) * UNITS[character], 0
    return total + part
