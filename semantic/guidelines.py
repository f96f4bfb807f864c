"""Finds what a user asks of the assistant: rules, tone, a name to be called by."""

from __future__ import annotations

import re

POLITE = re.compile(
    r"^(?:(?:please|pls|and|also|so|but|hey|ok|okay|from now on|in (?:the )?future|going "
    r"forward|for the future|"
    r"next time|by the way|btw|can you|could you|would you|i'd like you to|i would like you to|"
    r"i want you to|"
    r"i need you to|you should|you must|you have to|you can|i'd prefer (?:it )?if you|try to|"
    r"make sure (?:to|you|that you)|"
    r"remember to|be sure to|just|kindly|try)\b[,:]?\s*)+",
    re.IGNORECASE,
)
NEVER = re.compile(
    r"^(?:don't(?: ever)?|do not(?: ever)?|never|stop|avoid|no more|no)\s+", re.IGNORECASE
)
# A rule needs words of lasting: "please open the file" is a task of the moment.
LASTING = re.compile(
    r"\b(?:always|never|from now on|every time|whenever|in future|in the future|going forward|"
    r"don't ever|"
    r"going on|any ?more|each time|by default)\b",
    re.IGNORECASE,
)
MANNER = re.compile(
    r"^(?:answer|reply|respond|speak|talk|write|keep|use|be|call|address|avoid|include|add|give|"
    r"explain|"
    r"format|say|show|cite|ask|start|end|skip|remind|stick|refer|mention|apologi[sz]e|translate|"
    r"check)\b",
    re.IGNORECASE,
)
ABOUT_ANSWERS = re.compile(
    r"\b(?:emojis?|answers?|answering|repl(?:y|ies)|respond|responses?|sentences?|short|shorter|"
    r"brief|concise|formal|informal|"
    r"casual|tone|polite|honorifics?|bullet|bullets|jargon|markdown|language|english|french|"
    r"german|spanish|"
    r"chinese|japanese|metric|units|celsius|sources?|examples?|step by step|call me|exclamation|"
    r"slang|"
    r"apologi[sz]\w*|simple words|code comments|lists?|swear\w*|jokes?|details?)\b",
    re.IGNORECASE,
)
CALL_ME = re.compile(r"\b[Cc]all me ([A-Z][\w'-]*(?: [A-Z][\w'-]*)?)")
CHINESE = re.compile(
    r"^(?:请|以后|今后|从现在起|麻烦|希望)?(?:你|您)?(?:以后|今后|都|能|可以|"
    r"请)*(?P<rest>(?:不要|别|总是|一直|都|每次|叫我|称呼我|用|回答|说|尽量|务必|必须|记得|保持).+)"
)
CHINESE_CALL = re.compile(r"(?:叫|称呼)我(?:为|做)?(?P<name>[^，。！]{1,8})")
CHINESE_CUE = re.compile(r"以后|今后|从现在起|总是|每次|不要|别|尽量|务必|叫我|称呼我|请用|保持")
CHINESE_TOPIC = re.compile(
    r"回答|回复|表情|语气|简短|简洁|中文|英文|敬语|叫我|称呼|例子|说话|列表|术语|啰嗦|正式|"
    r"markdown|字数|解释",
    re.IGNORECASE,
)


STEERING = re.compile(
    r"^\W*(?:the |an? |this |your )?(?:ai |llm |chat ?)?(?:assistant|agent|bot|chatbot|model|"
    r"system|ai|llm)s?\b[^.!?]*?\b(?:should|must|shall|ought|may not|can't|cannot|"
    r"(?:has|have|needs?|is|are) (?:to|required|allowed|instructed|supposed|obliged)|"
    r"always|never|will|won't)\b|"
    r"^\W*(?:always|never|from now on|ignore|disregard|you (?:must|should|shall))\b|"
    r"^[「『“\"]?(?:助手|助理|机器人|模型|系统|AI|人工智能)[^。！]*(?:应该|应当|必须|不得|不要|总是|"
    r"永远|需要|务必|一定要)|^(?:必须|务必|总是|永远|忽略|无视|请?你)",
    re.IGNORECASE,
)


def steers_agent(fact: str) -> bool:
    """Return whether a sentence tells the agent how to behave, whatever it is filed under."""
    return STEERING.search(fact) is not None


def find_guideline(sentence: str, *, speaker: str, among_people: bool = False) -> str | None:
    """Return "Assistant should …" for a lasting wish about how to behave, else None.

    `among_people` says that the listener has a name, so that "never give up" may be
    advice to a friend: then the wish must be about answers.
    """
    text = sentence.strip().rstrip("?!. ")
    if call := CALL_ME.search(text):
        return f"Assistant should call {speaker} {call[1]}."
    lasting = LASTING.search(text) is not None
    bare = POLITE.sub("", text)
    asked = bare != text
    bare = POLITE.sub("", bare).strip()
    negative = NEVER.match(bare)
    wish = NEVER.sub("", bare) if negative else bare
    if negative is None and re.match(r"^always\s+", bare, re.IGNORECASE):
        asked, wish = True, re.sub(r"^always\s+", "", bare, flags=re.IGNORECASE)
    wish = re.sub(
        r",?\s*(?:please|from now on|in (?:the )?future|going forward|any ?more)$",
        "",
        wish,
        flags=re.IGNORECASE,
    )
    stem, whole = (re.sub(r"^(\w+?)ing\b", end, wish) for end in (r"\1", r"\1e"))
    if not (asked or negative) or not (
        MANNER.match(wish) or MANNER.match(stem) or MANNER.match(whole)
    ):
        return None
    if not ((lasting and not among_people) or ABOUT_ANSWERS.search(wish)) or len(wish.split()) > 30:
        return None
    return f"Assistant should {_phrase(bare, wish, negative)}."


def _phrase(bare: str, wish: str, negative: re.Match[str] | None) -> str:
    wish = re.sub(r"\bme\b", "the user", wish[:1].lower() + wish[1:])
    wish = re.sub(r"\bmy\b", "the user's", wish)
    wish = re.sub(r"\byour\b", "its", wish)
    wish = re.sub(r"\bI\b", "the user", wish)
    if negative is None:
        always = re.match(r"^always\b", bare, re.IGNORECASE)
        return f"always {wish}" if always else wish
    word = negative[0].strip().lower()
    if word in {"stop", "avoid"}:
        return f"avoid {wish}"
    return f"never {wish}" if word == "never" else f"not {wish}"


def find_chinese_guideline(sentence: str, *, speaker: str) -> str | None:
    """Return "助手应该…" for a lasting wish said in Chinese, else None."""
    text = sentence.strip().rstrip("。！! ")
    if call := CHINESE_CALL.search(text):
        return f"助手应该称呼{speaker}为{call['name'].rstrip('吧了好')}。"
    match = CHINESE.match(text)
    if match is None or not CHINESE_CUE.search(text) or not CHINESE_TOPIC.search(text):
        return None
    wish = match["rest"].replace("我", speaker)
    denied = re.match(r"^(?:不要|别)(?:再)?", wish)
    return f"助手不应该{wish[denied.end() :]}。" if denied else f"助手应该{wish}。"
