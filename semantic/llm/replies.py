"""The form in which a language model answers about facts: a list for each kind of change.

What code can tell by itself is not asked for, since an answer is what costs time: why, keywords,
which episode, and the sentence of a fact that is only confirmed or over.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator

from memoryproject.ai.replies import Lists, Reply, Rows
from semantic.engines import Category


def _read_category(said: Any) -> Any:
    """Return a known category; a model's own word for one does not cost the fact."""
    word = str(said).strip().lower()
    return word if word in set(Category) else Category.EXPERIENCE


def _read_numbers(said: Any) -> list[int]:
    """Return the numbers in a list; a source that is none does not cost the fact."""
    numbers = said if isinstance(said, list) else [said]
    return [int(number) for number in numbers if str(number).removeprefix("-").isdecimal()]


def _read_text(said: Any) -> str:
    return said if isinstance(said, str) else ""


KnownCategory = Annotated[Category, BeforeValidator(_read_category)]
Numbers = Annotated[list[int], BeforeValidator(_read_numbers)]
Ref = Annotated[str, BeforeValidator(_read_text)]
"""A known fact; what names none is passed on, and noted as unknown."""
Day = Annotated[str, BeforeValidator(_read_text)]
"""A day, month or year; first and last parted by "/". Empty: the messages do not say."""


class NewReply(Reply):
    """A fact that no known one says, and the numbers of the messages that say it."""

    cat: KnownCategory
    text: str
    msgs: Numbers = []
    when: Day = ""


class UpdateReply(Reply):
    """A fact in place of the known one that `ref` names, which a model is to name first."""

    ref: Ref
    text: str
    msgs: Numbers = []
    when: Day = ""


class ReinforceReply(Reply):
    """A known fact that is said again."""

    ref: Ref
    msgs: Numbers = []


class InvalidateReply(Reply):
    """A known fact that is over, with nothing in its place."""

    ref: Ref
    msgs: Numbers = []
    until: Day = ""


class ConsolidationReply(Lists):
    """Everything that should change by `Action`, in the order in which it is done."""

    update: Rows[UpdateReply] = []
    invalidate: Rows[InvalidateReply] = []
    reinforce: Rows[ReinforceReply] = []
    new: Rows[NewReply] = []
