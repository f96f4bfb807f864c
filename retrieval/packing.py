"""Packing the most useful text into a budget of tokens.

Facts and single messages compete, best first, each at its own reciprocal rank. A message
brings its neighbours, since an answer often stands beside the words that were asked
for. What is chosen is shown in the order in which it was said, under its episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from episodic.models import Message
from memoryproject.tokens import count_tokens
from retrieval import markdown
from retrieval.hits import EpisodeHit, FactHit

LINE_K = 10
"""Of the reciprocal rank among messages. Smaller than the 60 between memories: among a
hundred lines the first few differ more than the spec's k lets them."""
NEIGHBOURS = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that may be packed: a fact, or a message with the neighbours it brings."""

    score: float
    fact: FactHit | None = None
    episode: EpisodeHit | None = None
    seqs: tuple[int, ...] = ()


def pack(
    facts: Sequence[FactHit],
    episodes: Sequence[EpisodeHit],
    *,
    max_tokens: int,
    now: datetime,
) -> tuple[list[FactHit], list[EpisodeHit], str]:
    """Return the chosen facts and episodes, with the chosen messages only, and the text.

    The text never counts more than `max_tokens`.
    """
    chosen = Selection(now=now)
    for piece in sorted(_pieces(facts, episodes), key=lambda piece: -piece.score):
        chosen.add_if_it_fits(piece, max_tokens=max_tokens)
    return chosen.facts(), chosen.episodes(), chosen.text()


def _pieces(facts: Sequence[FactHit], episodes: Sequence[EpisodeHit]) -> list[Piece]:
    pieces = [Piece(score=1 / (LINE_K + hit.found.rank), fact=hit) for hit in facts]
    for hit, seq, score in _rank_lines(episodes):
        at = [message.seq for message in hit.messages]
        place = at.index(seq)
        around = at[max(0, place - NEIGHBOURS) : place + NEIGHBOURS + 1]
        pieces.append(Piece(score=score, episode=hit, seqs=(seq,)))
        pieces.append(Piece(score=score * 0.5, episode=hit, seqs=tuple(around)))
    return pieces


def _rank_lines(episodes: Sequence[EpisodeHit]) -> list[tuple[EpisodeHit, int, float]]:
    """Return (episode, seq, score) for each message: RRF of its ranks in the two legs."""
    lines = [(hit, line) for hit in episodes for line in hit.found.lines]
    scores = {(hit.found.memory_id, line.seq): 0.0 for hit, line in lines}
    for leg in ("lexical", "cosine"):
        matched = [(hit, line) for hit, line in lines if getattr(line, leg) is not None]
        matched.sort(key=lambda pair: (-getattr(pair[1], leg), pair[1].seq))
        for rank, (hit, line) in enumerate(matched, start=1):
            scores[hit.found.memory_id, line.seq] += hit.found.retrievability / (LINE_K + rank)
    return [(hit, line.seq, scores[hit.found.memory_id, line.seq]) for hit, line in lines]


class Selection:
    """What has been chosen so far, and what it counts as text."""

    def __init__(self, *, now: datetime) -> None:
        self._now = now
        self._facts: list[FactHit] = []
        self._seqs: dict[EpisodeHit, set[int]] = {}

    def add_if_it_fits(self, piece: Piece, *, max_tokens: int) -> None:
        """Add the piece, unless the whole text would then count more than `max_tokens`."""
        facts, seqs = list(self._facts), {hit: set(own) for hit, own in self._seqs.items()}
        if piece.fact is not None:
            self._facts.append(piece.fact)
        if piece.episode is not None:
            self._seqs.setdefault(piece.episode, set()).update(piece.seqs)
        if count_tokens(self.text()) > max_tokens:
            self._facts, self._seqs = facts, seqs

    def facts(self) -> list[FactHit]:
        """Return the chosen facts, best first."""
        return sorted(self._facts, key=lambda hit: hit.found.rank)

    def episodes(self) -> list[EpisodeHit]:
        """Return the chosen episodes, best first, each with its chosen messages only."""
        hits = sorted(self._seqs, key=lambda hit: hit.found.rank)
        return [
            replace(hit, messages=tuple(m for m in hit.messages if m.seq in self._seqs[hit]))
            for hit in hits
        ]

    def text(self) -> str:
        """Return the selection as markdown, with a date on every fact and message."""
        sections = []
        if self._facts:
            bullets = [_dated_fact(hit) for hit in self.facts()]
            sections.append("\n".join(["## Semantic Memory", *bullets]) + "\n")
        if self._seqs:
            blocks = [_dated_episode(hit) for hit in self.episodes()]
            sections.append("\n".join(["## Episodic Memories\n", *blocks]))
        return "\n".join(sections)


def _dated_fact(hit: FactHit) -> str:
    day = hit.fact.valid_at.strftime("%Y-%m-%d")
    return f"- [{hit.fact.category}, {day}] {markdown.one_line(hit.fact.fact)}"


def _dated_episode(hit: EpisodeHit) -> str:
    lines = [f"### {markdown.one_line(hit.episode.title)}"]
    lines += [_dated_message(message) for message in hit.messages]
    return "\n".join(lines) + "\n"


def _dated_message(message: Message) -> str:
    day = message.occurred_at.strftime("%Y-%m-%d")
    return f"- {day} {markdown.render_message(message)[2:]}"
