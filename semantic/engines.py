"""What the pipeline asks of a consolidator, whichever engine answers."""

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

    `alias` names a known fact, and is None for `NEW`; it is passed on as the engine
    gave it, so it may name nothing. `episode` is the index of the episode that
    supports the proposal, None where the engine does not say (then all do); `seqs`
    are the messages in it that do. `valid_at` and `valid_until` are from when and until when
    it is true, as far as the engine knows. A curator looks at what `is_doubtful` before it counts.
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
    """What two facts look like, or what somebody wants of one."""

    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    ERASE = "erase"
    """A user asked to forget the old fact; there is no new one."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two facts that a curator is to decide on: closing the old one is not dared.

    `old` and `new` are aliases: "F3" of a known fact, "P<i>" of the i-th proposal of the
    same answer. `new` is None where nothing takes the place of the old one. `reason` is
    the code of the rule that saw it, in letters and underscores, never words of a message.
    `valid_until` is until when the old one is true, where the engine knows.
    """

    kind: SuggestionKind
    old: str
    new: str | None
    reason: str
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Consolidation:
    """What one run wants done; `degraded` as in a segmentation.

    `model` and `prompt_version` are empty where no language model answered. `left_out` has a
    code for each row of its answer that the engine could not use.
    """

    proposals: tuple[Proposal, ...]
    engine: str
    degraded: bool = False
    model: str = ""
    prompt_version: str = ""
    suggestions: tuple[Suggestion, ...] = ()
    left_out: tuple[str, ...] = ()


class Consolidator(Protocol):
    """Distils episodes into facts, knowing at most `known_at_most` of the active ones."""

    known_at_most: int

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        """Return what to do, in the order to do it.

        `known` has all active facts, newest first, or of too many what matters most first.
        """


def fact_embedding_text(category: str, fact: str, keywords: Sequence[str]) -> str:
    """Return the text whose vector stands for a fact: the category biases it."""
    return f"{category}: {fact} {' '.join(keywords)}".rstrip()
