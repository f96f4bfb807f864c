"""Finds what a user asks of the assistant for good: manner, tone, a name to be called by."""

import re

from memoryproject.text.sentences import Writing
from semantic.offline.lexicon import Lexicon
from semantic.offline.messages import Sentence
from semantic.offline.quotations import quote
from semantic.pasted import QUOTED
from semantic.patterns import read_pattern

WORDS_AT_MOST = 30
CLOSING = read_pattern("guidelines.closing")

REASON = re.compile(r"(?:,| -| –)? (?:I|I'm|I'll|because|since|it's|it is|that's) .*$")


def find_guideline(sentence: Sentence) -> str | None:
    """Return "Assistant should …" for a lasting wish about how to behave, else None.

    In languages that are not rewritten it is the user's own sentence, quoted.
    """
    text, lexicon = sentence.text.strip().rstrip("?!.。！ "), sentence.lexicon
    if QUOTED in text:
        return None
    call = re.search(lexicon.get("guidelines.call_me") or r"(?!)", text)
    if call is not None:
        name = call[1].rstrip("吧了好")
        return str(lexicon.get("guidelines.call")).format(speaker=sentence.speaker, name=name)
    if sentence.writing is Writing.CHINESE:
        return _find_in_chinese(text, lexicon, sentence.speaker)
    if sentence.writing is Writing.ENGLISH:
        _, _, after_colon = text.partition(": ")
        return _find_in_english(text, lexicon) or _find_in_english(after_colon, lexicon)
    asks = lexicon.has("guidelines.asks", text)
    about_answers = lexicon.has("guidelines.about_answers", text)
    return quote(sentence.text, speaker=sentence.speaker) if asks and about_answers else None


def _find_in_english(text: str, lexicon: Lexicon) -> str | None:
    polite = lexicon.pattern("guidelines.polite")
    bare = polite.sub("", text)
    is_wish = bare != text
    negative = lexicon.pattern("guidelines.negative").match(bare)
    wish = bare[negative.end() :] if negative else bare
    if always := re.match(r"always\s+", wish, re.IGNORECASE):
        is_wish, wish = True, wish[always.end() :]
    wish = CLOSING.sub("", REASON.sub("", wish))
    lasts = lexicon.has("guidelines.lasting", text)
    about_answers = lexicon.has("guidelines.about_answers", wish)
    if not (is_wish or negative) or not lexicon.pattern("guidelines.manner").match(wish):
        return None
    if not (lasts or about_answers) or len(wish.split()) > WORDS_AT_MOST:
        return None
    if always:
        wish = f"always {wish}"
    return str(lexicon.get("guidelines.text")).format(wish=_turn_round(wish, negative))


def _turn_round(wish: str, negative: re.Match[str] | None) -> str:
    """Return a wish as said of the assistant: "me" is the user, "your" its own."""
    for pattern, word in ((r"\bme\b", "the user"), (r"\bmy\b", "the user's"), (r"\byour\b", "its")):
        wish = re.sub(pattern, word, wish)
    wish = re.sub(r"\bI\b", "the user", wish[:1].lower() + wish[1:])
    if negative is None:
        return wish
    word = negative[0].strip().lower()
    if word in {"stop", "avoid"}:
        return f"avoid {wish}"
    return f"never {wish}" if word in {"never", "don't ever"} else f"not {wish}"


def _find_in_chinese(text: str, lexicon: Lexicon, speaker: str) -> str | None:
    match = lexicon.pattern("guidelines.form").match(text)
    keys = ("guidelines.cue", "guidelines.about_answers")
    if match is None or not all(lexicon.has(key, text) for key in keys):
        return None
    wish = match["wish"].replace("我", speaker)
    denied = lexicon.pattern("guidelines.negative").match(wish)
    if denied:
        return str(lexicon.get("guidelines.text_not")).format(wish=wish[denied.end() :])
    return str(lexicon.get("guidelines.text")).format(wish=wish)
