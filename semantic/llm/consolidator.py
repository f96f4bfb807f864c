"""The consolidator that asks a language model."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time
from pathlib import Path

from episodic.anchor_checks import check_dates, read_span
from episodic.engines import Line
from jobs.calls import Asker, ask_mended
from memoryproject.ai.context import find_model
from memoryproject.ai.prompts import find_room, find_version
from memoryproject.text.cleaning import drop_unseen
from semantic import engines
from semantic.keywords import pick_keywords
from semantic.llm import replies
from semantic.llm.questions import compose_questions

ENGINE = "llm"
KNOWN_AT_MOST = 60
"""The specification shows 20, near the summaries: 2 of 13 facts that had ended were not among
those of one talk, nor the guidelines."""
PROMPT = Path(__file__).parent / "prompts" / "consolidate.md"
CHANGES_AT_MOST = 100
"""More from one batch of episodes is a model that runs on; the first ones are kept."""

logger = logging.getLogger("memory.semantic")


class LLMConsolidator:
    """Implements `Consolidator`: ask, ask once more, else let `offline` answer.

    The model sees aliases, never ids, so it cannot name what it was not shown. Episodes
    that are too long for one question, or for an answer in time, are asked about in several.
    """

    known_at_most = KNOWN_AT_MOST

    def __init__(self, *, ask: Asker, offline: engines.Consolidator) -> None:
        self._ask = ask
        self._offline = offline

    def consolidate(
        self, *, episodes: Sequence[engines.EpisodeText], known: Sequence[engines.KnownFact]
    ) -> engines.Consolidation:
        """Return the model's proposals, or the offline ones marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        room = find_room(file=PROMPT, reply=replies.ConsolidationReply)
        proposals: list[engines.Proposal] = []
        lines = self._ask.lines_at_most
        for question in compose_questions(episodes, known, room=room, lines_at_most=lines):
            proposed = ask_mended(
                self._ask,
                file=PROMPT,
                reply=replies.ConsolidationReply,
                check=lambda reply: list(read_reply(reply, episodes=episodes, known=known)),
                **question,
            )
            if proposed is None:
                offline = self._offline.consolidate(episodes=episodes, known=known)
                return replace(offline, degraded=True)
            if len(proposed) > CHANGES_AT_MOST:
                logger.warning("changes left out: %d", len(proposed) - CHANGES_AT_MOST)
            proposals += proposed[:CHANGES_AT_MOST]
        return engines.Consolidation(
            proposals=tuple(proposals),
            engine=ENGINE,
            model=find_model(),
            prompt_version=find_version(PROMPT),
        )


def read_reply(
    reply: replies.ConsolidationReply,
    *,
    episodes: Sequence[engines.EpisodeText],
    known: Sequence[engines.KnownFact],
) -> Iterator[engines.Proposal]:
    """Yield the changes in the domain's terms; aliases are passed on as the model gave them."""
    facts = {fact.alias: fact for fact in known}
    for kind, rows in reply:
        for row in rows:
            named = facts.get(getattr(row, "ref", ""))
            yield _propose(engines.Action(kind), row, named, episodes)


def _propose(
    action: engines.Action,
    row: replies.NewReply | replies.UpdateReply | replies.ReinforceReply | replies.InvalidateReply,
    known: engines.KnownFact | None,
    episodes: Sequence[engines.EpisodeText],
) -> engines.Proposal:
    """Return a change: one that states a fact, or points at a known one, whose sentence stays."""
    index, lines = _find_source(row.msgs, episodes)
    category = engines.Category(known.category) if known else engines.Category.EXPERIENCE
    fact = known.fact if known else ""
    keywords: tuple[str, ...] = ()
    since, until = min((line.at for line in lines), default=None), None
    if isinstance(row, replies.InvalidateReply):
        since = _read_day(row.until) or since
    elif not isinstance(row, replies.ReinforceReply):
        source = lines or [line for episode in episodes for line in episode.lines]
        fact = " ".join(check_dates(drop_unseen(row.text), lines=source).split())
        speaker = next((line.name for line in source if line.name and line.name in fact), "")
        keywords = pick_keywords(fact, speaker=speaker)
        first, _, last = row.when.partition("/")
        since, until = _read_day(first) or since, _read_day(last)
    return engines.Proposal(
        action=action,
        alias=_guard_alias(getattr(row, "ref", None)),
        category=row.cat if isinstance(row, replies.NewReply) else category,
        fact=fact,
        keywords=keywords,
        valid_at=since,
        episode=index,
        seqs=tuple(line.seq for line in lines),
        valid_until=until if since and until and until > since else None,
    )


def _find_source(
    msgs: Sequence[int], episodes: Sequence[engines.EpisodeText]
) -> tuple[int | None, list[Line]]:
    """Return the index of the first episode that has messages of these numbers, and those."""
    seqs = set(msgs)
    for index, episode in enumerate(episodes):
        if lines := [line for line in episode.lines if line.seq in seqs]:
            return index, lines
    return None, []


def _guard_alias(ref: str | None) -> str | None:
    """Return a model's alias; "P1" would mean an earlier proposal, of which only rules speak."""
    return None if ref is not None and ref.startswith("P") else ref


def _read_day(text: str) -> datetime | None:
    """Return the first moment of a day, month or year that a model names, if it can be read."""
    span = read_span(text)
    return datetime.combine(span[0], time.min, tzinfo=UTC) if span else None
