"""What the words of a line say about where one event ends and another begins.

Word lists, English and Chinese, and nothing learnt. Each question takes the content
of one line, without its speaker.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")
_STEMMER_LOCK = Lock()
"""A Snowball stemmer keeps the word it works on in itself."""
_MOST_REMEMBERED = 1000
_LONGEST_WORD = 40

STOP_WORDS = frozenset(
    """
    a about above after again all also always am an and any anyone anything are aren as at away be
    because been before being but by bye can cannot cool could couldn did didn do does doesn doing
    don done down else even ever every for from get gets getting go goes going gonna good got great
    had hadn has hasn have haven having he hello her here hers hey hi him his hmm how i if in into
    is isn it its just know let lets like ll lot lots make makes many maybe me mean might more most
    much must my myself need never new nice no nor not now of off oh ok okay on once one only or
    other our ours out over own please pretty quite re really right said same say see she should
    so some someone something soon still such sure take tell than thank thanks that the their them
    then there these they thing things think this those though through to today too totally try
    up us use ve very want wanna was wasn way we well were weren what whatever when where which
    while who whom whose why will with won would wouldn wow yeah yep yes yet you your yours
    """.split()
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_STOP = frozenset("的了是我你他她它们吗呢吧啊呀在有和就都也很不这那个么什说要会可以到去来好")

_NEW_TOPIC = re.compile(
    r"\b(?:by the way|btw|anyway|anyways|on another note|on a different note|speaking of"
    r"|changing the subject|to change the subject|change of subject|moving on|before i forget"
    r"|one more thing|another thing|another question|different question|next question"
    r"|unrelated|also,? (?:can|could|i)|guess what|so,? (?:what|how|do|tell))\b"
    r"|对了|换个话题|话说|另外|说起|顺便|还有一件事|还有个事|ところで|そういえば|話は変わ",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^\W*(?:hi|hello|hey|hiya|howdy|good (?:morning|afternoon|evening)|greetings|long time"
    r"|what['’]?s up|welcome back)\b|\blong time no (?:see|talk)\b"
    r"|^\W*(?:你好|您好|嗨|早上好|早安|晚上好|下午好|好久不见|こんにちは|おはよう|こんばんは)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"^\W*(?:(?:hi|hello|hey|ok|okay|great|yes|and|also|thanks|thank you|perfect)\W+)*"
    r"(?:i (?:need|want|would like|wanna|am looking|am trying|am interested|have a question)"
    r"|i['’](?:d like|m looking|m trying|m interested)|can you|could you|will you|would you"
    r"|please|help me|find|show me|give me|tell me|book|schedule|set|remind|add|check|navigate"
    r"|what (?:is|are|was|will|time|kind|do)|what['’]s|where|who|how (?:do|can|about|much|many)"
    r"|do you|are you|have you|did you|is there|are there)\b"
    r"|^\W*(?:请|帮我|我想|我要|能不能|可以帮|你能|如何|怎么|什么是|推荐)",
    re.IGNORECASE,
)
_FAREWELL = re.compile(
    r"\b(?:bye|goodbye|good night|see you|see ya|talk (?:to you )?(?:soon|later)|take care"
    r"|have a (?:good|great|nice|wonderful|lovely|safe)|catch you later|gotta go"
    r"|(?:you['’]re|you are|your) (?:very |most )?welcome|no problem|anytime|my pleasure"
    r"|glad (?:i|to|we)|enjoy your|drive (?:safely|carefully)|that (?:is|will be) all"
    r"|that['’](?:s|ll be) all|nothing else|no(?:pe)?,? (?:thanks|thank you))\b"
    r"|再见|拜拜|晚安|回头聊|下次聊|不客气|さようなら|おやすみ|またね|じゃあね",
    re.IGNORECASE,
)
_THANKS = re.compile(
    r"\b(?:thanks?|thank you|thx|appreciate)\b|谢谢|多谢|感谢|ありがとう", re.IGNORECASE
)
_REPLY = re.compile(
    r"^\W*(?:yes|yeah|yep|yup|no|nope|nah|ok|okay|sure|right|exactly|true|agreed|same|me too"
    r"|of course|absolutely|definitely|certainly|totally|i see|i agree|i know|i think so"
    r"|really|wow|cool|nice|great|awesome|haha|lol|oh|ah|aw|thanks|thank|sounds|that|it|its|it['’]s"
    r"|they|he|she|this|those|these|but|and|because|so|or|then|well|not|only|perfect|alright)\b"
    r"|^\W*(?:是的|是啊|对|嗯|好的|好吧|没错|不是|哈哈|真的|哇|那|他|她|它|但|因为|所以"
    r"|はい|うん|ええ|いいえ|そう|なるほど)",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|those|these|they|them|he|she|him|her|there|one|ones|same|else|both)\b"
    r"|那个|这个|它|他们|那里|それ|その|あの",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|we|my|our|me|us)\b|[我咱私]", re.IGNORECASE)
_SHOCK = re.compile(
    r"\b(?:wait,? what|i had no idea|i(?: still)? can(?:no|['’])t believe|omg|oh my (?:god|gosh)"
    r"|that changes (?:everything|things)|out of nowhere|shock(?:ed|ing)|plot twist|bombshell"
    r"|never (?:expected|imagined)|that['’]s (?:so )?different|(?:crazy|huge) thing happened"
    r"|you (?:won['’]t|will never|['’]ll never) (?:believe|guess))\b|^\W*(?:no way|what)[!?]"
    r"|没想到|居然|竟然|天哪|天啊|不敢相信|什么[？?！!]|まさか|信じられない",
    re.IGNORECASE,
)
_NEWS = re.compile(
    r"\b(?:guess what|all of a sudden|suddenly|unexpected(?:ly)?|something (?:huge|massive|crazy)"
    r"|(?:i|we)(?:['’]ve)?(?: have| got| have got)? (?:some |a |big |great |bad |exciting )*news)\b"
    r"|你猜|突然|びっくり|急に",
    re.IGNORECASE,
)
_KIN = (
    r"(?:mom|mum|mother|dad|father|parents?|brother|sister|grand\w+|wife|husband|partner|son"
    r"|daughter|uncle|aunt|cousin|friend|boss|dog|cat|he|she)"
)
_LIFE_EVENT = re.compile(
    r"\b(?:laid off|(?:got|been|was) fired|lost my job|quit(?:ting)? my job|resign(?:ed|ing)"
    r"|got promoted|got the job|divorc\w*|break(?:ing)? up|broke up|split up|we separated"
    r"|(?:got|are|['’]re|['’]m) engaged|proposed to|getting married|got married|eloped|pregnant"
    r"|having a baby|gave birth|passed away|funeral|cancer|diagnosed|car accident"
    r"|hospitali[sz]ed|broke my (?:arm|leg|wrist|ankle)|in (?:the )?hospital|evicted"
    r"|bankrupt\w*|arrested|robbed|burned down|won the lottery|moving to|moved out"
    r"|dropp(?:ed|ing) out|expelled|heart attack|had a stroke"
    rf"|{_KIN} (?:\w+ )?(?:died|(?:was|were|got) killed))\b"
    r"|被裁|失业|辞职|离婚|分手|结婚|怀孕|去世|癌症|车祸|住院|破产|中奖|解雇|亡くな|妊娠|離婚|結婚",
    re.IGNORECASE,
)


def is_new_topic(content: str) -> bool:
    """Does the line announce that it leaves the subject ("by the way", 对了)?"""
    return bool(_NEW_TOPIC.search(content[:160]))


def is_greeting(content: str) -> bool:
    """Does the line open a meeting ("hey", "long time no see", 好久不见)?"""
    return bool(_GREETING.search(content[:80]))


def is_request(content: str) -> bool:
    """Does the line open with a wish or a question of its own?"""
    return bool(_REQUEST.search(content[:120]))


def is_farewell(content: str) -> bool:
    """Does the line close a matter ("bye", "you're welcome", 晚安)?"""
    return bool(_FAREWELL.search(content))


def is_thanks(content: str) -> bool:
    """Does the line thank?"""
    return bool(_THANKS.search(content))


def is_reply(content: str) -> bool:
    """Does the line start like an answer to the one before ("yes", "that …", 是的)?"""
    return bool(_REPLY.search(content[:40]))


def is_question(content: str) -> bool:
    """Does the line end by asking?"""
    return content.rstrip(" \"'”’)*_~").endswith(("?", "？", "吗", "呢", "か。", "か"))


def points_back(content: str) -> bool:
    """Do the first words lean on something said before ("it", "they", 那个)?"""
    return bool(_POINTS_BACK.search(content[:40]))


def sounds_shocked(content: str) -> bool:
    """Does somebody say that this upsets what they knew ("wait, what?", 没想到)?"""
    return bool(_SHOCK.search(content))


def announces_news(content: str) -> bool:
    """Does the line promise something new ("guess what", 突然)?"""
    return bool(_NEWS.search(content))


def tells_life_event(content: str) -> bool:
    """Does the speaker tell an event that changes a life (a birth, a layoff, 离婚)?"""
    if is_question(content) or not _FIRST_PERSON.search(content):
        return False
    return bool(_LIFE_EVENT.search(content))


def speaks_in_first_person(content: str) -> bool:
    """Does the speaker talk of himself or of his own people?"""
    return bool(_FIRST_PERSON.search(content))


def content_words(text: str) -> frozenset[str]:
    """Return the stems that carry meaning; bigrams where the script has no spaces."""
    return _remember_words(text) if len(text) <= _MOST_REMEMBERED else _find_words(text)


@lru_cache(maxsize=4096)
def _remember_words(text: str) -> frozenset[str]:
    return _find_words(text)


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    with _STEMMER_LOCK:
        return str(_STEMMER.stemWord(word))


def _find_words(text: str) -> frozenset[str]:
    words: set[str] = set()
    for word in _WORD.findall(text.lower()):
        if _CJK.search(word):
            kept = [c for c in word if c not in _CJK_STOP]
            words.update("".join(pair) for pair in itertools.pairwise(kept))
        else:
            bare = re.sub(r"['’].*$", "", word)
            if len(bare) > 1 and bare not in STOP_WORDS:
                words.add(_stem(bare[:_LONGEST_WORD]))
    return frozenset(words)
