"""Judges how much a spoken English sentence tells that is worth keeping."""

from __future__ import annotations

import re

from semantic.word_lists import split_words

WORD = re.compile(r"[A-Za-z]+(?:'[A-Za-z]+)*|\d+")
# Openings that carry no content: cut off before a sentence is judged or rewritten.
FILLER_OPENING = re.compile(
    r"^(?:(?:wow|woah|whoa|oh|ah|aw+|yeah|yep|yes|yup|no|nope|hey|hi|hello|well|ok|okay|so|and|"
    r"but|also|"
    r"haha+|lol|man|thanks|thank you|thx|cool|great|awesome|nice|sure|right|absolutely|definitely|"
    r"totally|exactly|anyway|anyways|by the way|btw|you know|i mean|honestly|actually|"
    r"to be honest|of course|good question|plus|oh no|my god|gosh|hmm+|um+|uh+|like|guess what|"
    r"believe me|trust me|seriously|luckily|thankfully|speaking of which|as for me)"
    r"(?:\s+(?:so much|a lot|again|you))?\s*[,!.\-–—…:]+\s*|"
    r"(?:and|but|so|also|plus|well|actually|honestly|anyway|ugh|oh|yeah|nah|hello|hi|hey|okay|"
    r"ok)\s+(?=(?:I|my|we|our|i|the|it)\b)|"
    r"(?:btw|by the way|fyi|psst|ugh|nah|heads up|\w+ update|update|good news|bad "
    r"news|big news|funny thing|funny story|small confession|confession)\b[\s,:!.\u2026-]+)+",
    re.IGNORECASE,
)
THANKS_OR_PRAISE = re.compile(
    r"\b(?:thanks|thank you|congrats|congratulations|good luck|take care|see you|see ya|talk "
    r"(?:to you )?"
    r"(?:soon|later)|bye|good (?:to see|to hear|job|morning|night|on you)|great to (?:see|hear)|"
    r"nice to (?:see|hear)|"
    r"glad (?:to hear|you|it|that)|happy (?:to hear|for you)|sorry to hear|sounds (?:like|great|"
    r"good|"
    r"awesome|amazing|fun|interesting|delicious)|keep (?:it up|up|going|me posted)|let me know|"
    r"appreciate (?:it|that|you|your)|proud of you|good for you|well done|way to go|can't wait "
    r"to (?:hear|see "
    r"(?:it|what|how|you))|long time no|how are you|what's up|you're welcome|no problem|i agree|"
    r"i (?:totally |completely |know|see|understand|get it|get that)(?: agree| understand| get "
    r"it)?[.!,]?$|"
    r"catch up|have (?:fun|a (?:great|good|nice))|you got this|believe in you|rooting for|"
    r"cheer(?:ing)? you|"
    r"i (?:can )?(?:imagine|bet)\b|^let's\b|^here'?s\b|^(?:check|look|take a look|best of luck|"
    r"stay safe|chat soon|appreciate)\b|"
    r"couldn't agree more|excited to (?:see|hear)|here for you|got your back|"
    r"hope (?:you|it|your|everything)|hit me up|stay in touch|keep in touch|"
    r"i'll (?:let you know|keep you|check it|definitely)|great idea|good point|^(?:\w+ "
    r"){0,3}love (?:that|it|"
    r"this)[!.]?$)",
    re.IGNORECASE,
)
RHETORICAL = re.compile(
    r"^(?:(?:can|could|would) you believe (?:it|this|that)?|guess what|you know what|"
    r"did (?:i|you) (?:tell you|mention|hear)(?: that)?|have i told you(?: that)?|remember "
    r"(?:when|how|that))\b[\s,:?!]*(?=\w+ )",
    re.IGNORECASE,
)
HYPOTHETICAL = re.compile(
    r"^(?:if|maybe|perhaps|what if|imagine|suppose)\b|\bif i (?:were|was|could|had)\b|"
    r"\bi (?:might|may|could) (?!be\b)|\bi'd (?:probably|maybe)\b|\bi would (?:probably|maybe)\b|"
    r"\bif \w+ ever\b|\bwould say\b",
    re.IGNORECASE,
)
FIRST_PERSON = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|myself|we|we're|we've|we'll|our|us)\b", re.IGNORECASE
)
FIRST_SUBJECT = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|we|we're|we've|we'll|my|our)\b", re.IGNORECASE
)
SECOND_PERSON = re.compile(
    r"\b(?:you|you're|you've|you'll|you'd|your|yours|yourself|ya|u)\b", re.IGNORECASE
)
VAGUE_OPENING = re.compile(
    r"^(?:it|it's|it'll|that|that's|this|these|those|they|they're|there|there's|he|he's|she|she's|"
    r"such|so|what|how|can't beat|nothing|just)\b",
    re.IGNORECASE,
)
# What others say of one is no fact about one, unless it is their profession to know.
HEARSAY = re.compile(
    r"\b(?:my|our|his|her|the|some|people|everyone|they)\b(?! (?:doctor|dentist|vet|therapist|"
    r"boss|manager|"
    r"coach|teacher|landlord|consultant|gp|nurse|physio|accountant|lawyer))[\w' "
    r"]{0,25}?\b(?:claim(?:s|ed)?|"
    r"jok(?:e|es|ed)|insists?|swears?|reckons?|pretends?|always (?:says?|said)|would say|keeps? "
    r"(?:saying|telling)|says?|tells? (?:people|everyone))(?: (?:that|everyone|people))? (?:I|"
    r"I'm|I've|I'd)\b|"
    r"我(?:的)?(?:邻居|朋友|同事|室友|前任|前男友|前女友|同学|哥们|闺蜜|老婆|老公|妈妈?|"
    r"爸爸?)[^，。]{0,6}"
    r"(?:说|笑|叫|喊|吐槽)我是?",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"(?:,? (?:so,? )?you know|,? (?:lol|haha+|tbh)|, (?:though|ya know)|, i could [^,.]+)[\s.!]*$",
    re.IGNORECASE,
)
TIME_OR_NUMBER = re.compile(
    r"\d|\b(?:yesterday|today|tomorrow|tonight|last|next|ago|week|weekend|month|year|monday|"
    r"tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|"
    r"september|october|november|december|one|two|three|four|five|six|seven|ten)\b",
    re.IGNORECASE,
)
STOP_WORDS = split_words(
    "a an the and or but if then so to of in on at for with from by about as into over after "
    "before "
    "i i'm i've i'd i'll my me mine myself we we're we've we'll our us ours you you're you've "
    "you'll "
    "you'd your yours yourself he he's she she's it it's its they they're them their his her "
    "him this "
    "that that's these those there there's here what what's which who how when where why is are "
    "was "
    "were be been being am do does did don't doesn't didn't have has had haven't can can't could "
    "will won't would should not no yes just really very too also only even still much many lot "
    "lots "
    "more most some any all every such like get got getting go going gonna make makes made thing "
    "things something anything everything stuff know think feel feels good great nice cool awesome "
    "amazing wonderful fantastic incredible super pretty quite sure definitely always never up out "
    "down off than because while one way bit kind sort im thats ive dont yeah wow oh well now us "
    "let's let see look take new back truly totally absolutely actually"
)


