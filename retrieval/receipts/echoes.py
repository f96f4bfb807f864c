"""Finds what recent answers served, so that a message that repeats it is not taken for news.

A receipt names memories, not the words printed of them: all that a memory can say counts
as served, in each form in which `markdown` and `packing` may print it.
"""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message, Role
from episodic.window import DOUBLED_SIZE
from notes import queries as note_queries
from retrieval import markdown
from retrieval.models import Retrieval, RetrievalHit
from semantic.echoes import Answers, Printed
from semantic.engines import Served
from semantic.models import Fact

ECHOED_FOR = 30
"""Messages after an answer in which its words may come back: as many as a review reads."""
RECENT_AT_MOST = DOUBLED_SIZE
"""Messages before a question with `min_seq` that its answer may have shown."""
# What may stand around a printed text goes with it.
BULLET = r"(?:(?<!\S)(?:[-*•>]|\d+[.)])\s+)?"
DAY = r"(?:\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4})"
NOTE = r"(?:[ \t]*\[[^\]\n]*\])?"
SECTION = r"(?:## (?:Semantic Memory|Episodic Memories|Recent Messages)\s+)?"
DATED = rf"(?:### {DAY}{NOTE}\s+)?"
SOURCES = r"(?:[ \t]*\(sources: \d+ conversations?\))?"
WHEN = r"(?:\s+\*\*When:\*\* (?:just now|yesterday|\d+ \w+ ago))?"
FOUND = r"(?:\s+\*\*Found:\*\* id: [^\n]*)?(?:\s+\*\*Details:\*\*)?"
SPEAKER = r"(?P<speaker>[^\s:\"][^:\"\n]{0,100}?)"
SHORTENED_LINE = rf"^{SECTION}{DATED}{BULLET}(?:{DAY}\s+)?{SPEAKER}: \"(?P<said>[^\n]*)\"[ \t]*$"
# It ends where its line does, or where the next one starts if there are no line breaks.
SHORTENED = (
    rf"{SECTION}{DATED}{BULLET}(?:{DAY}\s+)?{SPEAKER}: "
    r"\"(?P<said>[^\n]*?)\"(?=\s*$|\s+(?:-|#))"
)

Seqs = frozenset[int]
Form = tuple[str, str]
"""A text that an answer holds to the letter, and the pattern of all that is printed of it."""


def find_answers(conversation: Conversation, first_seq: int, last_seq: int) -> Answers:
    """Return what had been served shortly before the messages of a range."""
    reach = _find_reach(conversation, first_seq, last_seq)
    parts = [*_tell_facts(conversation, reach), *_tell_episodes(conversation, reach)]
    parts += _tell_notes(conversation, reach)
    parts += _tell_recent(conversation, first_seq, last_seq)
    return Answers(
        served={one: memory_id for part in parts for one, memory_id in part.served.items()},
        printed=[one for part in parts for one in part.printed],
        shortened=(SHORTENED_LINE, SHORTENED),
    )


def _find_reach(conversation: Conversation, first_seq: int, last_seq: int) -> dict[uuid.UUID, Seqs]:
    """Return the memories served in order of id, each with the messages that may repeat it.

    Uses index: retrieval_by_conversation.
    """
    hits = RetrievalHit.objects.of(conversation.tenant).filter(
        retrieval__conversation=conversation,
        retrieval__through_seq__range=(first_seq - ECHOED_FOR, last_seq - 1),
    )
    through: dict[uuid.UUID, set[int]] = defaultdict(set)
    for memory_id, seq in hits.values_list("memory_id", "retrieval__through_seq").distinct():
        through[memory_id].add(seq)
    return {
        memory_id: _seqs_after(seqs, first_seq, last_seq)
        for memory_id, seqs in sorted(through.items())
    }


def _seqs_after(through: Iterable[int], first_seq: int, last_seq: int) -> Seqs:
    """Return the seqs of the range that lie within reach of one of the answers."""
    return frozenset(
        seq
        for last_seen in through
        for seq in range(last_seen + 1, last_seen + ECHOED_FOR + 1)
        if first_seq <= seq <= last_seq
    )


def _tell_facts(conversation: Conversation, reach: dict[uuid.UUID, Seqs]) -> list[Answers]:
    facts = Fact.objects.of(conversation.tenant).in_bulk(list(reach))
    return [
        _answer(fact.id, [Served(fact.fact, "", reach[fact.id])], list_fact_forms(fact))
        for fact in (facts[memory_id] for memory_id in reach if memory_id in facts)
    ]


