"""Judges what a new statement makes of an active fact: repeated, ended, partly so, or in doubt."""

from collections.abc import Sequence
from dataclasses import dataclass

from semantic.engines import Category
from semantic.offline.comparisons import Relation, compare, ends_activity, moves_value, opposes_rule
from semantic.offline.readings import Reading
from semantic.offline.values import Kind

TIMES = frozenset({Kind.WEEKDAY, Kind.TIME, Kind.DATE, Kind.ORDINAL})


@dataclass(slots=True)
class ActiveFact:
    """A fact that is active at this point of the run: a known one, or one proposed."""

    alias: str
    category: Category
    fact: str
    reading: Reading
    keywords: tuple[str, ...]


def repeats(fact: str, reading: Reading, item: ActiveFact) -> bool:
    """Whether an active fact says all that a statement says."""
    if item.fact == fact:
        return True
    if not reading.claims or not reading.stems <= item.reading.stems:
        return False
    return all(
        any(compare(new, old) is Relation.SAME for old in item.reading.claims)
        for new in reading.claims
    )


def may_move(new: Reading, old: Reading, context: frozenset[str]) -> bool:
    """Whether a sentence of change may give another value for what a fact says."""
    return moves_value(new, old, context=context) is Relation.CONFLICTS


def is_ended(new: Reading, old: Reading, context: frozenset[str]) -> bool:
    """Whether a statement says that a fact is over, or what takes its place."""
    pairs = ((a, b) for a in new.claims for b in old.claims)
    return (
        any(compare(a, b) is Relation.REPLACES for a, b in pairs)
        or ends_activity(new, old)
        or opposes_rule(new, old)
        or moves_value(new, old, context=context) is Relation.REPLACES
    )


def says_more(new: Reading, item: ActiveFact) -> bool:
    """Whether an ended fact claims something else, too, that may still be true."""
    ended = {
        old.clause
        for old in item.reading.claims
        if any(compare(claim, old) is Relation.REPLACES for claim in new.claims)
    }
    others = bool(ended) and any(old.clause not in ended for old in item.reading.claims)
    return others or item.reading.own_clauses > 1


def find_doubt(new: Reading, old: Reading, context: frozenset[str]) -> str:
    """Return why an older fact may be over: a code for the curator, "" where nothing says so."""
    pairs = ((a, b) for a in new.claims for b in old.claims)
    if any(compare(a, b) is Relation.CONFLICTS for a, b in pairs):
        return "same_slot"
    if may_move(new, old, context):
        return "other_value"
    if new.person != old.person or old.is_past or old.ending:
        return ""
    about = old.about or new.person
    over = (
        claim.key
        for claim in new.claims
        if claim.person == about and (claim.ends or claim.value & {"stopped", "gone"})
    )
    return "ending_words" if any(key & old.stems for key in over) else ""


def find_other_time(new: Reading, active: Sequence[ActiveFact]) -> ActiveFact | None:
    """Return the newest active fact with a day or time that a sentence of moving may be about."""
    times = TIMES & new.values.keys() if new.surely_changes else set()
    for item in reversed(active):
        old = item.reading
        is_over = old.is_past or old.ending
        if old.person == new.person and times & old.values.keys() and not is_over:
            return item
    return None
