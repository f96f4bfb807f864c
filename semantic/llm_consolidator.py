"""The consolidator that asks a language model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from episodic.anchor_checks import check_anchors
from episodic.engines import Line
from jobs.calls import Asker, ask_mended
from memoryproject.ai.llm import Prompt
from memoryproject.ai.prompts import build_prompt, find_room, find_version
from memoryproject.cleaning import drop_unseen
from semantic.engines import Action, Consolidation, EpisodeText, KnownFact, Proposal
from semantic.llm_questions import Question, compose_questions
from semantic.offline_consolidator import OfflineConsolidator
from semantic.replies import ConsolidationReply, FactReply

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "consolidate.md"
KEYWORDS_AT_MOST = 8
KEYWORD_CHARACTERS_AT_MOST = 60
CHANGES_AT_MOST = 100
"""More from one batch of episodes is a model that runs on; the first ones are kept."""

logger = logging.getLogger("memory.semantic")


class LLMConsolidator:
    """Implements `Consolidator`: ask, ask once more, else answer offline.

    The model sees aliases, never ids, so it cannot name what it was not shown. Episodes
    that are too long for one question are asked about in several.
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
        room = find_room(file=PROMPT, reply=ConsolidationReply)
        proposals: list[Proposal] = []
        for question in compose_questions(episodes, known, room=room):
            reply = self._ask_about(question)
            if reply is None:
                offline = self._offline.consolidate(episodes=episodes, known=known)
                return replace(offline, degraded=True)
            proposals += [to_proposal(row, episodes) for row in reply.facts[:CHANGES_AT_MOST]]
        return Consolidation(
            proposals=tuple(proposals),
            engine=ENGINE,
            model=settings.CHAT_MODEL,
            prompt_version=find_version(PROMPT),
        )

    def _ask_about(self, question: Question) -> ConsolidationReply | None:
        def build(reminder: str) -> Prompt:
            return build_prompt(
                file=PROMPT,
                purpose="consolidate",
                material=question.material,
                reminder=reminder,
                left_out=question.left_out,
            )

        reply = ask_mended(
            self._ask, build=build, reply=ConsolidationReply, check=lambda reply: reply
        )
        if reply is not None and len(reply.facts) > CHANGES_AT_MOST:
            logger.warning("changes left out: %d", len(reply.facts) - CHANGES_AT_MOST)
        return reply


def to_proposal(row: FactReply, episodes: Sequence[EpisodeText]) -> Proposal:
    """Return the change in the domain's terms; its alias is passed on as the model gave it.

    The time is that of the earliest message named, which is when the fact was said.
    """
    index, named = _find_source(row, episodes)
    said = named or [line for episode in episodes for line in episode.lines]
    return Proposal(
        action=row.action,
        # "P1" would mean an earlier proposal of the same answer, which only the
        # offline engine speaks of.
        alias=None if row.action is Action.NEW else _guard_alias(row.alias),
        category=row.category,
        fact=" ".join(check_anchors(drop_unseen(row.fact), lines=said).split()),
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
    tidy = [" ".join(drop_unseen(word).split()) for word in words]
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
