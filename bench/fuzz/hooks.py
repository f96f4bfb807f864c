"""What no JSON Schema can say of the API, told to schemathesis, which imports this."""

from __future__ import annotations

from typing import Any

import schemathesis

AGAINST_EACH_OTHER = frozenset(
    "timestamp since until as_of occurred_at min_seq system_prompt to_id end_byte metadata "
    "content day".split()
)
"""Fields that are judged by the clock, by another field or by what is stored: 400 may be right
for a value that fits its schema. A time lies between 1970 and tomorrow; a span ends behind its
start; a prompt fits its budget; a summary has its metadata."""


OF_CALLS = {"POST /api/v0/erasures": "id", "POST /api/v0/rollbacks": ""}
"""Likewise, of one call: what an id must look like follows from the scope; of four fields that
may be left out, one must be there."""


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Return whether a failure counts."""
    name = type(failure).__name__
    if name == "RejectedPositiveData" and response.status_code == 400:
        fields = response.json()["fields"]
        own = OF_CALLS.get(case.operation.label)
        if own is not None and set(fields) <= {own}:
            return False
        return not fields or not all(AGAINST_EACH_OTHER & {*path.split(".")} for path in fields)
    if name == "EnsureResourceAvailability":
        # The context is there: the memory that the body names at random is not.
        return bool(response.json()["message"] != "There is no such memory.")
    return True


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Return a body with 5 in place of 5.0: to JSON Schema both are whole, to the API 5 alone."""
    if isinstance(body, float) and body.is_integer() and abs(body) < 2**53:
        return int(body)
    if isinstance(body, dict):
        return {name: map_body(context, value) for name, value in body.items()}
    if isinstance(body, list):
        return [map_body(context, value) for value in body]
    return body
