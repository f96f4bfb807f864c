"""The reviewer that asks a language model, and ignores what it cannot use."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from episodic.engines import Judgement, Line, Rating, Reviewer, ServedEpisode, Vectors
from episodic.llm.replies import ReviewReply
from jobs.calls import Asker, ask_mended
from memoryproject.ai import prompts
from memoryproject.ai.counting import count_prompt_tokens

ENGINE = "llm"
PROMPT = Path(__file__).parent / "prompts" / "review.md"
SHARE_OF_A_QUERY = 8
"""Part of the room for a query at most, an eighth; the messages after it get a half."""


class LLMReviewer:
    """Implements `Reviewer`: ask, ask once more, else let `offline` answer.

    An unknown alias or rating is left out, never taken as good. More episodes than one
    question takes are asked about in several.
    """

    def __init__(self, *, ask: Asker, offline: Reviewer) -> None:
        self._ask = ask
        self._offline = offline

    def review(
        self, *, served: Sequence[ServedEpisode], lines: Sequence[Line], vectors: Vectors
    ) -> Judgement:
        """Return the model's ratings, or the offline ones marked degraded.

        Raises:
            ModelUnavailable: the model could not be asked.
        """
        room = prompts.find_room(file=PROMPT, reply=ReviewReply) // 2
        talk, left_out = _show_talk(lines, room=room)
        shown = [_show_episode(episode, room=room) for episode in served]
        ratings: dict[str, Rating] = {}
        ignored = 0
        for group in prompts.fill([count_prompt_tokens(text) for text, _ in shown], room=room):
            material = "\n".join(
                ["Memories:", *(text for text, _ in shown[group]), "", "Afterwards:", *talk]
            )
            lost = left_out + sum(count for _, count in shown[group])
            known = {episode.alias for episode in served[group]}
            judgement = ask_mended(
                self._ask,
                file=PROMPT,
                material=material,
                reply=ReviewReply,
                check=partial(read_reply, known=known),
                left_out=lost,
            )
            if judgement is None:
                offline = self._offline.review(served=served, lines=lines, vectors=vectors)
                return replace(offline, degraded=True)
            ratings |= judgement.ratings
            ignored += judgement.ignored
        return Judgement(ratings=ratings, engine=ENGINE, ignored=ignored)


def read_reply(reply: ReviewReply, *, known: set[str]) -> Judgement:
    """Return the ratings of episodes that were served, and how many others the model rated."""
    ratings = {
        row.ref: Rating(row.rating)
        for row in reply.ratings
        if row.ref in known and row.rating in set(Rating)
    }
    return Judgement(ratings=ratings, engine=ENGINE, ignored=len(reply.ratings) - len(ratings))


def _show_episode(episode: ServedEpisode, *, room: int) -> tuple[str, int]:
    """Return an episode as the prompt shows it, and how many characters of its query were cut."""
    query, left_out = prompts.shorten_line(episode.query, tokens=room // SHARE_OF_A_QUERY)
    words = prompts.put_on_one_line(f"{episode.title}. {episode.summary}")
    question = json.dumps(query, ensure_ascii=False)
    return f"{episode.alias}: {words}\n   asked for with: {question}", left_out


def _show_talk(lines: Sequence[Line], *, room: int) -> tuple[list[str], int]:
    tokens = room // max(1, len(lines))
    shown = [(line, *prompts.shorten_line(line.content, tokens=tokens)) for line in lines]
    texts = [prompts.show_said(text, name=line.name, role=line.role) for line, text, _ in shown]
    return texts, sum(left_out for _, _, left_out in shown)
