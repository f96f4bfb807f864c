"""What no JSON Schema can say of the API, told to schemathesis, which imports this."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import schemathesis

LET_PASS = "MEMORY_FUZZ_LET_PASS"
"""The environment variable that names the file to which each refusal let pass adds a line."""

FITS_BUT_REFUSED = (
    # The clock judges a time; a leap second and the year 0 are a date-time, though not to Python.
    "This must lie between 1970 and ",
    "This must be an ISO 8601 time",
    "This looks like seconds; give milliseconds.",
    # What an address is that may be called, no pattern says.
    "This must start with http:// or https:// and name a host.",
    "This must be a URL such as ",
    "This must hold no user, no password and no #.",
    "This must not name a private address.",
    # Another field of the same body does.
    "This lies before s",  # since, start_byte
    "This is needed, or something that it follows from.",
    "This takes ",  # a prompt beside its budget
    "This is less than its parts.",
    "This lies before from.",
    "This needs the scope ",  # a user, or a moment
    "The scope user needs a user_id, or a conversation_id.",
    "Name the user, or a conversation.",
    "Name the conversation.",
    "This does not go with ",  # a state beside a moment, a whole message beside a budget
    "Name an id, or a speaker.",
    "Give a text or fact_ids, one of both.",
    "Give at least one of the lists.",
    "Links are either plain or defanged.",
    "A memory is not linked to itself.",
    # OpenAPI 3.0 has no word for the form of a map's keys.
    "Each key must be the UUID of a conversation.",
    # What is stored does.
    "The conversation has ",
    "There is this link already: ",
)
"""How sentences begin with which a field may be refused though it fits its schema."""

ERASURES = "POST /api/v0/erasures"
"""What an id looks like follows from the scope."""
NOTES = ("POST /api/v0/notes", "PATCH /api/v0/notes/{note_id}")
"""Which metadata a summary has follows from its type."""
SCOPED = re.compile("POST /api/v0/(ask|retrieve_memory|recent_memory|context_pre_retrieve)")
"""Whether they need a conversation follows from the scope."""
NO_CONVERSATION = ("This field is required.", "This field may not be null.")
NAME_NOTHING = ("POST /api/v0/rollbacks", "POST /api/v0/memory_tests", "POST /api/v0/webhooks")
"""Of fields that may be left out, one must be there, or a tenant has as many as it may have: the
refusal then names none."""


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Return whether a failure counts."""
    name = type(failure).__name__
    if name == "RejectedPositiveData" and response.status_code == 400:
        fields = response.json()["fields"]
        given = {name for name, value in (case.query or {}).items() if value is not None}
        left_out = [said == ["This field is required."] for said in fields.values()]
        if case.method == "GET" and all(left_out) and not fields.keys() & given:
            # A step that takes a parameter from an answer that has none there leaves it out.
            return False
        return not _may_be_refused(case.operation.label, fields)
    if name == "EnsureResourceAvailability":
        # The context is there: the memory that the body names at random is not.
        return bool(response.json()["message"] != "There is no such memory.")
    return True


def _may_be_refused(call: str, fields: dict[str, list[str]]) -> bool:
    reasons = [
        _find_reason(call, field, sentence) for field, said in fields.items() for sentence in said
    ] or ["nothing is named" if call in NAME_NOTHING else None]
    if None in reasons:
        return False
    with Path(os.environ[LET_PASS]).open("a", encoding="utf-8") as file:
        file.write(f"{call}: {reasons[0]}\n")
    return True


def _find_reason(call: str, field: str, sentence: str) -> str | None:
    if call in NOTES and field.startswith("metadata."):
        return "metadata"
    if call == ERASURES and field == "id":
        return "id"
    if SCOPED.match(call) and field == "conversation_id" and sentence in NO_CONVERSATION:
        return "scope"
    return next((start for start in FITS_BUT_REFUSED if sentence.startswith(start)), None)


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
