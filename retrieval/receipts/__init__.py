"""Receipts of answers: writing one, making its text again, handing what was served to a review.

A receipt keeps our own words (headings, ranks, ages, marks) and, for everything that
somebody said, where it stands: which row, which part of it. Facts, titles and messages are
never edited, so the same text comes back; and what is erased is in no receipt.
"""

import hashlib
import hmac
import json
import time
import uuid
from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models import Q
from rest_framework.utils.encoders import JSONEncoder

from episodic.models import Conversation, Episode, Message
from indexing.models import MemoryKind
from jobs.enqueue import wake
from jobs.models import Job, Kind
from memoryproject.database.batches import in_batches
from memoryproject.database.clock import execute
from memoryproject.database.ids import make_id
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, ELLIPSIS, clean_line, print_links
from retrieval import markdown
from retrieval.hits import EpisodeHit, FactHit, Hit, MessageRow
from retrieval.models import Retrieval, RetrievalHit
from retrieval.selection import Chosen
from retrieval.statements import read_file, run
from semantic.correction_marks import print_heir
from semantic.models import Fact

REVIEWABLE = (Retrieval.Kind.RETRIEVE, Retrieval.Kind.RETRIEVE_RAW)
"""Calls whose episodes are judged later by what was made of them."""
SERVED_AT_MOST = 1_000
"""Further servings of a memory are not counted."""
FACTS = "## Semantic Memory"
RECENT = "## Recent Messages"
SUMMARY = "**Summary:** "
FACT, TITLE, SUMMARY_OF, NAME, SAID, RIGHT = "f", "t", "s", "n", "m", "r"
"""What a reference leads to: all by id, but a message of the receipt's conversation by seq."""
ERASED = "[erased]"
Part = str | list[Any]
"""Words of ours, or a reference: [what, id or seq], of a part of a message with start and end."""


def write_receipt(receipt: Retrieval, *, hits: Sequence[Hit], started: float) -> None:
    """Store what was asked and served: one statement, and so all or nothing.

    The receipt has what the caller knows. `started` is when the answer was begun, by the
    monotonic clock.
    """
    has_episode = any(hit.shelf is MemoryKind.EPISODE for hit in hits)
    receipt.reviewable = has_episode and receipt.kind in REVIEWABLE
    receipt.parameters = json.loads(json.dumps(receipt.parameters, cls=JSONEncoder))
    receipt.counts = _count_legs(hits)
    receipt.latency_ms = round((time.monotonic() - started) * 1000)
    receipt.through_seq = receipt.conversation.next_seq - 1 if receipt.conversation else 0
    if receipt.parts is None:
        receipt.signature = ""
    row = {
        field.attname: field.get_db_prep_save(getattr(receipt, field.attname), connection)
        for field in Retrieval._meta.concrete_fields
    }
    run(read_file("write_receipt.sql"), {**row, "hits": json.dumps(_list_hits(hits))})


def _list_hits(hits: Sequence[Hit]) -> list[list[Any]]:
    names = attrgetter("shelf", "rank", "score", "lexical_rank", "vector_rank")
    return [[str(make_id()), str(hit.memory_id), *names(hit)] for hit in hits]


def _count_legs(hits: Sequence[Hit]) -> dict[str, dict[str, int]]:
    """Return how many memories each leg found, by shelf; shelves that found none are left out.

    Each hit of the search knows it; what was reached by a link knows of none.
    """
    return {
        hit.shelf.value: {"lexical": hit.lexical_found, "vector": hit.vector_found}
        for hit in sorted(hits, key=lambda hit: (hit.lexical_found, hit.vector_found))
    }


def take_pending_reviews(conversation: Conversation) -> None:
    """Hand every reviewable answer of the conversation to one new review job.

    Called inside a segmentation's commit, under the conversation's lock.
    """
    job_id = make_id()
    pending = Retrieval.objects.of(conversation.tenant).filter(
        conversation=conversation, reviewable=True, review_job=None
    )
    if not pending.exists():
        return
    Job.objects.create(
        id=job_id,
        tenant=conversation.tenant,
        kind=Kind.REVIEW,
        scope=job_id,
        input={"conversation": str(conversation.id)},
    )
    pending.update(review_job_id=job_id)
    wake(job_id)


def last_answers_under_review(*, tenant: Tenant, job_id: uuid.UUID) -> dict[uuid.UUID, Retrieval]:
    """Return by episode the last answer that served it, of those that a review job judges."""
    hits = RetrievalHit.objects.of(tenant).filter(
        retrieval__review_job=job_id, memory_kind=MemoryKind.EPISODE
    )
    newest_last = hits.select_related("retrieval").order_by("retrieval_id", "rank")
    return {hit.memory_id: hit.retrieval for hit in newest_last}


