"""Writes and reads facts that quote their speaker: `Sam: "…"`."""

import re

QUOTATION = re.compile(r"^(?P<speaker>[^\":\n]{1,100}): \"(?P<sentence>.*)\"$", re.DOTALL)
MARKS = re.compile(r"[\"“”„]")


def quote(text: str, *, speaker: str) -> str:
    """Return a sentence as a quotation of its speaker; quotation marks inside become single."""
    inside = MARKS.sub("'", text)
    return f'{speaker}: "{inside}"'


def parse_quote(fact: str) -> tuple[str, str] | None:
    """Return speaker and sentence of a quotation, None if the fact is none."""
    match = QUOTATION.match(fact)
    return (match["speaker"], match["sentence"]) if match else None
