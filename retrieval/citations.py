"""Quotes, under a fact or an episode, the messages that it was drawn from."""

import uuid
from collections.abc import Iterable, Mapping, Sequence

from episodic import queries as episodic_queries
from episodic.models import Message
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import clean_line
from retrieval import markdown
from semantic.correction_marks import set_corrections
from semantic.models import Evidence


def cite(
    tenant: Tenant,
    evidence: Mapping[uuid.UUID, Sequence[Evidence]],
    *,
    with_content: bool,
    is_corrected: bool,
) -> dict[uuid.UUID, tuple[list[str], int]]:
    """Return by fact the messages that say it, or the titles of episodes of which all counts.

    And the quarters of a token of what was not loaded. `is_corrected`: some may be marked.
    """
    rows = [row for several in evidence.values() for row in several]
    messages = _load_sources(tenant, rows, with_content=with_content)
    if is_corrected:
        set_corrections(tenant, list(messages.values()))
    whole = [row.episode_id for row in rows if not row.message_seqs]
    episodes = episodic_queries.episodes_with_state(tenant=tenant, episode_ids=whole).in_bulk()
    sources = {}
    for fact_id, several in evidence.items():
        places = {(row.episode_id, seq) for row in several for seq in row.message_seqs}
        quoted = [messages[place] for place in places if place in messages]
        titled_ids = {row.episode_id for row in several if not row.message_seqs}
        titled = [episodes[episode_id] for episode_id in titled_ids if episode_id in episodes]
        titles = [
            f"- {episode.end_at:%Y-%m-%d} {clean_line(episode.title)}"
            for episode in sorted(titled, key=lambda episode: (episode.end_at, episode.id))
        ]
        lines = quote(sorted(quoted, key=lambda message: (message.occurred_at, message.seq)))
        sources[fact_id] = ["", "Sources:", *titles, *lines], measure_unloaded(quoted)
    return sources


def _load_sources(
    tenant: Tenant, evidence: Iterable[Evidence], *, with_content: bool
) -> dict[tuple[uuid.UUID | None, int], Message]:
    """Return the messages that evidence names, by episode and seq, in one query."""
    seqs = {(row.episode_id, seq) for row in evidence for seq in row.message_seqs}
    messages = Message.objects.of(tenant).filter(
        episode__in={episode_id for episode_id, _ in seqs}, seq__in={seq for _, seq in seqs}
    )
    rows = messages if with_content else episodic_queries.without_content(messages)
    return {(message.episode_id, message.seq): message for message in rows}


def measure_unloaded(messages: Iterable[Message]) -> int:
    """Return the quarters of a token of what messages say, of those without their content."""
    return sum(getattr(message, "quarters", 0) for message in messages)


def quote(messages: Sequence[Message]) -> list[str]:
    """Return messages as lines with day and speaker, in the same order."""
    return [markdown.render_message(message, with_day=True) for message in messages]
