"""States that exclude each other, whichever words name them."""

from __future__ import annotations

import re

from semantic.readings import Reading, is_about

NOT = re.compile(
    r"\b(?:not|never|no longer|used to|n't|if|wants? to|hopes? to|almost)\b|n't\b|不|没|想"
)
CLAUSES = re.compile(r"[.;:!,，。；！]\s*|\b(?:but|because|so|since|and)\b")
# Of each line, a person is in one state at a time.
CONTRASTS = tuple(
    tuple(re.compile(side, re.IGNORECASE) for side in line)
    for line in (
        (
            r"\bnight[ -]?owl\b|夜猫子",
            r"\bmorning (?:person|lark)\b|\bearly (?:bird|riser)\b|早睡早起",
        ),
        (r"\bintrovert", r"\bextrovert|\boutgoing\b"),
        (r"\boptimis", r"\bpessimis"),
        (
            r"\b(?:night|late|evening) shifts?\b|夜班",
            r"\b(?:day|morning|early) shifts?\b|白班|早班",
        ),
        (r"\bpart[ -]time\b|兼职", r"\bfull[ -]time\b|全职"),
        (
            r"\brents?\b|\brenting\b|租",
            r"\bbought (?:an?|the|their)(?: \w+){0,2} (?:house|flat|apartment|condo|home|"
            r"place)\b|\bmortgage\b|"
            r"买了?(?:套|一套)?(?:新)?房",
        ),
        (
            r"\bseparated\b|\bsplit up\b|\bbroke up\b|\bdivorced\b|\bon a break\b|分手|分居|离婚",
            r"\bback together\b|\bgot back with\b|\breconciled\b|\bmade up with\b|\bremarried\b|"
            r"复合|和好|复婚",
        ),
        (
            r"\bpregnant\b|\bexpecting (?:a|their|our|twins|triplets)\b|怀孕|预产期",
            r"\bgave birth\b|\bwas born\b|\bwere born\b|\bhad (?:the|their|a) (?:baby|twins)\b|"
            r"生了|出生了",
        ),
        (
            r"\b(?:unemployed|out of work|job[ -]hunting|between jobs|looking for (?:a )?(?:new "
            r")?(?:job|work))\b|找工作|待业|失业",
            r"\b(?:got|found|landed|started|accepted) (?:a|the|an|my|their|the new|a new) (?:\w+ "
            r")?(?:job|position|role|offer)\b|"
            r"\bgot hired\b|入职|找到(?:了)?工作",
        ),
        (
            r"\b(?:husband|wife) (?:is|has|works|and)\b|\bis (?:\w+ )?married\b|已婚|结婚",
            r"\bdivorced?\b(?! lawyer)|离婚",
        ),
        (
            r"\bsingle\b|\b(?:has been|is) (?:all )?alone\b|\bwidowed\b|单身",
            r"\bdating\b|\bgirlfriend\b|\bboyfriend\b|\bengaged\b|\bmarried\b|谈恋爱|女朋友|"
            r"男朋友|结婚",
        ),
        (
            r"\bon (?:a|the) waiting ?list\b|\bwaitlisted\b",
            r"\bgot (?:in|into|accepted|a place)\b|\baccepted (?:to|into)\b",
        ),
        (
            r"\bremote(?:ly)?\b|\bfrom home\b|在家办公|远程",
            r"\bin the office\b|\bback (?:in|to|at) the office\b|坐班|回公司上班",
        ),
        (
            r"\bvegetarian\b|\bvegan\b|吃素",
            r"\beats? (?:meat|chicken|beef)\b|\beating (?:meat|chicken|beef)\b|吃肉",
        ),
    )
)


def names_state(text: str) -> bool:
    """Whether a sentence names a state that excludes another one."""
    return any(side.search(text) for sides in CONTRASTS for side in sides)


def are_opposed(new: Reading, held: Reading) -> bool:
    """Whether two facts about one person put them on two sides of a contrast."""
    if not is_about(held, new.subject, speaker=new.speaker) or NOT.search(new.main):
        return False
    clauses = [clause for clause in CLAUSES.split(held.text) if not NOT.search(clause)]
    return any(
        one.search(new.main)
        and not other.search(new.main)
        and any(other.search(clause) for clause in clauses)
        and not one.search(held.text)
        for sides in CONTRASTS
        for one, other in (sides, sides[::-1])
    )
