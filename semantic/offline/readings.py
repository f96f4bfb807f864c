"""Reads a fact as it is compared: its claims, its words, its clauses and values."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from memoryproject.text.sentences import HAN, Writing, detect_writing
from memoryproject.text.words import content_stems
from semantic import details
from semantic.offline.claims import SPEAKER, Claim, find_owner, read_claims, split_clauses
from semantic.offline.lexicon import Lexicon, get_lexicon
from semantic.offline.quotations import parse_quote, quote
from semantic.offline.values import Kind, find_values

EXPANSIONS = tuple(
    (re.compile(pattern), form) for pattern, form in get_lexicon(Writing.ENGLISH).get("expansions")
)
TITLE = re.compile(r"\b(dr|mr|mrs|ms|st|prof)\.")
OWN_SUBJECT = re.compile(rf"{SPEAKER}(?!'s\b)|(?:the|our|{SPEAKER}'s) (?:[\w-]+ ){{0,2}}?\w+s\b")
READINGS_KEPT = 10_000
"""A fact never changes, and each run reads all that are active."""
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact as it is compared: the claims in it and the stems of its words."""

    person: str
    claims: tuple[Claim, ...]
    stems: frozenset[str]
    is_past: bool
    ending: bool
    """Whether its words say that something is over."""
    changes: bool
    """Whether its words say that something has changed."""
    surely_changes: bool
    clauses: tuple[frozenset[str], ...]
    """The stems of each clause."""
    values: Mapping[Kind, list[str]]
    text: str
    own_clauses: int
    """How many of its clauses have a subject and a verb of their own."""
    about: str
    """Whom its first clause is about, "" where that is open."""


@lru_cache(maxsize=READINGS_KEPT)
def read_fact(fact: str, *, speaker: str = "") -> Reading:
    """Return what a fact claims. Its speaker is named in it, if not given."""
    quotation = parse_quote(fact)
    text = details.ANCHOR.sub("", quotation[1] if quotation else fact)
    speaker = quotation[0] if quotation else speaker or _leading_name(text)
    writing = detect_writing(text)
    lexicon = get_lexicon(writing)
    person = speaker.lower()
    plain = _write_plainly(text, speaker, writing, is_quote=quotation is not None)
    # "s" is what is left of "Sam's".
    names = frozenset((*content_stems(speaker), *lexicon.words("stop_words"), "s"))
    change = "claims.strong_change" if writing is Writing.OTHER else "claims.change"
    claims = tuple(read_claims(plain, text, person, lexicon))
    clauses = split_clauses(plain, writing)
    return Reading(
        person=person,
        claims=claims,
        stems=frozenset(content_stems(plain)) - names,
        is_past=lexicon.has("claims.past", plain),
        ending=lexicon.has("claims.ending", plain),
        changes=lexicon.has(change, plain),
        surely_changes=lexicon.has("claims.strong_change", plain),
        clauses=tuple(frozenset(content_stems(clause)) - names for clause in clauses),
        values=find_values(details.write_numbers(THOUSANDS.sub("", text))),
        text=plain,
        own_clauses=sum(OWN_SUBJECT.match(clause) is not None for clause in clauses),
        about=_find_topic(plain, person, lexicon),
    )


def _find_topic(plain: str, person: str, lexicon: Lexicon) -> str:
    """Return the person that a sentence begins with."""
    if lexicon.writing is Writing.CHINESE:
        return person
    match = re.match(rf"{SPEAKER}'s (?:[\w-]+ ){{0,2}}?[\w-]+|{SPEAKER}(?=\s|$)", plain)
    return (find_owner(match[0], person, lexicon) or "") if match else ""


def claims_something(text: str, speaker: str) -> bool:
    """Whether a sentence fills a slot of a person: then it is worth a fact, however short."""
    return bool(read_fact(text if HAN.search(text) else quote(text, speaker=speaker)).claims)


def _leading_name(text: str) -> str:
    match = re.match(r"[A-ZÀ-Þ][\w-]*(?: [A-ZÀ-Þ][\w-]*)*(?='s\b| )", text)
    return match[0] if match else ""


def _write_plainly(text: str, speaker: str, writing: Writing, *, is_quote: bool) -> str:
    """Return a sentence in one spelling: lower case, long forms, the speaker as "@"."""
    if writing is Writing.CHINESE:
        own = text.replace("我自己", "自己").replace("我", SPEAKER)
        return own.replace(speaker, SPEAKER) if speaker else own
    plain = text.replace("’", "'")
    if speaker and not plain.startswith("Assistant should"):
        plain = re.sub(rf"\b{re.escape(speaker)}\b", SPEAKER, plain)
    plain = THOUSANDS.sub("", plain.lower().strip().rstrip(".!"))
    plain = TITLE.sub(r"\1", details.write_numbers(plain))
    for pattern, form in EXPANSIONS:
        plain = pattern.sub(form, plain)
    if not is_quote:  # a rewritten sentence says "their" for "my"
        plain = re.sub(r"\btheir\b", f"{SPEAKER}'s", plain)
    return re.sub(r"\s+", " ", plain)
