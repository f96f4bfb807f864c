"""What every refusal looks like."""

from __future__ import annotations

from typing import Any


def assert_problem(answer: Any, status: int, *fields: str) -> dict[str, Any]:
    """Check the status and the one error shape, and that `fields` are named; return the body."""
    assert answer.status_code == status, (answer.status_code, answer.content[:400])
    assert answer["Content-Type"].startswith("application/json")
    body: dict[str, Any] = answer.json()
    assert set(body) == {"code", "message", "fields"}
    assert body["code"] and body["message"].endswith(".")
    assert isinstance(body["fields"], dict)
    for texts in body["fields"].values():
        assert texts and all(isinstance(text, str) for text in texts)
    if fields:
        assert set(body["fields"]) == set(fields)
    return body
