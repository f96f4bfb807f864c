"""The interface of a consolidator, with or without a language model."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from episodic.engines import Line


class Category(StrEnum):
    """The eight kinds of fact."""

    IDENTITY = "identity"
    PREFERENCE = "preference"
    INTEREST = "interest"
    PERSONALITY = "personality"
    RELATIONSHIP = "relationship"
    EXPERIENCE = "experience"
    GOAL = "goal"
    GUIDELINE = "guideline"


class Action(StrEnum):
    """What a proposal does to the active facts."""

    NEW = "new"
    REINFORCE = "reinforce"
    UPDATE = "update"
    INVALIDATE = "invalidate"


@dataclass(frozen=True, slots=True)
class Instructions:
    """What an operator wants kept as facts, never kept, and labelled; and words of the trade."""

    keep: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    """Pairs of a word and its meaning."""
    labels: tuple[tuple[str, str], ...] = ()
    """Pairs of a label of facts, beside the categories, and an example."""


NO_INSTRUCTIONS = Instructions()
LABEL_MARK = "#"
"""First character of a keyword that is a label, so that whatever takes keywords takes labels."""


class Why(StrEnum):
    """Why a sentence became no fact."""

    NEVER = "never"
    """The operator's instructions forbid it."""
    PASTED = "pasted"
    """It is pasted or quoted, so not its sender's own."""
    NOT_WORTH_KEEPING = "not_worth_keeping"
    UNUSABLE = "unusable"
    """The language model's row was of no use, such as one that no message supports."""


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A sentence that became no fact, and why."""

    text: str
    why: Why


@dataclass(frozen=True, slots=True)
class Served:
    """A statement that an answer served, and the seqs of the messages that may repeat it.

    `speaker` said `text` of themselves; it is empty where `text` is in the third person.
    """

    text: str
    speaker: str
    seqs: frozenset[int]


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """An episode to extract facts from: title, summary and lines, oldest first.

    `served`: statements in answers shortly before a line; an agent that repeats one adds nothing.
    """

    title: str
    summary: str
    lines: tuple[Line, ...]
    served: tuple[Served, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownFact:
    """An active fact, under the alias (F1, F2, …) that an engine calls it by."""

    alias: str
    category: str
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that an engine wants done.

    `alias` names a known fact, and is None for `NEW`; it is passed on as the engine gave it, so it
    may name nothing. `episode` is the index of the episode that supports the proposal, None where
    the engine does not say (then all do); `seqs` are the messages in it that do. `valid_at` and
    `valid_until` are from when and until when it is true, as far as the engine knows. A curator
    reviews a proposal that `is_doubtful` before it becomes active.
    """

    action: Action
    alias: str | None
    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime | None = None
    episode: int | None = None
    seqs: tuple[int, ...] = ()
    valid_until: datetime | None = None
    is_doubtful: bool = False


class SuggestionKind(StrEnum):
    """The relation of two facts, or what somebody wants done with one."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    ERASE = "erase"
    """A user asked to forget the old fact; there is no new one."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two facts for a curator to decide on, as the engine is not sure enough to close the old one.

    `old` and `new` are aliases: "F3" of a known fact, "P<i>" of the i-th proposal of the same
    answer. `new` is None where nothing takes the place of the old one. `reason` is the code of the
    rule that found it, never words of a message. `valid_until` is until when the old one is true,
    if the engine knows.
    """

    kind: SuggestionKind
    old: str
    new: str | None
    reason: str
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Consolidation:
    """The changes that one run proposes; `degraded` as in `Segmentation`.

    `model` and `prompt_version` are empty where no language model answered. `left_out` has a code
    for each row of its answer that the engine could not use. `passed_over` is for previews, and is
    never stored.
    """

    proposals: tuple[Proposal, ...]
    engine: str
    degraded: bool = False
    model: str = ""
    prompt_version: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    left_out: tuple[str, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()


class Consolidator(Protocol):
    """Extracts facts from episodes; can take up to `known_at_most` active facts as input."""

    known_at_most: int

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        """Return what to do, in the order to do it.

        `known` has all active facts, newest first; if there are too many, the most relevant ones
        first.
        """


def fact_embedding_text(category: str, fact: str, keywords: Sequence[str]) -> str:
    """Return the text that is embedded for a fact; it includes the category."""
    return f"{category}: {fact} {' '.join(keywords)}".rstrip()
