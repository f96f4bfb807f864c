"""Small exports of other systems, in the formats that their documentation gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ALICE = "8d9fa0a5-6f5c-4c0e-9f0d-1c1f6f1f0001"
MEM0: dict[str, Any] = {
    "results": [
        {
            "id": "ea925981-272f-40dd-b576-be64e4871429",
            "memory": "Likes to play cricket and plays cricket on weekends.",
            "user_id": "alex",
            "hash": "c8809002-25c1-4c97-a3a2-227ce9c20c53",
            "metadata": {"source": "chat"},
            "categories": ["hobbies"],
            "created_at": "2026-02-26T01:32:54.000000-08:00",
            "updated_at": "2026-02-26T01:32:54.000000-08:00",
        },
        {
            "id": "b2229981-272f-40dd-b576-be64e4871429",
            "memory": "Stays at the Hotel Lisboa.",
            "user_id": "alex",
            "created_at": "2026-03-01T10:00:00Z",
            "expiration_date": "2026-03-04",
        },
        {
            "id": "c3339981-272f-40dd-b576-be64e4871429",
            "memory": "Works in Porto. " * 100,
            "user_id": "berta",
            "metadata": {"kind": "biography"},
            "created_at": "2026-03-01T10:00:00Z",
        },
        {"id": "d444", "memory": "   ", "user_id": "alex"},
    ]
}
ZEP: dict[str, Any] = {
    "threads": [
        {
            "thread_id": ALICE,
            "messages": [
                {
                    "uuid": f"11111111-0000-4000-8000-{number:012}",
                    "role": "user" if number % 2 else "assistant",
                    "name": "Kendra" if number % 2 else "",
                    "content": f"Sentence {number} about Adidas shoes that broke on the hill.",
                    "created_at": f"2026-03-02T09:{number:02}:00Z",
                    "metadata": {"page": number},
                }
                for number in range(24)
            ],
        }
    ],
    "nodes": [
        {
            "uuid": "22222222-0000-4000-8000-000000000001",
            "name": "Kendra",
            "summary": "Kendra runs, and buys shoes.",
            "labels": ["Entity", "Person"],
            "created_at": "2026-03-02T09:30:00Z",
        }
    ],
    "edges": [
        {
            "uuid": "33333333-0000-4000-8000-000000000001",
            "fact": "Kendra loves Adidas shoes.",
            "name": "LOVES",
            "source_node_uuid": "22222222-0000-4000-8000-000000000001",
            "target_node_uuid": "22222222-0000-4000-8000-000000000002",
            "created_at": "2026-03-02T09:30:00Z",
            "valid_at": "2024-08-10T00:00:00Z",
            "invalid_at": "2024-11-02T00:00:00Z",
            "expired_at": "2026-03-02T09:30:00Z",
        },
        {
            "uuid": "33333333-0000-4000-8000-000000000002",
            "fact": "Kendra likes Puma shoes.",
            "name": "LIKES",
            "created_at": "2026-03-02T09:30:00Z",
            "valid_at": "2024-11-02T00:00:00Z",
        },
    ],
}
TWO_USERS: dict[str, Any] = {
    "mem0": {
        "results": [
            {
                "id": f"mem0-{user}",
                "memory": f"{user.title()} keeps a {pet} called {name}.",
                "user_id": user,
                "agent_id": "concierge",
                "created_at": "2026-02-26T01:32:54.000000-08:00",
                "metadata": {"room": "lobby"},
                "structured_attributes": {"year": 2026},
            }
            for user, pet, name in (("alice", "parrot", "Kiwi"), ("bruno", "tortoise", "Basil"))
        ]
    },
    # As somebody collects it who asks for the edges and the threads of each user.
    "zep": {
        "users": [
            {
                "user_id": user,
                "edges": [
                    {
                        "uuid": f"zep-edge-{user}",
                        "fact": f"{user.title()} keeps a {pet} called {name}.",
                        "name": "KEEPS",
                        "episodes": ["44444444-0000-4000-8000-000000000001"],
                        "created_at": "2026-02-26T09:32:54Z",
                    }
                ],
                "threads": [
                    {
                        "thread_id": f"thread-of-{user}",
                        "messages": [
                            {
                                "uuid": f"zep-message-{user}",
                                "role": "user",
                                "content": f"I bought {name} a {toy} today.",
                                "created_at": "2026-02-26T09:32:54Z",
                            }
                        ],
                    }
                ],
            }
            for user, pet, name, toy in (
                ("alice", "parrot", "Kiwi", "swing"),
                ("bruno", "tortoise", "Basil", "heat lamp"),
            )
        ]
    },
    "langmem": [
        {
            "namespace": ["memories", user],
            "key": "pet",
            "value": {
                "kind": "Memory",
                "content": {"content": f"{user.title()} keeps a {pet} called {name}."},
            },
            "created_at": "2026-02-26T09:32:54+00:00",
            "updated_at": "2026-02-26T09:32:54+00:00",
        }
        for user, pet, name in (("alice", "parrot", "Kiwi"), ("bruno", "tortoise", "Basil"))
    ],
}
LETTA: dict[str, Any] = {
    "agents": [
        {
            "id": "agent-0",
            "name": "sam",
            "block_ids": ["block-0"],
            "messages": [
                {
                    "id": "message-0",
                    "role": "user",
                    "content": [
                        {
                            "type": "text",
                            "text": json.dumps(
                                {"type": "user_message", "message": "My name is Chad."}
                            ),
                        }
                    ],
                    "created_at": "2026-03-02T09:00:00+00:00",
                },
                {
                    "id": "message-1",
                    "role": "assistant",
                    "content": [{"type": "text", "text": "Nice to meet you, Chad."}],
                    "created_at": "2026-03-02T09:00:05+00:00",
                },
                {
                    "id": "message-2",
                    "role": "user",
                    "content": json.dumps({"type": "heartbeat", "time": "now"}),
                    "created_at": "2026-03-02T09:00:09+00:00",
                },
            ],
        }
    ],
    "blocks": [{"id": "block-0", "label": "human", "value": "Chad likes vibe coding."}],
}
LANGMEM: list[dict[str, Any]] = [
    {
        "namespace": ["memories", "u1"],
        "key": "k1",
        "value": {"kind": "Memory", "content": {"content": "The user prefers dark mode."}},
        "created_at": "2026-03-02T09:00:00+00:00",
        "updated_at": "2026-03-02T09:00:00+00:00",
    },
    {
        "namespace": ["memories", "u1"],
        "key": "profile",
        "value": {"kind": "UserProfile", "content": {"name": "Ana", "age": 31}},
        "created_at": "2026-03-02T09:00:00+00:00",
        "updated_at": "2026-03-02T09:00:00+00:00",
    },
]


def _node(name: str, parent: str | None, role: str, text: str, at: float | None) -> dict[str, Any]:
    message = {
        "id": f"message-{name}",
        "author": {"role": role, "name": None},
        "create_time": at,
        "content": {"content_type": "text", "parts": [text]},
        "metadata": {},
    }
    return {"id": name, "parent": parent, "message": message if role else None, "children": []}


CHATGPT: list[dict[str, Any]] = [
    {
        "title": "A ship",
        "create_time": 1772442000.0,
        "conversation_id": ALICE,
        "current_node": "d",
        "mapping": {
            "root": _node("root", None, "", "", None),
            "a": _node("a", "root", "user", "Where is the ship?", 1772442001.5),
            "b": _node("b", "a", "assistant", "An answer that was asked for anew.", 1772442002.0),
            "c": _node("c", "a", "assistant", "In the harbour of Rotterdam.", 1772442009.0),
            "d": _node("d", "c", "user", "Thanks.", None),
        },
    }
]
CLAUDE: list[dict[str, Any]] = [
    {
        "uuid": ALICE,
        "name": "A ship",
        "created_at": "2026-03-02T09:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "sender": "human",
                "text": "Where is the ship?",
                "content": [{"type": "text", "text": "Where is the ship?"}],
                "created_at": "2026-03-02T09:00:01.000000Z",
                "attachments": [{"file_name": "a.txt"}],
            },
            {
                "uuid": "m2",
                "sender": "assistant",
                "text": "In the harbour.",
                "content": [],
                "created_at": "2026-03-02T09:00:02.000000Z",
            },
        ],
    }
]


def write(folder: Path, name: str, data: Any) -> Path:
    """Write an export as JSON and return its path."""
    path = folder / name
    path.write_text(json.dumps(data), encoding="utf-8")
    return path
