"""Reads claims from English sentences in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from semantic.claims import Claim, Slot, stems
from semantic.english_endings import APART, OPEN, STRONG_END, find_endings
from semantic.english_patterns import (
    ADVERB,
    CHANGED,
    CLAUSE_LEAD,
    CLAUSE_SPLIT,
    DATED_PAST,
    DECIDED,
    HABIT_NOW,
    HIRED,
    INSTEAD,
    INSTEAD_OF,
    LIVED,
    MOVED_EVENT,
    OCCUPATIONS,
    OVER,
    PERFECT_LIVED,
    PROMOTED,
    SIMPLE,
    SUBJECT,
)
from semantic.english_verbs import ADVERBS, IRREGULAR_PASTS
from semantic.informative import STOP_WORDS
from semantic.kin import KIN_WORD, SAYS, find_subject
from semantic.word_lists import split_words

HAS_DONE = re.compile(
    r"(\w)'s ((?:(?:just|finally|already|all|both|now|since|\w+ly) )*(?:been|got|gone|sold|moved|"
    r"left|"
    r"taken|become|given|grown|lost|quit|changed|switched|started|stopped|joined|turned|fallen|"
    r"broken|passed|died|found|made|had|come|cancell?ed|retired|decided|\w{3,}ed)\b)"
)
IS_SO = re.compile(
    r"(\w)'s ((?:(?:just|finally|now|all|both|still|really|so) )*(?:off|over|not|on|at|in|dead|"
    r"gone|no "
    r"longer|going|being|a|an|the|called|named|closed|done|happening|with|cancell?ed|moving|"
    r"seeing|dating|staying|studying|starting|selling|buying|"
    r"working|getting|living|doing|having|leaving)\b)"
)
BARE_KIN = re.compile(
    rf"^{KIN_WORD}\b(?= (?:has|is|was|got|moved|sold|left|lives|works|just|no|\w+s|\w+ed)\b)", re.I
)
NO_JOBS = split_words("fan member guest regular sucker match must student treat home good bit lot")
MOST_OF_ASIDE = 3
"""Words of a clause that only names again what the one before it spoke of."""
COORDINATED = re.compile(r"^\s*(?:is|are|has|have|was|moved|got|works|lives|\w+ed|\w+s)\b")
NAME = re.compile(r"\b[A-Z0-9][\w-]*")


def read_english_claims(fact: str, *, speaker: str = "", topic: str = "") -> tuple[Claim, ...]:
    """Return the claims of a third-person sentence, in order; none where it is dated past.

    `speaker` is whom a clause without a subject is about; `topic` is what was said just
    before, for "it".
    """
    claims: list[Claim] = []
    changed = bool(CHANGED.search(fact))
    clauses = split_clauses(expand_contractions(fact), speaker=speaker)
    for at, (text, subject) in enumerate(clauses):
        claims += _clause_claims(text, subject, changed)
        after = clauses[at + 1][0] if at + 1 < len(clauses) else ""
        aside = after if len(after.split()) <= MOST_OF_ASIDE else ""
        claims += _endings(text, subject, speaker=speaker.lower(), topic=topic, aside=aside)
        topic = f"{topic} {text}"
    return tuple(claims)


def split_clauses(fact: str, *, speaker: str) -> list[tuple[str, str]]:
    """Return the clauses of a sentence, each with whom it is about in lower case.

    Left out are those that tell of a dated past.
    """
    found: list[tuple[str, str]] = []
    subject = ""
    for clause in CLAUSE_SPLIT.split(fact):
        text = CLAUSE_LEAD.sub("", SAYS.sub("", clause.strip()))
        owner = subject or speaker.lower()
        if speaker:
            text = re.sub(
                rf"^((?:Their |[A-Z])[\w' -]*?) and {re.escape(speaker)} ",
                rf"{speaker} and \1 ",
                text,
            )
        if bare := BARE_KIN.match(text):
            text = f"{_title(owner)}'s {bare[0].lower()}{text[bare.end() :]}"
        if not text or DATED_PAST.search(text):
            continue
        head = re.match(SUBJECT, text)
        named = head is not None and _names_subject(text, head, speaker)
        if not named and owner and head is None and not text.lower().startswith("the "):
            text = f"{_title(owner)} {text}"
        if named and head is not None and not subject and not text.startswith("The "):
            subject = normal_subject(head["s"], "").split("'s ")[0]
        if head is None and found and COORDINATED.match(clause) and "'s " in found[-1][1]:
            text = f"{_title(found[-1][1])} {text.split(' ', 1)[1]}"
        whose = find_subject(text) if "'s " in find_subject(text) else subject or owner
        found.append((text, whose))
    return found


def _names_subject(text: str, head: re.Match[str], speaker: str) -> bool:
    """Whether a capitalised first word is a person rather than the start of a sentence."""
    name = head["s"].split("'s")[0]
    if name in {speaker, "they", "their", "The user", "The assistant"} or not speaker:
        return True
    if name.lower() in STOP_WORDS | IRREGULAR_PASTS | ADVERBS:
        return False
    after = text[head.end() :].split()
    verb = after[0].lower().strip(",.!") if after else ""
    return verb in IRREGULAR_PASTS | ADVERBS | {"is", "has", "and"} or verb.endswith(("s", "ed"))


def expand_contractions(text: str) -> str:
    """Return `text` with "is" and "has" for the "'s" of a verb: "camping's off"."""
    text = HAS_DONE.sub(r"\1 has \2", text)
    return IS_SO.sub(r"\1 is \2", text)


def _endings(text: str, owner: str, *, speaker: str, topic: str, aside: str) -> Iterator[Claim]:
    """Yield what a clause says is over; a pronoun stands for the topic.

    What is itself the subject ("Rex died") belongs to whoever speaks.
    """
    if APART.search(text):
        others = frozenset(stems(" ".join(NAME.findall(text)))) - stems(speaker or owner)
        yield Claim(speaker or owner, Slot.ENDING, "apart", others, False, True)
    if owner == speaker and STRONG_END.search(text) and not OPEN.search(text):
        named = stems(" ".join(NAME.findall(text))) - stems(owner)
        yield Claim(owner, Slot.ENDING, "named", frozenset(), False, True, named)
    for ending in find_endings(text):
        gone = text.startswith(ending.words) and "'s " not in owner
        subject = speaker or owner if gone else owner
        key = "denied" if ending.strict else "plain" if ending.plain else "gone"
        value = stems(topic if ending.points else ending.words)
        key = "left" if key == "gone" and ending.leaves else key
        near = stems(" ".join(NAME.findall(f"{ending.after} {aside}")))
        yield Claim(subject, Slot.ENDING, key, value, False, True, near)


def normal_subject(text: str, owner: str) -> str:
    """Return a subject in lower case: "their sister" becomes the owner's sister."""
    plain = re.sub(
        r" and (?:others|[A-Z][\w-]*|(?:their|his|her) [a-z-]+)$", "", text.strip()
    ).lower()
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
    if hired := HIRED.search(text):
        yield Claim(hired["s"].lower(), Slot.JOB, "", stems(hired["v"]), True, True)
    elif moved_up := PROMOTED.search(text):
        yield Claim(
            (moved_up["s"] or moved_up["t"]).lower(), Slot.JOB, "", frozenset(), False, True
        )
    if moved := MOVED_EVENT.search(text):
        yield Claim(owner, Slot.EVENT, moved["k"].lower(), stems(moved["v"]), True, True)
    if decided := DECIDED.search(text):
        yield Claim(owner, Slot.ENDING, "decided", stems(text[decided.end() :]), False, True)
    if instead := INSTEAD_OF.search(text):
        yield Claim(owner, Slot.ENDING, "instead", stems(instead["x"]), False, True)
    if HABIT_NOW.search(text) and (gone := INSTEAD.search(text)):
        yield Claim(owner, Slot.ENDING, "gone", stems(gone["x"]), False, True)


