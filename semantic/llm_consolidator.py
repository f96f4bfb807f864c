"""The consolidator that asks a language model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from episodic.engines import Line
from jobs.calls import Asker
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt, fit_lines
from semantic.engines import Action, Consolidation, EpisodeText, KnownFact, Proposal
from semantic.offline_consolidator import OfflineConsolidator
from semantic.replies import ConsolidationReply, FactReply

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "consolidate.md"
KEYWORDS_AT_MOST = 8
KEYWORD_CHARACTERS_AT_MOST = 60
CHANGES_AT_MOST = 100
"""More from one batch of episodes is a model that runs on; the first ones are kept."""
REMINDER = "An earlier answer did not have the asked-for form. Keep to it exactly."

logger = logging.getLogger("memory.semantic")


class LLMConsolidator:
    """Implements `Consolidator`: ask, ask once more, else answer offline.

    The model sees aliases, never ids, so it cannot name what it was not shown.
    """

    def __init__(self, *, ask: Asker, offline: OfflineConsolidator) -> None:
        self._ask = ask
        self._offline = offline

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        """Return the model's proposals, or the offline ones marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        material = describe_case(episodes, known)
        for reminder in ("", REMINDER):
            prompt = build_prompt(
                file=PROMPT, purpose="consolidate", material=material, reminder=reminder
            )
            try:
                reply = self._ask(prompt, ConsolidationReply)
            except ModelMisbehaved:
                continue
            if len(reply.facts) > CHANGES_AT_MOST:
                logger.warning("changes left out: %d", len(reply.facts) - CHANGES_AT_MOST)
            return Consolidation(
                proposals=tuple(
                    to_proposal(row, episodes) for row in reply.facts[:CHANGES_AT_MOST]
                ),
                engine=ENGINE,
                model=settings.CHAT_MODEL,
                prompt_version=prompt.version,
            )
        offline = self._offline.consolidate(episodes=episodes, known=known)
        return replace(offline, degraded=True)


def describe_case(episodes: Sequence[EpisodeText], known: Sequence[KnownFact]) -> str:
    """Return facts and episodes as the prompt shows them."""
    shown = ["Facts held:"]
    shown += [
        f"{fact.alias} [{fact.category}] {fact.fact} (since {fact.valid_at:%Y-%m-%d})"
        for fact in known
    ] or ["(none)"]
    texts = iter(fit_lines([line.text for episode in episodes for line in episode.lines]))
    for number, episode in enumerate(episodes, start=1):
        shown += ["", f"E{number}: {episode.title}. {episode.summary}"]
        shown += [f"{line.seq} [{line.at:%Y-%m-%d %H:%M}] {next(texts)}" for line in episode.lines]
    return "\n".join(shown)


def to_proposal(row: FactReply, episodes: Sequence[EpisodeText]) -> Proposal:
    """Return the change in the domain's terms; its alias is passed on as the model gave it.

    The time is that of the earliest message named, which is when the fact was said.
    """
    index, named = _find_source(row, episodes)
    return Proposal(
        action=row.action,
        # "P1" would mean an earlier proposal of the same answer, which only the
        # offline engine speaks of.
        alias=None if row.action is Action.NEW else _guard_alias(row.alias),
        category=row.category,
        fact=" ".join(row.fact.split()),
        keywords=_pick_keywords(row.keywords),
        valid_at=min((line.at for line in named), default=None),
        episode=index,
        seqs=tuple(line.seq for line in named),
    )


def _find_source(row: FactReply, episodes: Sequence[EpisodeText]) -> tuple[int | None, list[Line]]:
    """Return the index of the episode behind a change, and the messages named in it.

    Message numbers are the conversation's own, so they tell the episode even where its
    alias is wrong or missing.
    """
    seqs = set(row.messages)
    named = [[line for line in episode.lines if line.seq in seqs] for episode in episodes]
    index = _episode_index(row.episode, count=len(episodes))
    if index is None or not named[index]:
        index = next((place for place, lines in enumerate(named) if lines), index)
    return index, named[index] if index is not None else []


def _pick_keywords(words: Sequence[str]) -> tuple[str, ...]:
    tidy = [" ".join(word.split()) for word in words]
    return tuple(word for word in tidy if 0 < len(word) <= KEYWORD_CHARACTERS_AT_MOST)[
        :KEYWORDS_AT_MOST
    ]


def _guard_alias(alias: str | None) -> str | None:
    return None if alias is not None and alias.startswith("P") else alias


def _episode_index(alias: str | None, *, count: int) -> int | None:
    """Return the 0-based index behind "E3", or None where it names none."""
    if alias is None or not alias.startswith("E") or not alias[1:].isdecimal():
        return None
    index = int(alias[1:]) - 1
    return index if 0 <= index < count else None
