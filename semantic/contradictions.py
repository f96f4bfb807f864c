"""Decides whether a text still says what a retired fact said, against what is right."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from indexing.text import UNSPACED
from memoryproject.text.sentences import split_sentences
from semantic.details import NUMBER_WORDS, count_negations, read_roles, write_numbers
from semantic.echoes import ANYBODY, WORD, read_statement

READ_AT_MOST = 8_000
"""Number of characters of a text that are read."""
MOST = 0.75
"""Share of a fact's words that must be repeated; if replaced, half of what only it says."""
REACH = 3
"""Number of words after a number among which the noun it counts is looked for."""
LEAST_PREFIX = 3


@dataclass(frozen=True, slots=True)
class Claim:
    """The sentence of a retired fact, and the one that replaced it; empty: nothing did."""

    old: str
    new: str = ""

    @property
    def value(self) -> frozenset[str]:
        """What only the old sentence says: stems, numbers and dates.

        Without a new sentence: everything but the subject, who may say "I" instead of a name.
        """
        known = _words(self.new) if self.new else _subject_names(self.old)
        return _words(self.old) - known

    @property
    def fresh(self) -> frozenset[str]:
        """What only the new sentence says."""
        return _words(self.new) - _words(self.old)

    @property
    def is_empty(self) -> bool:
        """Whether the new sentence retracts nothing: it only adds to the old one or rewords it."""
        is_denied = bool(self.new) and _differ_in_negation(self.old, self.new)
        return not self.value and not is_denied

    def is_said_in(self, text: str, *, is_source: bool = False) -> bool:
        """Return whether a sentence of `text` makes the claim; `is_source`: the fact came from it.

        A source need not name the subject again: "Three of them" answers a question.
        """
        return any(self._is_said_by(sentence, is_source) for sentence in _sentences(text))

    def is_taken_back_in(self, text: str) -> bool:
        """Return whether a text states the new sentence: then it is no source of the old."""
        return bool(self.fresh) and any(self.fresh <= _words(part) for part in _sentences(text))

    def _is_said_by(self, sentence: str, is_source: bool) -> bool:
        words = _words(sentence)
        if self.fresh and self.fresh <= words:
            return False
        if not self.value or not self.new:
            wanted = self.value or _words(self.old) - _subject_names(self.old)
            least = len(wanted) * (0.5 if is_source else MOST)
            return len(wanted & words) >= max(1, least) and not _differ_in_negation(
                self.old, sentence
            )
        if 2 * len(self.value & words) < len(self.value):
            return False
        if is_source:
            return True
        shared = (_words(self.old) & _words(self.new)) - _subject_names(self.old)
        topics = {word for word in shared if not word.isdecimal()}
        return (not topics or bool(topics & words)) and self._counts_the_same(sentence)

    def _counts_the_same(self, sentence: str) -> bool:
        """Return whether a number in the text counts the same noun as in the old sentence."""
        numbers = {word for word in self.value if word.isdecimal()}
        pairs = {pair for pair in _counted(self.old) if pair[0] in numbers}
        return not pairs or bool(pairs & set(_counted(sentence)))

    @property
    def pattern(self) -> str:
        """A PostgreSQL pattern, to be matched without case, of texts that may say it."""
        words = self.value or _words(self.old) - _subject_names(self.old)
        return "|".join(sorted({form for word in words for form in _forms(word, self.old)}))


def _sentences(text: str) -> list[str]:
    return split_sentences(text[:READ_AT_MOST])


def _words(sentence: str) -> frozenset[str]:
    statement = read_statement(ANYBODY.sub("", sentence))
    return frozenset(statement.words) | statement.details


def _subject_names(sentence: str) -> frozenset[str]:
    """Return the stems of the first name: the person the sentence is about."""
    return frozenset(word for name in read_roles(sentence)[:1] for word in _words(name))


def _differ_in_negation(a: str, b: str) -> bool:
    return count_negations(a) % 2 != count_negations(b) % 2


def _counted(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield each number with the stems of the words right after it."""
    if UNSPACED.search(sentence):
        return
    words = WORD.findall(write_numbers(sentence.lower()))
    for place, word in enumerate(words):
        if word.isdecimal():
            for stem in _words(" ".join(words[place + 1 : place + 1 + REACH])):
                yield word, stem


def _forms(word: str, sentence: str) -> Iterator[str]:
    """Yield patterns of the spellings of a stem or number; a stem matches any word it begins."""
    written = [name for name, number in NUMBER_WORDS.items() if number == word]
    if written or word.isdecimal():
        yield rf"\m({'|'.join([re.escape(word), *written])})\M"
    elif UNSPACED.search(word):
        yield re.escape(word)
    else:
        begun = (_common_beginning(raw, word) for raw in WORD.findall(sentence.lower()))
        prefix = max(begun, key=len, default=word)
        yield rf"\m{re.escape(prefix if len(prefix) >= LEAST_PREFIX else word)}"


def _common_beginning(a: str, b: str) -> str:
    pairs = zip(a, b, strict=False)
    return "".join(letter for letter, _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
