"""The form of a language model's answer: sentences with citations, and further questions.

Citations come first: a model that quotes before it writes invents less.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from memoryproject.ai.replies import Lists, Reply, Rows

NUMBER = re.compile(r"-?\d{1,9}")
UNKNOWN = 0
"""A number that no line has."""


def _read_number(said: Any) -> int:
    """Return the number in 12, "12", "[12]" or "line 12"."""
    match = NUMBER.search(str(said)[:40])
    return int(match[0]) if match else UNKNOWN


class CitationReply(Reply):
    """The number of a line, and words quoted from it."""

    line: Annotated[int, BeforeValidator(_read_number)]
    quote: str


class SentenceReply(Reply):
    """A sentence of the answer with its citations."""

    cites: Rows[CitationReply] = []
    text: str


class AskReply(Lists):
    """The answer; both lists are empty if the memories do not contain it."""

    sentences: Rows[SentenceReply] = []
    further: Rows[str] = []
