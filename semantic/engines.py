"""What the pipeline asks of a consolidator, whichever engine answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from episodic.engines import Line, Vectors


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
    """What a proposal does to the facts already held."""

    NEW = "new"
    REINFORCE = "reinforce"
    UPDATE = "update"
    INVALIDATE = "invalidate"


@dataclass(frozen=True, slots=True)
class Served:
    """What an answer told the agent, and the seqs of the messages that may repeat it.

    `speaker` said `text` of themselves; it is empty where `text` is in the third person.
    """

    text: str
    speaker: str
    seqs: frozenset[int]


@dataclass(frozen=True, slots=True)
class EpisodeText:
    """An episode to learn from: its words and its lines, oldest first.

    What answers have `served` shortly before a line is no news where an agent repeats it.
    """

    title: str
    summary: str
    lines: tuple[Line, ...]
    served: tuple[Served, ...] = ()


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A fact already held, under the alias (F1, F2, …) that an engine calls it by.

    `vector` is the unit vector of `fact_embedding_text`.
    """

    alias: str
    category: str
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Proposal:
    """One thing that an engine wants done.

    `alias` names a known fact, and is None for `NEW`; it is passed on as the engine
    gave it, so it may name nothing. `episode` is the index of the episode that
    supports the proposal, None where the engine does not say (then all do); `seqs`
    are the messages in it that do.
    """

    action: Action
    alias: str | None
    category: Category
    fact: str
    keywords: tuple[str, ...]
    valid_at: datetime | None = None
    episode: int | None = None
    seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What one run wants done; `degraded` as in a segmentation.

    `model` and `prompt_version` are empty where no language model answered.
    """

    proposals: tuple[Proposal, ...]
    engine: str
    degraded: bool = False
    model: str = ""
    prompt_version: str = ""


class Consolidator(Protocol):
    """Distils episodes into facts, knowing what is held already."""

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        """Return what to do, in the order to do it."""
        ...


def fact_embedding_text(*, category: str, fact: str, keywords: Sequence[str]) -> str:
    """Return the text whose vector stands for a fact: the category biases it."""
    return f"{category}: {fact} {' '.join(keywords)}".rstrip()
