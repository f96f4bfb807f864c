"""Asks a language model one question, with an answer in a given form."""

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
"""Requests for one question while we learn what its server accepts: one for each refusal."""
FRUITLESS_AT_MOST = 3
"""Number of questions that failed in every dialect, after which we start again."""
LEARNT_FOR_S = 3600.0
SILENCE_S = 240.0
"""Time without an answer after which a server may have unloaded its model: Ollama does after five
minutes, and stops loading it when nobody waits any more."""
END_OF_THOUGHT = "</think>"
LOOSE_CHARACTERS_AT_MOST = 200_000
PYTHON_WORDS = {"true": "True", "false": "False", "null": "None"}
NO_LITERAL = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|//[^\n]*|\b(?:true|false|null)\b"""
)
"""Tokens that Python and JSON with comments write differently, and the strings between."""
STARTS_AT_MOST = 200
"""Number of braces at which an object is looked for: prose rarely has more."""


@dataclass(slots=True)
class Channel:
    """What this process has learned about the language model's server.

    It is forgotten after a while: the server may have been upgraded.
    """

    dialect: Dialect = field(default_factory=Dialect)
    answered: set[str] = field(default_factory=set)
    """Purposes answered in this dialect: a later refusal is the question's fault."""
    fruitless: int = 0
    """Number of questions refused in every dialect."""
    learnt_at: float = field(default_factory=time.monotonic)
    answered_at: float = -SILENCE_S
    """Time of its last answer, on the monotonic clock."""

    def forget_if_old(self) -> None:
        """Start again with the richest dialect once an hour."""
        if time.monotonic() - self.learnt_at > LEARNT_FOR_S:
            self.dialect, self.answered, self.fruitless = Dialect(), set(), 0
            self.learnt_at = time.monotonic()

    def settle(self, dialect: Dialect, *, purpose: str) -> None:
        """Record that a question was answered in this dialect."""
        if dialect != self.dialect:
            self.answered.clear()
        self.dialect = dialect
        self.answered.add(purpose)
        self.answered_at = time.monotonic()

    def note_failure(self, dialect: Dialect, refusal: errors.RequestRefused) -> None:
        """Record that a question was refused in every dialect."""
        if dialect != self.dialect and not isinstance(refusal, errors.PromptTooLong):
            self.fruitless += 1


@cache
def open_channel() -> Channel:
    return Channel()


def forget() -> None:
    """Drop connections and everything learned: the settings may name another server."""
    providers.forget()
    context.forget()
    open_channel.cache_clear()


def complete(
    *, prompt: Prompt, schema: type[pydantic.BaseModel], timeout_s: float | None = None
) -> Completion:
    """Ask the configured model for an answer in the form of `schema`.

    Uses the network; takes at most `timeout_s`, by default `MEMORY_MODEL_TIMEOUT_S`, or twice that
    if the server may have to load the model first. Call it outside any transaction. A parameter
    that the server refuses is left out from then on: up to `REQUESTS_AT_MOST` requests for a
    question, later one.

    Raises:
        ModelUnavailable: try again later.
        RequestRefused: every form of the question was refused; PromptTooLong among them.
        ModelMisbehaved: there is no answer; whether it fits `schema` is not checked here.
    """
    channel = open_channel()
    channel.forget_if_old()
    patience_s = _find_patience_s(channel) if timeout_s is None else timeout_s
    until = time.monotonic() + patience_s
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
    """Return the timeout of a question: longer if the model may have to be loaded first."""
    usual: int = settings.MODEL_TIMEOUT_S
    if time.monotonic() - channel.answered_at < SILENCE_S:
        return usual
    # Half a minute of the job's time is for what comes before and after the question.
    return max(usual, min(2 * usual, settings.JOB_TIMEOUT_S - 30))


def _find_plainer(
    channel: Channel, dialect: Dialect, prompt: Prompt, refusal: errors.RequestRefused
) -> Dialect | None:
    """Return the next form of a refused question, or None if that would not help."""
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
    """Return whether an answer follows the requested form, by its outermost fields."""
    try:
        return set(form.get("required", ())) <= set(parse_object(text))
    except errors.ModelMisbehaved:
        return False


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`, which may be inside prose or a code fence.

    The thoughts of a reasoning model are ignored. Of several objects the longest is taken. All of
    it can be stored: no NaN, no NUL, no half of a surrogate pair.

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
    """Return the object in a text as small models write it: as Python, or with comments.

    With single quotes, `True`, or a comma before a bracket.
    """
    if len(text) > LOOSE_CHARACTERS_AT_MOST:
        return None
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        answer = ast.literal_eval(NO_LITERAL.sub(_write_python, text))
        return answer if isinstance(answer, dict) else None
    return None


def _write_python(match: re.Match[str]) -> str:
    """Return a string unchanged, a JSON word in Python, and nothing for a comment."""
    return match["string"] or PYTHON_WORDS.get(match[0], "")


def _is_storable(answer: dict[str, Any]) -> bool:
    try:
        written = json.dumps(answer, ensure_ascii=False, allow_nan=False)
        written.encode()
    except (ValueError, RecursionError):
        return False
    return "\\u0000" not in written


def strict_schema(schema: type[pydantic.BaseModel]) -> dict[str, Any]:
    """Return the JSON schema in the form that strict structured output requires.

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