def _tell_episodes(conversation: Conversation, reach: dict[uuid.UUID, Seqs]) -> list[Answers]:
    tenant = conversation.tenant
    episodes = Episode.objects.of(tenant).in_bulk(list(reach))
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=episodes)
    parts: list[Answers] = []
    for episode in (episodes[memory_id] for memory_id in reach if memory_id in episodes):
        seqs, rows = reach[episode.id], messages[episode.id]
        served = [Served(episode.summary, "", seqs), *(_tell(row, seqs) for row in rows)]
        forms = [*list_headline_forms(episode), *map(make_message_form, rows)]
        parts.append(_answer(episode.id, served, forms))
    return parts


def _tell_notes(conversation: Conversation, reach: dict[uuid.UUID, Seqs]) -> list[Answers]:
    """Return what served notes say: of a long one the beginning, as `echoes` reads it."""
    notes = note_queries.notes_by_id(tenant=conversation.tenant, note_ids=list(reach))
    return [
        _answer(note.id, [Served(note.content, "", reach[note.id])], [])
        for note in (notes[memory_id] for memory_id in reach if memory_id in notes)
    ]


def _tell_recent(conversation: Conversation, first_seq: int, last_seq: int) -> list[Answers]:
    """Return the messages that answers with `min_seq` may have shown from the window."""
    retrievals = Retrieval.objects.of(conversation.tenant).filter(
        conversation=conversation,
        through_seq__range=(first_seq - ECHOED_FOR, last_seq - 1),
        parameters__min_seq__gt=0,
    )
    through = set(retrievals.values_list("through_seq", flat=True))
    if not through:
        return []
    rows = episodic_queries.messages_between(
        conversation,
        first_seq=min(through) - RECENT_AT_MOST + 1,
        last_seq=max(through),
    )
    parts: list[Answers] = []
    for row in rows:
        after = [seq for seq in through if seq - RECENT_AT_MOST < row.seq <= seq]
        seqs = _seqs_after(after, first_seq, last_seq)
        if seqs and row.episode_id is not None:
            parts.append(_answer(row.episode_id, [_tell(row, seqs)], [make_message_form(row)]))
    return parts


def _answer(memory_id: uuid.UUID, served: Sequence[Served], forms: Sequence[Form]) -> Answers:
    """Return one memory's part: what it says, and how it was printed."""
    seqs = served[0].seqs
    cleaned = [replace(one, text=markdown.one_line(one.text)) for one in served]
    return Answers(
        served=dict.fromkeys([*served, *cleaned], memory_id),
        printed=[
            Printed(memory_id, " ".join(text.split()), form, seqs)
            for text, form in forms
            if text.strip()
        ],
    )


def _tell(message: Message, seqs: Seqs) -> Served:
    """Return a message as its speaker's words; who has no name is called by the role."""
    names = {Role.USER: "User", Role.ASSISTANT: "Assistant"}
    speaker = message.name or names.get(Role(message.role), "")
    return Served(message.content, speaker, seqs)


def list_fact_forms(fact: Fact) -> list[Form]:
    """Return the bullet of ours, and the bare sentence as an item of somebody's own list."""
    label = rf"\[{fact.category}(?:, {DAY})?\]\s+"
    forms = []
    for text in _ways_of(fact.fact):
        sentence = _literal(text)
        forms += [
            (text, rf"{SECTION}{BULLET}{label}{sentence}{SOURCES}{NOTE}"),
            (text, rf"^[ \t]*(?:[-*•>]|\d+[.)])[ \t]+\"?{sentence}\"?[ \t]*$"),
        ]
    return forms


def list_headline_forms(episode: Episode) -> list[Form]:
    """Return the block of an episode without its messages, and its summary alone."""
    summary_text = markdown.one_line(episode.summary)
    title_text = markdown.one_line(episode.title)
    summary = rf"\*\*Summary:\*\* {_literal(summary_text)}"
    title = rf"{SECTION}### {_literal(title_text)}{NOTE}"
    return [
        (title_text, rf"{title}{WHEN}(?:\s+{summary})?{FOUND}"),
        (summary_text, summary),
    ]


def make_message_form(message: Message) -> Form:
    """Return the line of a message, with the day above it or before it."""
    text = markdown.one_line(message.content)
    speaker = _literal(markdown.one_line(message.name) or message.role)
    speaker = speaker.replace(r"\[", r"\\?\[")  # as markdown may escape it
    line = rf"(?:{DAY}\s+)?{speaker}\s*: \"\s*{_literal(text)}\s*\""
    return text, rf"{SECTION}{DATED}{BULLET}{line}"


def _ways_of(text: str) -> list[str]:
    """Return a text as markdown prints it and, where that differs, as JSON gives it."""
    return list(dict.fromkeys((markdown.one_line(text), " ".join(text.splitlines()))))


def _literal(text: str) -> str:
    """Return a pattern for `text` with any spaces between its words."""
    return r"\s+".join(re.escape(word) for word in text.split())