def find_receipts(
    tenant: Tenant, memory_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the answers that served memories, by memory, the newest first.

    Uses index: retrieval_hit_by_memory.
    """
    receipts: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    for some in in_batches(memory_ids):
        hits = RetrievalHit.objects.of(tenant).filter(memory_id__in=some).order_by("-retrieval_id")
        for memory_id, retrieval_id in hits.values_list("memory_id", "retrieval_id"):
            receipts[memory_id].append(retrieval_id)
    return receipts


@dataclass(frozen=True, slots=True)
class Pace:
    """Answers of one span of time, and the time that half and 95 % of them kept to.

    The times are None where no answer was measured.
    """

    answers: int
    p50_ms: int | None
    p95_ms: int | None


def measure_pace(
    tenant: Tenant, *, spans: Sequence[tuple[datetime, datetime]], at_most: int
) -> list[Pace]:
    """Return the pace of each span, its end excluded, by its newest `at_most` answers."""
    params: dict[str, Any] = {
        "tenant": tenant.id,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "at_most": at_most,
    }
    return [Pace(*row[1:]) for row in execute(read_file("pace.sql"), params)]


def count_served(tenant: Tenant, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[int, int]]:
    """Return how often memories were served, and in how many conversations, each up to a cap."""
    params: dict[str, Any] = {"tenant": tenant.id, "ids": list(ids), "at_most": SERVED_AT_MOST}
    rows = execute(read_file("served.sql"), params)
    return {row_id: (times, places) for row_id, times, places in rows}


class NotFoundInText(Exception):
    """A line does not read as the renderer writes it."""


@dataclass(frozen=True, slots=True)
class Replay:
    """The text of an answer, made again. None: what it was made of was not kept."""

    receipt: uuid.UUID
    text: str | None
    exact: bool
    """Whether it is what was served, to the letter."""
    erased: int
    """Places at which something was erased since."""


def take_apart(chosen: Chosen, *, is_shared: bool) -> list[Part] | None:
    """Return what a text was made of; None: it does not read as expected, so it is not kept.

    `is_shared`: it may quote several conversations. Called while links are printed as the text
    has them.
    """
    reader = _Reader(chosen, is_shared=is_shared)
    try:
        parts = [part for line in chosen.text.split("\n") for part in (*reader.read(line), "\n")]
    except NotFoundInText:
        return None
    merged: list[Part] = []
    for part in parts[:-1]:  # behind the last line there is no break
        if isinstance(part, str) and merged and isinstance(merged[-1], str):
            merged[-1] += part
        elif part:
            merged.append(part)
    return merged


class _Reader:
    """Reads the lines of a text in order, with the rows behind them in the same order."""

    def __init__(self, chosen: Chosen, *, is_shared: bool) -> None:
        self._is_shared = is_shared
        self._facts = deque(chosen.facts)
        self._episodes = deque(chosen.episodes if chosen.blocks is None else ())
        shown = [block for block in chosen.blocks or () if not block.text.startswith(FACTS)]
        self._messages: deque[MessageRow | Message]
        self._messages = deque(message for block in shown for message in block.messages)
        self._recent = chosen.recent if chosen.blocks is None else None
        self._episode: EpisodeHit | None = None
        self._is_among_facts = False

    def read(self, line: str) -> Iterator[Part]:
        if line.startswith("## "):
            self._is_among_facts = line == FACTS
            if line == RECENT and self._recent is not None:
                self._messages = deque(self._recent.messages)
            yield line
        elif self._is_among_facts and line.startswith("- ["):
            fact = self._facts.popleft()
            line, mark = _split_mark(line, fact)
            yield from _quote(line, clean_line(fact.fact), [FACT, fact.pk.hex])
            yield from mark
        elif line.startswith("### ") and self._episodes:
            episode = self._episode = self._episodes.popleft()
            self._messages = deque(episode.messages)
            yield from _quote(line, clean_line(episode.title), [TITLE, episode.pk.hex])
        elif line.startswith(SUMMARY) and self._episode is not None:
            reference = [SUMMARY_OF, self._episode.pk.hex]
            line, mark = _split_mark(line, self._episode)
            yield from _quote(line, clean_line(self._episode.summary), reference)
            yield from mark
        elif line.startswith("- "):
            if not self._messages:
                raise NotFoundInText
            message = self._messages.popleft()
            line, mark = _split_mark(line, message)
            yield from _read_message(
                line, message, message.pk.hex if self._is_shared else message.seq
            )
            yield from mark
        else:
            yield line


def _split_mark(
    line: str, row: FactHit | EpisodeHit | MessageRow | Message
) -> tuple[str, list[Part]]:
    """Return a line up to the mark of a correction, and that with what stands behind it."""
    mark = markdown.mark(row)
    place = line.rfind(mark) if mark else len(line)
    if place < 0:
        raise NotFoundInText
    if row.corrected_by is None:
        return line[:place], [line[place:]]
    right = row.correction.split(": ", 1)[1]
    return line[:place], list(_quote(line[place:], right, [RIGHT, row.corrected_by.hex]))


def _quote(line: str, quoted: str, reference: list[Any]) -> Iterator[Part]:
    """Yield what stands before a quotation, a reference to it, and what stands behind."""
    place = line.find(quoted)
    if place < 0:
        raise NotFoundInText
    yield from (line[:place], reference, line[place + len(quoted) :])


def _read_message(line: str, message: MessageRow | Message, key: str | int) -> Iterator[Part]:
    opening = f'{clean_line(message.name) or message.role}: "'
    place, end = line.find(opening), line.rfind('"')
    if place < 0 or end < place + len(opening):
        raise NotFoundInText
    yield line[:place]
    name = opening.removesuffix(': "')
    yield [NAME, key] if message.name else name
    yield ': "'
    yield from _read_content(line[place + len(opening) : end], message, key)
    yield line[end:]


def _read_content(shown: str, message: MessageRow | Message, key: str | int) -> Iterator[Part]:
    """Yield references to the parts of a message that are shown, with the marks between them."""
    content = clean_line(message.content or "")
    if shown == content:
        yield [SAID, key]
        return
    reached = 0
    for number, between in enumerate(shown.split(ELLIPSIS)):
        piece = between.strip()
        if number:
            yield ELLIPSIS
        if not piece:
            yield between
            continue
        place = content.find(piece, reached)
        if place < 0:
            raise NotFoundInText
        reached = place + len(piece)
        before, after = between.split(piece, 1)
        yield from (before, [SAID, key, place, reached], after)


def sign(text: str) -> str:
    """Return a keyed hash of a text, by which nobody without the key can guess it."""
    return hmac.new(settings.KEY_PEPPER.encode(), text.encode(), hashlib.sha256).hexdigest()


def replay(receipt: Retrieval) -> Replay:
    """Make the text of an answer again, from the rows as they are; three queries at most."""
    if receipt.parts is None:
        return Replay(receipt.id, text=None, exact=False, erased=0)
    references = [part for part in receipt.parts if not isinstance(part, str)]
    with print_links(receipt.parameters.get("links", DEFANGED)):
        said = _load_texts(receipt, references)
    texts = [part if isinstance(part, str) else _find_text(part, said) for part in receipt.parts]
    text = "".join(ERASED if part is None else part for part in texts)
    exact = hmac.compare_digest(sign(text), receipt.signature)
    return Replay(receipt.id, text=text, exact=exact, erased=texts.count(None))


def _find_text(reference: Sequence[Any], said: Mapping[tuple[Any, Any], str]) -> str | None:
    text = said.get((reference[0], reference[1]))
    return text[reference[2] : reference[3]] if text is not None and reference[2:] else text


def _load_texts(
    receipt: Retrieval, references: Sequence[Sequence[Any]]
) -> dict[tuple[Any, Any], str]:
    """Return, by what a reference leads to, how it is printed; what was erased is missing."""
    tenant: Tenant = receipt.tenant
    ids = {kind: {one[1] for one in references if one[0] == kind} for kind in "ftsnmr"}
    texts: dict[tuple[Any, Any], str] = {}
    facts = Fact.objects.of(tenant).filter(id__in=map(uuid.UUID, ids[FACT] | ids[RIGHT]))
    for fact in facts:
        texts[FACT, fact.pk.hex] = clean_line(fact.fact)
        texts[RIGHT, fact.id.hex] = print_heir(fact)
    episodes = Episode.objects.of(tenant).filter(id__in=map(uuid.UUID, ids[TITLE]))
    for episode in episodes:
        texts[TITLE, episode.id.hex] = clean_line(episode.title)
        texts[SUMMARY_OF, episode.id.hex] = clean_line(episode.summary)
    keys = ids[SAID] | ids[NAME]
    seqs = {key for key in keys if isinstance(key, int)}
    messages = Message.objects.of(tenant).filter(
        Q(conversation=receipt.conversation_id, seq__in=seqs)
        | Q(id__in=map(uuid.UUID, keys - seqs))
    )
    for message in messages:
        for key in (message.seq, message.id.hex):
            texts[NAME, key] = clean_line(message.name)
            texts[SAID, key] = clean_line(message.content)
    return texts
