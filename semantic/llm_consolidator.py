"""The consolidator that asks a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from jobs.calls import Asker
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt
from semantic.engines import Action, Consolidation, EpisodeText, KnownFact, Proposal
from semantic.offline_consolidator import OfflineConsolidator
from semantic.replies import ConsolidationReply, FactReply

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "consolidate.md"
KEYWORDS_AT_MOST = 8
REMINDER = "\n\nAn earlier answer did not have the asked-for form. Keep to it exactly."


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
            prompt = build_prompt(file=PROMPT, purpose="consolidate", material=material + reminder)
            try:
                reply = self._ask(prompt, ConsolidationReply)
            except ModelMisbehaved:
                continue
            return Consolidation(
                proposals=tuple(
                    to_proposal(row, episodes) for row in reply.facts if is_usable(row)
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
    for number, episode in enumerate(episodes, start=1):
        shown += ["", f"E{number}: {episode.title}. {episode.summary}"]
        shown += [f"{line.seq} [{line.at:%Y-%m-%d %H:%M}] {line.text}" for line in episode.lines]
    return "\n".join(shown)


def is_usable(row: FactReply) -> bool:
    """Return whether a change says anything: a sentence, or whom it is about to close."""
    closes = row.action is Action.INVALIDATE and bool(row.alias)
    return bool(row.fact.strip()) or closes


def to_proposal(row: FactReply, episodes: Sequence[EpisodeText]) -> Proposal:
    """Return the change in the domain's terms; its alias is passed on as the model gave it.

    The time is that of the earliest message named, which is when the fact was said.
    """
    index = _episode_index(row.episode, count=len(episodes))
    lines = episodes[index].lines if index is not None else ()
    named = [line for line in lines if line.seq in row.messages]
    return Proposal(
        action=row.action,
        # "P1" would mean an earlier proposal of the same answer, which only the
        # offline engine speaks of.
        alias=None if row.action is Action.NEW else _guard_alias(row.alias),
        category=row.category,
        fact=" ".join(row.fact.split()),
        keywords=tuple(word.strip() for word in row.keywords if word.strip())[:KEYWORDS_AT_MOST],
        valid_at=min((line.at for line in named), default=None),
        episode=index,
        seqs=tuple(line.seq for line in named),
    )


def _guard_alias(alias: str | None) -> str | None:
    return None if alias is not None and alias.startswith("P") else alias


def _episode_index(alias: str | None, *, count: int) -> int | None:
    """Return the 0-based index behind "E3", or None where it names none."""
    if alias is None or not alias.startswith("E") or not alias[1:].isdecimal():
        return None
    index = int(alias[1:]) - 1
    return index if 0 <= index < count else None
