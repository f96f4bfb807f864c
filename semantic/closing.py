"""Says whether what a sentence calls over is what a held fact tells of."""

from __future__ import annotations

import re

from semantic.claims import Claim, Slot, concepts, count_shared, stems
from semantic.readings import Reading, is_about

# Words for a plan itself, which its end may name differently ("the trip is off").
PLAN_WORDS = stems(
    "trip visit travel flight journey plan plans tickets booking holiday vacation going go idea "
    "thing touched had been anywhere anything anyone allergy food diet stuff class classes "
    "lesson lessons "
    "membership subscription whole going old big little entire stupid damn silly poor beloved "
    "dear job work"
)
PLANNED = re.compile(
    r"\b(?:going to|plans?|planning|will|wants?|hopes?|hoping|booked|thinking|considering|signed "
    r"up|"
    r"registered|training|preparing|is \w+ing)\b|打算|计划|准备|要去|想|报名|考虑"
)
# What is over leaves these facts alone: they tell of the past, or of the end itself.
PAST = re.compile(
    r"\bused to\b|\bno longer\b|\bany ?more\b|\b(?:stopped|quit|gave up|cancelled|canceled|sold|"
    r"donated|returned|ditched|broke up|passed away|died|lost)\b|"
    r"\b(?:in|since) (?:19|20)\d\d\b(?<!since \d\d\d\d)|\byears? ago\b|\b(?<!who )was\b|\bwere\b|"
    r"\b(?:went|won|played|attended|"
    r"visited|saw|met|performed|finished|competed|lived|worked|watched|ran|had)\b|"
    r"以前|曾经|小时候|不再|取消|放弃|卖掉|卖了|戒|年前|过[了的]"
)
OPEN_QUESTION = re.compile(
    r"\b(?:thinking (?:of|about)|considering|deciding|torn|not sure|might|whether|wondering|"
    r"tempted|"
    r"hasn't decided|undecided|debating|weighing|toying with)\b|考虑|犹豫|纠结"
)
TOGETHER = re.compile(
    r"\b(?:with|together|shares?|sharing|partner|dating|seeing|girlfriend|boyfriend|married|"
    r"engaged|"
    r"flatmates?|roommates?|housemates?|friends?)\b"
)
LEAVABLE = re.compile(
    r"\b(?:works?|working|job|employed|is an? [\w -]+ (?:at|for|in)|member|plays?|playing|sings?|"
    r"stud(?:y|ies|"
    r"ying)|lives?|living|rents?|joined|belongs|volunteers?|volunteering|teaches|teaching|runs|"
    r"trains?|"
    r"training|attends?|goes|intern\w*|signed up|in (?:the|a) \w+)\b"
)
SHARE_OF_ENDED = 0.6


def is_ended(claim: Claim, *, new: Reading, held: Reading) -> bool:
    """Whether most of what is over is what a held fact, not itself past, tells of."""
    if claim.key == "apart":
        named = claim.value & held.words
        return bool(named) and TOGETHER.search(held.main) is not None and not PAST.search(held.main)
    if claim.key == "named":
        return (
            bool(claim.near & held.words)
            and not PAST.search(held.main)
            and is_about(held, claim.subject, speaker=new.speaker)
        )
    if not claim.value or not is_about(held, claim.subject, speaker=new.speaker):
        return False
    planned = PLANNED.search(held.text) is not None
    if (claim.key == "instead" and not planned) or (PAST.search(held.main) and not planned):
        return False
    own = stems(claim.subject.replace("'s", " "))
    essential = concepts((claim.value - PLAN_WORDS - own) or (claim.value - own))
    told = concepts(held.words)
    if not essential:
        return False
    if claim.near & held.words - own:
        return True
    places = any(c.slot in {Slot.HOME, Slot.EMPLOYER, Slot.JOB} for c in held.claims)
    if claim.key == "left" and not (places or LEAVABLE.search(held.main)):
        return False
    if claim.key == "decided":
        return OPEN_QUESTION.search(held.text) is not None and bool(essential & told - own)
    least = 1.0 if claim.key == "denied" else SHARE_OF_ENDED
    return _count_told(essential, told, held.text) >= least * len(essential)


def _count_told(words: frozenset[str], told: frozenset[str], text: str) -> int:
    """Return how many stems are told; a Chinese verb and its object may stand apart."""
    apart = sum(
        len(word) == 2
        and word > "\u3400"
        and word not in told
        and re.search(f"{word[0]}.{{0,4}}{word[1]}", text) is not None
        for word in words
    )
    return count_shared(words, told) + apart
