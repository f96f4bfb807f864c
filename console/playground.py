"""The playground: ask as an agent would, and see how the answer came about.

The address holds the question, so it can be passed on. It is checked by the API's own
form and answered by the API's own service; nothing is written.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from console import pipeline
from console.pages import choose_tenant, page_for, show_page
from episodic.models import Conversation
from episodic.revealing import Reader
from memoryproject import tokens
from memoryproject.tenancy.models import Tenant
from retrieval import fusion
from retrieval.analysis import Analysis, analyse
from retrieval.forms import DETAILS, ContextInput, RetrieveInput
from retrieval.models import Retrieval
from retrieval.recall import EPISODIC_LIMIT, SEMANTIC_LIMIT, Request
from semantic.engines import Category

PERMISSION = "retrieval.run_playground"
CALLS = {
    "retrieve": ("retrieve_memory", RetrieveInput, Retrieval.Kind.RETRIEVE),
    "context": ("context_pre_retrieve", ContextInput, Retrieval.Kind.CONTEXT),
}
WORDS = ("query", "conversation_id", "category", "detail")
NUMBERS = ("semantic_limit", "episodic_limit", "max_tokens")
FUSION_WORDS = {
    "k": "k of reciprocal ranks",
    "depth": "Depth of each leg",
    "lexical_weight": "Weight of words",
    "vector_weight": "Weight of meaning",
    "floor": "Least retrievability",
}
DRAWN = {"12": 12, "25": 25, "100": 100}
"""Rows of a column that are drawn; the table below has them all."""
LATEST = 30
"""Conversations that the field offers."""
BUDGET_AT_MOST = 8_000
"""Of the slider; the number beside it goes further."""
HAS_OFFSET = re.compile(r"(?:[zZ]|[+-]\d{2}:?\d{2})$")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the answer's text and how much of it that is."""

    name: str
    start: int
    """Tokens before it."""
    tokens: int


@page_for(PERMISSION)
def show_playground(request: HttpRequest) -> HttpResponse:
    """Show the form, and what the question in the address finds, if there is one."""
    tenant = choose_tenant(request)
    given = request.GET
    call, form, kind = CALLS.get(given.get("kind", ""), CALLS["retrieve"])
    shown: dict[str, Any] = {"given": given, "errors": {}, "tenant": tenant}
    status = 200
    if tenant is not None and "query" in given:
        body = read_body(given)
        checked = form(data=body)
        if checked.is_valid():
            asked = dict(checked.validated_data)
            question = Request(conversation=asked.pop("conversation_id"), kind=kind, **asked)
            analysis = analyse(tenant=tenant, request=question, now=timezone.now())
            shown |= show_analysis(
                request,
                analysis,
                budget=question.max_tokens,
                drawn=DRAWN.get(given.get("drawn", ""), DRAWN["12"]),
            )
            shown["curl"] = write_curl(request.build_absolute_uri(f"/api/v0/{call}"), body)
        else:
            shown["errors"], status = flatten_errors(checked.errors), 400
    return show_page(
        request,
        "console/playground.html",
        title="Playground",
        status=status,
        is_fullwidth="1",
        fusion_fields=list_fusion_fields(tenant, given, shown["errors"]),
        **shown,
        **list_choices(tenant),
    )


def read_body(given: Mapping[str, str]) -> dict[str, Any]:
    """Return the question in an address as the body of a call; empty fields are absent.

    What should be a number and is none stays text: the API's form then says so.
    """
    body: dict[str, Any] = {name: given[name] for name in WORDS if given.get(name)}
    body |= {name: _to_number(given[name]) for name in NUMBERS if given.get(name)}
    chosen = {name: _to_number(given[name]) for name in FUSION_WORDS if given.get(name)}
    if chosen:
        body["fusion"] = chosen
    moment = given.get("as_of", "").strip()
    if moment:
        body["as_of"] = moment if HAS_OFFSET.search(moment) else f"{moment}Z"
    if given.get("explain"):
        body["explain"] = True
    return body


def _to_number(text: str) -> int | float | str:
    text = text.strip()
    if re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text, re.ASCII):
        return float(text)
    return text


def flatten_errors(errors: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return the first fault of each field, by the name it has in the address."""
    flat: dict[str, str] = {}
    for name, said in errors.items():
        if isinstance(said, Mapping):
            flat |= flatten_errors(said)
        else:
            flat[name] = str(said[0])
    return flat


def write_curl(address: str, body: Mapping[str, Any]) -> str:
    """Return the same question as a command for a shell in which KEY is an API key."""
    said = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f"curl -s {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $KEY" \\\n'
        f"  -H 'Content-Type: application/json' \\\n  -d {said}"
    )


def list_choices(tenant: Tenant | None) -> dict[str, Any]:
    """Return what the form offers to choose from."""
    latest = Conversation.objects.of(tenant).order_by("-id")[:LATEST] if tenant else []
    return {
        "tenants": list(Tenant.objects.order_by("name").values_list("name", flat=True)[:500]),
        "conversations": list(latest),
        "kinds": [("retrieve", "Facts and episodes"), ("context", "Facts alone (context)")],
        "details": [word for word in DETAILS if word != "auto"],
        "categories": [category.value for category in Category],
        "drawn_choices": list(DRAWN),
        "semantic_default": SEMANTIC_LIMIT,
        "episodic_default": EPISODIC_LIMIT,
        "budget_at_most": BUDGET_AT_MOST,
    }


def list_fusion_fields(
    tenant: Tenant | None, given: Mapping[str, str], errors: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the numbers of the formula, each with what the tenant uses otherwise."""
    settings = tenant.settings.get(fusion.SETTING) if tenant else None
    usual = fusion.DEFAULTS.changed(settings).as_parameters()
    return [
        {
            "name": name,
            "words": words,
            "usual": usual[name],
            "value": given.get(name, ""),
            "error": errors.get(name, ""),
        }
        for name, words in FUSION_WORDS.items()
    ]


def show_analysis(
    request: HttpRequest, analysis: Analysis, *, budget: int | None, drawn: int
) -> dict[str, Any]:
    """Return what the page shows of an answer."""
    draft = analysis.draft
    conversation = draft.conversation
    reader = Reader(request.user)
    return {
        "analysis": analysis,
        "conversation": conversation,
        "reader": reader,
        "text": reader.show(draft.chosen.text, conversation.id if conversation else None),
        "parts": measure_parts(analysis),
        "tokens": draft.tokens,
        "budget": budget,
        "room": budget - draft.tokens if budget else None,
        "counter": tokens.in_use().name,
        "embedding_ms": 1000 * draft.embedding_s,
        "search_ms": 1000 * draft.search_s,
        "numbers": draft.fusion.as_parameters(),
        "shelves": pipeline.draw_shelves(analysis, drawn=drawn),
    }


def measure_parts(analysis: Analysis) -> list[Part]:
    """Return how the tokens of the text are shared out, in its own order."""
    chosen = analysis.draft.chosen
    texts = [block.text for block in chosen.blocks] if chosen.blocks else [chosen.text]
    sizes: dict[str, int] = {}
    for text in texts:
        facts, heading, rest = text.partition("## Episodic Memories\n")
        name = "Facts" if facts.startswith("## Semantic") else "Episodes"
        for part, said in ((name, facts), ("Episodes", heading + rest)):
            if said:
                sizes[part] = sizes.get(part, 0) + tokens.count_tokens(said)
    starts = accumulate(sizes.values(), initial=0)
    return [
        Part(name, start, size) for (name, size), start in zip(sizes.items(), starts, strict=False)
    ]
