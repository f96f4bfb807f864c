"""What an answer holds: found memories together with the rows behind them."""

from __future__ import annotations

from dataclasses import dataclass

from episodic.models import Episode, Message
from retrieval.search import Found
from semantic.models import Evidence, Fact


@dataclass(frozen=True, slots=True)
class FactHit:
    """A served fact, its evidence oldest first, and the messages that say it.

    `sources`: how many episodes support it. Plain markdown needs no more than that and
    the fact's words; evidence and messages are then empty.
    """

    found: Found
    fact: Fact
    sources: int
    evidence: tuple[Evidence, ...] = ()
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class EpisodeHit:
    """A served episode and those of its messages that the answer holds, oldest first."""

    found: Found
    episode: Episode
    messages: tuple[Message, ...]
