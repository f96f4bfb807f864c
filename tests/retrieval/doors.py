"""Two doors to the same memory: the calls over HTTP, and the services that they stand on.

A test that takes `memory` runs through both, and sees of each answer what both have.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any, Protocol

from memoryproject.edge.fields import say_moment
from memoryproject.tenancy.reading import Reading
from retrieval.search.in_tenant import SearchRequest
from retrieval.truncation import Strategy
from tests.conftest import Agent
from tests.retrieval.searches import search
from wings.navigation import contexts, reading, results

Answer = dict[str, Any]


class Door(Protocol):
    """What an agent does with the memory of a tenant."""

    agent: Agent

    def search(self, query: str, **fields: Any) -> Answer:
        """Return `items`, `total_count`, `tokens_used`, `hops_used`, `hop_paths`."""
        ...

    def peek(self, memory: str) -> Answer:
        """Return what is known about a memory."""
        ...

    def chunk(self, memory: str, **fields: Any) -> Answer:
        """Return `content`, `token_count`, `truncated`, `header`."""
        ...

    def make_context(self, **fields: Any) -> Answer:
        """Return a context."""
        ...

    def add(self, context: str, memory: str, **fields: Any) -> bool:
        """Return whether the context holds the memory then."""
        ...

    def look(self, context: str) -> Answer:
        """Return `id`, `remaining_tokens`, `sections` (type, priority, content)."""
        ...

    def compose(self, context: str) -> str:
        """Return the text of a context."""
        ...


@dataclass
class OverHttp:
    """By the calls, as an agent makes them."""

    agent: Agent

    def search(self, query: str, **fields: Any) -> Answer:
        return search(self.agent, query, **fields)

    def peek(self, memory: str) -> Answer:
        answer = self.agent.get(f"memories/{memory}")
        assert answer.status_code == 200, answer.content
        found: Answer = answer.json()
        return found

    def chunk(self, memory: str, **fields: Any) -> Answer:
        answer = self.agent.post(f"memories/{memory}/chunk", fields)
        assert answer.status_code == 200, answer.content
        found: Answer = answer.json()
        return found

    def make_context(self, **fields: Any) -> Answer:
        answer = self.agent.post("contexts", fields)
        assert answer.status_code == 201, answer.content
        found: Answer = answer.json()
        return found

    def add(self, context: str, memory: str, **fields: Any) -> bool:
        answer = self.agent.post(f"contexts/{context}/add", {"memory_id": memory, **fields})
        assert answer.status_code == 200, answer.content
        return bool(answer.json()["added"])

    def look(self, context: str) -> Answer:
        found: Answer = self.agent.get(f"contexts/{context}").json()
        return found

    def compose(self, context: str) -> str:
        return str(self.agent.get(f"contexts/{context}/text").content.decode())


@dataclass
class ByService:
    """By the functions of the app, as a command or a page calls them."""

    agent: Agent

    def search(self, query: str, **fields: Any) -> Answer:
        reading = Reading(self.agent.tenant, self.agent.key)
        result = results.search(reading, SearchRequest(query=query, **fields))
        return {
            "items": [
                {
                    "id": str(item.finding.memory_id),
                    "source_type": item.finding.source_type,
                    "source_id": item.memory.source_id or None,
                    "label": item.memory.label,
                    "relevance": item.finding.score,
                    "importance": item.finding.importance,
                    "combined_score": item.finding.combined,
                    "token_estimate": item.token_estimate,
                    "snippet": item.snippet,
                    "occurred_at": say_moment(item.finding.at),
                    "hops": item.finding.depth,
                    "metadata": item.memory.metadata,
                }
                for item in result.items
            ],
            "total_count": result.findings.total,
            "tokens_used": result.tokens_used,
            "hops_used": result.findings.hops_used,
            "hop_paths": [
                {"from": str(hop.via), "to": str(hop.id), "link_type": hop.link_type}
                for hop in result.hop_paths
            ],
        }

    def peek(self, memory: str) -> Answer:
        found = reading.peek(tenant=self.agent.tenant, memory_id=uuid.UUID(memory))
        about = found.memory
        return {
            "id": str(about.id),
            "source_type": about.source_type,
            "source_id": about.source_id or None,
            "label": about.label,
            "description": about.description or None,
            "metadata": about.metadata,
            "related_ids": [str(one) for one in found.related_ids],
            "token_estimate": about.token_estimate,
        }

    def chunk(self, memory: str, **fields: Any) -> Answer:
        strategy = Strategy(fields.pop("truncation_strategy", "end"))
        chunk = reading.chunk(
            tenant=self.agent.tenant, memory_id=uuid.UUID(memory), strategy=strategy, **fields
        )
        return {
            "content": chunk.content,
            "token_count": chunk.token_count,
            "truncated": chunk.truncated,
            "header": chunk.header,
        }

    def make_context(self, **fields: Any) -> Answer:
        built = contexts.create_context(tenant=self.agent.tenant, made_by=self.agent.key, **fields)
        return self.look(str(built.id))

    def add(self, context: str, memory: str, **fields: Any) -> bool:
        added = contexts.add_memory(
            tenant=self.agent.tenant,
            context_id=uuid.UUID(context),
            memory_id=uuid.UUID(memory),
            **fields,
        )
        return added.section is not None

    def look(self, context: str) -> Answer:
        built = contexts.get_context(tenant=self.agent.tenant, context_id=uuid.UUID(context))
        return {
            "id": context,
            "remaining_tokens": built.remaining_tokens,
            "sections": [
                {"type": one.kind, "priority": one.priority, "content": one.content}
                for one in built.sections
            ],
        }

    def compose(self, context: str) -> str:
        return contexts.get_context(tenant=self.agent.tenant, context_id=uuid.UUID(context)).text
