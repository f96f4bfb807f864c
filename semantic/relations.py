"""Compares what a new sentence claims with what is held: replaces it, ends it, or neither."""

from __future__ import annotations

import re
from enum import StrEnum

from semantic.claims import Claim, Slot, concepts, same_value, stems
from semantic.closing import PAST, is_ended
from semantic.contrasts import are_opposed
from semantic.kin import same_person
from semantic.readings import Reading, is_about
from semantic.replacing import gives_new_value, puts_right

# Rules on one topic exclude each other: an answer is in one language, of one length.
RULE_VERBS = stems("use reply answer respond write give include add make always speak talk")
RULE_TOPICS = tuple(
    stems(words)
    for words in (
        "English French German Spanish Italian Portuguese Dutch Chinese Japanese Korean Russian",
        "short shorter brief concise briefly long longer detailed detail",
        "formal informal casual formally informally casually",
        "metric imperial celsius fahrenheit",
        "call",
        "中文 英文 英语 日语 法语 德语",
        "简短 简洁 详细",
        "称呼",
    )
)
LASTING = frozenset(
    {
        Slot.HOME,
        Slot.EMPLOYER,
        Slot.JOB,
        Slot.STATUS,
        Slot.ATTRIBUTE,
        Slot.AGE,
        Slot.COUNT,
        Slot.DIET,
    }
)
CHANGED = re.compile(r"\b(?:now|again|finally|these days|after all|back to)\b|现在|又|终于", re.I)
LEAST_BEYOND = 1
CLAUSE = re.compile(r"[.;,:，。；]\s*|\b(?:but|and now|because|since)\b")
JOB_WORDS = stems("work works working job position employed employee")


class Relation(StrEnum):
    """What a new sentence does to one held fact."""

    NONE = "none"
    REPEATS = "repeats"
    REPLACES = "replaces"
    ENDS = "ends"


STRENGTH = (Relation.NONE, Relation.REPEATS, Relation.ENDS, Relation.REPLACES)


def compare_facts(new: Reading, held: Reading) -> tuple[Relation, ...]:
    """Return what `new` does to each sentence of `held`."""
    return tuple(
        max((compare_claims(one, part) for one in new.parts or (new,)), key=STRENGTH.index)
        for part in held.parts or (held,)
    )


def compare_claims(new: Reading, held: Reading) -> Relation:
    """Return what `new` does to `held`; one replaced slot outweighs all repeats."""
    relation = Relation.NONE
    for claim in new.claims:
        found = _relation_of_claim(claim, new, held)
        if found is Relation.REPLACES:
            return found
        if found is Relation.ENDS or relation is Relation.NONE:
            relation = found
    if relation is Relation.ENDS and (_is_news(new) or _tells_more(new, held)):
        return Relation.REPLACES
    if relation is not Relation.ENDS and _denies_denial(new, held):
        return Relation.REPLACES
    if relation is not Relation.ENDS and (
        are_opposed(new, held) or gives_new_value(new, held) or puts_right(new, held)
    ):
        return Relation.REPLACES
    return relation


def _denies_denial(new: Reading, held: Reading) -> bool:
    """Whether `new` says what `held` denies: "works now" where somebody did not work."""
    if not new.claims and not CHANGED.search(new.text):
        return False
    if any(claim.slot is Slot.ENDING for claim in new.claims):
        return False
    return CHANGED.search(new.text) is not None and any(
        claim.key == "denied"
        and claim.value
        and concepts(claim.value) <= concepts(new.words)
        and is_about(held, new.subject, speaker=new.speaker)
        for claim in held.claims
    )


def _relation_of_claim(claim: Claim, new: Reading, held: Reading) -> Relation:
    if claim.slot is Slot.ENDING:
        return Relation.ENDS if is_ended(claim, new=new, held=held) else Relation.NONE
    for other in held.claims:
        if not _same_slot(claim, other):
            continue
        found = _relation_in_slot(claim, other)
        if found is not Relation.NONE:
            return found
    if claim.slot is Slot.JOB and not claim.holds:
        return Relation.ENDS if _is_job_ended(claim, held) else Relation.NONE
    return Relation.NONE


