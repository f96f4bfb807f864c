"""One question to a language model, answered in a given form."""

from __future__ import annotations

import ast
import json
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pydantic
from django.conf import settings

from memoryproject.ai import context, errors, providers
from memoryproject.ai.answers import Completion, read_answer
from memoryproject.ai.dialects import Dialect, Form, Prompt
from memoryproject.ai.refusals import ANSWER_SIZE
from memoryproject.text.tokens import CHARS4

REQUESTS_AT_MOST = 7
"""Requests for one question while we learn what its server takes: one for each refusal."""
FRUITLESS_AT_MOST = 3
"""Times that a question is put in every dialect without an answer before we start anew."""
LEARNT_FOR_S = 3600.0
SILENCE_S = 240.0
"""After so long without an answer a server may have to load its model: Ollama lets go of one
after five minutes, and stops loading it when nobody waits any more."""
END_OF_THOUGHT = "</think>"
LOOSE_CHARACTERS_AT_MOST = 200_000
PYTHON_WORDS = {"true": "True", "false": "False", "null": "None"}
NO_LITERAL = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|//[^\n]*|\b(?:true|false|null)\b"""
)
"""What Python reads otherwise than it stands in JSON with comments, and the strings between."""
STARTS_AT_MOST = 200
"""Braces at which an object is looked for: prose seldom has more."""


@dataclass(slots=True)
class Channel:
    """What this process has learnt about the server of the language model.

    It is forgotten after a while: the server may be a better one by then.
    """

    dialect: Dialect = field(default_factory=Dialect)
    answered: set[str] = field(default_factory=set)
    """Purposes that were answered in this dialect: a refusal then is the question's fault."""
    fruitless: int = 0
    """Questions that were refused in every dialect."""
    learnt_at: float = field(default_factory=time.monotonic)
    answered_at: float = -SILENCE_S
    """Time of its last answer, on the monotonic clock."""

    def forget_if_old(self) -> None:
        """Start anew with the richest dialect once an hour."""
        if time.monotonic() - self.learnt_at > LEARNT_FOR_S:
            self.dialect, self.answered, self.fruitless = Dialect(), set(), 0
            self.learnt_at = time.monotonic()

    def settle(self, dialect: Dialect, *, purpose: str) -> None:
        """Remember that a question was answered in this dialect."""
        if dialect != self.dialect:
            self.answered.clear()
        self.dialect = dialect
        self.answered.add(purpose)
        self.answered_at = time.monotonic()

    def note_failure(self, dialect: Dialect, refusal: errors.RequestRefused) -> None:
        """Remember that a question was refused in every dialect, down to this one."""
        if dialect != self.dialect and not isinstance(refusal, errors.PromptTooLong):
            self.fruitless += 1


@cache
def open_channel() -> Channel:
    return Channel()


def forget() -> None:
    """Let go of connections and of all that was learnt: the settings may name another server."""
    providers.forget()
    context.forget()
    open_channel.cache_clear()


def complete(*, prompt: Prompt, schema: type[pydantic.BaseModel]) -> Completion:
    """Ask the configured model for an answer in the form of `schema`.

    Talks to the network; takes at most `MEMORY_MODEL_TIMEOUT_S`, or twice that where the server
    may have to load the model first. Call it outside any transaction. A server that refuses a
    parameter is asked without it, and so from then on: `REQUESTS_AT_MOST` a question, and one a
    question as soon as that is learnt.

    Raises:
        ModelUnavailable: try again later.
        RequestRefused: no form of the question was taken; PromptTooLong among them.
        ModelMisbehaved: there is no answer; whether it fits `schema` is not checked here.
    """
    channel = open_channel()
    channel.forget_if_old()
    until = time.monotonic() + _find_patience_s(channel)
    form = strict_schema(schema)
    dialect = channel.dialect
    for left in reversed(range(REQUESTS_AT_MOST)):
        try:
            answer = _ask(dialect, prompt, form, until=until)
            break
        except errors.RequestRefused as refusal:
            plainer = _find_plainer(channel, dialect, prompt, refusal) if left else None
            if plainer is None:
                channel.note_failure(dialect, refusal)
                raise
            dialect = plainer
    if dialect.form is Form.SCHEMA and not answer.cut and not _keeps(form, answer.text):
        dialect = replace(dialect, spells_form=True)
    channel.settle(dialect, purpose=prompt.purpose)
    return replace(answer, read_at_most=context.find_cut(prompt, read_tokens=answer.read_tokens))


