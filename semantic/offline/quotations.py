"""Writes and reads facts that quote their speaker: `Sam: "…"`."""

import re

QUOTATION = re.compile(r"^(?P<speaker>[^\":\n]{1,100}): \"(?P<sentence>.*)\"$", re.DOTALL)


def quote(text: str, *, speaker: str) -> str:
    """Return words as a quotation of their speaker, to the letter."""
    return f'{speaker}: "{text}"'


def parse_quote(fact: str) -> tuple[str, str] | None:
    """Return speaker and words of a quotation, None if the fact is none."""
    match = QUOTATION.match(fact)
    return (match["speaker"], match["sentence"]) if match else None
