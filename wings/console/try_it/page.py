"""The page Try it: a person says something as a user, and watches what memory makes of it.

What is said is stored as the API's call `add_message` stores it, in one conversation for each
person and tenant, named after the person.
"""

import uuid
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from episodic import queries, services
from episodic.api import AddMessageInput, make_message
from episodic.models import Conversation, Role
from episodic.revealing import Reader
from indexing.tenant_search import QUERY_AT_MOST
from jobs.models import OPEN, Job
from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from retrieval.models import Retrieval
from retrieval.recall import draft_answer
from retrieval.request import RecallRequest
from wings.console.conversations import timeline
from wings.console.conversations.page import read_progress
from wings.console.conversations.timeline import MESSAGES_A_PAGE
from wings.console.erasing.page import ERASE, carry_out
from wings.console.facts.forms import CURATE
from wings.console.pages import Answer, admin_page, show_problems
from wings.console.playground import page as playground
from wings.console.try_it.replies import ask_model
from wings.erasure.models import Erasure, Scope

PERMISSIONS = (
    playground.PERMISSION, CURATE, "semantic.view_fact", "episodic.view_message",
    "episodic.view_episode",
)  # fmt: skip
"""To ask as an agent would, to change what is known, and to see what it is made of."""
PAGE, TEMPLATE, TITLE = "console:try_it", "console/try_it/try_it.html", "Try it"
MAX_TOKENS = 300
REASON = "It was said on the page Try it."
SENTENCES = (
    "I moved to Bergen last week.",
    "Remember that I'm allergic to peanuts.",
    "What do you know about me?",
)
"""Lines that are said by one click."""


def name_agent(request: HttpRequest) -> str:
    """Return the agent of the person's conversation, which is shown in the conversation's name."""
    return f"{TITLE} · {request.user.get_username()}"


def make_external_id(request: HttpRequest, tenant: Tenant) -> uuid.UUID:
    """Return the id of the person's conversation in the tenant: the same each time."""
    return uuid.uuid5(tenant.id, name_agent(request))


@admin_page(TEMPLATE, TITLE, *PERMISSIONS, of_one_tenant=True)
def show_try_it(request: HttpRequest, tenant: Tenant) -> Answer:
    """Show what was said, what it became, and what an agent would get; store a line if posted."""
    errors: dict[str, str] = {}
    if request.method == "POST":
        sent: Any = request.POST
        line = {name: sent[name] for name in ("name", "content") if sent.get(name)}
        errors = store_line(request, tenant, Role.USER, line)
        if not errors:
            if has_model():
                with show_problems(request):
                    store_answer(request, tenant, line["content"])
            return redirect(PAGE)
    external_id = make_external_id(request, tenant)
    conversation = queries.find_conversation(tenant, external_id)
    shown: dict[str, Any] = {
        "tenant": tenant,
        "agent": name_agent(request),
        "sentences": SENTENCES,
        "answers": has_model(),
        "speaker": "",
        "params": {"max_tokens": MAX_TOKENS},
    }
    if conversation is not None:
        shown |= read_memory(request, conversation)
        params = {
            "conversation_id": str(external_id),
            "query": request.GET.get("query") or shown["last_line"],
            "max_tokens": request.GET.get("max_tokens") or str(MAX_TOKENS),
        }
        shown["params"] = params
        if params["query"]:
            shown |= playground.answer_question(request, tenant, params)
    return {**shown, "errors": errors or shown.get("errors", {}), "is_fullwidth": "1"}


def store_line(
    request: HttpRequest, tenant: Tenant, role: Role, line: dict[str, str]
) -> dict[str, str]:
    """Store a line as a message; return what is wrong with it, by field."""
    body = {
        "conversation_id": str(make_external_id(request, tenant)),
        "agent_id": name_agent(request),
        "message": {"role": role.value, **line},
    }
    form = AddMessageInput(data=body)
    if not form.is_valid():
        return playground.read_faults(form)
    params = form.validated_data
    try:
        services.add_messages(
            tenant=tenant,
            posted_by=None,
            external_id=params["conversation_id"],
            agent_id=params["agent_id"],
            messages=[make_message(params["message"], now=timezone.now())],
            capped=True,
        )
    except Problem as problem:
        return {"content": problem.message}
    return {}


def has_model() -> bool:
    return str(settings.LLM) != "offline"


def store_answer(request: HttpRequest, tenant: Tenant, line: str) -> None:
    """Let the language model answer a line, from what an agent would get for it.

    Raises:
        Problem: it gave no answer, or none that can be stored.
    """
    conversation = _get_conversation(request, tenant)
    question = RecallRequest(
        kind=Retrieval.Kind.RETRIEVE,
        conversation_id=conversation.external_id,
        query=line[:QUERY_AT_MOST],
        max_tokens=MAX_TOKENS,
    )
    memory = draft_answer(tenant=tenant, request=question, now=timezone.now()).text
    said = [row for row in read_memory(request, conversation)["lines"] if not row.is_masked]
    answer = {"content": ask_model(conversation, memory, said)}
    for fault in store_line(request, tenant, Role.ASSISTANT, answer).values():
        raise Problem(f"The model's answer could not be stored: {fault}")


def read_memory(request: HttpRequest, conversation: Conversation) -> dict[str, Any]:
    """Return the last messages with their episodes and facts, and whether a job is open."""
    blocks = timeline.read_blocks(
        conversation,
        first_seq=max(conversation.next_seq - MESSAGES_A_PAGE, 1),
        reader=Reader(request.user),
        as_of=None,
        known_at=None,
        with_facts=True,
    )
    lines = [line for block in blocks for line in block.messages]
    own = [line for line in lines if line.role == Role.USER and not line.is_masked]
    jobs = Job.objects.of(conversation.tenant).filter(OPEN, scope=conversation.id)
    return {
        "conversation": conversation,
        "blocks": blocks,
        "lines": lines,
        "last_line": own[-1].text if own else "",
        "speaker": own[-1].name if own else "",
        "progress": read_progress(request, conversation),
        "is_working": jobs.exists(),
        "is_unprocessed": any(line.episode_id is None for line in lines),
    }


@admin_page(TEMPLATE, TITLE, *PERMISSIONS, of_one_tenant=True, posts=True)
def make_memories(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """Request episodes and facts now, as the API's call `flush` does."""
    with show_problems(request):
        services.request_flush(conversation=_get_conversation(request, tenant))
    return redirect(PAGE)


@admin_page(TEMPLATE, TITLE, ERASE, of_one_tenant=True, posts=True)
def erase_all(request: HttpRequest, tenant: Tenant) -> HttpResponse:
    """Erase the person's conversation with everything that was learnt from it."""
    with show_problems(request):
        row_id = _get_conversation(request, tenant).id
        erasure = Erasure(tenant=tenant, scope=Scope.CONVERSATION, target=row_id)
        carry_out(request, erasure, reason=REASON)
    return redirect(PAGE)


def _get_conversation(request: HttpRequest, tenant: Tenant) -> Conversation:
    return queries.get_by_external_id(tenant, make_external_id(request, tenant))