def _same_slot(claim: Claim, other: Claim) -> bool:
    if claim.slot is not other.slot or other.slot is Slot.ENDING:
        return False
    both_known = not {claim.subject, other.subject} & {"", "the"}
    if both_known and not same_person(claim.subject, other.subject):
        return False
    if claim.slot is Slot.EVENT:
        return _same_event(claim.key, other.key)
    return claim.key == other.key


def _same_event(a: str, b: str) -> bool:
    """Whether "dentist appointment" and "appointment" may be one event."""
    one, two = stems(a) or frozenset({a}), stems(b) or frozenset({b})
    return one <= two or two <= one


def _relation_in_slot(claim: Claim, other: Claim) -> Relation:
    """Compare two claims about one slot of one person."""
    same = same_value(claim.value, other.value)
    if claim.slot is Slot.STANCE:
        return _relation_of_stances(claim, other, same=same)
    if claim.slot is Slot.RULE:
        same = same_value(claim.value - RULE_VERBS, other.value - RULE_VERBS) or same
        opposed = claim.holds != other.holds and same
        if opposed or (claim.holds and other.holds and not same and _same_topic(claim, other)):
            return Relation.REPLACES
        return Relation.REPEATS if same and claim.holds == other.holds else Relation.NONE
    if not claim.holds:
        ends = other.holds and (same or not claim.value)
        return Relation.ENDS if ends else Relation.NONE
    if not other.holds:
        return Relation.REPLACES if same or not other.value else Relation.NONE
    if same:
        return Relation.REPEATS
    lasting = claim.slot in LASTING
    return (
        Relation.REPLACES
        if lasting or (claim.slot in {Slot.EVENT, Slot.STUDY} and claim.changed)
        else Relation.NONE
    )


def _relation_of_stances(claim: Claim, other: Claim, *, same: bool) -> Relation:
    """Stances towards one object: agreeing ones repeat, opposed ones replace."""
    if not same or (
        claim.holds and len(claim.value) > len(other.value) and claim.holds == other.holds
    ):
        return Relation.NONE
    if claim.holds == other.holds:
        return Relation.REPEATS if claim.value == other.value else Relation.NONE
    if not claim.holds and claim.changed:
        return Relation.ENDS
    return Relation.REPLACES


def _is_news(new: Reading) -> bool:
    """Whether a sentence that ends something is worth a fact: an event, or what holds instead."""
    return any(
        claim.key in {"instead", "gone", "left", "decided"}
        or (claim.holds and claim.slot in LASTING | {Slot.STANCE})
        for claim in new.claims
    )


def _tells_more(new: Reading, held: Reading) -> bool:
    """Whether a clause beyond the one that ends something is worth keeping."""
    denied = frozenset(stem for claim in new.claims if not claim.holds for stem in claim.value)
    subjects = stems(" ".join(claim.subject for claim in new.claims))
    clauses = [c for c in CLAUSE.split(new.text) if not stems(c) & denied and not PAST.search(c)]
    beyond = frozenset(stem for clause in clauses for stem in stems(clause))
    return len(beyond - subjects - held.words - JOB_WORDS) >= LEAST_BEYOND


def _same_topic(claim: Claim, other: Claim) -> bool:
    """Whether two rules settle one question in different ways."""
    return any(claim.value & topic and other.value & topic for topic in RULE_TOPICS)


def _is_job_ended(claim: Claim, held: Reading) -> bool:
    jobs = [c for c in held.claims if c.slot in {Slot.JOB, Slot.EMPLOYER} and c.holds]
    mine = [c for c in jobs if c.subject == claim.subject]
    return any(not claim.value or same_value(claim.value, c.value) for c in mine)
