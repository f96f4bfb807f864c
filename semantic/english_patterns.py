"""The patterns that read claims from English sentences in the third person."""

from __future__ import annotations

import re

from semantic.claims import Slot
from semantic.word_lists import split_words

OCCUPATIONS = split_words(
    "accountant actor actress analyst architect artist baker banker barber barista bartender "
    "biologist builder butcher carpenter cashier chef chemist cleaner clerk coach consultant cook "
    "counselor counsellor dancer dentist designer developer director doctor driver economist "
    "editor "
    "electrician engineer farmer firefighter fisherman florist freelancer gardener hairdresser "
    "historian illustrator intern interpreter journalist judge lawyer lecturer librarian manager "
    "mechanic midwife model musician nurse painter paramedic pharmacist photographer physicist "
    "physiotherapist pilot plumber police postdoc principal professor programmer psychologist "
    "receptionist researcher sailor salesman scientist secretary singer soldier student surgeon "
    "tailor teacher technician therapist translator tutor vet veterinarian waiter waitress welder "
    "writer retired unemployed"
)
ATTRIBUTES = (
    r"(?:first |last |middle |pet |wifi |phone |email |home |shoe |shirt |blood |wedding |cat's |"
    r"dog's |daughter's |son's |sister's |brother's |wife's |husband's |work |monthly |native )*"
    r"(?:name|birthday|number|email|address|anniversary|size|type|weight|height|password|major|"
    r"budget|nickname|timezone|salary|surname|language|rent|pronouns)"
)
WORKPLACE = (
    r"an? (?:[\w-]+ ){0,2}?(?:startup|company|firm|bank|school|hospital|agency|studio|bakery|"
    r"caf[eé]|restaurant|"
    r"shop|store|university|factory|office|library|hotel|supermarket|clinic|kitchen|garage|lab)"
)
EVENTS = (
    r"(?:wedding|appointment|meeting|flight|exam|interview|deadline|party|trip|concert|surgery|"
    r"class|"
    r"lesson|call|train|move|visit|presentation|graduation|recital|race|conference|dinner|lunch|"
    r"test|"
    r"session|checkup|due date|start date|vacation|holiday)"
)
SUBJECT = (
    r"(?P<s>(?:[A-Z][\w.-]*(?: [A-Z][\w-]*)?"
    r"(?: and (?:others|[A-Z][\w-]*|(?:their|his|her) [a-z-]+))?"
    r""
    r"(?:'s (?:[a-z-]+ )?[a-z-]+)?|their (?:[a-z-]+ )?[a-z-]+|"
    r"they|The user|The assistant))"
)
ADVERB = (
    r"(?:(?:now|still|currently|also|really|just|recently|finally|actually|always|absolutely|"
    r"truly|even|already|has|have|totally|definitely|especially|mostly|usually|since|only|"
    r"officially|so|much|both) )*"
)
STOP = (
    r"(?= (?:with|for|since|because|when|last|this|next|after|before|now|anymore|any more|these "
    r"days|"
    r"at all|but|so|too|yesterday|today|tomorrow|tonight|already|full-time|part-time|as well|"
    r"again|lately|nowadays|in the|on the|every|while|if|than|from|until|"
    r"instead|more|a lot|very much|right now|as|where|and|at the|by)\b|\s*[,.;!(]|$)"
)
# A dated past says nothing about today.
DATED_PAST = re.compile(
    r"\bin (?:19|20)\d\d\b|\byears? ago\b|\bwhen (?:\w+ )?(?:was|were)\b|\bas a (?:child|kid)\b|"
    r"\bback in\b|\bfor a while\b",
    re.IGNORECASE,
)
CHANGED = re.compile(
    r"\b(?:now|actually|instead|these days|nowadays|lately|moved|rescheduled|postponed|changed|"
    r"correction|pushed|no longer|any ?more|switched)\b",
    re.IGNORECASE,
)
# A dislike that says only that a liking is over, and nothing worth a fact of its own.
OVER = re.compile(r"\b(?:any ?more|no longer|stopped|used to|went off)\b", re.IGNORECASE)
CLAUSE_SPLIT = re.compile(
    r"[.;:]\s+|,?\s+\b(?:but|so|then|and now|and also)\s+|,\s+(?:and\s+)?|\s+-+\s+|"
    r"\s+and\s+(?=(?:works|lives|is|has|loves|likes|hates|enjoys|prefers|moved|got|started|quit|"
    r"sold|stopped|"
    r"joined|became|left|"
    r"doesn't|no longer|plays|their|[A-Z][\w-]*(?:'s \w+)? (?:works|lives|is|has|loves|likes|hates|"
    r"prefers|moved|got|doesn't))\b)"
)
CLAUSE_LEAD = re.compile(
    r"^(?:(?:now|actually|currently|these days|recently|finally|also|lately|nowadays|and|but|so|"
    r"yesterday|today|last \w+|this \w+|no(?! (?:more|longer))|sorry|well|since then|change of "
    r"plans?|plot twist|"
    r"turns out(?: that)?|it turns out(?: that)?|so yeah|as of \w+|"
    r"after (?:\w+ ){1,3}?(?=(?-i:[A-Z]))|in the end|after all that)\b,?\s*)+",
    re.IGNORECASE,
)
LIKES = (
    r"(?:loves?|likes?|enjoys?|adores?|prefers?|is (?:really |so |very |super )?(?:into|fond of|"
    r"crazy "
    r"about|keen on)|is an? (?:really |big |huge |real )*(?:fan of)|fell in love with|(?:come|"
    r"came|learned|grown|started|begun) "
    r"to (?:love|like|enjoy)|started "
    r"(?:liking|enjoying|loving))"
)
DISLIKES = (
    r"(?:(?:doesn't|does not|don't|do not|didn't) (?:\w+ )?(?:like|love|enjoy|care for|prefer)|"
    r"hates?|"
    r"dislikes?|can't stand|cannot stand|can't bear|detests?|loathes?|(?:isn't|is not) (?:really |"
    r"a (?:big |huge )?)?(?:into|fan of|fond of|keen on)|is (?:so )?(?:tired|sick) of|went off|"
    r"stopped (?:liking|loving|enjoying)|no longer (?:likes?|loves?|enjoys?|prefers?)|used to "
    r"(?:love|like|enjoy|adore|prefer|be into|be a fan of))"
)
NUMBER_WORD = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|no)"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(rf"^{SUBJECT} {ADVERB}{body}")


