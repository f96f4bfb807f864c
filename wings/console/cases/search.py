"""Finds answers by a phrase, an id, a conversation or a time."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.utils.safestring import SafeString

from episodic.models import Message, Role
from episodic.revealing import Reader
from indexing import tenant_search
from indexing.models import UnitKind
from indexing.tenant_search import Scope, Sought, read_query
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Fact
from wings.console.highlights import show_snippet
from wings.console.labels import name_conversations
from wings.console.search import results
from wings.console.search.results import SearchParams

CANDIDATES_AT_MOST = 30
MATCHES_AT_MOST = 12
"""Number of messages, and of facts, whose answers are looked up."""
REACH = 6
"""Largest number of messages between an answer and the agent's reply."""
QUESTIONS_READ_AT_MOST = 5_000
"""Number of newest questions that are searched: they have no word index."""
SAID, ASKED, SERVED = 4, 3, 2
"""Weights of the reasons for a match."""


class Reason(NamedTuple):
    """Why an answer matches: a message, its question, or a fact that it served."""

    weight: int
    words: str
    quote: SafeString | str = ""


class Hint(NamedTuple):
    """The search, as read from the form."""

    tenant: Tenant
    conversation_id: uuid.UUID | None
    since: datetime | None
    until: datetime | None
    phrase: str
    id: uuid.UUID | None

    @property
    def scope(self) -> Scope:
        """Scope of the word search, at any time, as the text may be older than the question."""
        return Scope(tenant_id=self.tenant.id, conversation_id=self.conversation_id)


ReasonsById = dict[uuid.UUID, list[Reason]]


def find_candidates(hint: Hint, *, reader: Reader) -> list[Any]:
    """Return the best matching answers, best first; without a phrase, the newest.

    Each has its best `reasons`, and the name of its conversation as `place`.
    """
    reasons: ReasonsById = defaultdict(list)
    if hint.id is not None:
        _follow_id(hint.id, hint, reasons)
    elif hint.phrase:
        sought = read_query(hint.phrase)
        _follow_phrase(sought, hint, reasons, reader)
        _follow_questions(sought, hint, reasons)
        _follow_facts(sought, hint, reasons)
    else:
        newest = _answers(hint).order_by("-created_at", "-id")[:CANDIDATES_AT_MOST]
        reasons.update((row.id, []) for row in newest)
    rows = Retrieval.objects.of(hint.tenant).select_related("conversation", "asked_by")
    answers: list[Any] = list(rows.filter(id__in=list(reasons)))
    names = name_conversations({row.conversation_id for row in answers}, reader)
    for row in answers:
        row.place = names.get(row.conversation_id, "")
        row.reasons = sorted(reasons[row.id], key=lambda reason: -reason.weight)[:3]
        row.weight = sum({reason.weight for reason in row.reasons})
    answers.sort(key=lambda row: (row.weight, row.created_at), reverse=True)
    return answers[:CANDIDATES_AT_MOST]


def find_owner(named: uuid.UUID) -> Tenant | None:
    """Return the tenant of the fact, episode or message with this id, or None."""
    hit = RetrievalHit.across_tenants.filter(memory_id=named).select_related("tenant").first()
    message = Message.across_tenants.filter(id=named).select_related("tenant").first()
    fact = Fact.across_tenants.filter(id=named).select_related("tenant").first()
    owned = hit or message or fact
    return owned.tenant if owned else None


def _answers(hint: Hint) -> QuerySet[Retrieval]:
    """Return the tenant's answers in the given conversation and time."""
    return Retrieval.objects.of(hint.tenant).filter(**_narrow(hint, ""))


def _narrow(hint: Hint, path: str) -> dict[str, Any]:
    """Return the scope's filters for rows from which `path` leads to an answer."""
    filters = {
        "conversation": hint.conversation_id,
        "created_at__gte": hint.since,
        "created_at__lt": hint.until,
    }
    return {f"{path}{name}": value for name, value in filters.items() if value is not None}


def _follow_id(memory_id: uuid.UUID, hint: Hint, reasons: ReasonsById) -> None:
    """Add the answers that served a memory, or that came before a message."""
    message = Message.objects.of(hint.tenant).filter(id=memory_id).first()
    if message is not None:
        _follow_messages([message], hint, reasons, quotes={})
        return
    for row in _serving([memory_id], hint):
        reasons[row.retrieval_id].append(Reason(SERVED, f"served it at rank {row.rank}"))


