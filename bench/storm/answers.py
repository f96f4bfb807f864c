"""What the storm's model says to a question: a cheap rule, and ways to get it wrong.

The rule is deterministic: the same question always gets the same answer. A window is cut
in halves; an episode yields one fact, which quotes the number and the token of its first
message; now and then a fact held is confirmed or replaced; memories are rated by turns.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from typing import Any

LINE = re.compile(r"^(\d+) \[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d\] (.*)$")
EPISODE = re.compile(r"^E(\d+)(?: \(continued\))?: ")
HELD = re.compile(r"^(F\d+) \[(\w+)\] (.*) \(since ")
MEMORY = re.compile(r"^(E\d+): ")
TOKEN = re.compile(r"\bN\d+-\d+\b")
CATEGORIES = ("experience", "preference", "interest", "goal", "identity")
REINFORCE_EVERY, UPDATE_EVERY, FLASHBULB_EVERY = 4, 9, 10
HUGE = 10**30

Answer = dict[str, Any]


def answer(purpose: str, material: str) -> Answer:
    """Return the right answer to a question of the product."""
    return RULES[purpose](material)


def _segment(material: str) -> Answer:
    lines = [found for line in material.splitlines() if (found := LINE.match(line))]
    count = len(lines)
    cuts = [(0, count - 1)] if count < 3 else [(0, count // 2 - 1), (count // 2, count - 1)]
    return {"episodes": [_episode(last, lines[first][2]) for first, last in cuts]}


def _episode(last: int, opening: str) -> Answer:
    chosen = hashlib.sha256(opening.encode()).digest()[0] % FLASHBULB_EVERY == 0
    words = " ".join(opening.split()[:6])
    return {
        "last": last,
        "title": f"A part of the talk that begins with {words}",
        "summary": f"Somebody says: {opening[:160]}",
        "surprise": "extremely_high" if chosen else "low",
    }


def _consolidate(material: str) -> Answer:
    held: list[re.Match[str]] = []
    openings: dict[int, re.Match[str]] = {}
    episode = 0
    for line in material.splitlines():
        if found := HELD.match(line):
            held.append(found)
        elif found := EPISODE.match(line):
            episode = int(found[1])
        elif episode and (found := LINE.match(line)):
            openings.setdefault(episode, found)
    new, update, reinforce = [], [], []
    for opening in openings.values():
        seq = int(opening[1])
        new.append(_state(seq, opening[2]))
        if held and seq % UPDATE_EVERY == 0:
            update.append({"ref": held[-1][1], **_state(seq, opening[2], "now ")})
        elif held and seq % REINFORCE_EVERY == 0:
            reinforce.append({"ref": held[0][1], "msgs": [seq]})
    return {"new": new, "update": update, "reinforce": reinforce, "invalidate": []}


def _state(seq: int, text: str, how: str = "") -> Answer:
    token = TOKEN.search(text)
    name = token[0] if token else f"number {seq}"
    return {
        "cat": CATEGORIES[seq % len(CATEGORIES)],
        "text": f"The talk {how}keeps the note {name} as message {seq}",
        "msgs": [seq],
        "when": "",
    }


def _review(material: str) -> Answer:
    aliases = [found[1] for line in material.splitlines() if (found := MEMORY.match(line))]
    ratings = [
        {"ref": alias, "rating": ("good", "again", "hard")[place % 3]}
        for place, alias in enumerate(aliases)
    ]
    return {"ratings": ratings}


RULES: dict[str, Callable[[str], Answer]] = {
    "segment": _segment,
    "consolidate": _consolidate,
    "review": _review,
}


def bend(fault: str, purpose: str, right: Answer) -> str:
    """Return the text of an answer that has one fault."""
    text = json.dumps(right)
    if fault == "prose":
        return f"Of course! Here is what I found:\n```json\n{text}\n```\nDo ask if it is unclear."
    if fault == "truncated":
        return text[: max(1, len(text) * 2 // 3)]
    if fault == "ten_megabytes":
        return text[:-1] + ', "more": "' + "x" * 10_000_000 + '"}'
    rows: list[Answer] = next(iter(right.values()))
    if not rows:
        return text
    if fault == "nan":
        rows[0][NUMBERS[purpose]] = float("nan")
    elif fault == "nul":
        rows[0][TEXTS[purpose]] = "a\0b"
    else:
        BENDS[fault](purpose, rows)
    return json.dumps(right)


NUMBERS = {"segment": "last", "consolidate": "msgs", "review": "rating"}
TEXTS = {"segment": "title", "consolidate": "text", "review": "ref"}


def _leave_out(purpose: str, rows: list[Answer]) -> None:
    """Let a partition end too soon; of other answers leave out what is required."""
    if purpose == "segment":
        rows[-1]["last"] -= 3
    else:
        del rows[-1][TEXTS[purpose]]


def _overlap(purpose: str, rows: list[Answer]) -> None:
    """Let two episodes share messages; of other answers say everything twice."""
    if purpose == "segment":
        rows[0]["last"] = rows[-1]["last"]
    else:
        rows += list(rows)


def _count_too_far(purpose: str, rows: list[Answer]) -> None:
    if purpose == "segment":
        rows[-1]["last"] = HUGE
    elif purpose == "consolidate":
        rows[0]["msgs"] = [HUGE, -1]
    else:
        rows[0]["ref"] = f"E{HUGE}"


def _name_unknown(purpose: str, rows: list[Answer]) -> None:
    if purpose == "segment":
        rows[0]["surprise"] = "enormous"
    elif purpose == "consolidate":
        rows[0] |= {"ref": "F999", "cat": "gossip"}
    else:
        rows[0] |= {"ref": "E999", "rating": "splendid"}


BENDS: dict[str, Callable[[str, list[Answer]], None]] = {
    "short": _leave_out,
    "overlap": _overlap,
    "huge_index": _count_too_far,
    "unknown_alias": _name_unknown,
}
BENT = ("prose", "truncated", "ten_megabytes", "nan", "nul", *BENDS)
