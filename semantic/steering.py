"""Recognises sentences that tell the agent how to behave, whatever they are filed under."""

import re

from memoryproject.text.sentences import split_sentences

STEERING = re.compile(
    r"^\W*(?:the |an? |this |your |all )?(?:ai |llm |chat ?)?(?:assistant|agent|bot|chatbot|model|"
    r"system|ai|llm)s?\b[^.!?]*?\b(?:should|must|shall|ought|may not|can't|cannot|"
    r"(?:has|have|needs?|is|are) (?:to|required|allowed|instructed|supposed|obliged)|"
    r"always|never|will|won't)\b|"
    r"^\W*(?:always|never|from now on|ignore|disregard|you (?:must|should|shall))\b|"
    r"^\W*(?:助手|助理|机器人|模型|系统|AI|人工智能)[^。！]*(?:应该|应当|必须|不得|不要|总是|"
    r"永远|需要|务必|一定要)|^(?:必须|务必|总是|永远|忽略|无视|请?你)",
    re.IGNORECASE,
)
# Who is said to say it changes nothing: `Sam: "…"`, "Sam says that …".
ATTRIBUTION = re.compile(
    r"^[^\":\n]{1,100}: \"|^[\w' -]{1,60}? (?:says?|said|asks?|wants|notes?) (?:that )?|"
    r"^[^，。]{1,8}说(?:：|:)?"
)
NOTE_TO_AI = re.compile(
    r"\b(?:system )?(?:note|instruction|message)s? (?:to|for) (?:all )?(?:ai|llm)\b", re.I
)


def steers_agent(fact: str) -> bool:
    """Return whether any sentence of a fact, or what it quotes, commands the agent."""
    parts = [fact, *split_sentences(ATTRIBUTION.sub("", fact))]
    return NOTE_TO_AI.search(fact) is not None or any(STEERING.search(part) for part in parts)
