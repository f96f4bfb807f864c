"""Removes quoted and pasted text, so that the sender's own words remain. Pure."""

import re

from memoryproject.text.sentences import HAN
from semantic.patterns import read_pattern

QUOTED = "\ufffc"
"""Replaces a quotation."""
CODE_OR_QUOTED_LINE = re.compile(r"```.*?(?:```|\Z)|^[ \t]*>.*?$", re.DOTALL | re.MULTILINE)
MAIL_HEADER = read_pattern("messages.mail_header")
# Pasted text follows a line that ends in a colon, unless it is a list.
PASTED_BELOW = re.compile(r"(?<=[:：])[ \t]*\n\s*(?![-*•\d]).*", re.DOTALL)
RULED_OFF = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|_{3,})[ \t]*$.*", re.DOTALL | re.MULTILINE)
QUOTATION = read_pattern("messages.quotation")
TITLE_WORDS_AT_MOST = 4
TITLE_CHARACTERS_AT_MOST = 12
"""Characters of a Chinese title; a longer text in quotation marks is a sentence, not a name."""
PHOTO = re.compile(r"\[\s*(?:shared|shares|sent|posted)\b[^\]]{0,2000}\]", re.IGNORECASE)


def strip_pasted(text: str) -> str:
    """Return a message without code, quoted lines and emails; each quotation becomes a mark."""
    text = CODE_OR_QUOTED_LINE.sub(f"{QUOTED}\n", PHOTO.sub(" ", text))
    for pattern in (MAIL_HEADER, RULED_OFF, PASTED_BELOW):
        text = pattern.sub(f" {QUOTED}\n", text)
    return QUOTATION.sub(_mask, text)


def _mask(match: re.Match[str]) -> str:
    """Keep a quoted name or title; replace a quoted sentence by the mark."""
    inside = match[0].strip("\"“”„«»「」『』'‘’")
    is_short = (
        len(inside) <= TITLE_CHARACTERS_AT_MOST
        if HAN.search(inside)
        else len(inside.split()) <= TITLE_WORDS_AT_MOST
    )
    is_name = is_short and not re.search(r"[.!?。！？,，:]", inside) and inside.strip()
    return match[0] if is_name else QUOTED
