"""A fact as it is compared: its claims, its values, whom it is about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from semantic.chinese import read_chinese_claims
from semantic.claims import Claim, stems
from semantic.english_claims import expand_contractions, read_english_claims, split_clauses
from semantic.kin import SAYS, find_chinese_subject, find_subject, same_person
from semantic.remainders import split_parts
from semantic.sentences import HAN
from semantic.values import Value, find_values

ANCHOR = re.compile(r"\s*[((][^()()]*\d{4}[^()()]*[))]")
# What somebody else said.
QUOTED = re.compile(r"[\"“「][^\"”」]{8,}[\"”」]")
FIRST_CLAUSE = re.compile(r"[.;:，。；]\s*|\b(?:but|because|since|when)\b|, (?:so|it|they|and)\b")


@dataclass(frozen=True, slots=True)
class Reading:
    """A fact as it is compared: its text without date anchors, and what that says.

    `subject` is whom it is about, in lower case, "" where that is open. `words` are the
    stems of all of it, `speaker` who said it where that is known. It `turns` where it was
    said as a correction; `topic` was said before it. `parts` are its sentences, where it
    has several.
    """

    text: str
    claims: tuple[Claim, ...]
    words: frozenset[str]
    subject: str = ""
    values: tuple[Value, ...] = ()
    turns: bool = False
    topic: str = ""
    parts: tuple[Reading, ...] = ()
    speaker: str = ""

    @property
    def main(self) -> str:
        """The first clause of the text."""
        return FIRST_CLAUSE.split(self.text)[0]


def read_fact(fact: str, *, speaker: str = "", topic: str = "", turns: bool = False) -> Reading:
    """Return what `fact` claims as a whole, and what each of its sentences does.

    `speaker` and `topic` (what was said just before) are known of what is being said,
    not of what is held. Its language decides which rules read it.
    """
    whole = _read_text(fact, speaker=speaker, topic=topic, turns=turns)
    sentences = split_parts(fact)
    if len(sentences) == 1:
        return whole
    parts: list[Reading] = []
    for sentence in sentences:
        parts.append(_read_text(sentence, speaker=speaker, topic=topic, turns=turns))
        topic = f"{topic} {sentence}"
    return replace(whole, parts=tuple(parts))


def _read_text(fact: str, *, speaker: str, topic: str, turns: bool) -> Reading:
    text = QUOTED.sub('"…"', ANCHOR.sub("", fact))
    if HAN.search(text):
        claims = read_chinese_claims(text, speaker=speaker, topic=topic)
        subject = find_chinese_subject(text, speaker=speaker.lower())
    else:
        text = expand_contractions(text)
        claims = read_english_claims(text, speaker=speaker, topic=topic)
        clauses = split_clauses(text, speaker=speaker)
        subject = clauses[0][1] if clauses and speaker else find_subject(SAYS.sub("", text))
    return Reading(
        text=text,
        claims=claims,
        words=stems(text),
        subject=subject,
        values=find_values(text),
        speaker=speaker.lower(),
        turns=turns,
        topic=topic,
    )


def is_about(held: Reading, subject: str, *, speaker: str = "") -> bool:
    """Whether a held fact is about `subject`: named first, or claimed about.

    What nobody is named in belongs to whoever speaks.
    """
    if subject in {"", "the"}:
        subject = speaker
    if not subject or held.text.lower().startswith("the "):
        return True
    if held.subject and same_person(subject, held.subject):
        return True
    if any(claim.subject and same_person(subject, claim.subject) for claim in held.claims):
        return True
    if "'s " in held.subject and held.subject.startswith(f"{subject}'s "):
        return False
    if HAN.search(subject):
        return subject in held.main
    return re.search(rf"\b{re.escape(subject)}\b", held.main.lower()) is not None
