"""Decides what a newer fact makes of an older one: nothing, a repetition, its end, or a doubt."""

import re
from enum import Enum

from memoryproject.text.sentences import HAN, Writing
from memoryproject.text.words import STOP_WORDS, content_stems, stem
from semantic.details import count_negations
from semantic.offline.claims import OF_THINGS, WORK, Claim
from semantic.offline.lexicon import get_lexicon
from semantic.offline.readings import Reading
from semantic.offline.values import WEEKDAY, Kind

PRONOUNS = frozenset({"he", "she"})
SHARED_STEMS_AT_LEAST = 2
OTHER_STEMS_AT_MOST = 4
"""In a clause beside the activity that is over; more is another statement."""
# A newer value ends the older one whatever the words around it say.
RULE = "assistant should"
ALWAYS_ONE = frozenset({"age", "number", "role", "favourite", "status", "taste", "has", "diet"})


class Relation(Enum):
    """What a new claim makes of an old one."""

    UNRELATED = 0
    SAME = 1
    REPLACES = 2
    CONFLICTS = 3
    """It may be another value of the slot, or a second one beside it: a person must tell."""


def compare(new: Claim, old: Claim) -> Relation:
    """Return what a newer claim makes of an older one."""
    both_work = new.slot in WORK and old.slot in WORK
    if old.ends or not (new.slot == old.slot or both_work) or not _same_person(new, old):
        return Relation.UNRELATED
    if new.slot == "does" or not _same_key(new, old):
        return Relation.UNRELATED
    if new.slot == "intends":
        return Relation.REPLACES if "dropped" in new.value - old.value else Relation.UNRELATED
    same = _agree(new.value, old.value)
    if new.ends:
        return Relation.REPLACES if same or not new.value else Relation.UNRELATED
    if same and new.slot == old.slot:
        return Relation.SAME
    if both_work and (new.slot not in {"job", old.slot} or (same and new.changes)):
        return Relation.UNRELATED
    if new.slot in ALWAYS_ONE:
        return _compare_single(new, old)
    if new.slot == "plan" and not _kinds_of_time(new) & _kinds_of_time(old):
        return Relation.UNRELATED
    return Relation.REPLACES if new.changes else Relation.CONFLICTS


def _compare_single(new: Claim, old: Claim) -> Relation:
    if new.slot == "age":
        grows = int(next(iter(new.value))) > int(next(iter(old.value)))
        return Relation.REPLACES if grows else Relation.CONFLICTS
    if new.slot == "has":
        return Relation.REPLACES if "gone" in new.value else Relation.UNRELATED
    if new.slot == "number" and not _same_unit(new, old):
        return Relation.UNRELATED
    return Relation.REPLACES


def _kinds_of_time(claim: Claim) -> set[str]:
    """Return what a plan names: days replace days, and times times."""
    return {_kind_of_time(word) for word in claim.value}


def _kind_of_time(word: str) -> str:
    if word.isdigit():
        return "number"
    return "day" if re.fullmatch(rf"{WEEKDAY}|周.", word) else "word"


def _same_unit(new: Claim, old: Claim) -> bool:
    """Whether two numbers may be compared: "euro" and "euros" are one, and none fits any."""
    units = [re.sub(r"[\d.,]+", "", "".join(claim.value)) for claim in (new, old)]
    units = ["" if unit in STOP_WORDS else unit for unit in units]  # "1,180 with heating"
    return units[0].startswith(units[1]) or units[1].startswith(units[0])


def _same_person(new: Claim, old: Claim) -> bool:
    if new.slot in OF_THINGS and "" in {new.person, old.person}:
        return True
    if new.slot == "age" and new.person in PRONOUNS and old.person not in {"", *PRONOUNS}:
        # "She turned 89": whoever was 88.
        return int(next(iter(new.value))) - int(next(iter(old.value))) == 1
    return new.person == old.person and bool(new.person) and new.person not in PRONOUNS


def _same_key(new: Claim, old: Claim) -> bool:
    if new.slot == "number" and not new.key:
        return True
    if new.slot in {"plan", "has", "intends", "venue"}:
        return bool(new.key) and (new.key <= old.key or old.key <= new.key)
    return new.key == old.key


