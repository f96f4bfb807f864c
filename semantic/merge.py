"""Decides whether two facts say the same, where closeness alone would merge too much."""

from __future__ import annotations

import re

from semantic.claims import stems
from semantic.informative import STOP_WORDS
from semantic.relations import ANCHOR
from semantic.sentences import HAN
from semantic.word_lists import split_words

MERGE_COSINE = 0.95
"""Source: the specification's DEDUPE_THRESHOLD; we also ask that the details agree."""

NUMBER_WORDS = {
    word: line.split()[0]
    for line in [
        "0 zero no",
        "0.5 half",
        "1 one once first",
        "2 two twice second double",
        "3 three third",
        "4 four fourth",
        "5 five fifth",
        "6 six",
        "7 seven",
        "8 eight",
        "9 nine",
        "10 ten",
        "11 eleven",
        "12 twelve",
        "13 thirteen",
        "14 fourteen",
        "15 fifteen",
        "16 sixteen",
        "17 seventeen",
        "18 eighteen",
        "19 nineteen",
        "20 twenty",
        "30 thirty",
        "40 forty",
        "50 fifty",
        "60 sixty",
        "100 hundred",
        "1000 thousand ",
    ]
    for word in line.split()[1:]
}
CHINESE_DIGITS = {c: str(i) for i, c in enumerate("零一二三四五六七八九十")} | {"两": "2"}
CHINESE_NUMBER = re.compile(
    r"[零一二两三四五六七八九十百千万]+(?=[个只条辆位岁年月日号点次名家台本杯天周口])"
)
ONE_OF_A_KIND = re.compile(r"一[名个位]")
# Not "may", which is a verb more often.
DATE_WORDS = split_words(
    "monday tuesday wednesday thursday friday saturday sunday yesterday today tomorrow tonight "
    "morning afternoon evening night noon midnight weekend weekday spring summer autumn fall "
    "winter last next this ago week month year daily weekly monthly yearly day hour am pm "
    "before after start started end ended january february march april june july august "
    "september october november december"
)
CHINESE_DATES = re.compile(
    r"昨天|今天|明天|后天|前天|上周|下周|这周|上个?月|下个?月|去年|今年|明年|(?:周|星期|"
    r"礼拜)[一二三四五六日天]|春天|夏天|秋天|冬天|早上|晚上|下午|上午|中午|周末"
)
NEGATION = re.compile(
    r"\b(?:not|never|no longer|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|hasn't|haven't|"
    r"hadn't|"
    r"can't|cannot|couldn't|won't|wouldn't|shouldn't|without|stopped|quit|hates?|dislikes?|"
    r"refuses?|"
    r"avoids?|none|nobody|nothing|neither|nor|against|gave up|cancell?ed|lost|left|unable|"
    r"rarely|seldom|"
    r"used to|allergic)\b|不|没|别|讨厌|取消|放弃|戒|辞|以前|曾经",
    re.IGNORECASE,
)
OPPOSITES = tuple(
    (re.compile(rf"\b(?:{a})\b", re.IGNORECASE), re.compile(rf"\b(?:{b})\b", re.IGNORECASE))
    for a, b in (
        ("before", "after"),
        ("with", "without"),
        ("older|elder", "younger"),
        ("left", "right"),
        ("morning", "evening"),
        ("early", "late"),
        ("buy|bought|buys", "sell|sold|sells"),
        (r"start\w*|began", r"stop\w*|finish\w*|end\w*"),
        ("brother", "sister"),
        ("mother|mom|mum", "father|dad"),
        ("son", "daughter"),
        ("husband", "wife"),
        ("uncle", "aunt"),
        ("boyfriend", "girlfriend"),
        ("won|wins", "lost|loses"),
        ("more", "less"),
        ("always", "sometimes|rarely"),
        (r"borrow\w*", "lend|lent|lends"),
        ("hot", "cold|iced"),
        ("black", "white"),
        ("red", "blue|green"),
        ("short", "long"),
        ("small", "big|large"),
        ("plans|wants|hopes|is going", "has|did|went|finished|completed"),
        (r"north\w*", r"south\w*"),
        (r"east\w*", r"west\w*"),
        (r"arriv\w*", r"leav\w*|depart\w*"),
        ("moved to", "moved from"),
        ("taught|teaches", "learned|learns|studies"),
        ("single", "married"),
        (r"increase\w*", r"decrease\w*"),
    )
)
CAPITALISED = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'-]*")
FIRST_WORD = re.compile(r"^[A-Z][\w-]*")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
# Their presence on one side only changes nothing worth two facts.
SPELLINGS = {"favourite": "favorite", "colour": "color", "mum": "mom", "neighbour": "neighbor"}
SOFT_WORDS = stems(
    "really very quite just now currently already also much so truly totally always still "
    "absolutely together is are was has have been being user finally definitely both"
)
SOFT_CHARACTERS = frozenset("的了吗呢吧啊着过在很真现正都也就太非常已经名个位是一")
DIRECTIONS = split_words("for with without against from about")
ORDERED = re.compile(r"\bprefer|\bthan\b|\bfrom\b.*\bto\b|\binstead of\b|\brather\b", re.IGNORECASE)
PAIR_OF_NAMES = re.compile(r"\b([A-Z][\w-]*) and ([A-Z][\w-]*)\b")
COMPOUND = re.compile(
    r"\b(twenty|thirty|forty|fifty|sixty)-(one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
MOST_EXTRA_STEMS = 1
LEAST_REPEATED = 3


def is_same_fact(a: str, b: str, *, category_a: str, category_b: str, cosine: float) -> bool:
    """Whether `b` may be merged into `a`.

    `cosine` is that of the facts' embedding texts, -1..1. Close is not enough:
    category, numbers, dates, names, negation and direction must agree as well.
    """
    if category_a != category_b or cosine < MERGE_COSINE:
        return False
    return details_agree(a, b)


def details_agree(first: str, second: str) -> bool:
    """Whether nothing that closeness overlooks tells two sentences apart.

    One may say a word more than the other; where each has a word that the other
    lacks, a value may have changed, and they differ.
    """
    a, b = _normalise(first), _normalise(second)
    return (
        read_numbers(a) == read_numbers(b)
        and read_dates(a) == read_dates(b)
        and read_names(a) == read_names(b)
        and count_negations(a) == count_negations(b)
        and not _are_opposed(a, b)
        and read_roles(a) == read_roles(b)
        and _share_words(a, b)
    )


def says_no_more(new: str, held: str) -> bool:
    """Whether `held` tells all that `new` tells: then `new` only repeats it.

    Three content words beside the name are the least that can be recognised in a
    longer sentence. A date that `held` lacks makes `new` another event.
    """
    a, b = _normalise(new), _normalise(held)
    if HAN.search(a):
        return details_agree(new, held)
    words = [word for word in _weighty_stems(a) if word not in stems(" ".join(read_roles(a)))]
    return (
        len(words) >= min(LEAST_REPEATED, len(_weighty_stems(b)) / 2)
        and set(_weighty_stems(a)) <= set(_weighty_stems(b))
        and read_numbers(a) <= read_numbers(b)
        and read_dates(a) <= read_dates(b)
        and read_names(a) <= read_names(b)
        and read_roles(a)[:1] == read_roles(b)[:1]
        and count_negations(a) == count_negations(b)
        and not _are_opposed(a, b)
        and read_directions(a) <= read_directions(b)
        and not ORDERED.search(a)
    )


def read_numbers(text: str) -> frozenset[str]:
    """Return the numbers in `text` as digits, written-out and Chinese ones included."""
    found = {n.replace(",", "") for n in NUMBER.findall(text)}
    found |= {NUMBER_WORDS[w] for w in WORD.findall(text.lower()) if w in NUMBER_WORDS}
    for run in CHINESE_NUMBER.findall(ONE_OF_A_KIND.sub("", text)):
        found.add("".join(CHINESE_DIGITS.get(c, c) for c in run))
    return frozenset(found)


def read_dates(text: str) -> frozenset[str]:
    """Return the words that place `text` in time; anchors are read as numbers."""
    words = {w.lower().removesuffix("s") for w in WORD.findall(text)}
    return frozenset(words & DATE_WORDS) | frozenset(CHINESE_DATES.findall(text))


def read_names(text: str) -> frozenset[str]:
    """Return the capitalised words, the sentence's first one (the person) included."""
    names = {n.removesuffix("'s").lower() for n in CAPITALISED.findall(text)}
    first = FIRST_WORD.match(text)
    names |= {first[0].lower()} if first else set()
    return frozenset(name for name in names if _is_name(name))


def count_negations(text: str) -> int:
    """Return how many words of `text` deny something."""
    return len(NEGATION.findall(text))


def _are_opposed(a: str, b: str) -> bool:
    return any(
        (x.search(a) and y.search(b) and not x.search(b))
        or (y.search(a) and x.search(b) and not x.search(a))
        for x, y in OPPOSITES
    )


def _normalise(text: str) -> str:
    """Return `text` with names in a fixed order and written numbers as digits."""
    plain = re.sub(r"\b[Tt]he (user|assistant)\b", lambda m: m[1].title(), text)
    plain = PAIR_OF_NAMES.sub(lambda m: " and ".join(sorted((m[1], m[2]))), plain)
    tens = {word: NUMBER_WORDS[word] for word in ("twenty", "thirty", "forty", "fifty", "sixty")}
    return COMPOUND.sub(
        lambda m: str(int(tens[m[1].lower()]) + int(NUMBER_WORDS[m[2].lower()])), plain
    )


def read_roles(text: str) -> tuple[str, ...]:
    """Return the names in order, so that "Ana lent Bo" differs from "Bo lent Ana"."""
    first = FIRST_WORD.match(text)
    names = [first[0].lower()] if first else []
    names += [n.removesuffix("'s").lower() for n in CAPITALISED.findall(text)]
    return tuple(dict.fromkeys(name for name in names if _is_name(name)))


def _is_name(word: str) -> bool:
    return word not in STOP_WORDS and word not in DATE_WORDS


def _share_words(a: str, b: str) -> bool:
    """Whether at most one side says more, and that no more than a word."""
    if HAN.search(a) or HAN.search(b):
        return _share_characters(ANCHOR.sub("", a), ANCHOR.sub("", b))
    one, two = _weighty_stems(a), _weighty_stems(b)
    if set(one) != set(two):
        extra, lacking = set(one) - set(two), set(two) - set(one)
        if (extra and lacking) or len(extra | lacking) > MOST_EXTRA_STEMS:
            return False
    common = set(one) & set(two)
    in_order = [w for w in one if w in common] == [w for w in two if w in common]
    return read_directions(a) == read_directions(b) and (in_order or not ORDERED.search(a))


def _weighty_stems(text: str) -> list[str]:
    """Return the stems that matter, in order; numbers have been compared already."""
    found: list[str] = []
    for word in WORD.findall(ANCHOR.sub("", text).replace("'s", "")):
        if word.lower() not in NUMBER_WORDS:
            found += [w for w in stems(SPELLINGS.get(word.lower(), word)) if w not in SOFT_WORDS]
    return list(dict.fromkeys(found))


def read_directions(text: str) -> frozenset[str]:
    """Return the small words in `text` that turn its meaning round: "for", "without"."""
    return frozenset(w for w in text.lower().split() if w in DIRECTIONS)


def _share_characters(a: str, b: str) -> bool:
    """Compare two Chinese sentences by their characters; who acts comes first in both."""
    one = {c for c in a if c.isalnum()} - SOFT_CHARACTERS
    two = {c for c in b if c.isalnum()} - SOFT_CHARACTERS
    return a[:2] == b[:2] and (one <= two or two <= one) and len(one ^ two) <= 1
