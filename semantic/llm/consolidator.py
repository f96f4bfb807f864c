"""The consolidator that asks a language model."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from jobs.calls import Door, ask_mended
from memoryproject.ai.context import find_model
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import find_room, find_version
from semantic import engines
from semantic.engines import NO_INSTRUCTIONS, PassedOver, Why
from semantic.forbidden import contains
from semantic.llm import replies
from semantic.llm.additions import render_addition
from semantic.llm.joining import join_alike
from semantic.llm.questions import Question, compose_questions
from semantic.llm.reading import EXAMPLE, Row, Shown, find_doubt, read_reply

ENGINE = "llm"
KNOWN_AT_MOST = 60
"""Active facts shown to the model. The specification's 20, chosen by similarity to the summaries,
missed 2 of 13 facts that a conversation ended, and the guidelines."""
PROMPT = Path(__file__).parent / "prompts" / "consolidate.md"
CHANGES_AT_MOST = 100
"""Changes kept from one batch of episodes; a model that returns more is repeating itself."""
JOINED = "joined"
"""Note of a new fact that another one of the same answer also states."""

STATING = {engines.Action.NEW, engines.Action.UPDATE}

logger = logging.getLogger("memory.semantic")


class LLMConsolidator:
    """Implements `Consolidator`: ask, ask once more, else let `offline` answer.

    The model sees aliases, never ids, so it cannot name what it was not shown. Episodes
    that are too long for one question, or for an answer in time, are asked about in several.
    """

    known_at_most = KNOWN_AT_MOST

    def __init__(
        self,
        *,
        ask: Door,
        offline: engines.Consolidator,
        may_be_rule: Callable[[str], bool],
        instructions: engines.Instructions = NO_INSTRUCTIONS,
    ) -> None:
        """`may_be_rule`: whether a user's message may hold a standing instruction."""
        self._ask = ask
        self._offline = offline
        self._may_be_rule = may_be_rule
        self._never = instructions.never
        self._addition = render_addition(instructions)

    def consolidate(
        self, *, episodes: Sequence[engines.EpisodeText], known: Sequence[engines.KnownFact]
    ) -> engines.Consolidation:
        """Return the model's proposals, or the offline ones marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        room = find_room(file=PROMPT, reply=replies.ConsolidationReply, addition=self._addition)
        rows: list[Row] = []
        lines = self._ask.lines_at_most
        for question in compose_questions(episodes, known, room=room, lines_at_most=lines):
            read = self._put(question, episodes)
            if read is None:
                offline = self._offline.consolidate(episodes=episodes, known=known)
                return replace(offline, degraded=True)
            if len(read) > CHANGES_AT_MOST:
                logger.warning("changes left out: %d", len(read) - CHANGES_AT_MOST)
            rows += read[:CHANGES_AT_MOST]
        rows = [self._doubt_guideline(self._forbid(row), episodes) for row in rows]
        return _assemble(rows, version=find_version(PROMPT, self._addition))

    def _forbid(self, row: Row) -> Row:
        """Return the row, or a note if it states what the operator's instructions forbid.

        The model judges what is meant; the words themselves are checked here.
        """
        proposal = row.proposal
        if proposal and proposal.action in STATING and contains(proposal.fact, self._never):
            return Row(note=Why.NEVER, text=proposal.fact)
        return row

    def _doubt_guideline(self, row: Row, episodes: Sequence[engines.EpisodeText]) -> Row:
        """Return the row, marked doubtful if it is a guideline that no user seems to have given.

        Small models turn "Could you do me a rhyme?" into a guideline, which would steer every
        answer.
        """
        proposal = row.proposal
        if (
            proposal is None
            or proposal.category is not engines.Category.GUIDELINE
            or proposal.action not in STATING
            or proposal.episode is None
        ):
            return row
        lines = episodes[proposal.episode].lines
        said = [line.content for line in lines if line.seq in proposal.seqs]
        if any(map(self._may_be_rule, said)):
            return row
        return replace(row, proposal=replace(proposal, is_doubtful=True))

    def _put(self, question: Question, episodes: Sequence[engines.EpisodeText]) -> list[Row] | None:
        """Return the rows of the model's answer, or None where both answers are of no use."""
        shown = Shown(episodes, question.seqs, question.known, question.material)
        return ask_mended(
            self._ask,
            file=PROMPT,
            material=question.material,
            reply=replies.ConsolidationReply,
            check=partial(_check, shown=shown),
            find_doubt=partial(find_doubt, shown=shown),
            addition=self._addition,
            lines=question.lines,
            left_out=question.left_out,
        )


def _check(reply: replies.ConsolidationReply, *, shown: Shown) -> list[Row]:
    """Return the rows of an answer; raise if it only repeats the prompt's example."""
    rows = read_reply(reply, shown)
    if rows and all(row.note == EXAMPLE for row in rows):
        raise ModelMisbehaved("It repeats the example: read the messages between the fences.")
    return rows


def _assemble(rows: Sequence[Row], *, version: str) -> engines.Consolidation:
    """Return the proposals: changes first, then new facts for which endings are suggested."""
    plain = [row.proposal for row in rows if row.proposal and not row.ends]
    proposals, joined = join_alike(plain)
    suggestions: list[engines.Suggestion] = []
    for row in rows:
        if row.ends:
            new = f"P{len(proposals)}" if row.proposal else None
            proposals += [row.proposal] if row.proposal else []
            kind = engines.SuggestionKind.CONTRADICTION
            suggestions.append(engines.Suggestion(kind, row.ends, new, row.reason, row.valid_until))
    return engines.Consolidation(
        proposals=tuple(proposals),
        engine=ENGINE,
        model=find_model(),
        prompt_version=version,
        suggestions=tuple(suggestions),
        left_out=(*(row.note for row in rows if row.note), *[JOINED] * joined),
        passed_over=tuple(
            PassedOver(row.text, Why(row.note) if row.note in set(Why) else Why.UNUSABLE)
            for row in rows
            if row.note
        ),
    )
