"""The flow that answers a search: find, load what is found, fit the budget, write the receipt."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from indexing.models import MemoryKind
from memoryproject import tokens
from memoryproject.cleaning import clean_alone, clean_block
from memoryproject.fields import say_moment
from memoryproject.tenancy.models import APIKey, Tenant
from notes import wording
from retrieval import receipts
from retrieval.contents import Content, load_contents
from retrieval.finding import Finding, Findings, Request, find
from retrieval.models import Retrieval
from retrieval.search import Found


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that answers, and what is shown of it."""

    finding: Finding
    content: Content
    snippet: str
    token_estimate: int
    """Of the memory's whole text."""


@dataclass(frozen=True, slots=True)
class Result:
    """An answered search. `tokens_used`: the estimates of the items together."""

    items: tuple[Item, ...]
    findings: Findings
    tokens_used: int
    counter: str
    applied: dict[str, Any]
    """Every parameter as it was applied."""
    receipt: Retrieval | None
    """None: the database was away, and could take none."""


def search(
    *,
    tenant: Tenant,
    asked_by: APIKey | None,
    request: Request,
    max_tokens: int | None = None,
) -> Result:
    """Answer a search and write its receipt. Calls no language model.

    With `max_tokens` the texts of the items together stay within it: what does not fit any
    more is passed over, and what comes behind may still.
    """
    started = time.monotonic()
    findings = find(tenant=tenant, request=request)
    contents = load_contents(
        tenant=tenant, memory_ids=[finding.memory_id for finding in findings.found]
    )
    items, used = fit(findings.found, contents, max_tokens)
    applied = say_request(request, max_tokens)
    receipt = receipts.write_receipt(
        asked=receipts.Asked(
            tenant=tenant,
            asked_by=asked_by,
            kind=Retrieval.Kind.SEARCH,
            query=request.query,
            parameters={name: value for name, value in applied.items() if name != "query"},
        ),
        conversation=receipts.find_audience(
            tenant=tenant, asked_in=request.asked_in, conversation_id=request.conversation_id
        ),
        served=[_to_served(place, item.finding) for place, item in enumerate(items, start=1)],
        embedding_model=findings.embedding_model,
        degraded=findings.degraded,
        tokens=used,
        latency_ms=round((time.monotonic() - started) * 1000),
    )
    return Result(items, findings, used, tokens.in_use().name, applied, receipt)


def fit(
    found: Sequence[Finding], contents: Mapping[uuid.UUID, Content], max_tokens: int | None
) -> tuple[tuple[Item, ...], int]:
    """Return the items within the budget, in order, and what they come to."""
    items: list[Item] = []
    used = 0
    for finding in found:
        content = contents.get(finding.memory_id)
        if content is None:  # it was deleted just now
            continue
        size = tokens.count_tokens(clean_block(content.text))
        if max_tokens is not None and used + size > max_tokens:
            continue
        used += size
        items.append(Item(finding, content, snippet_of(content), size))
    return tuple(items), used


def snippet_of(content: Content) -> str:
    """Return what a memory says, in a clean line: a fact's sentence, an episode's summary."""
    if content.kind is MemoryKind.NOTE:
        return wording.snippet(
            source_type=content.source_type,
            description=content.description,
            content=content.text,
            metadata=content.metadata,
        )
    is_fact = content.kind is MemoryKind.FACT
    text = content.text.partition("\n")[0] if is_fact else content.description
    return clean_alone(wording.shorten(text, wording.SNIPPET_AT_MOST))


def _to_served(place: int, finding: Finding) -> Found:
    """Return a finding as a receipt records it: with its place among all, and its relevance."""
    return Found(
        memory_id=finding.memory_id,
        shelf=finding.kind,
        rank=place,
        score=finding.relevance,
        rrf=0.0,
        retrievability=1.0,
        lexical_rank=finding.lexical_rank,
        vector_rank=finding.vector_rank,
        lexical_found=finding.lexical_found,
        vector_found=finding.vector_found,
        lines=(),
    )


def say_request(request: Request, max_tokens: int | None) -> dict[str, Any]:
    """Return every parameter as it was applied, by the names of the API."""
    given = request
    return {
        "query": given.query,
        "source_types": None if given.source_types is None else list(given.source_types),
        "source_ids": None if given.source_ids is None else list(given.source_ids),
        "conversation_id": str(given.conversation_id) if given.conversation_id else None,
        "user_id": given.user_id,
        "category": given.category,
        "min_importance": given.min_importance,
        "emotion_valence": given.emotion_valence,
        "since": say_moment(given.since) if given.since else None,
        "until": say_moment(given.until) if given.until else None,
        "min_relevance": given.min_relevance,
        "max_results": given.max_results,
        "max_tokens": max_tokens,
        "sort_by": given.sort_by,
        "max_hops": given.max_hops,
        "link_types": list(given.link_types),
        "asked_in": str(given.asked_in) if given.asked_in else None,
    }
