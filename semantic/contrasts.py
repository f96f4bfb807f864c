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
            r"\b(?:baby|little \w+) (?:\w+ )?arrived\b|\bgave birth\b|\bwas born\b|\bwere born\b|"
            r"\bhad (?:the|their|a) (?:baby|twins)\b|"
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
            r"\bdating\b|\bseeing some\w+\b|\bgirlfriend\b|\bboyfriend\b|\bengaged\b|\bmarried\b|"
            r"谈恋爱|女朋友|"
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
            r"\b(?:eats?|cooks?|cook) (?:meat|chicken|beef)\b|\beating (?:meat|chicken|beef)\b|"
            r"吃肉",
        ),
        (
            r"\b(?:can't|cannot|doesn't|learning to|learns to) drive\b|\bno (?:driving "
            r")?licen[cs]e\b",
            r"\bpassed (?:\w+ )?driving test\b|\bgot (?:\w+ )?(?:driving |driver's )?licen[cs]e\b",
        ),
        (
            r"\bin (?:the )?hospital\b|\bhospitali[sz]ed\b|\bin intensive care\b|住院",
            r"\b(?:home|back home) again\b|\bback home\b|\bout of (?:the )?hospital\b|"
            r"\bdischarged\b|"
            r"出院",
        ),
        (
            r"\b(?:flatmates?|roommates?|housemates?)\b|\blives? with\b|室友|合租",
            r"\bliv(?:es?|ing) (?:alone|by \w+sel(?:f|ves)|on \w+ own)\b|一个人住|独居|自己住",
        ),
    )
)


def names_state(text: str) -> bool:
    """Whether a sentence names a state that excludes another one."""
    return any(side.search(text) for sides in CONTRASTS for side in sides)


def are_opposed(new: Reading, held: Reading) -> bool:
    """Whether two facts about one person put them on two sides of a contrast."""
    if not is_about(held, new.subject, speaker=new.speaker):
        return False
    said, told = CLAUSES.split(new.text), CLAUSES.split(held.text)
    return any(
        any(_affirms(clause, one) for clause in said)
        and not other.search(new.text)
        and any(_affirms(clause, other) for clause in told)
        and not one.search(held.text)
        for sides in CONTRASTS
        for one, other in (sides, sides[::-1])
    )


def _affirms(clause: str, side: re.Pattern[str]) -> bool:
    """Whether a clause names a state, and does not deny it outside of the words that name it."""
    return side.search(clause) is not None and NOT.search(side.sub(" ", clause)) is None
