"""Requests with one word in every place where a caller can put text.

They are made from the description of the API, so that a new call is among them.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

CANARY = "quokka7f3a91"
SENTENCE = f"I keep a {CANARY} in Porto and told nobody."
METHODS = ("get", "post", "put", "patch", "delete")
ID = str(uuid.UUID(int=7))
HEADERS = {
    "User-Agent": f"{CANARY}/1.0",
    "Idempotency-Key": CANARY,
    "X-Request-Id": CANARY,
    "Referer": f"http://localhost/{CANARY}",
    "Cookie": f"sessionid={CANARY}; {CANARY}={CANARY}",
    "Accept": f"application/{CANARY}",
    "X-Forwarded-For": CANARY,
    "X-Custom": CANARY,
}
DEEPEST = 6


@dataclass(frozen=True)
class Sent:
    """One request; `body` as it goes over the wire."""

    method: str
    path: str
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "application/json"


def all_requests(described: dict[str, Any]) -> Iterator[Sent]:
    """Yield requests to each operation of an OpenAPI description, those that erase last."""
    paths = sorted(described["paths"], key=lambda path: ("erasure" in path, path))
    for path in paths:
        for method in METHODS:
            if method in described["paths"][path]:
                operation = described["paths"][path][method]
                yield from requests_of(described, path, method.upper(), operation)


def requests_of(
    described: dict[str, Any], path: str, method: str, operation: dict[str, Any]
) -> Iterator[Sent]:
    """Yield one request as it should be, with the word in its texts, and some that are not."""
    address = re.sub(r"\{\w+\}", ID, path)
    named = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
    everywhere = urlencode(dict.fromkeys([*named, CANARY], CANARY))
    yield Sent(method, f"{address}?{everywhere}", headers=HEADERS)
    yield Sent(method, f"{address}?{urlencode({'conversation_id': ID, 'q': SENTENCE})}")
    yield Sent(method, re.sub(r"\{\w+\}", CANARY, path) + f"/{CANARY}")
    if "{" in path:
        yield Sent(method, re.sub(r"\{\w+\}", CANARY, path))
    if "requestBody" not in operation:
        return
    form = next(iter(operation["requestBody"]["content"].values()))["schema"]
    good = fill(described, form)
    yield Sent(method, address, json.dumps(good), {"Idempotency-Key": uuid.uuid4().hex})
    wrong = dict.fromkeys(good, CANARY) if isinstance(good, dict) else [CANARY]
    yield Sent(method, address, json.dumps(wrong), HEADERS)
    yield Sent(method, address, json.dumps({**wrong, CANARY: {CANARY: [SENTENCE]}}))
    yield Sent(method, address, json.dumps(good).replace('"', f'"{CANARY}', 1)[:-1])
    yield Sent(method, address, f'{{"{CANARY}": NaN}}')
    yield Sent(method, address, SENTENCE, kind=f"text/{CANARY}")


def fill(described: dict[str, Any], form: dict[str, Any], depth: int = 0) -> Any:
    """Return a value that fits a schema, with the word in its texts."""
    if "$ref" in form:
        name = form["$ref"].rpartition("/")[2]
        return fill(described, described["components"]["schemas"][name], depth)
    for several in ("allOf", "oneOf", "anyOf"):
        if several in form:
            return fill(described, form[several][0], depth)
    if "enum" in form:
        return next(value for value in form["enum"] if value is not None)
    kind = form.get("type", "object")
    kind = next(one for one in kind if one != "null") if isinstance(kind, list) else kind
    if kind == "object":
        if depth > DEEPEST:
            return {}
        inner = form.get("properties", {})
        return {name: fill(described, one, depth + 1) for name, one in inner.items()}
    if kind == "array":
        return [fill(described, form.get("items", {"type": "string"}), depth + 1)]
    if kind in ("integer", "number"):
        return form.get("minimum", 1)
    if kind == "boolean":
        return False
    return fill_text(form)


def fill_text(form: dict[str, Any]) -> str:
    """Return a text that fits a schema: an id, a time, or the sentence."""
    fixed = {
        "uuid": ID,
        "date-time": "2026-03-02T09:00:00+00:00",
        "date": "2026-03-02",
    }
    text = fixed.get(form.get("format", ""), SENTENCE)
    return text[: form.get("maxLength", len(text))]
