"""Finds what an English clause says is over: given up, gone, called off, no longer so."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

STOP = (
    r"(?= (?:because|since|so|last|yesterday|today|this|after|before|due|in|for|on|at|when|and|but|"
    r"to|as|with|by|from|until|while|where|completely|entirely|again|ages|a (?:few|couple)|"
    r"\w+ (?:weeks?|months?|days?|years?) ago)\b|\s*[,.;:!?()]|$)"
)
GERUND = r"(?:\w+ing (?:to|in|at|for|on|with|about|as) )?"
THING = (
    rf"(?!(?:to|from|in|at|for|by|with|up|into|on|down|off) )(?P<x>{GERUND}[\w'&.+-]+(?: "
    rf"[\w'&.+-]+)*?){STOP}"
)
IDEA = (
    r"idea|plans?|project|course|class|classes|subject|lessons|case|habit|thing|hobby|bid|campaign"
)
# Each takes the object that is over once the verb is past.
ENDED = (
    r"stopped|quit|g(?:ave|iven) up(?: on)?|cancell?ed|called off|sold(?: off)?|returned|"
    r"got(?:ten)? rid of|thr(?:ew|own) (?:out|away)|tossed(?: out)?|ditched|dumped|scrapped|binned|"
    r"axed|abandoned|(?:pulled|backed|dropped|moved|bowed|opted) out of|bailed (?:on|out of)|"
    r"withdr(?:ew|awn) from|resigned (?:from|as)|retired from|stepped (?:down|away) (?:from|as)|"
    r"donated|traded(?: in)?|swapped(?: out)?|replaced|g(?:ave|iven) (?:away|back)|rehomed|cut out|"
    r"swor[en] off|(?:gone|went) (?:right |completely |totally )?off|lost (?:all |any )?interest "
    r"in|"
    r"gr(?:ew|own) (?:out of|tired of|sick of)|outgr(?:ew|own)|f(?:ell|allen) out of love with|"
    r"(?:broke|broken|split|split up|broke up|broken up) with|divorced|deleted|uninstalled|"
    r"unsubscribed from|unfollowed|wound up|decided (?:against|not to)|shelved|kicked|"
    r"c[ao]me off|switched (?:away )?from|changed (?:\w+ )?(?:mind|mind's) (?:about|on)|"
    r"(?:decided|chose|opted|had|has|got) to (?:stop|quit|give up|drop out of|sell|call off|cancel|"
    r"leave|return|abandon|pull out of|withdraw from|put down)|(?:is|are|was|been|all) (?:done|"
    r"finished|through) with|(?:is|are|been) off|(?:is|are) (?:not|never) going to|won't be|"
    r"(?:isn't|aren't) going to|ended up (?:scrapping|selling|cancell?ing|quitting|dropping|"
    r"leaving|returning|ditching|giving up|giving away|splitting up with|breaking up with|"
    r"backing out of|"
    r"pulling out of|moving out of|throwing out)|"
    r"left(?! for| behind| at)|said (?:good)?bye to|waved goodbye to|turned down|declined|"
    r"rejected|deferred|postponed|cut ties with|"
    r"(?:is|are) (?:\w+ )?over(?= (?!\d|the moon|there|here|at|an? )\w)|dropped (?=(?:\w+ )*?(?:"
    + IDEA
    + r")\b)"
)
OBJECT_OVER = re.compile(rf"\b(?P<verb>{ENDED}) ?{THING}")
INNER = r"(?P<x>[\w'&.+-]+(?: [\w'&.+-]+){0,5}?)"
PARTS = tuple(
    re.compile(rf"\b(?:{verb}) {INNER} (?:{particle})\b")
    for verb, particle in (
        (
            r"g(?:ave|iven)|(?:had|has|decided) to give",
            r"up|back|away|to (?:the|an?|their|some|\w+'s)",
        ),
        (r"put|set|(?:had|decided) to put", "away|aside|to rest|on hold|on ice|behind|down"),
        (r"called|(?:had|decided) to call", "off"),
        (r"thr(?:ew|own)", "out|away"),
        (r"traded|turned|handed", "in"),
        (r"sent|took|taken|brought", "back"),
        (r"swapped|exchanged|traded|ditched|dropped|quit|gave up", "for"),
        (r"replaced", "with|by"),
        (r"let|(?:had|decided) to let", "go"),
    )
)
BE = r"(?:(?:has|have|had|just|finally|also|now|officially|already|sadly|all|been|both|\w+ly) )*"
GONE = (
    r"off(?=\s*(?:[,.;!]|$| because| for| again| now| then))|over(?! \d| the| at| there| here)|"
    r"dead|"
    r"gone(?! to)|history|finished|done(?: for)?(?=\s*[,.;!]|$| now)|cancell?ed|called off|"
    r"scrapped|"
    r"dropped|shelved|no more|toast|closed(?! on| at| today| for)|shut(?: down)?|sold|stolen|"
    r"discontinued|healed(?: up)?|cured|fixed|repaired|recovered|fine again|better(?: now| "
    r"again)|back to normal|not (?:happening|going ahead|on)|a thing of the past|out of the "
    r"(?:question|"
    r"picture)|on hold|behind \w+|binned"
)
SUBJECT_GONE = re.compile(
    rf"^(?P<x>[\w'& .-]+?) {BE}(?:is|are|was|were|got|been|has|have) {BE}(?:{GONE})\b"
)
SUBJECT_ENDED = re.compile(
    rf"^(?P<x>[\w'& .-]+?) {BE}(?:fell through|fallen through|passed(?: away| on)?(?=\s*[,.!]|$| "
    r"away| on| last| yesterday)|died|(?:went|gone) (?:out of business|under|bust|bankrupt)|"
    r"closed (?:down|its doors|for good)|shut (?:down|its doors)|folded|disbanded|ended|expired|"
    r"didn't (?:work out|happen|pan out|last|survive|go ahead|make it)|(?:isn't|aren't) happening|"
    r"won't (?:happen|be happening|work out)|ran (?:away|off)|run (?:away|off)|never (?:came "
    r"back|returned)|flew (?:away|off|out)|disappeared|came off|"
    r"(?:was|were) put (?:down|to sleep)|broke up|split up|came to an end|"
    r"bit the dust)\b"
)
ANY_MORE = re.compile(
    r"(?:\bnot|n't|\bnever|\bcannot) (?P<x>[^,;]+?) (?:any ?more|any longer|after all)\b"
)
NO_LONGER = re.compile(
    r"\bno longer (?P<x>[^,.;!]+)|\b[Nn]o more (?P<y>[\w' -]+?)(?= for\b|[,.;!]|$)"
)
DENIED = re.compile(
    r"\b(?:isn't|is not|aren't|are not|doesn't|does not|don't|do not|can't|cannot|hasn't got|"
    r"never|has no) (?P<x>[^,.;!]+)"
)
NOT_SINCE = re.compile(
    r"\b(?:hasn't|haven't|has not|have not) (?P<x>[^,.;!]+?) (?:in|for|since) (?:\w+ "
    r"){0,3}(?:weeks?|months?|"
    r"years?|days|ages|forever|\w+)\b"
)
# Another of the kind comes in its place.
SAME_AGAIN = re.compile(r"\b(?:new|better|bigger|different|another|second|nicer) one\b")
USED_TO = re.compile(r"\bused to (?P<x>[^,.;!]+)")
# Wishes, plans and denials of an end.
OPEN = re.compile(
    r"\b(?:might|may|could|would|should|wants? to|wanted to|think\w* (?:of|about)|consider\w*|"
    r"plan\w* (?:to|on)|if|wish\w*|almost|nearly|never|not|hop(?:es?|ing)|about to|tempted|"
    r"will|going to|tr(?:ied|ies|ying) to|until|unless|needs? to|before|afraid|when)\b|n't\b",
    re.IGNORECASE,
)
# Beside a name, they say that what is held of the name is over, however it is put.
STRONG_END = re.compile(
    r"\b(?:cancell?\w+|call\w+ off|scrap\w+|sold|selling|quit|ended|over|bye|goodbye|farewell|"
    r"done with|"
    r"dropped|ditched|dumped|stopped|no more|any ?more|no longer|fell through|fallen through|off "
    r"the table|"
    r"not happening|replaced|swapped|switched|traded|turned down|deferred|postponed|passed away|"
    r"died|"
    r"never came back|gave up|given up|got rid of|moved on from|moving on from|backed out|pulled "
    r"out|"
    r"resigned|retired|laid off|fired|let go|closed down|shut down|broke up|split up|divorced|"
    r"instead of)\b"
)
# Two who did something together do it no more.
APART = re.compile(
    r"\band \w+ (?:is|are) (?:\w+ )?(?:done|over|through|history|finished|no more)\b|"
    r"(?:\bnot|n't|\bno longer) (?:\w+ )*?(?:together|a (?:couple|thing)|friends|speaking|"
    r"talking)\b|"
    r"\bparted ways\b|\bseparate ways\b|\bfell out\b|\bcalled it quits\b|\b(?:broke|split|"
    r"broken) up\b"
)
PRONOUN = re.compile(r"^(?:it|that|this|them|those|these|him|her|he|she|they|both|all of it)$")


@dataclass(frozen=True, slots=True)
class Ending:
    """What is over: its words, and those that follow and may name it again.

    `plain` says that the clause only denies what was so, and tells nothing else;
    `strict` that it may as well have never been so; `leaves` that somebody left it.
    """

    words: str
    after: str = ""
    plain: bool = False
    strict: bool = False
    leaves: bool = False

    @property
    def points(self) -> bool:
        """Whether a pronoun names it."""
        return PRONOUN.match(self.words.strip().lower()) is not None


def find_endings(clause: str) -> Iterator[Ending]:
    """Yield what a third-person clause says is over."""
    if SAME_AGAIN.search(clause):
        return
    if since := NOT_SINCE.search(clause):
        yield Ending(since["x"], plain=True)
    for pattern in (OBJECT_OVER, *PARTS):
        for match in pattern.finditer(clause):
            if not OPEN.search(clause[: match.start()]):
                leaves = match.groupdict().get("verb", "").startswith("left")
                yield Ending(match["x"], clause[match.end() : match.end() + 40], leaves=leaves)
    gone = SUBJECT_GONE.match(clause) or SUBJECT_ENDED.match(clause)
    if gone is not None and len(gone["x"].split()) <= 7 and not OPEN.search(gone["x"]):
        yield Ending(gone["x"])
    for match in ANY_MORE.finditer(clause):
        yield Ending(match["x"], plain=True)
    for match in NO_LONGER.finditer(clause):
        yield Ending(match["x"] or match["y"], plain=True)
    for match in DENIED.finditer(clause):
        yield Ending(match["x"], plain=True, strict=True)
    if once := USED_TO.search(clause):
        yield Ending(once["x"], plain=True)