DWELLING = (
    r"(?:(?:little|small|tiny|big|new|old|nice|lovely|cozy|cosy|own|first|\w+-bed(?:room)?|"
    r"one-room|"
    r"studio|student|shared|terraced|rented) )*(?:apartment|flat|house|place|home|studio|room|"
    r"condo|"
    r"cottage|bungalow|loft|duplex|bedsit)"
)
HOME = _pattern(
    r"(?:lives?|(?:is|are|been) living|lived|resides?|(?:is|are) (?:now )?based|(?:has|have "
    r")?settled"
    r"(?: down)?|moved(?: (?:back|over|house|home|away|out))?(?: in with [a-z' ]+?)?|relocated|is "
    r"staying permanently|(?:(?:rents?|owns?|has|have|got|bought|found|shares?|(?:is|are) renting|"
    r"moved into|settled into|rented) (?:an?|that|the|their) "
    + DWELLING
    + r"(?: with \w+)?)|packed up and (?:moved|went|left)|transferred|"
    r"(?:has |have )?been(?= in [A-Z][\w .-]*? (?:since|for)\b)|(?:is|are)(?: back)?(?= in "
    r"[A-Z]\w+(?: \w+)? (?:now|for good))|"
    r"calls?(?= [A-Z]))"
    r"(?: (?:\w+ )?from [A-Z][\w' -]+?)?(?: \w+ly| alone| together| back| with [a-z' ]+?)? "
    r"(?:in|to|at|over to|near|just outside|outside) "
    r"(?P<v>(?:\d+[a-z]? )?[A-Z][\w' .-]*?)" + STOP
)
HOME_FOLK = _pattern(
    r"(?:is|are|became|become)(?: now)? (?:an? )?(?P<v>[A-Z][\w-]*) (?:people|person|resident|"
    r"residents|"
    r"girl|guy|folks|citizen|local|locals)\b"
)
HOME_OF = re.compile(
    r"^(?P<s>[A-Z][\w-]*|their)(?:'s)? (?:\w+ )?(?:home|house|flat|apartment|place) in "
    r"(?P<v>[A-Z]\w+(?: [A-Z]\w+)*)"
)
HOME_IS = re.compile(
    r"^(?P<s>[A-Z][\w-]*|their)(?:'s)? (?:\w+ )?(?:home|house|flat|apartment|place) is (?:now |"
    r"currently )?(?:in |near )?(?P<v>[A-Z][\w' .-]*?)" + STOP
)
LIVED = re.compile(r"\blived\b")
PERFECT_LIVED = re.compile(r"\b(?:has|have) (?:\w+ )?lived\b")
NO_HOME = _pattern(
    r"(?:(?:doesn't|does not|don't) live|no longer lives?|moved (?:out|away)|lives? no longer)"
    r"(?: (?:in|at|of|from) (?P<v>[A-Z][\w' .-]*?))?" + STOP
)
EMPLOYER = _pattern(
    r"(?:works?|(?:is|been) (?:working|employed)|started (?:working|a (?:new )?job|work)?|got "
    r"(?:a|the) "
    r"(?:new )?job|joined|(?:took|accepted|landed|found|has) an? (?:new )?(?:job|position|role)|"
    r"switched jobs?|moved|transferred|works? as an? [\w -]+?|is an? (?P<o>[\w -]+?))"
    r"(?: (?:in|as) [\w -]+?)? ?(?:at|for|with|to|in(?= an? )|(?<=joined)) (?P<v>(?:the |an? "
    r")?(?:[\w-]+ (?:called|named) )?[A-Z][\w&' .-]*?|" + WORKPLACE + r")" + STOP
)
JOB = _pattern(
    r"(?:(?:works?|(?:is|been) working|started(?: working)?|got (?:a|the) (?:new )?job|(?:took|"
    r"accepted|"
    r"landed|found|has) an? (?:new )?(?:job|position|role)|switched jobs?|is employed) as|"
    r"became|is|"
    r"switched to being|trained as)(?: now)? (?:an? |the )?(?P<v>[A-Za-z][\w -]*?)"
    r"(?= (?:at|for|in|and|who|that|of|this|last|since|when|yesterday|today|after|with|on|again|"
    r"because|but)\b|\s*[,.;!(]| now\b| these days\b|$)"
)
HIRED = re.compile(
    r"\b(?:hired|promoted|appointed|made|took) (?P<s>[A-Z][\w.-]*)(?: on)?(?: as| to)(?: an?| "
    r"the)? "
    r"(?P<v>[a-z][\w -]*?)" + STOP
)
PROMOTED = re.compile(
    r"\b(?:promoted|traded|transferred|drafted|poached) (?P<s>[A-Z][\w.-]*)\b(?! to)|"
    r"^(?P<t>[A-Z][\w.-]*) (?:\w+ )*?got (?:promoted|traded|transferred|poached|headhunted)\b"
)
NO_JOB = _pattern(
    r"(?:(?:quit|left|lost|resigned from|retired from|was (?:laid off|fired) from) (?:their |the )?"
    r"(?:\w+ )?(?:job|position|work|(?P<v>[A-Z][\w&' -]*?))|(?:(?:doesn't|does not) work|no "
    r"longer works?|"
    r"stopped working)(?: (?:at|for|as)(?: an?)? (?P<w>[\w&' -]+?))?|(?:was laid off|got fired|"
    r"handed in (?:their|his|her|\w+'s) (?:notice|resignation|apron|badge|keys|uniform)(?: (?:at|"
    r"to) (?:the |an? )?(?:[\w&' -]+?))?|"
    r"(?:gave|put in) (?:their |his |her |in )?(?:two weeks'? )?notice|(?:got|was|were) "
    r"(?:sacked|let go|"
    r"made redundant)|"
    r"retired|"
    r"got laid off|was fired|resigned))" + STOP
)
STATUS = _pattern(
    r"(?:is|are|got|became|been)(?: now)? (?:happily )?(?P<v>single|married|engaged|divorced|"
    r"separated|"
    r"widowed|dating|in a relationship|seeing someone)\b"
)
PARTNER = _pattern(
    r"(?:has|is with|found) an? (?:new )?(?P<v>girlfriend|boyfriend|partner|fiancee?)\b"
)
SPLIT = re.compile(
    rf"^(?:[\w' -]+? and (?=[A-Z]))?{SUBJECT} {ADVERB}(?:(?:is|are|got) )?(?:broke up|broken up|"
    rf"split up|isn't (?:together|dating|engaged)|"
    r"(?:is|are) (?:not|no longer) (?:together|dating|engaged|married)|called off the "
    r"(?:engagement|wedding))"
)
LIKE = _pattern(
    rf"{LIKES} (?P<v>.+?)(?: (?P<than>to|over|rather than|more than|instead of) (?P<w>[\w' "
    rf"-]+?))?{STOP}"
)
DISLIKE = _pattern(rf"{DISLIKES} (?P<v>.+?){STOP}")
FAVORITE = re.compile(
    r"^(?P<s>[A-Z][\w-]*|their)(?:'s)? (?:all-time |new |absolute )*favou?rite (?P<k>[\w ]+?) "
    rf"(?:is|are|has become|became|was)(?: now| actually)? (?P<v>[\w' -]+?){STOP}"
)
FAVORITE_IS = re.compile(
    r"^(?P<v>[\w' -]+?) (?:is|are) (?:now |still )?(?P<s>[A-Z][\w-]*|their)(?:'s)? (?:all-time |"
    r"new |"
    r"absolute |current )*(?:favou?rite|top pick|go-to|number one|top)(?P<k>(?: [\w-]+){0,2}?)"
    + STOP
)
ATTRIBUTE = re.compile(
    rf"^(?P<s>[A-Z][\w-]*|their)(?:'s)? (?:new )?(?P<k>{ATTRIBUTES}) (?:is|are|changed to|has "
    rf"changed to|"
    r"was changed to)(?: now| actually| in| on)* (?P<v>[^,;]+?)(?=\s*[,.;!(]?$|[,;(]| now\b)"
)
EVENT = re.compile(
    rf"^(?:(?P<s>[A-Z][\w-]*|their)(?:'s)? |The |the )(?P<k>(?:[\w-]+ )??{EVENTS})(?: (?:with|"
    rf"at|to|for) [\w' ]+?)? "
    r"(?:is|was|are|got|has been|will be|takes place)(?: now| actually| moved| rescheduled| "
    r"postponed| pushed"
    r"| back| changed| delayed| brought forward| been)* (?:on|to|at|in|until|for) "
    r"(?P<v>[^,;]+?)(?=\s*[,.;!(]?$|[,;(])"
)
MOVED_EVENT = re.compile(
    r"\b(?:moved|pushed|shifted|rescheduled|postponed|bumped|delayed|brought forward) (?:the |"
    r"their |our |"
    rf"\w+'s )(?P<k>(?:[\w-]+ )??{EVENTS})(?: back| forward)? (?:to|until|till|for) (?P<v>[^,;.!]+)"
)
AGE = _pattern(
    r"(?:is|turned|just turned|is turning)(?: now)? (?P<v>\d{1,3}|twenty|thirty|forty|fifty|sixty)"
    r"(?: years old| years of age|(?=\s*[,.;!(]|$| now| today| yesterday| last))"
)
MEASURE = _pattern(r"(?P<k>weighs?|earns?)(?: now)? (?P<v>\d[\w,. ]*?)" + STOP)
COUNT = _pattern(
    rf"(?:has|have|owns?|got)(?: now)? (?P<v>{NUMBER_WORD}) (?:\w+ )?(?P<k>cats?|dogs?|kids|child|"
    r"children|sons?|daughters?|siblings?|brothers?|sisters?|turtles|cars?|bikes?|pets|"
    r"chickens|fish)\b"
)
DIET = _pattern(
    r"(?:is|went|became|turned|has been|been|eats)(?: now| fully)? (?:an? )?(?P<v>vegan|"
    r"vegetarian|pescatarian|"
    r"gluten-free|halal|kosher|meat again|meat)\b"
)
RULE = re.compile(
    r"^(?P<s>Assistant|The assistant) should (?P<n>not |never |avoid )?(?P<v>.+?)[.!]?$"
)
DECIDED = re.compile(
    r"\b(?:decided(?: on)?|in the end|settled on|going with|went with|sticking with|stuck with|"
    r"staying with|staying put|chose|opted for|picked|made up (?:their|\w+'s) mind)\b"
)
HABIT_NOW = re.compile(r"\b(?:has|have) been \w+ing\b|\bnow\b|\bthese days\b|\bevery\b|\bsince\b")
INSTEAD = re.compile(r"\b(?:instead of|rather than) (?:\w+ing )?(?P<x>[\w' -]+?)(?=[.,;!(]|$)")
STUDY = _pattern(
    r"(?:(?:is|are|been) studying|studies|majors in|(?:is|are) majoring in|(?:switched|changed) "
    r"(?:\w+ )?"
    r"(?:majors?|courses?|degrees?|program(?:me)?s?)(?: from [\w ]+?)? to|transferred to|"
    r"switched to "
    r"studying) (?P<v>[a-z][\w ]*?)(?= (?:at|in|with|for)\b|\s*[,.;!(]|$| now\b)"
)
INSTEAD_OF = re.compile(
    r"\binstead of (?!(?!going)\w+ing\b)(?:going to |to )?(?P<x>[\w' -]+?)(?=[.,;!(]|$)"
)

