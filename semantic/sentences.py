"""Splits what was said into sentences, photo captions and languages."""

from __future__ import annotations

import re
from enum import StrEnum

from semantic.word_lists import split_words


class Script(StrEnum):
    """How a sentence has to be rewritten; OTHER is any language we have no rules for."""

    ENGLISH = "english"
    CHINESE = "chinese"
    JAPANESE = "japanese"
    OTHER = "other"


CAPTION = re.compile(
    r"\[\s*(?:shared|shares|sent|posted)?\s*(?:an?\s+)?"
    r"(?:photo|image|picture|pic)s?\s*[:\-]\s*([^\]]+)\]",
    re.IGNORECASE,
)
CAPTION_LEAD = re.compile(
    r"^(?:an?|the)?\s*(?:photo|photography|image|picture|close up|closeup)\s+(?:photo\s+)?of\s+",
    re.IGNORECASE,
)
# An abbreviation or an initial ends in a full stop that ends no sentence.
ABBREVIATION = re.compile(
    r"\b(?:mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|jr|sr|inc|ltd|co|approx|a\.m|p\.m|u\.s)\.$"
    r"|\b[A-Z]\.$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(
    r"(?<=[.!?…])[\"'”’)]*\s+|\n+|(?<=[。！？!?])(?=[^\s。！？!?”」])|\s+--?\s+|;\s+"
)
QUOTED_BLOCK = re.compile(r"```.*?```|^>.*?$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"https?://\S+")
HAN = re.compile(r"[\u3400-\u9fff]")
KANA = re.compile(r"[\u3040-\u30ff]")
LATIN_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")
ENGLISH_FUNCTION_WORDS = split_words(
    "i i'm i've i'd i'll my me we our us you your the a an and or but to of in on at for with "
    "is are "
    "was were be been it it's that this not don't do did have has had from by as he she they "
    "his her "
    "their will would can could should please never always about just so"
)


# Of the languages most written in Latin letters; none of them is an English word.
FOREIGN_FUNCTION_WORDS = split_words(
    "ich und der das ist nicht ein eine mit zu wir sie el la los las que y en por para una muy mi "
    "soy je et le les des est une dans pour avec mon nous il che di per una sono io em com uma eu "
    "meu het een ik van niet og jeg det ikke jag och inte w nie jest ve bir ben"
)


def split_captions(content: str) -> tuple[str, list[str]]:
    """Return the words said, and what each photo in square brackets shows."""
    captions = [CAPTION_LEAD.sub("", m.strip()) for m in CAPTION.findall(content)]
    return CAPTION.sub(" ", content), [c for c in captions if c]


def split_sentences(text: str) -> list[str]:
    """Return the sentences of one message in order; code and quoted lines are left out."""
    plain = LINK.sub("", QUOTED_BLOCK.sub("\n", text)).replace("’", "'")
    sentences: list[str] = []
    for piece in SENTENCE_END.split(plain):
        stripped = piece.strip(" \t*•")
        if not stripped:
            continue
        if sentences and ABBREVIATION.search(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {stripped}"
        else:
            sentences.append(stripped)
    return sentences


def detect_script(text: str) -> Script:
    """Return which rules fit `text`; a few Latin words inside Chinese leave it Chinese."""
    if KANA.search(text):
        return Script.JAPANESE
    if HAN.search(text):
        return Script.CHINESE
    words = [w.lower() for w in LATIN_WORD.findall(text)]
    english = sum(w in ENGLISH_FUNCTION_WORDS or "'" in w for w in words)
    foreign = sum(w in FOREIGN_FUNCTION_WORDS for w in words)
    letters = sum(c.isalpha() for c in text)
    if not words or foreign > english or 2 * sum(map(len, words)) < letters:
        return Script.OTHER
    return Script.ENGLISH
