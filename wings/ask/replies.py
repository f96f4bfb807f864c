"""The form in which a language model answers a question: sentences, and what else to look up.

What a sentence rests on comes first: a model that has to quote before it writes invents less.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

from memoryproject.ai.replies import Lists, Reply, Rows

NUMBER = re.compile(r"-?\d{1,9}")
UNKNOWN = 0
"""The number of no line."""


def _read_number(said: Any) -> int:
    """Return the number in 12, "12", "[12]" or "line 12"."""
    match = NUMBER.search(str(said)[:40])
    return int(match[0]) if match else UNKNOWN


class CitationReply(Reply):
    """A line that was shown, and its words."""

    line: Annotated[int, BeforeValidator(_read_number)]
    quote: str


class SentenceReply(Reply):
    """A sentence of the answer with what it rests on."""

    cites: Rows[CitationReply] = []
    text: str


class AskReply(Lists):
    """The answer; both lists are empty where the memory does not hold it."""

    sentences: Rows[SentenceReply] = []
    further: Rows[str] = []
