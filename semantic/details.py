"""Reads the details in which two alike sentences may differ: numbers, dates, names, negations."""

import re

from memoryproject.text.words import STOP_WORDS, read_words, stem

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_UNITS += " fifteen sixteen seventeen eighteen nineteen"
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70}
_TENS |= {"eighty": 80, "ninety": 90}
NUMBER_WORDS = (
    {word: str(number) for number, word in enumerate(_UNITS.split())}
    | {word: str(number) for word, number in _TENS.items()}
    | {"hundred": "100", "thousand": "1000", "half": "0.5", "once": "1", "first": "1"}
    | {"twice": "2", "second": "2", "third": "3"}
)
DATE_WORDS = read_words("dates")
CHINESE_DATES = re.compile(
    r"昨天|今天|明天|后天|前天|上周|下周|这周|上个?月|下个?月|去年|今年|明年|(?:周|星期|"
    r"礼拜)[一二三四五六日天]|春天|夏天|秋天|冬天|早上|晚上|下午|上午|中午|周末"
)
NEGATION = re.compile(
    r"\b(?:not|never|no longer|without|stopped|quit|hates?|dislikes?|refuses?|avoids?|none|nobody|"
    r"nothing|neither|nor|against|gave up|cancell?ed|lost|left|unable|rarely|seldom|used to|"
    r"allergic)\b|n't\b|\bcannot\b|不|没|别|讨厌|取消|放弃|戒|辞|以前|曾经",
    re.IGNORECASE,
)
# On one side only, such a word of wish, plan, doubt or quantity makes two facts.
OPERATORS = re.compile(
    r"\b(?:want\w*|wish\w*|plan\w*|intend\w*|will|going to|might|may|could|perhaps|maybe|should|"
    r"must|needs?|tr(?:y|ies|ying|ied)|consider\w*|think\w*|dreams?|hop(?:e|es|ing)|almost|nearly|"
    r"barely|hardly|all|every\w*|each|some|several|few|most\w*|only|often|usually|sometimes|first|"
    r"alone|former|ex|step|half|late|great|grand)\b|想|希望|打算|计划|准备|可能|也许|差点|几乎|"
    r"所有|全部|一些|只|经常|有时|很少|前任",
    re.IGNORECASE,
)
ORDERED = re.compile(r"\bprefer|\bthan\b|\bfrom\b.*\bto\b|\binstead of\b|\brather\b", re.IGNORECASE)
DIRECTIONS = frozenset("for with without against from about".split())
# What a time anchor adds behind a phrase: "last week (1–7 May 2023)".
ANCHOR = re.compile(r"(?:(?<!\s)\s+)?[(（\[][^()（）\[\]]{0,60}\d{4}[^()（）\[\]]{0,60}[)）\]]")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
HAN_NUMBER = re.compile(
    r"(?<![零一二两三四五六七八九十百千万])[零一二两三四五六七八九十百千万]++"
    r"(?=[个只条辆位岁年月日号点次名家台本杯天周口公斤米里元块])"
)
ONE_OF_A_KIND = re.compile(r"一[名个位]")
_HAN_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000, "万": 10_000}
ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
NAME = re.compile(r"\b[A-Z][\w-]*")
NO_NAMES = STOP_WORDS | DATE_WORDS
NO_NAMES |= frozenset("since every during when while until because each although".split())
_COMPOUND = re.compile(
    rf"\b({'|'.join(_TENS)})-({'|'.join(_UNITS.split()[1:10])})\b", re.IGNORECASE
)

_WRITTEN = re.compile(rf"\b(?:{'|'.join([*_UNITS.split()[2:], *_TENS])})\b")


def read_numbers(text: str) -> frozenset[str]:
    """Return the numbers in `text` as digits, written-out and Chinese ones included."""
    plain = _COMPOUND.sub(_write_compound, text)
    numbers = {number.replace(",", "") for number in NUMBER.findall(plain)}
    words = (word.lower() for word in ENGLISH_WORD.findall(plain))
    numbers |= {NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS}
    runs = HAN_NUMBER.findall(ONE_OF_A_KIND.sub("", text))
    return frozenset(numbers | {str(parse_han_number(run)) for run in runs})


def write_numbers(text: str) -> str:
    """Return a lower-case text with "two" to "ninety-nine" as digits; "one" may be a pronoun."""
    return _WRITTEN.sub(lambda m: NUMBER_WORDS[m[0]], _COMPOUND.sub(_write_compound, text))


def _write_compound(match: re.Match[str]) -> str:
    return str(_TENS[match[1].lower()] + int(NUMBER_WORDS[match[2].lower()]))


def parse_han_number(text: str) -> int:
    """Return the number that Chinese numerals write: 四十二 is 42, 三千 3000."""
    total = part = 0
    for character in text:
        if character in _HAN_DIGITS:
            part = _HAN_DIGITS[character]
        elif character == "万":
            total, part = (total + part or 1) * _HAN_UNITS[character], 0
        else:
            total, part = total + (part or 1) * _HAN_UNITS[character], 0
    return total + part


def read_dates(text: str) -> frozenset[str]:
    """Return the words that place `text` in time; anchors are read as numbers."""
    words = {word.lower().removesuffix("s") for word in ENGLISH_WORD.findall(text)}
    return frozenset(words & DATE_WORDS) | frozenset(CHINESE_DATES.findall(text))


def read_roles(text: str) -> tuple[str, ...]:
    """Return the names in order, each once, so that "Ana lent Bo" differs from "Bo lent Ana".

    They are the capitalised words that are no function words and no dates.
    """
    names = (name.lower() for name in NAME.findall(text))
    return tuple(dict.fromkeys(name for name in names if name not in NO_NAMES))


def read_operators(text: str) -> frozenset[str]:
    """Return the stems of the words of wish, plan, doubt and quantity in `text`."""
    return frozenset(stem(word.lower()) for word in OPERATORS.findall(text))


def read_directions(text: str) -> frozenset[str]:
    """Return the small words in `text` that turn its meaning round: "for", "without"."""
    return frozenset(word for word in text.lower().split() if word in DIRECTIONS)


def count_negations(text: str) -> int:
    """Return how many words of `text` deny something."""
    return len(NEGATION.findall(text))
