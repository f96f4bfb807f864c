"""The reviewer that asks a language model, and ignores what it cannot use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from episodic.engines import Judgement, Line, Rating, ServedEpisode, Vectors
from episodic.offline_reviewer import OfflineReviewer
from episodic.replies import ReviewReply
from jobs.calls import Asker
from memoryproject.ai.errors import ModelMisbehaved
from memoryproject.ai.prompts import build_prompt, fit_lines

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "review.md"


class LLMReviewer:
    """Implements `Reviewer`. An unknown alias or rating is left out, never taken as good."""

    def __init__(self, *, ask: Asker) -> None:
        self._ask = ask
        self._offline = OfflineReviewer()

    def review(
        self, *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
    ) -> Judgement:
        """Return the model's ratings, or the offline ones marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        prompt = build_prompt(file=PROMPT, purpose="review", material=describe_case(served, lines))
        try:
            reply = self._ask(prompt, ReviewReply)
        except ModelMisbehaved:
            offline = self._offline.review(served=served, lines=lines, vectors=vectors)
            return replace(offline, degraded=True)
        known = {episode.alias for episode in served}
        ratings = {
            row.alias: Rating(row.rating)
            for row in reply.ratings
            if row.alias in known and row.rating in set(Rating)
        }
        return Judgement(ratings=ratings, engine=ENGINE, ignored=len(reply.ratings) - len(ratings))


def describe_case(served: Sequence[ServedEpisode], lines: Sequence[Line]) -> str:
    """Return what was served and what was said afterwards, as the prompt shows it."""
    shown = ["Memories:"]
    queries = fit_lines([episode.query for episode in served])
    for episode, query in zip(served, queries, strict=True):
        shown.append(f"{episode.alias}: {episode.title}. {episode.summary}")
        shown.append(f"   asked for with: {query}")
    return "\n".join(
        [*shown, "", "The conversation afterwards:", *fit_lines([line.text for line in lines])]
    )
