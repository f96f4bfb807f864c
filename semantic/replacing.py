"""Says whether a sentence gives a new value of a known type for what a held fact tells."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from semantic.claims import concepts, count_shared, stems
from semantic.closing import PAST
from semantic.readings import Reading, is_about
from semantic.values import find_values, same_kind

# Words that say that a value is another one than before.
CHANGING = re.compile(
    r"\b(?:now|these days|nowadays|from now on|any ?more|instead|actually|lately|only|"
    r"(?:re)?scheduled|postponed|delayed|pushed|brought forward|moved|changed|switched|shifted|"
    r"bumped|"
    r"just (?:started|became|turned|entered)|started|raised|lowered|upped|increased|reduced|went "
    r"(?:up|down)|gone (?:up|down)|(?:up|down|cut|"
    r"back) to|"
    r"dropped to|makes (?:that|it)|turned|already|not \w+ but|correction|new)\b|"
    r"现在|改|换|只|变|涨|降|推迟|提前|延|如今|已经|目前|减|增|又.{1,8}了",
    re.IGNORECASE,
)
CLAUSES = re.compile(r"[.;:!,，。；！]\s*(?!\d{3}\b)|\b(?:but|because|so|since)\b")
ADDING = re.compile(
    r"\b(?:also|too|another|as well|additional|besides|extra|one more|second)\b|也|还|另外|又"
)
CHANGE_VERBS = stems(
    "now these days from on moved changed switched pushed raised lowered increased reduced went "
    "gone "
    "up down back makes turned rescheduled postponed delayed shifted bumped set is been currently "
    "only cut dropped finally slot date time new says because so"
) | frozenset("改到 改成 换成 推迟 提前 现在 已经 变成 目前 如今 时间".split())
HABIT = re.compile(
    r"\b(?:every|each|a (?:day|week|month|year)|per|daily|weekly|on \w+days|usually|costs?|is|are|"
    r"weighs?|earns?|pays?)\b|每|是"
)
ONE_OF_MANY = re.compile(r"\b(?:has|have|got|gets?|is having) an?\b|\bis (?:\w+ing)\b")
LEAST_SHARED = 0.5
TOKEN = re.compile(r"[\u3400-\u9fff]|[A-Za-z0-9]+(?:['.:][A-Za-z0-9]+)*")
GLUE = frozenset("a an the of in on at to now is".split())
MOST_PUT_RIGHT = 4
"""Words, or Chinese characters, that differ between a statement and its correction."""


def gives_new_value(new: Reading, held: Reading) -> bool:
    """Whether `new` tells of the same as `held`, with another day, number or time.

    Without a word of change only what lasts can be meant, said in the same words.
    """
    if not is_about(held, new.subject, speaker=new.speaker) or PAST.search(held.main):
        return False
    return any(
        _changes_value(clause, told, new, held)
        for clause in CLAUSES.split(new.text)
        for told in CLAUSES.split(held.text)
    )


def puts_right(new: Reading, held: Reading) -> bool:
    """Whether `new`, said as a correction, is `held` with one phrase put in place of another."""
    if not new.turns or not is_about(held, new.subject, speaker=new.speaker):
        return False
    said, told = (
        [word for word in TOKEN.findall(text.lower()) if word not in GLUE]
        for text in (new.text, held.text)
    )
    steps = SequenceMatcher(None, told, said, autojunk=False).get_opcodes()
    changes = [step for step in steps if step[0] != "equal"]
    if not any(step[0] == "replace" for step in changes):
        return False
    first, last = changes[0], changes[-1]
    if max(last[2] - first[1], last[4] - first[3]) > MOST_PUT_RIGHT or not first[1]:
        return False
    joint = "" if new.text > "\u3400" else " "
    kept = stems(f"{joint.join(told[: first[1]])} {joint.join(told[last[2] :])}")
    own = stems(new.speaker) | stems(new.subject.split("'s ")[0])
    return bool(kept - own)


def _changes_value(clause: str, told: str, new: Reading, held: Reading) -> bool:
    """Whether one clause of a sentence gives another value for what one of `held` tells."""
    if ADDING.search(clause) or not _differs(clause, told):
        return False
    frame = _frame(clause, new, new.speaker) or _frame(f"{new.topic} {new.text}", new, new.speaker)
    kept = _frame(told, held, new.speaker) or _frame(held.text, held, new.speaker)
    shared = count_shared(frame, kept)
    if not shared:
        return False
    if (new.turns or CHANGING.search(new.text)) and not PAST.search(clause):
        return shared >= LEAST_SHARED * min(len(frame), len(kept))
    lasts = HABIT.search(clause) is not None and not ONE_OF_MANY.search(clause)
    return lasts and frame == kept


def _differs(clause: str, told: str) -> bool:
    """Whether a clause has a value of a type that what was told has another one of."""
    values = find_values(told)
    known = {_bare(value.text) for value in values}
    return any(
        _bare(value.text) not in known and any(same_kind(value.kind, v.kind) for v in values)
        for value in find_values(clause)
    )


def _frame(text: str, reading: Reading, speaker: str) -> frozenset[str]:
    """Return the stems around the values, the subject's name left out."""
    for value in reversed(find_values(text)):
        text = f"{text[: value.start]} {text[value.end :]}"
    if speaker and not speaker.isascii():
        text = text.replace(speaker, " ")
    own = stems(reading.subject.replace("'s", " ")) | stems(speaker)
    return concepts(stems(text) - own - CHANGE_VERBS)


def _bare(text: str) -> str:
    return text.lower().removesuffix("s").replace(",", "")