def strip_filler(sentence: str, *, names: frozenset[str]) -> str:
    """Return the sentence without interjections and without calling `names` by name."""
    text = sentence.strip()
    calls = "|".join(sorted((re.escape(n) for n in names if n), key=len, reverse=True))
    while True:
        cut = TRAILING.sub("", RHETORICAL.sub("", FILLER_OPENING.sub("", text)))
        if calls:
            cut = re.sub(rf"^(?:{calls})\s*[,!.\-]+\s*", "", cut, flags=re.IGNORECASE)
            cut = re.sub(rf",\s+(?:{calls})(?=[,.!?]|$)", "", cut, flags=re.IGNORECASE)
            cut = re.sub(
                rf"^(?:hey|hi|thanks|yeah|wow|yep|yes|oh|no|ok|okay|aw+)\s+(?:{calls})\b[\s,!.\-]*",
                "",
                cut,
                flags=re.IGNORECASE,
            )
        if cut == text:
            return text
        text = cut.strip()


def content_words(text: str) -> list[str]:
    """Return the lower-cased words that carry meaning, in order, repeats kept."""
    return [
        w for w in (m.lower() for m in WORD.findall(text)) if w not in STOP_WORDS and len(w) > 1
    ]


def is_question(sentence: str) -> bool:
    """Whether a sentence asks; a trailing smiley or bracket does not hide the mark."""
    asks = "?" in sentence[-3:] or "？" in sentence[-3:]
    return asks and RHETORICAL.match(sentence) is None


def informativeness(sentence: str) -> float:
    """Return how much a sentence tells, about -2..8; above 3 is worth keeping.

    It counts content words, and favours first-person subjects, names, dates and
    numbers over talk about the listener, praise and pointing words.
    """
    words = WORD.findall(sentence)
    content = set(content_words(sentence))
    value: float = min(len(content), 8) * 0.5
    if FIRST_SUBJECT.search(sentence):
        value += 1.5
    elif FIRST_PERSON.search(sentence):
        value += 0.9
    value += min(sum(w[0].isupper() and w.lower() not in STOP_WORDS for w in words[1:]), 2) * 0.3
    value += 0.5 if TIME_OR_NUMBER.search(sentence) else 0.0
    value -= min(len(SECOND_PERSON.findall(sentence)), 2) * 1.0
    value -= 2.0 if THANKS_OR_PRAISE.search(sentence) else 0.0
    value -= 0.8 if VAGUE_OPENING.search(sentence) else 0.0
    return value
