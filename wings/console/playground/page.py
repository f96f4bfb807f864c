"""The playground page: an agent's question, its answer, and the rank of each memory.

The question is in the address, so it can be shared. It is checked by the API's own form and
answered by the API's own service; nothing is stored. A table shows each memory's ranks: keyword,
semantic, fused, for episodes also retrievability, and what became of it.
"""

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from rest_framework.serializers import Serializer

from episodic.revealing import Reader
from memoryproject.adminkit.base import read_id
from memoryproject.adminkit.values import MEMORY_PAGES
from memoryproject.edge.http import flatten_details
from memoryproject.tenancy.models import Tenant
from memoryproject.text import tokens
from retrieval.analysis import Analysis, Outcome, analyse
from retrieval.api.retrieve import DETAILS, ContextInput, RetrieveInput
from retrieval.hits import Hit
from retrieval.models import Retrieval
from retrieval.request import SEMANTIC_LIMIT, RecallRequest
from retrieval.search.in_conversation import EPISODIC_LIMIT
from semantic.engines import Category
from wings.console.forms import read_choice_id
from wings.console.pages import Answer, admin_page, list_conversations

PERMISSION = "retrieval.run_playground"
CALLS = {
    "retrieve": ("retrieve_memory", RetrieveInput, Retrieval.Kind.RETRIEVE),
    "context": ("context_pre_retrieve", ContextInput, Retrieval.Kind.CONTEXT),
}
WORDS = ("query", "conversation_id", "category", "detail", "as_of", "known_at")
NUMBERS = ("semantic_limit", "episodic_limit", "max_tokens")


class Row(NamedTuple):
    """A memory that was found, and what became of it."""

    found: Hit
    outcome: Outcome

    @property
    def href(self) -> str:
        place = MEMORY_PAGES[self.found.shelf.value]
        return reverse(f"admin:{place}_change", args=[self.found.memory_id])

    @property
    def text(self) -> str:
        """The sentence of a fact, or the title of an episode."""
        if not self.found.shown:
            return str(self.found.memory_id)
        return str(self.found.shown[1 if self.found.shelf == "fact" else 0])


@admin_page("console/playground/playground.html", "Playground", PERMISSION, of_one_tenant=True)
def show_playground(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show the form, and the results for the question in the address."""
    params = request.GET
    chosen = read_choice_id(params.get("conversation_id", ""))
    chosen_id = read_id(chosen)
    offered = list_conversations(request, chosen=chosen_id)
    return {
        "params": params,
        "tenant": tenant,
        "conversations": offered,
        "chosen": next((line for line, _ in offered if line.endswith(f" {chosen_id}")), chosen),
        **(answer_question(request, tenant, params) if "query" in params else {}),
        "is_fullwidth": "1",
        "details": [word for word in DETAILS if word != "auto"],
        "categories": [category.value for category in Category],
        "semantic_default": SEMANTIC_LIMIT,
        "episodic_default": EPISODIC_LIMIT,
    }


def answer_question(
    request: HttpRequest, tenant: Tenant, params: Mapping[str, str]
) -> dict[str, Any]:
    """Return the answer to a question and how it was found, or `errors`."""
    call, form, kind = CALLS.get(params.get("kind", ""), CALLS["retrieve"])
    body = read_body(params)
    checked = form(data=body)
    if not checked.is_valid():
        return {"errors": read_faults(checked)}
    question = RecallRequest(kind=kind, **checked.validated_data)
    analysis = analyse(tenant=tenant, request=question, now=timezone.now())
    curl = write_curl(request.build_absolute_uri(f"/api/v0/{call}"), body)
    return {**render_analysis(request, analysis, budget=question.max_tokens), "curl": curl}


def read_faults(form: Serializer[Any]) -> dict[str, str]:
    """Return what is wrong with a call's body: the first fault of each field, by its name."""
    faults = flatten_details(form.errors).items()
    return {path.rpartition(".")[2]: texts[0] for path, texts in faults}


def read_body(params: Mapping[str, str]) -> dict[str, Any]:
    """Return the question in an address as the body of a call, without empty fields.

    An invalid number stays text, so that the API's form reports it.
    """
    body: dict[str, Any] = {name: params[name] for name in WORDS if params.get(name)}
    if "conversation_id" in body:
        body["conversation_id"] = read_choice_id(body["conversation_id"])
    body |= {name: _to_number(params[name]) for name in NUMBERS if params.get(name)}
    if params.get("explain"):
        body["explain"] = True
    return body


def _to_number(text: str) -> int | float | str:
    text = text.strip()
    if re.fullmatch(r"-?\d{1,15}", text, re.ASCII):
        return int(text)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text, re.ASCII):
        return float(text)
    return text


def write_curl(address: str, body: Mapping[str, Any]) -> str:
    """Return the same question as a shell command, with the API key in KEY."""
    data = shlex.quote(json.dumps(body, ensure_ascii=False))
    return (
        f"curl -s {shlex.quote(address)} \\\n"
        '  -H "Authorization: Bearer $KEY" \\\n'
        f"  -H 'Content-Type: application/json' \\\n  -d {data}"
    )


def render_analysis(
    request: HttpRequest, analysis: Analysis, *, budget: int | None
) -> dict[str, Any]:
    draft, receipt = analysis.draft, analysis.draft.receipt
    conversation = receipt.conversation
    reader = Reader(request.user)
    return {
        "analysis": analysis,
        "conversation": conversation,
        "reader": reader,
        "text": reader.show(draft.text, conversation.id if conversation else None),
        "tokens": receipt.tokens,
        "budget": budget,
        "room": budget - receipt.tokens if budget else None,
        "counter": tokens.in_use().name,
        "embedding_ms": 1000 * draft.embedding_s,
        "search_ms": 1000 * draft.search_s,
        "kinds_of_memory": [
            (name, [Row(*row) for row in rows])
            for name, rows in (("Facts", analysis.facts), ("Episodes", analysis.episodes))
            if rows
        ],
    }
