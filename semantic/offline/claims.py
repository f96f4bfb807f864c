"""Reads what a fact claims: typed slots of a person, and nothing else.

A claim says that a person's slot has a value: Sam's home is Porto, Mila's age is 6, the rent is
1,150 euros, Sam likes coffee. The patterns of each slot are in the lexicon.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from memoryproject.text.sentences import HAN, Writing
from memoryproject.text.words import content_stems
from semantic import details
from semantic.offline.lexicon import Lexicon, get_lexicon
from semantic.offline.values import MONTHS, WEEKDAY
from semantic.patterns import read_pattern

SPEAKER = "@"
"""Stands for the speaker in a sentence that is written plainly."""
# A thing's slots need no person; whose event it is seldom stands beside it.
OF_THINGS = frozenset({"number", "plan", "role", "venue"})
LASTING = frozenset({"home", "employer", "title", "job", "status", "diet", "study"})
"""Where a week's stay, or a past one, is no value."""
WORK = frozenset({"employer", "title", "job"})
SAME_ROLES = {"gp": "doctor", "boss": "manager", "supervisor": "manager", "领导": "老板"}
REMEMBERED_CLAUSES = 2_000
JOINT = read_pattern("claims.joint")
HAN_JOINT = re.compile(r"[，。；！,;!]\s*(?:但是?|不过|而且|然后|所以|并且|而)?")
SUBJECT = re.compile(r"^(?:@|we\b|the\b|our\b|he\b|she\b|it\b|they\b|[\w-]+'s\b)")
NO_PLACE = re.compile(rf"^with\b|^(?:bed|it)$|\d|{WEEKDAY}|\b(?:{MONTHS})\b")
GENDER = re.compile(r"(?:innen|in|[aeo])$")
"""One word for "jefe" and "jefa", "Trainer" and "Trainerin"."""
OLDEST = 120
"""Years. A larger number is no age."""
DETERMINER = read_pattern("claims.determiner")


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim. `key` and `value` are stems; `ends` says that the value is over.

    `changes` says that the words speak of a change; `person` is lower-cased, "" for a thing.
    """

    slot: str
    person: str
    key: frozenset[str]
    value: frozenset[str]
    ends: bool = False
    changes: bool = False
    clause: int = 0
    """Which clause of its sentence makes it."""


def split_clauses(plain: str, writing: Writing) -> list[str]:
    """Return the clauses of a sentence that is written plainly."""
    joint = HAN_JOINT if writing is Writing.CHINESE else JOINT
    return [clause.strip() for clause in joint.split(plain)]


def read_claims(plain: str, text: str, person: str, lexicon: Lexicon) -> Iterator[Claim]:
    """Yield the claims of each clause; one without a subject has that of the clause before."""
    changes = lexicon.has("claims.change", plain)
    plain = lexicon.pattern("claims.leading").sub("", plain)
    subject = SPEAKER
    for index, clause in enumerate(split_clauses(plain, lexicon.writing)):
        clause = lexicon.pattern("claims.leading").sub("", clause)
        claims = list(_read_clause(clause, text, person, lexicon))
        if not claims and not SUBJECT.match(clause):
            space = "" if lexicon.writing is Writing.CHINESE else " "
            claims = list(_read_clause(f"{subject}{space}{clause}", text, person, lexicon))
        if SUBJECT.match(clause):
            subject = clause.split(" ")[0]
        for claim in claims:
            yield replace(claim, changes=claim.changes or changes, clause=index)


@dataclass(frozen=True, slots=True)
class Form:
    """One pattern of a slot, compiled."""

    slot: str
    pattern: re.Pattern[str]
    value: str = ""
    ends: bool = False
    changes: bool = False
    past: bool = False
    """Whether it speaks of what was, which other patterns pass over."""


@cache
def _forms(writing: Writing) -> tuple[Form, ...]:
    lexicon = get_lexicon(writing)
    adverbs = lexicon.get("claims.adverbs") or ""
    space = "" if writing is Writing.CHINESE else " "
    placeholders = lexicon.get("claims.placeholders") or {}
    values: dict[str, str] = {f"<{name}>": text for name, text in placeholders.items()}
    values["<A>"] = rf"(?:{space}(?:{adverbs}))*"
    values["<J>"] = "(?:" + "|".join((lexicon.get("jobs") or "").split()) + ")"
    values["<R>"] = "(?:" + "|".join((lexicon.get("roles") or "").split()) + ")"
    values |= {"STOP": lexicon.get("claims.stop") or "", "MONTHS": MONTHS, "WEEKDAY": WEEKDAY}
    forms: list[Form] = []
    for row in lexicon.get("claims.patterns") or ():
        options = {name: value for name, value in row.items() if name != "forms"}
        for text in row["forms"]:
            for name, pattern in values.items():
                text = text.replace(name, pattern)
            forms.append(Form(pattern=re.compile(f"^{text}"), **options))
    return tuple(forms)


@lru_cache(REMEMBERED_CLAUSES)
def _match_forms(clause: str, writing: Writing) -> list[tuple[Form, dict[str, str | None]]]:
    """Return the forms that a clause has, each with its groups; a fact is read more than once."""
    matches = ((form, form.pattern.match(clause)) for form in _forms(writing))
    return [(form, match.groupdict()) for form, match in matches if match]


def _read_clause(clause: str, text: str, person: str, lexicon: Lexicon) -> Iterator[Claim]:
    """Yield one claim a slot."""
    is_temporary = lexicon.has("claims.temporary", clause)
    seen: set[str] = set()
    for form, groups in _match_forms(clause, lexicon.writing):
        if form.slot in seen or (is_temporary and form.slot in LASTING and not form.past):
            continue
        claim = _make_claim(form, groups, clause, text, person, lexicon)
        if claim is not None:
            seen.add(form.slot)
            yield claim


def _make_claim(
    form: Form, groups: dict[str, str | None], clause: str, text: str, person: str, lexicon: Lexicon
) -> Claim | None:
    owner = find_owner(groups.get("s"), person, lexicon)
    value = (form.value or groups.get("v") or groups.get("n") or groups.get("d") or "").rstrip("了")
    key = DETERMINER.sub("", DETERMINER.sub("", groups.get("k") or ""))
    key = SAME_ROLES.get(key, key)
    if lexicon.writing is Writing.OTHER:
        key = GENDER.sub("", key.replace("ä", "a"))
    if owner is None and "s" not in groups:
        owner = "" if form.slot in OF_THINGS else person
    if owner is None and form.slot in {"plan", "venue"}:
        owner = ""
    if owner is None or not _fits(form.slot, key, value, text):
        return None
    if form.slot in WORK and lexicon.has("claims.besides", clause):
        return None
    keys = frozenset(content_stems(key.replace("@", "")))
    if form.slot == "role" and not keys:
        keys = frozenset(content_stems("doctor" if value.startswith("dr") else "manager"))
    if groups.get("k") and not keys:
        return None
    stems = {form.value} if form.value else _read_value(form.slot, value)
    if not stems and not form.ends:
        return None
    return Claim(form.slot, owner, keys, frozenset(stems), form.ends, form.changes)


def find_owner(subject: str | None, person: str, lexicon: Lexicon) -> str | None:
    """Return whose slot it is; None where the subject is no person that can be told apart."""
    if subject is None:
        return None
    if lexicon.writing is Writing.CHINESE:
        bare = re.sub(r"(?:们|全家|一家|和.*|跟.*)$", "", subject.replace("的", ""))
        if bare in {"", SPEAKER}:
            return person
        kin_words = "|".join(lexicon.get(key) for key in ("he", "she", "kin", "roles"))
        match = re.fullmatch(rf"{SPEAKER}?(?P<kin>{kin_words})(?P<name>.{{0,3}})", bare)
        return f"{person}的{match['kin']}" if match else None
    bare = subject.strip(" '[]")
    if bare in {SPEAKER, "we"} or re.search(rf"(?:^{SPEAKER} and\b|\band {SPEAKER}$)", bare):
        return person
    kin = {word for key in ("he", "she", "kin", "roles") for word in lexicon.words(key)}
    owned = re.fullmatch(
        rf"(?:{SPEAKER}'s|our) (?:[\w-]+ ){{0,2}}?(?P<kin>[\w-]+)(?:,? (?P<name>\w+))?", bare
    )
    if owned:
        if owned["kin"] in kin:
            return owned["name"] or f"{person}'s {owned['kin']}"
        return None
    is_name = re.fullmatch(r"[\w-]+(?: [\w-]+)?", bare) is not None
    return bare if is_name and bare not in {"it", "they", "the"} else None


def _fits(slot: str, key: str, value: str, text: str) -> bool:
    """Whether a value is of the kind that the slot takes."""
    if slot == "age":
        numbers = [int(number) for number in _read_value(slot, value) if number.isdigit()]
        return len(numbers) == 1 and 0 < numbers[0] < OLDEST
    if slot == "home":
        return NO_PLACE.search(value) is None
    if slot == "role" and not HAN.search(value):
        first = value.split()[-1]
        return re.search(rf"\b{re.escape(first)}\b", text, re.IGNORECASE) is not None and any(
            re.search(rf"\b{re.escape(word.capitalize())}\b", text) for word in value.split()
        )
    if slot == "number":
        return not re.search(r"\d(?:am|pm|:\d)", value)
    return not key.startswith(("lot", "few", "good", "great", "nice"))


def _read_value(slot: str, value: str) -> set[str]:
    if slot == "age":
        return set(details.read_numbers(f"{value}岁" if HAN.search(value) else value))
    if slot == "number":
        return {value.replace(",", "").replace(" ", "")}
    if slot == "plan":
        return set(
            re.findall(r"\d+|[^\W\d_]{3,}|周[一二三四五六日天]|[一二三四五六七八九十]+点", value)
        )
    return set(content_stems(value))
