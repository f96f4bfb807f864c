"""The form in which a language model answers about facts: a list for each kind of change.

The model is not asked for what code can find out (reason, keywords, episode, the sentence of a fact
that is only confirmed or ended), since each token of an answer takes time. Message numbers come
first in every row: a model that names its evidence before the sentence invents less.
"""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic.json_schema import SkipJsonSchema

from memoryproject.ai.replies import Lists, Reply, Rows
from semantic.engines import Category


def _read_category(said: Any) -> Any:
    """Return a known category. An unknown one does not make the whole fact invalid."""
    return _find_category(said) or Category.EXPERIENCE


def _find_category(said: Any) -> str | None:
    word = str(said).strip().lower()
    return word if word in set(Category) else None


NUMBER = re.compile(r"-?\d{1,18}")
NUMBERS_AT_MOST = 200
"""Largest number of message numbers in a row."""


def _read_numbers(said: Any) -> list[int]:
    """Return the numbers in a list or in a text such as "#12, [13]"; ignore anything else."""
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
"""A reference to a known fact, read by `semantic.llm.references`."""
Day = Annotated[str, BeforeValidator(_read_text)]
"""A day, month or year, or first and last with "/" between. Empty: the messages do not say."""


class NewReply(Reply):
    """A fact that is not known yet, and the numbers of the messages that say it."""

    msgs: Numbers = []
    cat: KnownCategory
    text: str
    when: Day = ""


class UpdateReply(Reply):
    """A fact that replaces the known one in `ref`. `cat` is None if it is left out."""

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
    """A known fact that has ended, without a replacement."""

    msgs: Numbers = []
    ref: Ref
    until: Day = ""


class ConsolidationReply(Lists):
    """All changes, one list for each `Action`, in the order in which they are applied."""

    update: Rows[UpdateReply] = []
    invalidate: Rows[InvalidateReply] = []
    reinforce: Rows[ReinforceReply] = []
    new: Rows[NewReply] = []
