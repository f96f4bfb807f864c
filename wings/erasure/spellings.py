"""Patterns that find a name or an id in texts, however it is spelled. No database, no clock.

Texts are folded first, by `fold` here and by `FOLDED` in PostgreSQL in the same way: plain forms of
compatible characters (full-width letters), lower case, no accents. A pattern is a regular
expression for both; it uses PostgreSQL's class `[[:alnum:]]`, which `find` translates.
"""

import re
import unicodedata
from collections.abc import Iterable

FOLDED = "regexp_replace(lower(normalize(%(expressions)s, NFKD)), '[\\u0300-\\u036F]', '', 'g')"
"""SQL that folds a text, inserted by Python's `%` formatting."""
LETTER = "[[:alnum:]]"
MARKS = re.compile("[\u0300-\u036f]")
TWICE_SPELLED = {
    "ä": "ae?", "ö": "oe?", "ü": "ue?", "å": "aa?", "æ": "(?:æ|ae?)", "ø": "(?:ø|oe?)",
    "œ": "(?:œ|oe)", "ß": "(?:ß|ss)", "ł": "[łl]", "đ": "[đd]", "ð": "[ðd]", "þ": "(?:þ|th)",
    "ı": "[ıi]",
}  # fmt: skip
"""Letters with a second spelling that folding does not find."""
DIGRAPHS = {"ae": "ae?", "oe": "oe?", "ue": "ue?", "aa": "aa?", "ss": "(?:ß|ss)"}
"""The reverse: Joerg may be written as Jörg, which is folded to Jorg."""
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f"
    "\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts without spaces between words, or with endings right after a name: Thai, Lao, Burmese,
Khmer, Japanese, Korean, Chinese."""
GAP = f"[^{LETTER[1:-1]}]{{0,3}}"
"""Separator between the words of a name: a space, a hyphen, a period, a comma, or nothing."""
WORDS_TURNED = 2
"""Words of a name that is also looked for with the last one first, as in lists."""


def fold(text: str) -> str:
    """Return a text in the form in which it is compared, as `FOLDED` does in SQL."""
    return MARKS.sub("", unicodedata.normalize("NFKD", text).lower())


def match_names(names: Iterable[str]) -> str:
    """Return a pattern for names as whole words; empty if there is none.

    It matches any case, with or without accents, full-width letters, umlauts written with an e,
    other gaps between the words, the last word first, and a genitive s; also each single word of a
    name that does not begin with a small letter. In scripts without spaces it matches within longer
    words.
    """
    called = [name for name in names if name.split()]
    parts = [word for name in called for word in name.split() if is_part(word)]
    return "|".join(map(_match_name, dict.fromkeys([*called, *parts])))


def is_part(word: str) -> bool:
    """Return whether one word of a name may identify the person: Bo and Vries, not van, not M."""
    return len(word.strip(".,")) > 1 and word[0].isalpha() and not word[0].islower()


def match_ids(ids: Iterable[str]) -> str:
    """Return a pattern for user ids as whole words; empty if there is none.

    A number only matches as a whole value, or between quotes, as any count might be the same
    number.
    """
    return "|".join(_match_id(value) for value in ids if value.strip())


def match_phrase(phrase: str) -> str:
    """Return a pattern for a phrase anywhere in a text; of one or two letters, as a whole word."""
    if len(phrase) <= WORDS_TURNED:
        return _match_name(phrase)
    return GAP.join(map(_spell, phrase.split()))


def find(pattern: str, text: str) -> bool:
    """Return whether a pattern matches somewhere in a text, which is folded first."""
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
    """Restrict a pattern to whole words, if its script has any."""
    start = "" if UNSPACED.match(letters[0]) else f"(?<!{LETTER})"
    end = "" if UNSPACED.match(letters[-1]) else f"s?(?!{LETTER})"
    return f"{start}(?:{pattern}){end}"


def _spell(word: str) -> str:
    """Return a pattern for a word in all its spellings, in folded letters."""
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
