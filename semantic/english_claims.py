"""Reads claims from English sentences in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic.claims import Claim, Slot, stems
from semantic.english_patterns import (
    ADVERB,
    CALLED_OFF,
    CHANGED,
    CLAUSE_LEAD,
    CLAUSE_SPLIT,
    DATED_PAST,
    ENDING,
    INSTEAD_OF,
    LIVED,
    OCCUPATIONS,
    OVER,
    PERFECT_LIVED,
    SIMPLE,
    SUBJECT,
    UNABATED,
)


def read_english_claims(fact: str) -> tuple[Claim, ...]:
    """Return the claims of a third-person sentence, in order; none where it is dated past."""
    claims: list[Claim] = []
    subject = ""
    for clause in CLAUSE_SPLIT.split(fact):
        text = CLAUSE_LEAD.sub("", clause.strip())
        if not text or DATED_PAST.search(text):
            continue
        head = re.match(SUBJECT, text)
        if head is None and subject and not text.lower().startswith("the "):
            text = f"{_title(subject)} {text}"
        changed = bool(CHANGED.search(fact))
        if head is not None and not subject and not text.startswith("The "):
            subject = normal_subject(head["s"], "").split("'s ")[0]
        claims += _clause_claims(text, subject, changed)
    return tuple(claims)


def normal_subject(text: str, owner: str) -> str:
    """Return a subject in lower case: "their sister" becomes the owner's sister."""
    plain = text.strip().removesuffix(" and others").lower()
    plain = plain.removeprefix("the ") if plain in {"the user", "the assistant"} else plain
    if plain in {"they", "their"}:
        return owner or plain
    return f"{owner}'s {plain.removeprefix('their ')}" if plain.startswith("their ") else plain


def _title(subject: str) -> str:
    return subject[:1].upper() + subject[1:]


def _clause_claims(text: str, owner: str, changed: bool) -> Iterator[Claim]:
    """Yield what one clause claims, the most specific reading first."""
    for slot, pattern, holds in SIMPLE:
        match = pattern.match(text)
        if match is None or (holds and not _fits(slot, match)):
            continue
        subject = normal_subject(match["s"], owner) if match["s"] else owner
        groups = match.groupdict()
        key = (groups.get("k") or "").lower().rstrip("s")
        value = stems(groups.get("v") or groups.get("w") or "")
        denied = bool(groups.get("n")) or not holds
        turned = OVER.search(text) is not None if denied and slot is Slot.STANCE else changed
        yield Claim(subject, slot, key, value, not denied, turned)
        if slot is Slot.STANCE and groups.get("w") and "prefer" in text:
            yield Claim(subject, slot, "", stems(groups["w"]), False, changed)
        if slot in {Slot.STANCE, Slot.RULE}:
            return
    ending = ENDING.match(text)
    if ending is not None and not UNABATED.search(text):
        gone = next((g for g in ending.group("a", "b", "c", "d") if g), "")
        yield Claim(normal_subject(ending["s"], owner), Slot.ENDING, "", stems(gone), False, True)
    if off := CALLED_OFF.match(text):
        subject = normal_subject(off["s"], owner) if off["s"] else owner
        yield Claim(subject, Slot.ENDING, "", stems(off["x"]), False, True)
    if instead := INSTEAD_OF.search(text):
        yield Claim(owner, Slot.ENDING, "instead", stems(instead["x"]), False, True)


def _fits(slot: Slot, match: re.Match[str]) -> bool:
    """Whether a pattern that also matches other things means its slot here."""
    text, value = match.string, (match.groupdict().get("v") or "")
    if slot is Slot.JOB:
        words = value.lower().split()
        working = re.search(r"\b(?:works?|working|job|position|role|employed) as\b", text)
        return bool(words) and (bool(working) or words[-1] in OCCUPATIONS) and " also " not in text
    if slot is Slot.HOME and LIVED.search(text):
        return bool(PERFECT_LIVED.search(text)) and match["v"] != ""
    if slot is Slot.EMPLOYER:
        moved = re.match(rf"^{SUBJECT} {ADVERB}moved", text)
        occupation = (match["o"] or "").lower().split()
        return moved is None and (not match["o"] or occupation[-1] in OCCUPATIONS)
    if slot is Slot.STANCE and text.startswith(("We ", "Assistant should")):
        return False
    return slot is not Slot.HOME or " no longer " not in text
