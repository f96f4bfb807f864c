"""Patterns that find a name or an id in texts, however it is spelled. No database, no clock.

Texts are folded first, by `fold` here and by `FOLDED` in PostgreSQL alike: compatible characters as
their plain ones (full-width letters), small letters, no accents. A pattern is a regular
expression that both read; it names the class of letters and digits `[[:alnum:]]`, as PostgreSQL
does, which `find` translates.
"""

import re
import unicodedata
from collections.abc import Iterable

FOLDED = "regexp_replace(lower(normalize(%(expressions)s, NFKD)), '[\\u0300-\\u036F]', '', 'g')"
"""SQL that folds a text; Python's `%` formatting puts the text in."""
LETTER = "[[:alnum:]]"
MARKS = re.compile("[\u0300-\u036f]")
TWICE_SPELLED = {
    "ä": "ae?", "ö": "oe?", "ü": "ue?", "å": "aa?", "æ": "(?:æ|ae?)", "ø": "(?:ø|oe?)",
    "œ": "(?:œ|oe)", "ß": "(?:ß|ss)", "ł": "[łl]", "đ": "[đd]", "ð": "[ðd]", "þ": "(?:þ|th)",
    "ı": "[ıi]",
}  # fmt: skip
"""Letters that are also written with others, which folding does not find."""
DIGRAPHS = {"ae": "ae?", "oe": "oe?", "ue": "ue?", "aa": "aa?", "ss": "(?:ß|ss)"}
"""The same the other way round: Joerg may stand as Jörg, which is folded to Jorg."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts that put no space between words, or endings right behind a name: Thai, Lao, Burmese,
Khmer, Japanese, Korean, Chinese."""
GAP = f"[^{LETTER[1:-1]}]{{0,3}}"
"""What may stand between the words of a name: a space, a hyphen, a point, a comma, or nothing."""
WORDS_TURNED = 2
"""A name of two words is also looked for with the last one first, as in lists."""


def fold(text: str) -> str:
    """Return a text as it is compared; `FOLDED` does the same in SQL."""
    return MARKS.sub("", unicodedata.normalize("NFKD", text).lower())


def match_names(names: Iterable[str]) -> str:
    """Return a pattern for names as whole words; empty: there is none.

    Found are any case, accents or none, full-width letters, umlauts written with an e, another
    gap between the words, the last word first, and a genitive s; and each word of a name by
    itself that begins with no small letter. In scripts without spaces a name is found within
    longer words.
    """
    called = [name for name in names if name.split()]
    parts = [word for name in called for word in name.split() if is_part(word)]
    return "|".join(map(_match_name, dict.fromkeys([*called, *parts])))


def is_part(word: str) -> bool:
    """Return whether a word of a name may stand for its bearer: Bo and Vries, not van, not M."""
    return len(word.strip(".,")) > 1 and word[0].isalpha() and not word[0].islower()


def match_ids(ids: Iterable[str]) -> str:
    """Return a pattern for user ids as whole words; empty: there is none.

    One that is a number is found where it is a whole value, or stands between quotes: any count
    might be the same number.
    """
    return "|".join(_match_id(value) for value in ids if value.strip())


def match_phrase(phrase: str) -> str:
    """Return a pattern for any part of a text; of one or two letters they are a whole word."""
    if len(phrase) <= WORDS_TURNED:
        return _match_name(phrase)
    return GAP.join(map(_spell, phrase.split()))


def find(pattern: str, text: str) -> bool:
    """Return whether a pattern fits somewhere in a text that is not folded yet."""
    pattern = pattern.replace(f"[^{LETTER[1:-1]}]", r"[\W_]").replace(LETTER, r"[^\W_]")
    return bool(pattern) and re.search(pattern, fold(text)) is not None


def _match_name(name: str) -> str:
    words = name.split()
    orders = [words, words[::-1]] if len(words) == WORDS_TURNED else [words]
    return "|".join(_bound(GAP.join(map(_spell, order)), "".join(order)) for order in orders)


def _match_id(value: str) -> str:
    value = value.strip()
    if value.isdecimal():
        return f'(?:^|[\x1f"{{,])({value})(?=$|[\x1f"}},])'
    return _bound(re.escape(fold(value)), value)


def _bound(pattern: str, letters: str) -> str:
    """Keep a pattern to whole words where its script has such."""
    start = "" if UNSPACED.match(letters[0]) else f"(?<!{LETTER})"
    end = "" if UNSPACED.match(letters[-1]) else f"s?(?!{LETTER})"
    return f"{start}(?:{pattern}){end}"


def _spell(word: str) -> str:
    """Return a pattern for a word in all its spellings, in the letters that folding leaves."""
    parts, lowered = [], unicodedata.normalize("NFC", word).lower()
    while lowered:
        pair, letter = lowered[:2], lowered[0]
        if pair in DIGRAPHS:
            parts.append(DIGRAPHS[pair])
            lowered = lowered[2:]
        else:
            parts.append(TWICE_SPELLED.get(letter) or re.escape(fold(letter)))
            lowered = lowered[1:]
    return "".join(parts)