def _serving(memory_ids: Iterable[uuid.UUID], hint: Hint) -> QuerySet[RetrievalHit]:
    """Return the newest hits that served memories. Uses index: retrieval_hit_by_memory."""
    hits = RetrievalHit.objects.of(hint.tenant).filter(memory_id__in=list(memory_ids))
    return hits.filter(**_narrow(hint, "retrieval__")).order_by("-id")[: CANDIDATES_AT_MOST * 2]


def _follow_phrase(sought: Sought, hint: Hint, reasons: ReasonsById, reader: Reader) -> None:
    """Add the answers given just before messages with the words."""
    scope, kind = hint.scope, UnitKind.MESSAGE
    matches = tenant_search.find(sought, kind=kind, scope=scope).found
    if not matches:
        matches = tenant_search.find(sought, kind=kind, scope=scope, every=False).found
    kept = results.restrict_matches(matches, reader)[:MATCHES_AT_MOST]
    shown = results.show_messages(kept, reader)
    shown += results.find_unprocessed(SearchParams(sought, scope), reader=reader)[:MATCHES_AT_MOST]
    quotes = {one.id: one for one in shown}
    messages = Message.objects.of(hint.tenant).filter(id__in=list(quotes))
    _follow_messages(list(messages.defer("content", "metadata")), hint, reasons, quotes)


def _follow_messages(
    messages: Sequence[Message], hint: Hint, reasons: ReasonsById, quotes: dict[uuid.UUID, Any]
) -> None:
    """Add the answers given just before messages.

    Uses index: retrieval_by_conversation.
    """
    near = Q(pk__in=[])
    for message in messages:
        before = (message.seq - REACH, message.seq)
        near |= Q(conversation=message.conversation_id, through_seq__range=before)
    for row in _answers(hint).filter(near).only("tenant", "conversation_id", "through_seq"):
        for message in messages:
            behind = message.seq - row.through_seq
            if message.conversation_id == row.conversation_id and 0 <= behind <= REACH:
                quote = quotes.get(message.id)
                spoke = message.role == Role.ASSISTANT
                reason = Reason(
                    SAID if spoke and behind else ASKED,
                    _render_distance(message, behind),
                    quote.text if quote else "",
                )
                reasons[row.id].append(reason)


def _render_distance(message: Message, behind: int) -> str:
    speaker = message.name or message.role
    if behind == 0:
        return f"{speaker} had just said"
    return f"{speaker} said {behind} message{'s' if behind > 1 else ''} later"


def _follow_questions(sought: Sought, hint: Hint, reasons: ReasonsById) -> None:
    """Add the newest questions that contain the words as typed.

    Uses index: retrieval_with_latency.
    """
    newest = _answers(hint).order_by("-created_at", "-id")[:QUESTIONS_READ_AT_MOST]
    rows = Retrieval.objects.of(hint.tenant).filter(id__in=newest.values("id"))
    words = sought.words.split()
    for word in [*words, *sought.phrases]:
        rows = rows.filter(query__icontains=word)
    lexemes = [word.casefold() for word in words]
    for row in rows.order_by("-created_at", "-id").only("tenant", "query")[:CANDIDATES_AT_MOST]:
        quote = show_snippet(row.query, lexemes, "simple")
        reasons[row.id].append(Reason(ASKED, "was asked", quote))


def _follow_facts(sought: Sought, hint: Hint, reasons: ReasonsById) -> None:
    """Add the answers that served facts with the words."""
    matches = tenant_search.find(sought, kind=UnitKind.FACT, scope=hint.scope).found
    kept = {match.memory_id: match for match in matches[:MATCHES_AT_MOST]}
    facts = Fact.objects.of(hint.tenant).in_bulk(list(kept))
    for hit in _serving(kept, hint):
        match, fact = kept[hit.memory_id], facts.get(hit.memory_id)
        if fact is not None:
            quote = show_snippet(fact.fact, match.lexemes, match.language)
            reasons[hit.retrieval_id].append(Reason(SERVED, f"served at rank {hit.rank}", quote))
