"""Finds what recent answers served, so that a message that repeats it is not taken as new.

A receipt names memories, not the words printed: the whole text of a memory counts as served, in
each form in which `markdown` and `packing` may print it.
"""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from django.db.models import Q

from episodic import queries as episodic_queries
from episodic.models import Conversation, Episode, Message, Role
from episodic.window import DOUBLED_SIZE
from memoryproject.text.cleaning import clean_line
from memoryproject.text.parts import Excerpt
from memoryproject.wings import list_wings
from retrieval.corrections import find_heirs
from retrieval.excerpts import add_dates
from retrieval.memory import Loader
from retrieval.models import Retrieval, RetrievalHit
from semantic.echoes import Answers, Printed
from semantic.engines import Served
from semantic.models import Fact

ECHOED_FOR = 30
"""Number of messages after an answer that may repeat it: as many as a review reads."""
RECENT_AT_MOST = DOUBLED_SIZE
"""Number of messages before a question with `min_seq` or `fresh` that its answer may have shown."""
# Text that may be printed around a memory is cut out with it.
BULLET = r"(?:(?<!\S)(?:[-*•>]|\d+[.)])\s+)?"
DAY = r"(?:\d{4}-\d\d-\d\d|\d{1,2} [A-Z][a-z]+ \d{4})"
HOME = r"(?: \(conversation [0-9a-f]{8}\))?"
"""Text that a heading adds if the answer is from several conversations."""
TIME = r"(?:\d\d:\d\d\s+)?"
NOTE = r"(?:[ \t]*\[[^\]\n]*\])?"
SECTION = r"(?:## (?:Semantic Memory|Episodic Memories|Recent Messages)\s+)?"
DATED = rf"(?:### {DAY}{NOTE}\s+)?"
SOURCES = rf"(?:[ \t]*\(sources: \d+ conversations?(?:, corrected on {DAY})?\))?"
WHEN = r"(?:\s+\*\*When:\*\* (?:just now|yesterday|\d+ \w+ ago))?"
FOUND = r"(?:\s+\*\*Found:\*\* id: [^\n]*)?(?:\s+\*\*Details:\*\*)?"
SPEAKER = r"(?P<speaker>[^\s:\"][^:\"\n]{0,100}?)"
SHORTENED_LINE = (
    rf"^{SECTION}{DATED}{BULLET}(?:{DAY}\s+)?{TIME}{SPEAKER}: \"(?P<said>[^\n]*)\"{NOTE}[ \t]*$"
)
# It ends where its line does, or where the next one starts if there are no line breaks.
SHORTENED = (
    rf"{SECTION}{DATED}{BULLET}(?:{DAY}\s+)?{TIME}{SPEAKER}: "
    rf"\"(?P<said>[^\n]*?)\"{NOTE}(?=\s*$|\s+(?:-|#))"
)

Seqs = frozenset[int]
Form = tuple[str, str]
"""A text that an answer contains literally, and the pattern of everything printed with it."""
Part = tuple[uuid.UUID, list[Served], list[Form]]
"""A memory, its text, and the ways in which it was printed."""


def find_answers(conversation: Conversation, first_seq: int, last_seq: int) -> Answers:
    """Return what had been served shortly before the messages of a range."""
    reach = _find_reach(conversation, first_seq, last_seq)
    served: dict[Served, uuid.UUID] = {}
    printed: list[Printed] = []
    for memory_id, texts, forms in chain(
        _list_facts(conversation, reach),
        _list_episodes(conversation, reach),
        _list_notes(conversation, reach),
        _list_recent(conversation, first_seq, last_seq),
        _list_corrections(conversation, reach),
    ):
        cleaned = [replace(item, text=clean_line(item.text)) for item in texts]
        served |= dict.fromkeys([*texts, *cleaned], memory_id)
        printed += [
            Printed(memory_id, " ".join(text.split()), form, texts[0].seqs)
            for text, form in forms
            if text.strip()
        ]
    return Answers(served=served, printed=printed, shortened=(SHORTENED_LINE, SHORTENED))


