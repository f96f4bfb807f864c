"""The form of an answer that is made for a language model to read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from episodic.models import Episode, Message
from retrieval.hits import EpisodeHit, FactHit

KEY_MOMENT = 0.7
"""Episodes at least this surprising are marked and may show their messages."""
AUTO_RANKS = 2
LOW_RANKS = 1


def render(
    facts: Sequence[FactHit], episodes: Sequence[EpisodeHit], *, detail: str, now: datetime
) -> str:
    """Return the answer as markdown; empty where there is nothing to say."""
    sections = [
        render_facts(facts),
        render_episodes([(hit, shows_details(hit, detail=detail)) for hit in episodes], now=now),
    ]
    return "\n".join(section for section in sections if section)


def render_facts(facts: Sequence[FactHit]) -> str:
    """Return the section on facts, best first; empty without facts."""
    if not facts:
        return ""
    return "\n".join(["## Semantic Memory", *(render_fact(hit) for hit in facts)]) + "\n"


def render_fact(hit: FactHit) -> str:
    """Return one bullet; each supporting episode counts as a source."""
    sources = len(hit.evidence)
    noun = "conversation" if sources == 1 else "conversations"
    return f"- [{hit.fact.category}] {one_line(hit.fact.fact)} (sources: {sources} {noun})"


def shows_details(hit: EpisodeHit, *, detail: str) -> bool:
    """Return whether an episode shows its messages at the asked-for level of detail."""
    if detail == "high":
        return True
    ranks = {"auto": AUTO_RANKS, "low": LOW_RANKS}.get(detail, 0)
    return hit.found.rank <= ranks and hit.episode.surprise >= KEY_MOMENT


def render_episodes(episodes: Sequence[tuple[EpisodeHit, bool]], *, now: datetime) -> str:
    """Return the section on episodes, best first; empty without episodes."""
    if not episodes:
        return ""
    blocks = [render_episode(hit, with_details=details, now=now) for hit, details in episodes]
    return "\n".join(["## Episodic Memories\n", *blocks])


def render_episode(hit: EpisodeHit, *, with_details: bool, now: datetime) -> str:
    """Return one episode: heading, time, summary, and its messages if wanted."""
    lines = [heading(hit), *about(hit.episode, now=now)]
    if with_details:
        lines += ["", "**Details:**", *(render_message(message) for message in hit.messages)]
    return "\n".join(lines) + "\n"


def heading(hit: EpisodeHit) -> str:
    """Return the heading of an episode, with its rank, score and mark."""
    mark = ", key moment" if hit.episode.surprise >= KEY_MOMENT else ""
    title = one_line(hit.episode.title)
    return f"### {title} [rank: {hit.found.rank}, score: {hit.found.score:.2f}{mark}]"


def about(episode: Episode, *, now: datetime) -> list[str]:
    """Return the lines under an episode's heading."""
    return [
        f"**When:** {say_when(episode.end_at, now=now)}",
        f"**Summary:** {one_line(episode.summary)}",
    ]


def render_message(message: Message) -> str:
    """Return one quoted message, on one line, under its speaker's name."""
    return f'- {one_line(message.name or message.role)}: "{one_line(message.content)}"'


def one_line(text: str) -> str:
    """Return the text with every line break a space."""
    return " ".join(text.splitlines())


def say_when(moment: datetime, *, now: datetime) -> str:
    """Return how long ago it was, in words: "just now", "yesterday", "3 weeks ago"."""
    gone = now - moment
    if gone < timedelta(minutes=1):
        return "just now"
    for length, noun in (
        (timedelta(days=365), "year"),
        (timedelta(days=30), "month"),
        (timedelta(days=7), "week"),
        (timedelta(days=1), "day"),
        (timedelta(hours=1), "hour"),
        (timedelta(minutes=1), "minute"),
    ):
        count = gone // length
        if count:
            break
    if (count, noun) == (1, "day"):
        return "yesterday"
    return f"{count} {noun}{'' if count == 1 else 's'} ago"


def render_recent(episodes: Sequence[Episode], *, now: datetime) -> str:
    """Return episodes that nobody searched for: without ranks and scores."""
    if not episodes:
        return ""
    blocks = []
    for episode in episodes:
        mark = " [key moment]" if episode.surprise >= KEY_MOMENT else ""
        lines = [f"### {one_line(episode.title)}{mark}", *about(episode, now=now)]
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(["## Episodic Memories\n", *blocks])
