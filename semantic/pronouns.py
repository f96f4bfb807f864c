"""Names whom "she" or "he" at the start of a sentence is: the kin spoken of just before."""

from __future__ import annotations

import re
from collections.abc import Sequence

from episodic.engines import Line
from semantic.kin import KIN_WORD, PRONOUNS

PRONOUN = re.compile(
    r"^(?P<lead>(?:(?:and|but|so|oh|yeah|well|now),? )?)(?P<who>she|he)(?=['’ ])", re.I
)
KIN = re.compile(
    rf"\b(?P<whose>my|our|your) (?P<who>(?:[a-z-]+ ){{0,2}}?(?P<kin>{KIN_WORD}))\b", re.I
)
LINES_BACK = 2


def find_spoken_of(lines: Sequence[Line], at: int) -> str:
    """Return the talk before line `at`, with "my" for what is the speaker's own."""
    said: list[str] = []
    for line in lines[max(at - LINES_BACK, 0) : at]:
        mine = line.role == lines[at].role and line.name == lines[at].name
        other = "your" if mine else "my"
        text = re.sub(rf"\b{other} (?={KIN_WORD}\b)", "the ", line.content[-500:], flags=re.I)
        said.append(re.sub(rf"\byour (?=(?:[a-z-]+ )?{KIN_WORD}\b)", "my ", text, flags=re.I))
    return " ".join(said)


def name_pronoun(sentence: str, *, before: str) -> str:
    """Return `sentence` with "my sister" for "she", where a sister was spoken of last."""
    match = PRONOUN.match(sentence)
    if match is None:
        return sentence
    fitting = [
        kin["who"]
        for kin in KIN.finditer(before)
        if kin["kin"].lower() in PRONOUNS[match["who"].lower()]
    ]
    if not fitting:
        return sentence
    return f"{match['lead']}My {fitting[-1].lower()}{sentence[match.end() :]}"
