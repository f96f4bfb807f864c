"""What no JSON Schema can say of the API, told to schemathesis, which imports this."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import schemathesis

LET_PASS = "MEMORY_FUZZ_LET_PASS"
"""The environment variable that names the file to which each refusal let pass adds a line."""

FITS_BUT_REFUSED = (
    # The clock judges a time; a leap second and the year 0 are a date-time, though not to Python.
    "This must lie between 1970 and 24 hours from now.",
    "This must be an ISO 8601 time with an offset",
    # Another field of the same body does.
    "This lies before s",  # since, start_byte
    "This is needed, or something that it follows from.",
    "This takes ",  # a prompt beside its budget
    "This is less than its parts.",
    "A memory is not linked to itself.",
    # What is stored does.
    "The conversation has ",
    "There is this link already: ",
)
"""How sentences begin with which a field may be refused though it fits its schema."""

FITS_BUT_REFUSED_BY_CALL = {
    # What an id looks like follows from the scope.
    "POST /api/v0/erasures": "This must be a UUID, 8-4-4-4-12 hexadecimal digits.",
    # A typed summary has the metadata of its type.
    "POST /api/v0/notes": "This field is required.",
    "PATCH /api/v0/notes/{note_id}": "This field is required.",
}
NOTHING_NAMED = "POST /api/v0/rollbacks"
"""Of four fields that may be left out, one must be there."""


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Return whether a failure counts."""
    name = type(failure).__name__
    if name == "RejectedPositiveData" and response.status_code == 400:
        return not _may_be_refused(case.operation.label, response.json()["fields"])
    if name == "EnsureResourceAvailability":
        # The context is there: the memory that the body names at random is not.
        return bool(response.json()["message"] != "There is no such memory.")
    return True


def _may_be_refused(call: str, fields: dict[str, list[str]]) -> bool:
    sentences = [sentence for said in fields.values() for sentence in said]
    of_call = FITS_BUT_REFUSED_BY_CALL.get(call, FITS_BUT_REFUSED[0])
    reasons = [
        next((start for start in (*FITS_BUT_REFUSED, of_call) if sentence.startswith(start)), None)
        for sentence in sentences
    ]
    if None in reasons or not (reasons or call == NOTHING_NAMED):
        return False
    with Path(os.environ[LET_PASS]).open("a", encoding="utf-8") as file:
        file.write(f"{call}: {reasons[0] if reasons else 'Nothing is named.'}\n")
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
