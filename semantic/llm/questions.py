"""Builds the prompts from which a language model extracts facts: active facts, and episodes in
full.

Material that is too long for one question is spread over several; a long message is split into
several lines with the same number, and no word is left out. Facts come first, oldest first, and
whatever changes between questions comes last: so a server that caches prompts finds the same
beginning again.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from memoryproject.ai.counting import count_prompt_tokens
from memoryproject.ai.prompts import fill, put_on_one_line, show_line, split_line
from semantic.engines import EpisodeText, KnownFact
from semantic.topics import find_subject

NOTHING_HELD = "(none)"
LEAST_REST = 200
"""Tokens reserved for messages, however much comes before them."""
LEAST_FACTS_OF_A_PERSON = 2
PEOPLE_AT_MOST = 40


@dataclass(frozen=True, slots=True)
class Question:
    """The data of one prompt, its lines, and how many characters of facts did not fit.

    `seqs` are the messages, and `known` the facts that it shows, oldest first.
    """

    material: str
    lines: int
    left_out: int
    seqs: frozenset[int]
    known: Sequence[KnownFact]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of an episode, counted from 1, its message, and its tokens."""

    episode: int
    seq: int | None
    text: str
    cost: int


def compose_questions(
    episodes: Sequence[EpisodeText],
    known: Sequence[KnownFact],
    *,
    room: int,
    lines_at_most: int | None = None,
) -> Iterator[Question]:
    """Yield questions that together show every line once, each within `room` and a number of lines.

    Each shows the same active facts, the most similar ones, in at most half of the room.
    """
    facts = [_show_fact(fact) for fact in known]
    costs = [count_prompt_tokens(fact) for fact in facts]
    fitting = next(fill(costs, room=room // 2), slice(0))
    shown = sorted(known[fitting], key=lambda fact: int(fact.alias[1:]))
    opening = ["Facts held:", *(map(_show_fact, shown) if shown else [NOTHING_HELD])]
    if people := _show_people(episodes, known):
        opening += ["", people]
    left_out = sum(map(len, facts[len(shown) :]))
    remaining = max(LEAST_REST, room - sum(count_prompt_tokens(line) for line in opening))
    headers = [put_on_one_line(episode.title) for episode in episodes]
    seen: set[int] = set()
    rows = _show_rows(episodes, room=remaining)
    for group in _group(rows, headers, room=remaining, lines_at_most=lines_at_most):
        material = [*opening]
        for episode, shown_rows in groupby(group, key=attrgetter("episode")):
            going_on = " (continued)" if episode in seen else ""
            material += ["", f"E{episode}{going_on}: {headers[episode - 1]}"]
            material += filter(None, (row.text for row in shown_rows))
            seen.add(episode)
        yield Question(
            material="\n".join(material),
            lines=len(group),
            left_out=left_out,
            seqs=frozenset(row.seq for row in group if row.seq is not None),
            known=shown,
        )


def _show_people(episodes: Sequence[EpisodeText], known: Sequence[KnownFact]) -> str:
    """Return a line with the names of the speakers and of the subjects of facts; may be empty.

    Sorted by name, so that the line is the same whoever speaks first.
    """
    lines = [line for text in episodes for line in text.lines if line.name]
    speakers = {put_on_one_line(line.name): line.role for line in lines}
    names = [f"{name} ({speakers[name]})" for name in sorted(speakers)]
    folded = {name.casefold() for name in speakers}
    counts = Counter(find_subject(fact.fact) for fact in known)
    others = [name for name, count in counts.items() if count >= LEAST_FACTS_OF_A_PERSON]
    names += [name.capitalize() for name in sorted(others) if name and name not in folded]
    return f"People: {', '.join(names[:PEOPLE_AT_MOST])}" if names else ""


def _show_fact(fact: KnownFact) -> str:
    until = f" until {fact.valid_until:%Y-%m-%d}" if fact.valid_until else ""
    span = f"(since {fact.valid_at:%Y-%m-%d}{until})"
    return f"{fact.alias} [{fact.category}] {put_on_one_line(fact.fact)} {span}"


def _show_rows(episodes: Sequence[EpisodeText], *, room: int) -> Iterator[Row]:
    for number, episode in enumerate(episodes, start=1):
        if not episode.lines:
            yield Row(episode=number, seq=None, text="", cost=0)
        for line in episode.lines:
            for piece in split_line(line.content, tokens=room // 2):
                text = show_line(line.seq, piece, at=line.at, name=line.name, role=line.role)
                cost = count_prompt_tokens(text)
                yield Row(episode=number, seq=line.seq, text=text, cost=cost)


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
