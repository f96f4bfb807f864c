"""Decides whether two facts say the same, where closeness alone would merge too much."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from semantic.claims import stem, stems
from semantic.informative import STOP_WORDS
from semantic.kin import find_subject
from semantic.normal_forms import write_alike
from semantic.readings import ANCHOR
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
        (r"short\w*", r"long\w*"),
        ("small", "big|large"),
        ("plans|wants|hopes|is going", "has|did|went|finished|completed"),
        (r"north\w*", r"south\w*"),
        (r"east\w*", r"west\w*"),
        (r"arriv\w*", r"leav\w*|depart\w*"),
        ("moved to", "moved from"),
        ("taught|teaches", "learned|learns|studies"),
        ("single", "married"),
        (r"is \w+ing", r"has \w+ed"),
        (r"increase\w*", r"decrease\w*"),
    )
)
CAPITALISED = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'-]*")
OPENINGS = split_words("since every during when while until because each although")
FIRST_WORD = re.compile(r"^[A-Z][\w-]*")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)?")
# Their presence on one side only changes nothing worth two facts.
SPELLINGS = {
    "gave": "give",
    "given": "give",
    "children": "kids",
    "have": "has",
    "named": "called",
    "movie": "film",
    "favourite": "favorite",
    "colour": "color",
    "mum": "mom",
    "neighbour": "neighbor",
}
HARMLESS = split_words(
    "a an the really very quite just so now currently already also much truly totally absolutely "
    "definitely both is are am be being been do does to of and that their they them theirs too "
    "still "
    "always finally how together while user assistant himself herself themselves lot"
)
PASSIVE_WORDS = split_words("was were by")
REPHRASED = tuple(
    (re.compile(pattern), written)
    for pattern, written in (
        (r"\bcannot\b|\bcan't\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\bin order to\b", "to"),
        (r"\bwould (?:like|love) to\b", "wants to"),
        (r"\b(?:has|have) got\b", "has"),
        (r"\b(?:has|have) (?=been\b|\w+ed\b)", ""),
        (r"\bprefers? (.+) over\b", r"prefers \1 to"),
        (r"\bat the moment\b|\bthese days\b|\bright now\b|\ba lot\b", ""),
        (r"\btill\b", "until"),
    )
)
SOFT_WORDS = stems(
    "really very quite just now currently already also much so truly totally always still "
    "absolutely together is are was has have been being user finally definitely both"
)
HAN_TIME = re.compile(rf"每?(?:{CHINESE_DATES.pattern})|每[天周月年]")
SOFT_CHARACTERS = frozenset("把将名的了吗呢吧啊着在很真现正都也就太非常已经名个位是一")
DIRECTIONS = split_words("for with without against from about")
ORDERED = re.compile(r"\bprefer|\bthan\b|\bfrom\b.*\bto\b|\binstead of\b|\brather\b", re.IGNORECASE)
PAIR_OF_NAMES = re.compile(r"\b([A-Z][\w-]*) and ([A-Z][\w-]*)\b")
COMPOUND = re.compile(
    r"\b(twenty|thirty|forty|fifty|sixty)-(one|two|three|four|five|six|seven|eight|nine)\b",
    re.IGNORECASE,
)
# A word of one line on one side only makes two facts: what is meant, how much, how surely.
OPERATORS = {
    word: line.split()[0]
    for line in (
        "want wants wanted wish wishes 想 希望",
        "plan plans planning planned intends intend 打算 计划 准备",
        "will going",
        "might may could perhaps maybe possibly 可能 也许",
        "should must needs need has-to",
        "tries trying tried attempted",
        "considering thinks thinking 考虑",
        "dreams hopes hoping hope",
        "almost nearly barely hardly 差点 几乎",
        "all every each everything everyone 所有 全部",
        "some several few certain 一些 有些",
        "most mostly 大多",
        "only 只",
        "often usually frequently 经常 常常",
        "sometimes occasionally 有时 偶尔",
        "rarely seldom 很少",
        "law step ex former late great grand half foster 前任 继",
        "pretends claims allegedly supposedly",
        "first",
        "alone",
    )
    for word in line.split()
}
HAN_OPERATORS = tuple(word for word in OPERATORS if not word.isascii())
PASSIVE = re.compile(
    r"\b(?:was|were|is|are|been|got) (?:\w+ed|\w+en|hit|cut|put|hurt|built|made|sold|bought|"
    r"told|taught|sent|left|lent|paid|led|won|shot|read|caught|found|held|met)\b.* by\b"
)
HAN_ORDERED = re.compile(r"[比给教借让叫帮追赢输从到]")
HAN_CLAUSE = re.compile(r"[，。；,;]|(?<!是)但是?|(?=不)")
PHRASE_OPENINGS = split_words(
    "in on at with for from about by near since until during into onto over under between through "
    "without against and or but nor not than as because while when if who which where after before "
    "every each"
)
OPENED = re.compile(
    r"^((?:in|on|at|when|while|since|during|after|before|if|for) [^,]+), ([^.]+)\.?$"
)
PAIR = re.compile(r"\b([a-z]+) and ([a-z]+)(?=[.,!]|$| (?:in|on|at|with|for|from)\b)")
TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|\d+", re.ASCII)
TIME = "TIME"
"""Stands for what is compared elsewhere: numbers and words of time."""
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
        and _same_names(a, b)
        and count_negations(a) == count_negations(b)
        and read_operators(a) == read_operators(b)
        and not _are_opposed(a, b)
        and not _is_turned_round(a, b)
        and _same_roles(a, b)
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


def _same_names(a: str, b: str) -> bool:
    """Whether the names agree; a capital that the other sentence does without is no name."""
    return all(
        name in other or re.search(rf"\b{re.escape(name)}\b", text.lower()) is not None
        for names, other, text in (
            (read_names(a), read_names(b), b),
            (read_names(b), read_names(a), a),
        )
        for name in names
    )


def _same_roles(a: str, b: str) -> bool:
    """Whether the names that both sentences have come in the same order."""
    one, two = read_roles(a), read_roles(b)
    return [name for name in one if name in two] == [name for name in two if name in one]


def read_operators(text: str) -> frozenset[str]:
    """Return which kinds of wish, plan, quantity or doubt `text` speaks of."""
    words = set(WORD.findall(re.sub(r"\bwould (?:like|love) to\b", "wants", text.lower())))
    found = {OPERATORS[word] for word in words if word in OPERATORS}
    return frozenset(found | {OPERATORS[word] for word in HAN_OPERATORS if word in text})


def _is_turned_round(a: str, b: str) -> bool:
    """Whether one of two sentences about the same subject is passive, and the other not."""
    passive = [PASSIVE.search(text) is not None for text in (a, b)]
    return passive[0] != passive[1] and find_subject(a) == find_subject(b)


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
    plain = re.sub(r"\b[Tt]he (user|assistant)\b", lambda m: m[1].title(), write_alike(text))
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
    return word not in STOP_WORDS | OPENINGS and word not in DATE_WORDS


def _share_words(a: str, b: str) -> bool:
    """Whether both sentences have the same words, but for those that change nothing."""
    if HAN.search(a) or HAN.search(b):
        return _share_characters(ANCHOR.sub("", a), ANCHOR.sub("", b))
    passive = [PASSIVE.search(text) is not None for text in (a, b)]
    if passive[0] == passive[1] and _read_phrases(a) != _read_phrases(b):
        return False
    one, two = _telling_words(a), _telling_words(b)
    if any(passive):
        one, two = ([w for w in words if w not in PASSIVE_WORDS] for words in (one, two))
    if _read_past(a) != _read_past(b):
        return False
    in_order = one == two or not ORDERED.search(a)
    return set(one) == set(two) and in_order and read_directions(a) == read_directions(b)


def _telling_words(text: str) -> list[str]:
    """Return the stems of all words that matter, in order; numbers are compared elsewhere."""
    return list(dict.fromkeys(stem(word) for word in _read_words(text)))


def _read_words(text: str) -> Iterator[str]:
    for word in WORD.findall(_rephrase(text)):
        word = SPELLINGS.get(word, word)
        if word not in HARMLESS and word not in NUMBER_WORDS:
            yield word


def _read_past(text: str) -> set[str]:
    """Return the stems of regular verbs in the past: "lives" and "lived" have one stem."""
    return {stem(word) for word in _read_words(text) if word.endswith("ed")}


def _rephrase(text: str) -> str:
    plain = ANCHOR.sub("", text).lower().replace("’", "'").replace("%", " percent")
    for pattern, written in REPHRASED:
        plain = pattern.sub(written, plain)
    return plain.replace("'s", "")


def _read_phrases(text: str) -> list[tuple[str, ...]]:
    """Return the phrases of a sentence, each with its words in order, whatever their own order.

    "In Porto" may stand before or after "with Bo", and "since 2014" before the rest; who
    does what to whom, and what one likes and what not, may not change places.
    """
    plain = OPENED.sub(r"\2 \1", _rephrase(text))
    plain = PAIR.sub(lambda m: " and ".join(sorted((m[1], m[2]))), plain)
    phrases: list[list[str]] = [[]]
    at = 0
    for token in TOKEN.findall(plain):
        word = SPELLINGS.get(token, token)
        is_time = word.isdigit() or word.removesuffix("s") in DATE_WORDS or word in NUMBER_WORDS
        if word in PHRASE_OPENINGS:
            phrases.append([])
            at = len(phrases) - 1
        elif phrases[at][-1:] == [TIME] and not is_time:
            at = 0  # "in 2014" is over, and the sentence goes on
        if is_time:
            phrases[at] += [] if phrases[at][-1:] == [TIME] else [TIME]
        elif word not in HARMLESS:
            phrases[at].append(stem(word))
    return sorted(tuple(word for word in phrase if word != TIME) for phrase in phrases)


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
    one, two = (sorted(c for c in t if c.isalnum() and c not in SOFT_CHARACTERS) for t in (a, b))
    if HAN_ORDERED.search(a) and _common(a, one) != _common(b, one):
        return False
    actor_a, actor_b = (HAN_TIME.sub("", text)[:2] for text in (a, b))
    return actor_a == actor_b and one == two and _read_clauses(a) == _read_clauses(b)


def _read_clauses(text: str) -> list[str]:
    """Return the characters of each clause: 喝茶 and 不喝咖啡 may not change places."""
    clauses = (
        "".join(sorted(c for c in clause if c.isalnum() and c not in SOFT_CHARACTERS))
        for clause in HAN_CLAUSE.split(text)
    )
    return sorted(clause for clause in clauses if clause)


def _common(text: str, characters: Sequence[str]) -> list[str]:
    return [c for c in text if c in characters]
