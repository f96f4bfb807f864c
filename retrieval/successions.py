"""Finds facts about one subject, to print the newer first and mark the older as "earlier".

Of one speaker's best facts the newer is printed first, whatever they say: no measure tells a former
value from one that still holds well enough to lower a fact's rank. Both have a date.

Two sentences of one speaker that differ only in how they end ("My locker code is 4482.", "My locker
code is 5190.") give two values of one thing. This works in any language, but misses other wordings.
An open suggestion of a contradiction puts the newer fact right before the older one, whatever the
words; but one in four is wrong, so it does not mark a fact as earlier.
"""

from collections.abc import Sequence
from datetime import datetime
from itertools import takewhile
from typing import NamedTuple

from memoryproject.text.words import WORD, content_stems
from retrieval.hits import FactHit, Place
from semantic.offline.quotations import parse_quote

COMPARED = 8
"""Number of best facts that are compared: those below are less about the question."""
LEAST_SHARED = 2
"""Content words before the value: "I love pizza." and "I love pasta." share too few."""
VALUE_AT_MOST = 4
"""Largest number of words of a value."""


class Succession(NamedTuple):
    """Facts, best first, each older one right after its newest."""

    facts: list[FactHit]
    earlier: set[str]
    """Ids of the facts that state a former value."""


def find_succession(facts: Sequence[FactHit]) -> Succession:
    """Return facts, best first, each followed by its older ones."""
    compared = facts[:COMPARED]
    heirs: dict[str, FactHit] = {}
    earlier: set[str] = set()
    for old in compared:
        later = [hit for hit in compared if moment_of(hit) > moment_of(old)]
        values = [hit for hit in later if _differ_in_value(hit.fact, old.fact)]
        newer = values + [hit for hit in later if hit.found.memory_id in old.found.newer]
        if newer:
            heirs[old.id] = max(newer, key=moment_of)
        if values:
            earlier.add(old.id)
    ordered: dict[str, FactHit] = {}
    for hit in facts:
        first = heirs.get(hit.id, hit)
        older = [old for old in compared if old.id in heirs and heirs[old.id].id == first.id]
        older.sort(key=moment_of, reverse=True)
        ordered |= {one.id: one for one in (first, *older, hit) if one.id not in ordered}
    return Succession(list(ordered.values()), earlier)


def put_newest_first(facts: Sequence[FactHit]) -> list[FactHit]:
    """Return facts, best first, each speaker's places filled newest first.

    Facts of a message stay together in its order: ids grow with time.
    """
    best: dict[Place, int] = {}
    for place, hit in enumerate(facts):
        for row in hit.messages:
            best.setdefault(row.place, place)

    def rank(hit: FactHit) -> int:
        return min((best[row.place] for row in hit.messages), default=facts.index(hit))

    said = sorted(facts, key=lambda hit: (-hit.true_since.toordinal(), rank(hit), hit.id))
    names = [_speaker(hit) for hit in facts]
    of_speaker = {name: iter([hit for hit in said if _speaker(hit) == name]) for name in names}
    return [next(of_speaker[name]) for name in names]


def _speaker(hit: FactHit) -> str:
    return (parse_quote(hit.fact) or ("",))[0]


def moment_of(hit: FactHit) -> tuple[datetime, int]:
    """Return since when a fact is true, and the last seq that states it: the later, the newer."""
    return hit.valid_at, max((row.seq for row in hit.messages), default=0)


def _differ_in_value(one: str, other: str) -> bool:
    quotations = parse_quote(one), parse_quote(other)
    if quotations[0] is None or quotations[1] is None or quotations[0][0] != quotations[1][0]:
        return False
    words = [WORD.findall(quotation[1].casefold()) for quotation in quotations if quotation]
    same = len([*takewhile(lambda pair: pair[0] == pair[1], zip(*words, strict=False))])
    values = [several[same:] for several in words]
    if not all(0 < len(value) <= VALUE_AT_MOST for value in values):
        return False
    return len(content_stems(" ".join(words[0][:same]))) >= LEAST_SHARED
