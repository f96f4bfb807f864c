"""What a language model is shown to draw facts from: active facts, and episodes in full.

What is too long for one question is spread over several; of a long message no word is
left out, it only stands on several lines under the same number.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TypedDict

from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.prompts import fill, put_on_one_line, show_line, split_line
from semantic.engines import EpisodeText, KnownFact

NOTHING_HELD = "(none)"


class Question(TypedDict):
    """The data of one prompt, its messages, and the characters of facts that did not fit."""

    material: str
    lines: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Row:
    """A line of an episode, counted from 1, and its tokens."""

    episode: int
    text: str
    cost: int


def compose_questions(
    episodes: Sequence[EpisodeText],
    known: Sequence[KnownFact],
    *,
    room: int,
    lines_at_most: int | None = None,
) -> Iterator[Question]:
    """Yield questions of at most `room` tokens, and so many lines, that show every line once.

    Each shows the same active facts, the nearest ones, in at most half of the room.
    """
    facts = [_show_fact(fact) for fact in known]
    costs = [count_prompt_tokens(fact) for fact in facts]
    shown = facts[next(fill(costs, room=room // 2))] if facts else [NOTHING_HELD]
    left_out = sum(map(len, facts[len(shown) :]))
    remaining = room - sum(costs[: len(shown)])
    headers = [put_on_one_line(episode.title) for episode in episodes]
    seen: set[int] = set()
    rows = _show_rows(episodes, room=remaining)
    for group in _group(rows, headers, room=remaining, lines_at_most=lines_at_most):
        material = ["Facts held:", *shown]
        for episode, shown_rows in groupby(group, key=attrgetter("episode")):
            going_on = " (continued)" if episode in seen else ""
            material += ["", f"E{episode}{going_on}: {headers[episode - 1]}"]
            material += filter(None, (row.text for row in shown_rows))
            seen.add(episode)
        yield Question(material="\n".join(material), lines=len(group), left_out=left_out)


def _show_fact(fact: KnownFact) -> str:
    until = f" until {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    span = f"(since {fact.valid_at:%Y-%m-%d}{until})"
    return f"{fact.alias} [{fact.category}] {put_on_one_line(fact.fact)} {span}"


def _show_rows(episodes: Sequence[EpisodeText], *, room: int) -> Iterator[Row]:
    for number, episode in enumerate(episodes, start=1):
        if not episode.lines:
            yield Row(episode=number, text="", cost=0)
        for line in episode.lines:
            for piece in split_line(line.content, tokens=room // 2):
                text = show_line(line.seq, piece, at=line.at, name=line.name, role=line.role)
                yield Row(episode=number, text=text, cost=count_prompt_tokens(text))


def _group(
    rows: Iterator[Row], headers: Sequence[str], *, room: int, lines_at_most: int | None
) -> Iterator[list[Row]]:
    """Yield runs of rows that fit into the room with the headers of their episodes."""
    costs = [count_prompt_tokens(header) for header in headers]
    group: list[Row] = []
    used = 0
    for row in rows:
        opens = not group or group[-1].episode != row.episode
        cost = row.cost + (costs[row.episode - 1] if opens else 0)
        if group and (used + cost > room or len(group) == lines_at_most):
            yield group
            group, used, cost = [], 0, row.cost + costs[row.episode - 1]
        group.append(row)
        used += cost
    if group:
        yield group
