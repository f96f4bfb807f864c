"""One session, call by call, for the description of the API: search, peek, chunk, context."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

NOTE = "01a203cd-8a8a-7615-bead-b5e8d2846f74"
FACT = "01a203cd-88e3-77d4-b642-e6c2887e0a46"
CONTEXT = "01a203cd-9001-7a2c-8a7e-5d2f1c3b4a60"
CONVERSATION = "7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11"
COUNTER = "larger"
SAYS = "The canteen of the Santo Antonio hospital marks dishes with peanuts by a red dot."
SAYS_ALL = f"{SAYS} It is open from 11:30 to 14:00."
FACT_SAYS = "Ana is allergic to peanuts, so the canteen is a bit of an adventure."
PROMPT = "You look after Ana."
HEADER = "[knowledge_base: Canteen rules]\n"


def _request(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value=value, request_only=True)


def _answer(name: str, value: Any, *, media_type: str = "application/json") -> OpenApiExample:
    status = ["201"] if name == "A new context" else ["200"]
    return OpenApiExample(
        name, value=value, response_only=True, status_codes=status, media_type=media_type
    )


SEARCH = [
    _request(
        "1. Search everything",
        {
            "query": "Where can Ana eat without peanuts?",
            "sort_by": "combined",
            "max_results": 2,
        },
    ),
    _request(
        "Facts and notes about one user, with what they are linked with",
        {
            "query": "peanuts",
            "source_types": ["fact", "knowledge_base"],
            "since": "2026-11-01T00:00:00Z",
            "min_relevance": 0.3,
            "max_tokens": 500,
            "max_hops": 2,
            "link_types": ["supports", "derived_from"],
        },
    ),
    _answer(
        "What was found",
        {
            "items": [
                {
                    "id": FACT,
                    "source_type": "fact",
                    "source_id": CONVERSATION,
                    "label": FACT_SAYS,
                    "relevance": 0.74,
                    "importance": 0.5,
                    "combined_score": 0.66,
                    "token_estimate": 61,
                    "snippet": FACT_SAYS,
                    "occurred_at": "2026-11-22T15:08:50Z",
                    "hops": 0,
                    "metadata": {"category": "preference", "sources": 1},
                },
                {
                    "id": NOTE,
                    "source_type": "knowledge_base",
                    "source_id": "kb-7",
                    "label": "Canteen rules",
                    "relevance": 0.43,
                    "importance": 0.9,
                    "combined_score": 0.57,
                    "token_estimate": 29,
                    "snippet": SAYS_ALL,
                    "occurred_at": "2026-11-22T15:08:51Z",
                    "hops": 0,
                    "metadata": {},
                },
            ],
            "total_count": 5,
            "tokens_used": 90,
            "counter": COUNTER,
            "query": {"query": "Where can Ana eat without peanuts?", "sort_by": "combined"},
            "hops_used": 0,
            "hop_paths": [],
            "receipt": "01a203cd-8b40-72ac-a9c9-34aa7d134abf",
            "degraded": None,
        },
    ),
]
PEEK = [
    _answer(
        "2. What it is and what it would cost",
        {
            "id": NOTE,
            "kind": "note",
            "source_type": "knowledge_base",
            "source_id": "kb-7",
            "label": "Canteen rules",
            "description": None,
            "metadata": {},
            "related_ids": [FACT],
            "related_cut": False,
            "token_estimate": 29,
            "location": None,
            "counter": COUNTER,
        },
    )
]
CHUNK = [
    _request(
        "3. Whole sentences within a limit",
        {"max_tokens": 25, "truncation_strategy": "sentence"},
    ),
    _answer(
        "What fits",
        {
            "id": NOTE,
            "content": f"{SAYS} …",
            "token_count": 22,
            "truncated": True,
            "header": None,
            "counter": COUNTER,
            "fence": None,
        },
    ),
]
NEW_CONTEXT = [
    _request("4. Room for a prompt", {"max_tokens": 700, "system_prompt": PROMPT}),
    _answer(
        "A new context",
        {
            "id": CONTEXT,
            "max_tokens": 700,
            "reserved_for_response": 500,
            "remaining_tokens": 195,
            "sections": [
                {
                    "type": "system",
                    "memory_id": None,
                    "priority": 100,
                    "token_count": 5,
                    "truncated": False,
                    "content": PROMPT,
                }
            ],
            "retrieved_ids": [],
            "counter": COUNTER,
            "created_at": "2026-11-22T15:08:52Z",
            "expires_at": "2026-11-23T15:08:52Z",
        },
    ),
]
ADD = [
    _request("5. Add what was found", {"memory_id": NOTE}),
    _answer(
        "It is in",
        {
            "context_id": CONTEXT,
            "memory_id": NOTE,
            "added": True,
            "reason": "added",
            "token_count": 39,
            "truncated": False,
            "remaining_tokens": 155,
            "counter": COUNTER,
        },
    ),
]
TEXT = [
    _answer("6. The prompt", f"{PROMPT}\n\n{HEADER}{SAYS_ALL}", media_type="text/markdown"),
]
