"""Numbers the lines of a served text, and checks that a sentence is supported by those it cites."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from enum import StrEnum

from memoryproject.ai.prompts import put_on_one_line
from memoryproject.text.cleaning import clean_alone
from memoryproject.text.date_phrases import CJK, find_language
from memoryproject.text.dates import find_phrases
from memoryproject.text.parts import Kind, Part, Quote, join, split_lines
from memoryproject.text.sentences import is_english
from memoryproject.text.words import WORD, content_stems
from retrieval.question import Span, days_named, find_dates
from semantic.details import NUMBER, read_numbers, read_roles, write_numbers
from wings.ask.replies import CitationReply

SOURCES = {
    Kind.FACT: "fact",
    Kind.MESSAGE: "message",
    Kind.TITLE: "episode",
    Kind.SUMMARY: "episode",
}
"""Source of a line, by the kind of its quotation."""
KINDS = ["fact", "message", "episode"]
WRITES_NOUNS_LARGE = "de"
"""Language in which a capital letter does not mean a name."""
ADDRESS = re.compile(r"[^\s@]{1,64}@\S+|\w[\w+.-]{1,20}://\S+|\bwww\S+")
WORDS_SHARE = 0.2
"""Share of a sentence's words, by stems, that must stand in what it cites.

Of 239 sentences in right answers (BEAM) 88 % share that many with the message that supports them,
and 13 % with another one.
"""
LEFT_OUT = re.compile(r"…|\.{3,}")


class Reason(StrEnum):
    """Why a sentence is left out."""

    NO_CITATION = "no_citation"
    NOT_SERVED = "not_served"
    NOT_QUOTED = "not_quoted"
    NOT_CARRIED = "not_carried"


REASONS = [reason.value for reason in Reason]


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the served text, its row, and the heading above it."""

    kind: str
    id: str
    text: str
    heading: str

    def list_days(self) -> list[Span]:
        """Return the line's own days, those that it names, and those of its phrases."""
        own = days_named(self.heading)
        said_on = own or days_named(self.text)
        labels = ""
        if said_on:
            at = datetime.combine(said_on[0].first, time(12), tzinfo=UTC)
            labels = ", ".join(phrase.label for phrase in find_phrases(self.text, at=at))
        return [*own, *days_named(self.text), *days_named(f"({labels})")]


@dataclass(frozen=True, slots=True)
class Citation:
    """A row that supports a sentence, and the words quoted from it."""

    id: str
    kind: str
    quote: str


@dataclass(slots=True)
class Lines:
    """Served texts as one, with a number before each quoting line; a repeated line is left out."""

    text: str = ""
    by_number: dict[int, Line] = field(default_factory=dict)

    def add(self, parts: Iterable[Part]) -> bool:
        """Add a served text; return whether it has a line that is not there yet."""
        shown, heading, count = [self.text] * bool(self.text), "", len(self.by_number)
        seen = {(line.id, line.text) for line in self.by_number.values()}
        for line in split_lines(parts):
            text = put_on_one_line(join(line)).strip()
            quotes = (part for part in line if isinstance(part, Quote) and part.kind in SOURCES)
            quote = next(quotes, None)
            if quote is None:
                heading = text or heading
                shown += [text] if text else []
            elif (quote.id, text) not in seen:
                number = len(self.by_number) + 1
                self.by_number[number] = Line(SOURCES[quote.kind], quote.id, text, heading)
                shown.append(f"[{number}] {text}")
        self.text = "\n".join(shown)
        return len(self.by_number) > count


def check_sentence(
    text: str,
    cites: Sequence[CitationReply],
    lines: Mapping[int, Line],
    *,
    names: Collection[str],
    links: str,
) -> tuple[list[Citation], Reason | None]:
    """Return the valid citations of a sentence, and why it is left out (None: it is kept).

    The sentence is cleaned like the lines, with these `links`. `names` are those in the question
    and in the served text.
    """
    faults = [_find_fault(cite, lines) for cite in cites]
    standing = [cite for cite, fault in zip(cites, faults, strict=True) if fault is None]
    if not standing:
        return [], next(iter(faults), None) or Reason.NO_CITATION
    cited = [lines[cite.line] for cite in standing]
    citations = [
        Citation(line.id, line.kind, clean_alone(cite.quote, links).strip())
        for cite, line in zip(standing, cited, strict=True)
    ]
    return citations, None if is_carried(text, cited, names) else Reason.NOT_CARRIED


def _find_fault(cite: CitationReply, lines: Mapping[int, Line]) -> Reason | None:
    """Return what is wrong with a citation, ignoring case, spacing and punctuation.

    A quotation may leave out words, with an ellipsis. One without content words could be in any
    line.
    """
    if cite.line not in lines:
        return Reason.NOT_SERVED
    text = fold(lines[cite.line].text)
    has_all = all(fold(part) in text for part in LEFT_OUT.split(cite.quote))
    return None if has_all and content_stems(cite.quote) else Reason.NOT_QUOTED


def fold(text: str) -> str:
    """Return the words of a text in the form in which they are compared."""
    words = WORD.findall(text.replace("’", "'").casefold())
    return " ".join(word.removesuffix("'s") for word in words)


def is_carried(text: str, cited: Sequence[Line], names: Collection[str]) -> bool:
    """Return whether a sentence's dates, numbers, names and addresses are in what it cites.

    So are some other words, if both are in one language. A date may also be the line's day, or
    the meaning of a phrase like "yesterday". Names are words with a capital letter; the first word
    counts only if it is in `names`. In German, names are not checked. This does not prove that the
    sentence says the same about them.
    """
    days = [span for line in cited for span in line.list_days()]
    rest = text
    for date in reversed(find_dates(text)):
        near = [day for day in days if date.span.days_off(day) == 0]
        if not any(day.days <= date.span.days for day in near):
            return False
        rest = f"{rest[: date.start]} {rest[date.end :]}"
    shown = " ".join(line.text for line in cited)
    numbers = {number.replace(",", "") for number in NUMBER.findall(write_numbers(rest.lower()))}
    has_addresses = all(fold(address) in fold(shown) for address in ADDRESS.findall(rest))
    if not has_addresses or not numbers <= read_numbers(shown):
        return False
    language = _read_language(text)
    if language == _read_language(shown) and not _shares_words(text, cited):
        return False
    if WRITES_NOUNS_LARGE in language:
        return True
    first, *_ = [*WORD.findall(text.lower()), ""]
    roles = {name for name in read_roles(rest) if name != first or name in names}
    return all(f" {fold(name)} " in f" {fold(shown)} " for name in roles)


def _read_language(text: str) -> tuple[bool, bool, str]:
    """Return the language or script of a text, as far as a sentence shows it."""
    language = find_language(text)
    code = language.code if language else ""
    return is_english(text), CJK.search(text) is not None, code


def _shares_words(text: str, cited: Sequence[Line]) -> bool:
    words = set(content_stems(text))
    shown = set(content_stems(" ".join(f"{line.heading} {line.text}" for line in cited)))
    return len(words & shown) >= WORDS_SHARE * len(words)


def read_names(question: str, lines: Iterable[Line]) -> frozenset[str]:
    """Return the names in a question and in the served text."""
    return frozenset(read_roles(" ".join([question, *(line.text for line in lines)])))