def _find_patience_s(channel: Channel) -> float:
    """Return how long a question may take: longer where the model may have to be loaded first."""
    if time.monotonic() - channel.answered_at < SILENCE_S:
        return float(settings.MODEL_TIMEOUT_S)
    # Half a minute of the job's time is for what comes before and after the question.
    return float(
        max(
            settings.MODEL_TIMEOUT_S, min(2 * settings.MODEL_TIMEOUT_S, settings.JOB_TIMEOUT_S - 30)
        )
    )


def _find_plainer(
    channel: Channel, dialect: Dialect, prompt: Prompt, refusal: errors.RequestRefused
) -> Dialect | None:
    """Return how to put a refused question next, or None where that would not help."""
    if isinstance(refusal, errors.ContentRefused):
        return None
    if isinstance(refusal, errors.PromptTooLong):
        # Some servers refuse what is too long together with the longest answer.
        short = CHARS4.count(prompt.system + prompt.user) <= context.find_answer_tokens()
        return dialect.without(frozenset({ANSWER_SIZE})) if short else None
    if (plainer := dialect.without(refusal.blamed)) is not None:
        return plainer
    known = dialect == channel.dialect and prompt.purpose in channel.answered
    return None if known or channel.fruitless >= FRUITLESS_AT_MOST else dialect.plainer()


def _ask(dialect: Dialect, prompt: Prompt, form: dict[str, Any], *, until: float) -> Completion:
    timeout_s = until - time.monotonic()
    if timeout_s <= 0:
        raise errors.ModelUnavailable("There is no time left to ask in another form.")
    size = context.find_answer_tokens()
    request = dialect.write_request(prompt, form, size)
    answer = context.ask_chat(request, timeout_s=timeout_s)
    return read_answer(answer, answer_tokens=size if dialect.size_name else None)


def _keeps(form: dict[str, Any], text: str) -> bool:
    """Return whether an answer knows of the asked-for form, as far as its outermost fields."""
    try:
        return set(form.get("required", ())) <= set(parse_object(text))
    except errors.ModelMisbehaved:
        return False


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object that `text` is, or that it wraps in prose or a code fence.

    What a reasoning model thought aloud is passed over. Of several objects the longest
    is taken. All of it can be stored: no NaN, no NUL, no half of a surrogate pair.

    Raises:
        ModelMisbehaved: there is none.
    """
    _, _, spoken = text.rpartition(END_OF_THOUGHT)
    answer = _find_longest(spoken) or _find_longest(text)
    if answer is None or not _is_storable(answer):
        raise errors.ModelMisbehaved("The model's answer holds no JSON object.")
    return answer


def _find_longest(text: str) -> dict[str, Any] | None:
    length, answer = max(_find_objects(text), key=lambda pair: pair[0], default=(0, None))
    whole = text[text.find("{") : text.rfind("}") + 1]
    return (_read_loosely(whole) if length < len(whole) else None) or answer


def _find_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    decoder = json.JSONDecoder(strict=False)  # small models break lines inside strings
    start = text.find("{")
    for _ in range(STARTS_AT_MOST):
        if start < 0:
            return
        try:
            answer, end = decoder.raw_decode(text, start)
            yield end - start, answer
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)


def _read_loosely(text: str) -> dict[str, Any] | None:
    """Return the object that a text is, as small models write it: as Python, or with comments.

    That is with single quotes, `True`, or a comma before a bracket.
    """
    if len(text) > LOOSE_CHARACTERS_AT_MOST:
        return None
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        answer = ast.literal_eval(NO_LITERAL.sub(_write_python, text))
        return answer if isinstance(answer, dict) else None
    return None


def _write_python(match: re.Match[str]) -> str:
    """Return a string as it stands, JSON's word as Python's, and nothing for a comment."""
    return match["string"] or PYTHON_WORDS.get(match[0], "")


def _is_storable(answer: dict[str, Any]) -> bool:
    try:
        written = json.dumps(answer, ensure_ascii=False, allow_nan=False)
        written.encode()
    except (ValueError, RecursionError):
        return False
    return "\\u0000" not in written


def strict_schema(schema: type[pydantic.BaseModel]) -> dict[str, Any]:
    """Return the JSON schema in the dialect of strict structured output.

    There every object forbids other properties and requires all of its own.
    """
    strict: dict[str, Any] = _make_strict(schema.model_json_schema())
    return strict


def _make_strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_make_strict(item) for item in node]
    if not isinstance(node, dict):
        return node
    strict = {
        key: _make_strict(value)
        for key, value in node.items()
        if key not in {"default", "title", "description"} or isinstance(value, dict)
    }
    if strict.get("type") == "object" and "properties" in strict:
        strict["additionalProperties"] = False
        strict["required"] = list(strict["properties"])
    return strict
