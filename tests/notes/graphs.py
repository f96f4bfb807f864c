"""Short ways to write notes and to link them."""

from __future__ import annotations

import uuid
from typing import Any

from tests.conftest import Agent


def write(agent: Agent, content: str = "A note.", **fields: Any) -> str:
    """Post a note and return its id."""
    answer = agent.post("notes", {"content": content, **fields})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def link(agent: Agent, near: Any, far: Any, link_type: str = "relates_to") -> dict[str, Any]:
    """Draw a link and return it."""
    body = {"from_id": str(near), "to_id": str(far), "link_type": link_type}
    answer = agent.post("links", body)
    assert answer.status_code == 201, answer.content
    drawn: dict[str, Any] = answer.json()
    return drawn


def around(agent: Agent, start: Any, **query: Any) -> list[tuple[str, int]]:
    """Return the ids that a walk finds, with their depths, in order."""
    answer = agent.get(f"memories/{start}/walk", **query)
    assert answer.status_code == 200, answer.content
    return [(node["id"], node["depth"]) for node in answer.json()["nodes"]]


def links_of(agent: Agent, memory: Any, **query: Any) -> list[tuple[str, str, str]]:
    """Return each link of a memory: its type, its direction, the other memory."""
    items = agent.get(f"memories/{memory}/links", **query).json()["items"]
    return [(item["link_type"], item["direction"], item["other_id"]) for item in items]


UNKNOWN = str(uuid.UUID(int=7))
