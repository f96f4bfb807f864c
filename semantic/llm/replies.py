"""The form in which a language model answers about facts: a list for each kind of change.

What code can tell by itself is not asked for, since an answer is what costs time: why, keywords,
which episode, and the sentence of a fact that is only confirmed or over. In every row the
messages come first: a model that has to name its evidence before the sentence invents less.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.json_schema import SkipJsonSchema

from memoryproject.ai.replies import Lists, Reply, Rows
from semantic.engines import Category


def _read_category(said: Any) -> Any:
    """Return a known category; a model's own word for one does not cost the fact."""
    return _find_category(said) or Category.EXPERIENCE


def _find_category(said: Any) -> str | None:
    word = str(said).strip().lower()
    return word if word in set(Category) else None


NUMBER = re.compile(r"-?\d{1,18}")
NUMBERS_AT_MOST = 200
"""Message numbers in one row: no fact is said by more messages."""


def _read_numbers(said: Any) -> list[int]:
    """Return the numbers in a list or a text such as "#12, [13]"; no other costs the fact."""
    numbers = said if isinstance(said, list) else [said]
    texts = [str(number)[:80] for number in numbers[:NUMBERS_AT_MOST]]
    return [int(match) for text in texts for match in NUMBER.findall(text)]


def _read_text(said: Any) -> str:
    return said if isinstance(said, str) else ""


def _read_ref(said: Any) -> str:
    return str(said) if isinstance(said, int) else _read_text(said)


KnownCategory = Annotated[Category, BeforeValidator(_read_category)]
FoundCategory = Annotated[Category | SkipJsonSchema[None], BeforeValidator(_find_category)]
Numbers = Annotated[list[int], BeforeValidator(_read_numbers)]
Ref = Annotated[str, BeforeValidator(_read_ref)]
"""A known fact as the model names it: see `semantic.llm.references`."""
Day = Annotated[str, BeforeValidator(_read_text)]
"""A day, month or year; first and last parted by "/". Empty: the messages do not say."""


class NewReply(Reply):
    """A fact that no known one says, and the numbers of the messages that say it."""

    msgs: Numbers = []
    cat: KnownCategory
    text: str
    when: Day = ""


class UpdateReply(Reply):
    """A fact in place of the known one that `ref` names. `cat` is None where it is left out."""

    msgs: Numbers = []
    ref: Ref
    cat: FoundCategory = None
    text: str
    when: Day = ""


class ReinforceReply(Reply):
    """A known fact that is said again."""

    msgs: Numbers = []
    ref: Ref


class InvalidateReply(Reply):
    """A known fact that is over, with nothing in its place."""

    msgs: Numbers = []
    ref: Ref
    until: Day = ""


class ConsolidationReply(Lists):
    """Everything that should change by `Action`, in the order in which it is done."""

    update: Rows[UpdateReply] = []
    invalidate: Rows[InvalidateReply] = []
    reinforce: Rows[ReinforceReply] = []
    new: Rows[NewReply] = []