def _agree(a: frozenset[str], b: frozenset[str]) -> bool:
    return bool(a and b) and (a <= b or b <= a)


def may_end(new: Reading) -> bool:
    """Whether a fact can end any other: most only tell what is."""
    return bool(new.claims) or new.changes or new.text.startswith(RULE)


def ends_activity(new: Reading, old: Reading) -> bool:
    """Whether "stopped", "quit" or "no longer" names what an older fact says in the present."""
    if old.is_past or old.ending or old.person != new.person:
        return False
    about = old.about or new.person
    for claim in new.claims:
        is_stopped = claim.slot == "does" and claim.key and claim.person == about
        if is_stopped and any(_is_named(claim.key, clause) for clause in old.clauses):
            return True
        has_quit = claim.slot == "job" and claim.ends and claim.value
        if has_quit and _is_at(old.text, claim.value):
            return True
    return False


def opposes_rule(new: Reading, old: Reading) -> bool:
    """Whether a guideline forbids what an older one asks for, or names another language."""
    lexicon = get_lexicon(Writing.ENGLISH)
    if not (new.text.startswith(RULE) and old.text.startswith(RULE)):
        return False
    light = lexicon.words("guidelines.light")
    stems, old_stems = new.stems - light, old.stems - light
    if stems == old_stems:
        return bool(stems) and count_negations(new.text) != count_negations(old.text)
    languages = frozenset(stem(word) for word in lexicon.words("guidelines.languages"))
    are_alike = stems - languages == old_stems - languages
    return are_alike and bool(stems & languages) and bool(old_stems & languages)


def _is_named(key: frozenset[str], clause: frozenset[str]) -> bool:
    """Whether a clause says little more than an activity; Chinese pairs weigh less."""
    if any(HAN.search(stem) for stem in key):
        inside = all(any(part in pair for pair in clause) for part in key)
        return inside and len(clause) <= 3 * OTHER_STEMS_AT_MOST
    return key <= clause and len(clause) <= len(key) + OTHER_STEMS_AT_MOST


def _is_at(text: str, place: frozenset[str]) -> bool:
    """Whether somebody is said to be at a place: "on the ovens at Pollard's"."""
    places = re.findall(
        r"\b(?:at|for) (?:the )?([\w-]+)|在(?:一[家个所间])?([\u3400-\u9fff]{2,4})", text
    )
    return any(place & set(content_stems(" ".join(words))) for words in places)


def moves_value(new: Reading, old: Reading, *, context: frozenset[str]) -> Relation:
    """Whether a sentence of change gives another day, time or number for what an older one says.

    "They've changed the door code, it's 9026" replaces "the door code is 4471": one value of
    one kind on each side, and at least two more words in common, of which one may stand in
    the `context`, what was said before. With one it may be.
    """
    # What is rebooked was booked once: then a past deed has a value that may change.
    again = {stem.removeprefix("re") for stem in new.stems if stem.startswith("re")} & old.stems
    past = old.is_past and not again
    if not new.changes or past or old.person != new.person or not old.person:
        return Relation.UNRELATED
    for kind in Kind:
        before, now = old.values.get(kind, []), new.values.get(kind, [])
        if kind is Kind.NAME or len(before) != 1 or len(now) != 1 or before == now:
            continue
        if kind is Kind.NUMBER and _counted(new.text, now[0]) & _counted(old.text, before[0]):
            return Relation.REPLACES
        numbers = {stem for value in (*before, *now) for stem in content_stems(value)}
        shared = ((new.stems | again | context) & old.stems) - numbers
        if len(shared) >= SHARED_STEMS_AT_LEAST and not _names_others(new, old):
            return Relation.REPLACES
        if shared:
            return Relation.CONFLICTS
    return Relation.UNRELATED


def _counted(text: str, number: str) -> set[str]:
    """Return the stem of what a number counts: "cat" of "3 cats"."""
    match = re.search(rf"\b{re.escape(number)} (\w+)", text)
    return set(content_stems(match[1])) if match else set()


def _names_others(new: Reading, old: Reading) -> bool:
    """Whether the newer sentence is about people or places that the older one does not name."""
    names = set(new.values.get(Kind.NAME, [])) - {new.person, "doctor", "i"}
    return not names <= set(old.values.get(Kind.NAME, []))
