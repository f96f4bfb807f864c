"""Marks search words in a text, and differences between two texts, as HTML."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

import snowballstemmer
from django.utils.html import conditional_escape, format_html, format_html_join
from django.utils.safestring import SafeString

from indexing import text as indexing_text
from indexing.languages import SIMPLE

TOKEN = re.compile(rf"{indexing_text.UNSPACED.pattern[:-1]}|\w+")
"""One letter of an unspaced script, or a word."""
PIECE = re.compile(rf"{TOKEN.pattern}|\s+|.", re.DOTALL)
READ_AT_MOST = 20_000
SNIPPET = 280
SHORTEST_WORD = 4
BEFORE = 90
"""Number of letters of a snippet before the first search word."""

CHANGED = '<span class="console-heard"> {heard}: </span><{tag}>{text}</{tag}>'
"""Words for screen readers, many of which ignore the tags."""

Span = tuple[int, int]


def find_words(shown: str, lexemes: Collection[str], language: str) -> list[Span]:
    """Return the positions of the words, in order; in a long text only near its beginning."""
    forms = frozenset(lexemes)
    letters = frozenset("".join(word for word in forms if indexing_text.UNSPACED.fullmatch(word)))
    spans = []
    for match in TOKEN.finditer(shown[:READ_AT_MOST]):
        word = match.group()
        unspaced = indexing_text.UNSPACED.fullmatch(word)
        if word in letters if unspaced else not forms.isdisjoint(_forms(word, language)):
            spans.append(match.span())
    return spans


def show_marked(shown: str, lexemes: Collection[str], language: str) -> SafeString:
    """Return a text, escaped, with the words marked."""
    return _mark(shown, find_words(shown, lexemes, language), 0, len(shown))


def show_snippet(shown: str, lexemes: Collection[str], language: str) -> SafeString:
    """Return the text around the first search word, escaped, with the words marked."""
    spans = find_words(shown, lexemes, language)
    start = _word_start(shown, spans[0][0] - BEFORE if spans else 0)
    end = min(len(shown), start + SNIPPET)
    return format_html(
        "{}{}{}",
        "… " if start else "",
        _mark(shown, spans, start, end),
        " …" if end < len(shown) else "",
    )


def count_forms(texts: Iterable[str], language: str) -> Counter[str]:
    """Return how many of the texts have each form of a word; short words are left out."""
    counts: Counter[str] = Counter()
    for text in texts:
        words = (word for word in TOKEN.findall(text[:READ_AT_MOST]) if len(word) >= SHORTEST_WORD)
        counts.update(frozenset[str]().union(*(_forms(word, language) for word in words)))
    return counts


def list_words(shown: str, forms: Collection[str], language: str) -> tuple[str, ...]:
    """Return the words of a text that have one of the forms, in their order."""
    words = dict.fromkeys(TOKEN.findall(shown[:READ_AT_MOST]))
    return tuple(word for word in words if not _forms(word, language).isdisjoint(forms))


def show_difference(old: str, new: str) -> SafeString:
    """Return one escaped text with deletions and insertions marked word by word."""
    return mark_difference(PIECE.findall(old), PIECE.findall(new))


def mark_difference(
    before: Sequence[str], after: Sequence[str], *, shorten: Callable[[str], str] = str
) -> SafeString:
    """Return both lists of words as one escaped text; long equal parts are shortened."""
    shown: list[str] = []
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if what == "equal":
            shown.append(conditional_escape(shorten("".join(before[i:j]))))
            continue
        for tag, heard, changed in (
            ("del", "deleted", before[i:j]),
            ("ins", "inserted", after[k:m]),
        ):
            if text := "".join(changed):
                shown.append(format_html(CHANGED, tag=tag, heard=heard, text=text))
    return format_html_join("", "{}", ((piece,) for piece in shown))


def _word_start(shown: str, near: int) -> int:
    """Return the beginning of the next word after a position."""
    if near <= 0:
        return 0
    space = shown.find(" ", near, near + 20)
    return near if space < 0 else space + 1


def _mark(shown: str, spans: list[Span], start: int, end: int) -> SafeString:
    pieces = []
    at = start
    for first, last in (span for span in spans if span[0] >= start and span[1] <= end):
        pieces.append(format_html("{}<mark>{}</mark>", shown[at:first], shown[first:last]))
        at = last
    pieces.append(conditional_escape(shown[at:end]))
    return SafeString("".join(pieces).replace("</mark><mark>", ""))


@lru_cache(maxsize=50_000)
def _forms(word: str, language: str) -> frozenset[str]:
    """Return the forms under which the index may have a word."""
    prepared = indexing_text.prepare(word).strip()
    if language == SIMPLE:
        return frozenset([prepared])
    return frozenset([prepared, snowballstemmer.stemmer(language).stemWord(prepared)])
