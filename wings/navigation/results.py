"""Answers `search`: finds and loads memories, fits them into the budget, stores the receipt."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from indexing.models import MemoryKind
from memoryproject.edge import deadlines
from memoryproject.edge.errors import Unavailable
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.reading import Reading
from memoryproject.text import tokens
from memoryproject.text.cleaning import clean_alone
from memoryproject.text.sentences import shorten
from retrieval import receipts
from retrieval.budget import Budget, fit
from retrieval.hits import Finding
from retrieval.memory import Memory, load_memories
from retrieval.models import Retrieval
from retrieval.search.in_tenant import SearchRequest
from wings.navigation import in_mirror
from wings.navigation.finding import Findings, find, find_audience
from wings.navigation.links import Node
from wings.notes import wording


@dataclass(frozen=True, slots=True)
class Item:
    """A memory in the answer, and the text shown of it."""

    finding: Finding
    memory: Memory
    snippet: str
    token_estimate: int
    """Estimated tokens of the memory's full text."""


@dataclass(frozen=True, slots=True)
class Result:
    """A search's result. `tokens_used`: sum of the items' estimates."""

    items: tuple[Item, ...]
    findings: Findings
    tokens_used: int
    counter: str
    applied: dict[str, Any]
    """Every parameter as it was applied."""
    receipt: Retrieval | None = None
    """None: the database was unavailable."""

    @property
    def hop_paths(self) -> list[Node]:
        """Return the links leading to the items, each once, nearest first."""
        by_id = {node.id: node for node in self.findings.nodes}
        passed: set[uuid.UUID] = set()
        for item in self.items:
            node = by_id.get(item.finding.memory_id)
            while node is not None and node.id not in passed:
                passed.add(node.id)
                node = by_id.get(node.via)
        return [node for node in self.findings.nodes if node.id in passed]


def search(reading: Reading, request: SearchRequest) -> Result:
    """Answer a search and write its receipt. Calls no language model.

    With `request.max_tokens` the items' texts together stay within it: an item that does not fit is
    skipped, and later ones may still fit.
    """
    started, tenant = time.monotonic(), reading.tenant
    result = reading.read(lambda: _find_and_load(tenant, request))
    findings = result.findings
    receipt = Retrieval(
        tenant=tenant,
        asked_by=reading.key,
        kind=Retrieval.Kind.SEARCH,
        query=request.query,
        parameters={name: value for name, value in result.applied.items() if name != "query"},
        conversation=find_audience(tenant, request),
        embedding_model=findings.embedding_model,
        degraded=findings.degraded,
        tokens=result.tokens_used,
    )
    hits = [replace(item.finding, rank=place) for place, item in enumerate(result.items, start=1)]
    receipts.write_receipt(receipt, hits=hits, started=started)
    return replace(result, receipt=receipt)


def _find_and_load(tenant: Tenant, request: SearchRequest) -> Result:
    findings = find(tenant=tenant, request=request)
    ids = [finding.memory_id for finding in findings.best]
    memories = load_memories(tenant=tenant, memory_ids=ids, outline=True, style=request.links)
    return compose(request, findings, memories)


def search_mirror(*, tenant: Tenant, request: SearchRequest) -> Result:
    """Answer a search from the mirror while the database is away; leaves no receipt.

    Raises:
        Unavailable: a past moment is asked about, which the mirror does not have.
    """
    if request.is_past:
        raise Unavailable("Another moment cannot be asked about while the database is away.")
    findings, memories = in_mirror.find(tenant=tenant, request=request)
    for memory_id, memory in memories.items():
        is_episode = memory.kind is MemoryKind.EPISODE
        about = memory.content.split("\n", 2)[1] if is_episode else memory.description
        memories[memory_id] = replace(memory, description=about, style=request.links)
    return compose(request, findings, memories)


def compose(
    request: SearchRequest, findings: Findings, memories: Mapping[uuid.UUID, Memory]
) -> Result:
    """Return the answer from the memories found and loaded; missing ones are left out."""
    budget = Budget(request.max_tokens)
    loaded = (
        _to_item(finding, memories[finding.memory_id], is_past=request.is_past)
        for finding in findings.best
        if finding.memory_id in memories
    )
    items = tuple(fit(loaded, budget, size=lambda item: item.token_estimate))
    return Result(items, findings, budget.spent, tokens.in_use().name, asdict(request))


def _to_item(finding: Finding, memory: Memory, *, is_past: bool) -> Item:
    """Return the item. `is_past`: a past moment, at which later corrections were not known."""
    deadlines.check()
    mark = f" [{memory.correction}]" if memory.correction and not is_past else ""
    return Item(finding, memory, render_snippet(memory) + mark, memory.token_estimate)


def render_snippet(memory: Memory) -> str:
    """Return a memory on one clean line: a fact's sentence, an episode's summary."""
    if memory.kind is MemoryKind.NOTE:
        return wording.snippet(
            source_type=memory.source_type,
            description=memory.description,
            content=memory.content,
            metadata=memory.metadata,
            links=memory.style,
        )
    is_fact = memory.kind is MemoryKind.FACT
    text = memory.content.partition("\n")[0] if is_fact else memory.description
    return clean_alone(shorten(text, wording.SNIPPET_AT_MOST), memory.style)