def _fits(slot: Slot, match: re.Match[str]) -> bool:
    """Whether a pattern that also matches other things means its slot here."""
    text, value = match.string, (match.groupdict().get("v") or "")
    if slot is Slot.JOB:
        words = value.lower().split()
        working = re.search(r"\b(?:works?|working|job|position|role|employed) as\b", text)
        titled = re.search(r"\ban? $", text[: match.start("v")]) is not None
        works_for = (
            titled
            and re.match(r" (?:at|for) (?:the|an?|[A-Z])", text[match.end("v") :]) is not None
        )
        known = (
            bool(working) or words[-1] in OCCUPATIONS or (works_for and words[-1] not in NO_JOBS)
        )
        return bool(words) and known and " also " not in text
    if slot is Slot.HOME and LIVED.search(text):
        return bool(PERFECT_LIVED.search(text)) and match["v"] != ""
    if slot is Slot.EMPLOYER:
        moved = re.match(rf"^{SUBJECT} {ADVERB}moved", text)
        occupation = (match["o"] or "").lower().split()
        return moved is None and (not match["o"] or occupation[-1] in OCCUPATIONS)
    if slot is Slot.STANCE and text.startswith(("We ", "Assistant should")):
        return False
    return slot is not Slot.HOME or " no longer " not in text
