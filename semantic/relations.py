"""Compares what a new sentence claims with what is held: replaces it, ends it, or neither."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from semantic.chinese import read_chinese_claims
from semantic.claims import Claim, Slot, count_shared, same_value, stems
from semantic.english_claims import read_english_claims
from semantic.sentences import HAN

ANCHOR = re.compile(r"\s*[((][^()()]*\d{4}[^()()]*[))]")
# Words for a plan itself, which its end may name differently ("the trip is off").
PLAN_WORDS = stems(
    "trip visit travel flight journey plan plans tickets booking holiday vacation going go"
)
PLANNED = re.compile(
    r"\b(?:going to|plans?|planning|will|wants?|hopes?|hoping|booked|thinking|signed up|"
    r"registered)\b|打算|计划|准备|要去"
)
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
# What is over leaves these facts alone: they tell of the past, or of the end itself.
PAST = re.compile(
    r"\bused to\b|\bno longer\b|\bany ?more\b|\b(?:stopped|quit|gave up|cancelled|canceled|sold)\b|"
    r"\b(?:in|since) (?:19|20)\d\d\b|\byears? ago\b|\bwas\b|\bwere\b|\b(?:went|won|played|attended|"
    r"visited|saw|met|performed|finished|competed|lived|worked|watched|ran|took|had)\b|"
    r"以前|曾经|小时候|不再|取消|放弃|卖掉|卖了|戒|年前|过[了的]?"
)
SHARE_OF_ENDED = 0.6
LEAST_BEYOND = 1
CLAUSE = re.compile(r"[.;,:，。；]\s*|\b(?:but|and now|because|since)\b")
JOB_WORDS = stems("work works working job position employed employee")


class Relation(StrEnum):
    """What a new sentence does to one held fact."""

    NONE = "none"
    REPEATS = "repeats"
    REPLACES = "replaces"
    ENDS = "ends"


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact as it is compared: its text without date anchors, its claims, its stems."""

    text: str
    claims: tuple[Claim, ...]
    words: frozenset[str]


def read_fact(fact: str) -> Reading:
    """Return what `fact` claims; its language decides which rules read it."""
    text = ANCHOR.sub("", fact)
    claims = read_chinese_claims(text) if HAN.search(text) else read_english_claims(text)
    return Reading(text=text, claims=claims, words=stems(text))


def compare_claims(new: Reading, held: Reading) -> Relation:
    """Return what `new` does to `held`; one replaced slot outweighs all repeats."""
    relation = Relation.NONE
    for claim in new.claims:
        found = _relation_of_claim(claim, new, held)
        if found is Relation.REPLACES:
            return found
        if found is Relation.ENDS or relation is Relation.NONE:
            relation = found
    instead = any(claim.key == "instead" for claim in new.claims)
    if relation is Relation.ENDS and (instead or _gives_new_value(new) or _tells_more(new, held)):
        return Relation.REPLACES
    return relation


def _relation_of_claim(claim: Claim, new: Reading, held: Reading) -> Relation:
    if claim.slot is Slot.ENDING:
        return Relation.ENDS if _is_ended(claim, held) else Relation.NONE
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
    if (
        claim.subject != other.subject
        and claim.subject
        and other.subject
        and claim.subject != "the"
    ):
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
        if lasting or (claim.slot is Slot.EVENT and claim.changed)
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


def _gives_new_value(new: Reading) -> bool:
    """Whether a sentence that ends something also says what holds instead."""
    return any(claim.holds and claim.slot in LASTING | {Slot.STANCE} for claim in new.claims)


def _tells_more(new: Reading, held: Reading) -> bool:
    """Whether a clause beyond the one that ends something is worth keeping."""
    denied = frozenset(stem for claim in new.claims if not claim.holds for stem in claim.value)
    subjects = stems(" ".join(claim.subject for claim in new.claims))
    clauses = [c for c in CLAUSE.split(new.text) if not stems(c) & denied and not PAST.search(c)]
    beyond = frozenset(stem for clause in clauses for stem in stems(clause))
    return len(beyond - subjects - held.words - JOB_WORDS) >= LEAST_BEYOND


def _is_ended(claim: Claim, held: Reading) -> bool:
    """Whether most of what is over is what a held fact, not itself past, tells of."""
    if not claim.value or not _about(claim.subject, held):
        return False
    planned = PLANNED.search(held.text) is not None
    if (claim.key == "instead" and not planned) or (PAST.search(held.text) and not planned):
        return False
    essential = (claim.value - PLAN_WORDS) or claim.value
    return count_shared(essential, held.words) >= SHARE_OF_ENDED * len(essential)


def _same_topic(claim: Claim, other: Claim) -> bool:
    """Whether two rules settle one question in different ways."""
    return any(claim.value & topic and other.value & topic for topic in RULE_TOPICS)


def _is_job_ended(claim: Claim, held: Reading) -> bool:
    jobs = [c for c in held.claims if c.slot in {Slot.JOB, Slot.EMPLOYER} and c.holds]
    mine = [c for c in jobs if c.subject == claim.subject]
    return any(not claim.value or same_value(claim.value, c.value) for c in mine)


def _about(subject: str, held: Reading) -> bool:
    """Whether a held fact is about `subject`: named first, or claimed about."""
    if any(claim.subject == subject for claim in held.claims):
        return True
    if subject in {"", "the"} or held.text.lower().startswith("the "):
        return True
    start = held.text.lower().removeprefix("the ")
    return start.startswith(subject) and not start.startswith((f"{subject}'s ", f"{subject}的"))