def _find_reach(conversation: Conversation, first_seq: int, last_seq: int) -> dict[uuid.UUID, Seqs]:
    """Return the memories served, in order of id, each with the messages that may repeat it.

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
    """Return the seqs of the range that are close enough after one of the answers."""
    return frozenset(
        seq
        for last_seen in through
        for seq in range(last_seen + 1, last_seen + ECHOED_FOR + 1)
        if first_seq <= seq <= last_seq
    )


def _list_facts(conversation: Conversation, reach: Mapping[uuid.UUID, Seqs]) -> Iterator[Part]:
    facts = Fact.objects.of(conversation.tenant).in_bulk(list(reach))
    for memory_id in filter(facts.__contains__, reach):
        fact = facts[memory_id]
        yield memory_id, [Served(fact.fact, "", reach[memory_id])], list_fact_forms(fact)


def _list_episodes(conversation: Conversation, reach: Mapping[uuid.UUID, Seqs]) -> Iterator[Part]:
    tenant = conversation.tenant
    episodes = Episode.objects.of(tenant).in_bulk(list(reach))
    messages = episodic_queries.messages_of_episodes(tenant=tenant, episode_ids=episodes)
    for memory_id in filter(episodes.__contains__, reach):
        episode, rows, seqs = episodes[memory_id], messages[memory_id], reach[memory_id]
        dated = [replace(_quote(row, seqs), text=_date(row)) for row in rows]
        texts = [Served(episode.summary, "", seqs), *(_quote(row, seqs) for row in rows), *dated]
        forms = chain.from_iterable(map(list_message_forms, rows))
        yield memory_id, texts, [*list_headline_forms(episode), *forms]


def _list_notes(conversation: Conversation, reach: Mapping[uuid.UUID, Seqs]) -> Iterator[Part]:
    """Yield the texts of served notes; of long ones only the beginning, as `echoes` reads."""
    loader = Loader(conversation.tenant, list(reach), active_only=True, outline=False)
    notes = {note.id: note for wing in list_wings() for note in wing.load_memories(loader)}
    for memory_id in filter(notes.__contains__, reach):
        yield memory_id, [Served(notes[memory_id].content, "", reach[memory_id])], []


def _list_corrections(
    conversation: Conversation, reach: Mapping[uuid.UUID, Seqs]
) -> Iterator[Part]:
    """Yield the corrections printed beside served memories."""
    if conversation.has_corrections:
        seqs = frozenset[int]().union(*reach.values())
        for fact in find_heirs(conversation):
            yield fact.id, [Served(fact.fact, "", seqs)], []


def _list_recent(conversation: Conversation, first_seq: int, last_seq: int) -> Iterator[Part]:
    """Yield the unprocessed messages that answers with `min_seq` or `fresh` may have shown."""
    retrievals = (
        Retrieval.objects.of(conversation.tenant)
        .filter(
            conversation=conversation,
            through_seq__range=(first_seq - ECHOED_FOR, last_seq - 1),
        )
        .filter(Q(parameters__min_seq__gt=0) | Q(parameters__fresh=True))
    )
    through = set(retrievals.values_list("through_seq", flat=True))
    if not through:
        return
    rows = episodic_queries.messages_between(
        conversation, first_seq=min(through) - RECENT_AT_MOST + 1, last_seq=max(through)
    )
    for row in rows:
        after = [seq for seq in through if seq - RECENT_AT_MOST < row.seq <= seq]
        seqs = _seqs_after(after, first_seq, last_seq)
        if seqs and row.episode_id is not None:
            yield row.episode_id, [_quote(row, seqs)], [make_message_form(row)]


def _quote(message: Message, seqs: Seqs) -> Served:
    """Return a message as a quotation; a speaker without a name is called by the role."""
    names = {Role.USER: "User", Role.ASSISTANT: "Assistant"}
    speaker = message.name or names.get(Role(message.role), "")
    return Served(message.content, speaker, seqs)


def list_fact_forms(fact: Fact) -> list[Form]:
    """Return the printed forms of a fact: our bullet, and the bare sentence as a list item."""
    label = rf"\[{fact.category}(?:, {DAY})?(?:, earlier)?{HOME}\]\s+"
    forms = []
    for text in _ways_of(fact.fact):
        sentence = _literal(text)
        forms += [
            (text, rf"{SECTION}{BULLET}{label}{sentence}{SOURCES}{NOTE}"),
            (text, rf"^[ \t]*(?:[-*•>]|\d+[.)])[ \t]+\"?{sentence}\"?[ \t]*$"),
        ]
    return forms


def list_headline_forms(episode: Episode) -> list[Form]:
    """Return the printed forms of an episode: its block without messages, and its summary."""
    summary_text = clean_line(episode.summary)
    title_text = clean_line(episode.title)
    summary = rf"\*\*Summary:\*\* {_literal(summary_text)}{NOTE}"
    title = rf"{SECTION}### {_literal(title_text)}{NOTE}"
    return [(title_text, rf"{title}{WHEN}(?:\s+{summary})?{FOUND}"), (summary_text, summary)]


def list_message_forms(message: Message) -> list[Form]:
    """Return the printed forms of a message: its line, without and with added dates."""
    plain, dated = clean_line(message.content), _date(message)
    forms = [make_message_form(message)]
    return forms if dated == plain else [*forms, make_message_form(message, dated)]


def _date(message: Message) -> str:
    line = clean_line(message.content)
    return add_dates(Excerpt(line), line, at=message.said_at).text


def make_message_form(message: Message, text: str | None = None) -> Form:
    """Return the form of a message's line, with its day; `text`: the part shown."""
    text = clean_line(message.content) if text is None else text
    speaker = _literal(clean_line(message.name) or message.role)
    speaker = speaker.replace(r"\[", r"\\?\[")  # as markdown may escape it
    line = rf"(?:{DAY}\s+)?{TIME}{speaker}\s*: \"\s*{_literal(text)}\s*\"{NOTE}"
    return text, rf"{SECTION}{DATED}{BULLET}{line}"


def _ways_of(text: str) -> list[str]:
    """Return a text as markdown prints it and, if that differs, as JSON has it."""
    return list(dict.fromkeys((clean_line(text), " ".join(text.splitlines()))))


def _literal(text: str) -> str:
    """Return a pattern for `text` with any spaces between its words."""
    return r"\s+".join(re.escape(word) for word in text.split())
