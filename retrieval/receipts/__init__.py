"""Receipts of answers: storing them, rebuilding a text from one, handing answers to a review.

A receipt stores the server's own words (headings, ranks, ages, marks) and, for everything that
somebody said, a reference to the row and the part of it. Facts, titles and messages are never
edited, so the same text can be rebuilt; and erased text is in no receipt.
"""

import hashlib
import hmac
import json
import time
import uuid
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import Q
from rest_framework.utils.encoders import JSONEncoder

from episodic.models import Conversation, Episode, Message
from indexing.models import MemoryKind
from jobs.enqueue import wake
from jobs.models import Job
from jobs.models import Kind as JobKind
from memoryproject.database.batches import in_batches
from memoryproject.database.clock import execute
from memoryproject.database.ids import make_id
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import DEFANGED, clean_line
from memoryproject.text.parts import Kind, Part, Quote, join
from retrieval.corrections import print_heir
from retrieval.hits import Hit
from retrieval.models import Retrieval, RetrievalHit
from retrieval.statements import read_file, run
from semantic.models import Fact

REVIEWABLE = (Retrieval.Kind.RETRIEVE, Retrieval.Kind.RETRIEVE_RAW, Retrieval.Kind.ASK)
"""Calls whose served episodes are reviewed later."""
SERVED_AT_MOST = 1_000
"""Largest number of servings of a memory that are counted."""
ERASED = "[erased]"


def write_receipt(receipt: Retrieval, *, hits: Sequence[Hit], started: float) -> None:
    """Store a question and what was served, by one statement: all or nothing.

    `started` is when the answer was begun, by the monotonic clock.
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
    """Return how many memories each ranking found, by kind; kinds without any are left out.

    Memories reached by a link were in no ranking.
    """
    return {
        hit.shelf.value: {"lexical": hit.lexical_found, "vector": hit.vector_found}
        for hit in sorted(hits, key=lambda hit: (hit.lexical_found, hit.vector_found))
    }


def take_pending_reviews(conversation: Conversation, episodes: Sequence[Episode]) -> None:
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
        kind=JobKind.REVIEW,
        scope=job_id,
        input={"conversation": str(conversation.id)},
    )
    pending.update(review_job_id=job_id)
    wake(job_id)


def last_answers_under_review(*, tenant: Tenant, job_id: uuid.UUID) -> dict[uuid.UUID, Retrieval]:
    """Return, by episode, the last answer that served it among those a review job rates."""
    hits = RetrievalHit.objects.of(tenant).filter(
        retrieval__review_job=job_id, memory_kind=MemoryKind.EPISODE
    )
    newest_last = hits.select_related("retrieval").order_by("retrieval_id", "rank")
    return {hit.memory_id: hit.retrieval for hit in newest_last}


def find_receipts(
    tenant: Tenant, memory_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[uuid.UUID]]:
    """Return the answers that served memories, by memory, newest first.

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
    """The number of answers in a span of time, with p50 and p95 latency.

    Latencies are None if no answer was measured.
    """

    answers: int
    p50_ms: int | None
    p95_ms: int | None


def measure_pace(
    tenant: Tenant, *, spans: Sequence[tuple[datetime, datetime]], at_most: int
) -> list[Pace]:
    """Return the pace of each span, its end excluded, from its newest `at_most` answers."""
    params: dict[str, Any] = {
        "tenant": tenant.id,
        "starts": [start for start, _ in spans],
        "ends": [end for _, end in spans],
        "at_most": at_most,
    }
    return [Pace(*row[1:]) for row in execute(read_file("pace.sql"), params)]


class Use(NamedTuple):
    """How often a memory was served, in how many conversations, and when last."""

    times: int = 0
    conversations: int = 0
    last_at: datetime | None = None


def measure_use(tenant: Tenant, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Use]:
    """Return the use of each memory that was served, from at most 1,000 servings each."""
    params: dict[str, Any] = {"tenant": tenant.id, "ids": list(ids), "at_most": SERVED_AT_MOST}
    return {row[0]: Use(*row[1:]) for row in execute(read_file("served.sql"), params)}


def count_served(tenant: Tenant, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, tuple[int, int]]:
    """Return how often memories were served, and in how many conversations, up to a maximum."""
    uses = measure_use(tenant, ids).items()
    return {row_id: (use.times, use.conversations) for row_id, use in uses}


@dataclass(frozen=True, slots=True)
class Replay:
    """The text of an answer, rebuilt. None: its parts were not stored."""

    receipt: uuid.UUID
    text: str | None
    exact: bool
    """Whether it is exactly the text that was served."""
    erased: int
    """Number of places where something has been erased since."""


def keep_parts(parts: Iterable[Part], *, is_shared: bool) -> list[Any]:
    """Return the parts of a text as receipts store them: our words, and references.

    A reference is [kind, id], or for messages [kind, seq], with start and end for a part.
    `is_shared`: the text may quote several conversations, so that a seq is ambiguous.
    """
    kept: list[Any] = []
    for is_ours, several in groupby(parts, lambda part: isinstance(part, str)):
        if is_ours:
            kept += filter(None, [join(several)])
        else:
            kept += [_refer(quote, is_shared) for quote in several if isinstance(quote, Quote)]
    return kept


def _refer(quote: Quote, is_shared: bool) -> list[Any]:
    key = quote.id.replace("-", "") if quote.seq is None or is_shared else quote.seq
    place = [] if quote.start is None else [quote.start, quote.end]
    return [quote.kind.value, key, *place]


def sign(text: str) -> str:
    """Return a keyed hash of a text, by which nobody without the key can guess it."""
    return hmac.new(settings.KEY_PEPPER.encode(), text.encode(), hashlib.sha256).hexdigest()


def replay(receipt: Retrieval) -> Replay:
    """Rebuild the text of an answer from the current rows; three queries at most."""
    if receipt.parts is None:
        return Replay(receipt.id, text=None, exact=False, erased=0)
    said = _load_texts(receipt, [part for part in receipt.parts if not isinstance(part, str)])
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
    """Return the printed text of each reference; erased ones are missing."""
    tenant: Tenant = receipt.tenant
    links = receipt.parameters.get("links", DEFANGED)
    ids = {kind: {one[1] for one in references if one[0] == kind} for kind in Kind}
    texts: dict[tuple[Any, Any], str] = {}
    facts = Fact.objects.of(tenant).filter(
        id__in=map(uuid.UUID, ids[Kind.FACT] | ids[Kind.CORRECTION])
    )
    for fact in facts:
        texts[Kind.FACT, fact.pk.hex] = clean_line(fact.fact, links)
        texts[Kind.CORRECTION, fact.id.hex] = print_heir(fact, links)
    shown = map(uuid.UUID, ids[Kind.TITLE] | ids[Kind.SUMMARY])
    for episode in Episode.objects.of(tenant).filter(id__in=shown):
        texts[Kind.TITLE, episode.id.hex] = clean_line(episode.title, links)
        texts[Kind.SUMMARY, episode.id.hex] = clean_line(episode.summary, links)
    keys = ids[Kind.MESSAGE] | ids[Kind.NAME]
    seqs = {key for key in keys if isinstance(key, int)}
    messages = Message.objects.of(tenant).filter(
        Q(conversation=receipt.conversation_id, seq__in=seqs)
        | Q(id__in=map(uuid.UUID, keys - seqs))
    )
    for message in messages:
        for key in (message.seq, message.id.hex):
            texts[Kind.NAME, key] = clean_line(message.name, links)
            texts[Kind.MESSAGE, key] = clean_line(message.content, links)
    return texts
