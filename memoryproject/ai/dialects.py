"""Variants of the chat API that servers accept, and how the right one is found.

All servers implement a part of OpenAI's chat/completions. We start with all parameters; what a
server refuses is left out, until it answers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from memoryproject.ai import refusals

AS_JSON = "\n\nAnswer with one JSON object and nothing else. It fits this JSON schema:\n"


class Form(StrEnum):
    """The way in which a server is told the form of the answer."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    WORDS = "words"
    """Only the prompt asks for JSON."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question; `purpose` names its kind, `version` the wording.

    `left_out` is how many characters of quoted text did not fit, `lines` how long the answer may
    get, in messages from which facts are extracted.
    """

    purpose: str
    version: str
    system: str
    user: str
    left_out: int = 0
    lines: int = 0


@dataclass(frozen=True, slots=True)
class Dialect:
    """The parameters that a server accepts.

    `size_name` is the parameter that limits the answer, None if none is sent. The older name comes
    first: Ollama, LM Studio and older llama.cpp silently ignore the newer one; servers that want
    the newer one refuse the older.
    """

    form: Form = Form.SCHEMA
    size_name: str | None = refusals.MAX_TOKENS
    temperature: bool = True
    system_role: bool = True
    spells_form: bool = False
    """Whether the schema is also in the prompt, as the server ignores the parameter."""

    def write_request(self, prompt: Prompt, schema: dict[str, Any], size: int) -> dict[str, Any]:
        """Return the request for the server; the answer has at most `size` tokens."""
        system = prompt.system
        if self.spells_form or self.form is not Form.SCHEMA:
            system += AS_JSON + json.dumps(schema)
        request: dict[str, Any] = {"messages": self._write_messages(system, prompt.user)}
        if self.form is Form.SCHEMA:
            named = {"name": prompt.purpose, "schema": schema, "strict": True}
            request["response_format"] = {"type": Form.SCHEMA, "json_schema": named}
        elif self.form is Form.OBJECT:
            request["response_format"] = {"type": Form.OBJECT}
        if self.temperature:
            request["temperature"] = 0
        if self.size_name is not None:
            request[self.size_name] = size
        return request

    def _write_messages(self, system: str, user: str) -> list[dict[str, str]]:
        if not self.system_role:
            return [{"role": "user", "content": f"{system}\n\n{user}"}]
        return [{"role": "system", "content": system}, {"role": "user", "content": user}]

    def without(self, blamed: frozenset[str]) -> Dialect | None:
        """Return a dialect without what a server refuses; None if nothing is left to remove."""
        dialect = self
        if refusals.RESPONSE_FORMAT in blamed and self.form is not Form.WORDS:
            dialect = replace(dialect, form=_simpler(self.form))
        if refusals.TEMPERATURE in blamed:
            dialect = replace(dialect, temperature=False)
        if refusals.SYSTEM_ROLE in blamed:
            dialect = replace(dialect, system_role=False)
        if refusals.ANSWER_SIZE in blamed:
            dialect = replace(dialect, size_name=None)
        elif self.size_name in blamed:
            newer = refusals.MAX_COMPLETION_TOKENS
            dialect = replace(dialect, size_name=newer if self.size_name != newer else None)
        return dialect if dialect != self else None

    def plainer(self) -> Dialect | None:
        """Return the next dialect to try if a server does not say what it refuses."""
        if self.form is not Form.WORDS:
            return replace(self, form=_simpler(self.form))
        if self.temperature:
            return replace(self, temperature=False)
        barest = replace(self, size_name=None, system_role=False)
        return barest if barest != self else None


def _simpler(form: Form) -> Form:
    return Form.OBJECT if form is Form.SCHEMA else Form.WORDS