SIMPLE: tuple[tuple[Slot, re.Pattern[str], bool], ...] = (
    (Slot.RULE, RULE, True),
    (Slot.ATTRIBUTE, FAVORITE, True),
    (Slot.ATTRIBUTE, FAVORITE_IS, True),
    (Slot.ATTRIBUTE, ATTRIBUTE, True),
    (Slot.EVENT, EVENT, True),
    (Slot.HOME, NO_HOME, False),
    (Slot.HOME, HOME, True),
    (Slot.HOME, HOME_FOLK, True),
    (Slot.HOME, HOME_IS, True),
    (Slot.HOME, HOME_OF, True),
    (Slot.JOB, NO_JOB, False),
    (Slot.EMPLOYER, EMPLOYER, True),
    (Slot.JOB, JOB, True),
    (Slot.STUDY, STUDY, True),
    (Slot.STATUS, SPLIT, False),
    (Slot.STATUS, STATUS, True),
    (Slot.STATUS, PARTNER, True),
    (Slot.DIET, DIET, True),
    (Slot.AGE, AGE, True),
    (Slot.COUNT, COUNT, True),
    (Slot.ATTRIBUTE, MEASURE, True),
    (Slot.STANCE, DISLIKE, False),
    (Slot.STANCE, LIKE, True),
)
