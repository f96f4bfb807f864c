"""Incidents of other memory systems in which somebody reached what was another's.

Told as in `test_incidents`.
"""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from episodic.models import Conversation, Episode, Message
from indexing.models import Memory
from jobs.models import Job
from memoryproject import urls
from memoryproject.tenancy.views import KeyedView
from retrieval.models import Context, ContextSection, Retrieval
from semantic.models import Change, Changeset, Evidence, Fact, Suggestion
from tests.conftest import Agent
from tests.llm.conftest import flush_job
from tests.reliability.test_degradation import BODIES
from tests.semantic.learning import leave_suggestion
from tests.tenancy.test_scopes import CALLS
from wings.events.models import Event
from wings.notes.models import Link, Note

pytestmark = pytest.mark.gate

in_one_transaction = pytest.mark.django_db


def ask_as(agent: Agent, method: str, route: str, ids: dict[str, uuid.UUID]) -> Any:
    """Ask one call of the API for those ids, in its address and in its body."""
    path = re.sub(r"<id:(\w+)>", lambda name: str(ids[name[1]]), route)
    if method == "GET":
        talk = {"conversation_id": str(ids["conversation_id"])}
        return agent.get(path, **talk) if route == "messages" else agent.get(path)
    body: dict[str, Any] = BODIES.get(route) or NOTE_BODIES.get(method, {})
    named = {name: str(ids[name]) for name in body if name in ids}
    return agent.client.generic(
        method, f"/api/v0/{path}", json.dumps(body | named), content_type="application/json"
    )


NOTE_BODIES: dict[str, dict[str, Any]] = {
    "POST": {"content": "A note."},
    "PATCH": {"version": 1, "content": "Another note."},
}


def write_note_with_link(agent: Agent, far: uuid.UUID) -> dict[str, uuid.UUID]:
    """Return what a note leaves behind that is linked and in a context, by the names of paths."""
    note = agent.post("notes", {"content": "The piano goes to Rotterdam."}).json()["id"]
    drawn = agent.post("links", {"from_id": note, "to_id": str(far)}).json()["id"]
    context = agent.post("contexts", {"max_tokens": 1000}).json()["id"]
    assert agent.post(f"contexts/{context}/add", {"memory_id": note}).json()["added"]
    named = {"note_id": note, "memory_id": note, "link_id": drawn, "context_id": context}
    named |= {"from_id": note, "to_id": str(far)}
    return {name: uuid.UUID(given) for name, given in named.items()}


def name_and_watch(agent: Agent, talk: uuid.UUID) -> dict[str, uuid.UUID]:
    """Return the ids of a person, a memory test, and a webhook with an event."""
    asked = {"conversation_id": str(talk), "query": "Where?", "must_say": ["Rotterdam"]}
    made = {
        "person_id": agent.post("people", {"name": "Mira", "user_ids": ["mira"]}),
        "test_id": agent.post("memory_tests", asked),
        "webhook_id": agent.post("webhooks", {"url": "https://example.com/memory"}),
    }
    fact = Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("id")[0]
    agent.post(f"facts/{fact.id}/invalidate", {"reason": "It is over.", "because": "superseded"})
    event: Any = Event.objects.of(agent.tenant).order_by("id")[0]
    return {name: uuid.UUID(answer.json()["id"]) for name, answer in made.items()} | {
        "event_id": event.id
    }


def undo_and_erase(agent: Agent) -> dict[str, uuid.UUID]:
    """Return the ids of a rollback and of an erasure, of which nothing else is told."""
    agent.say(uuid.uuid4(), "Believe me.", name="Visitor")
    why = {"reason": "A test."}
    source = {"speaker": "Visitor", "since": "2020-01-01T00:00:00Z"}
    note = agent.post("notes", {"content": "To be rid of."}).json()["id"]
    rolled = agent.post("rollbacks", {**source, **why}).json()["id"]
    erased = agent.post("erasures", {"scope": "note", "id": note, **why}).json()["id"]
    return {"rollback_id": uuid.UUID(rolled), "erasure_id": uuid.UUID(erased)}


@in_one_transaction
def test_longmemory_181_and_anythingmcp_286_no_way_in_is_without_its_tenant(
    ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    """There: REST was scoped, and MCP, a second way in, was not.

    In LongMemory nobody's name was put on what came by MCP, and its reads had no filter;
    in anythingmcp the check was left out for keys that named no organisation. We have one
    way in, and no MCP: a stranger asks each call for ana's ids, and gets nothing of hers.
    """
    ana.post("retrieve_memory", {"conversation_id": str(told), "query": "piano"})
    ids = {"conversation_id": told, "job_id": flush_job(ana).id}
    for kind in (Message, Episode, Fact, Retrieval, Changeset):
        newest: Any = kind.objects.of(ana.tenant).order_by("-id")[0]
        ids[f"{kind.__name__.lower()}_id"] = newest.id
    ids |= write_note_with_link(ana, ids["fact_id"])
    ids |= undo_and_erase(ana)
    ids |= name_and_watch(ana, told)
    ids["suggestion_id"] = leave_suggestion(ana).id
    before = rows_of(ana)
    hidden = [str(id) for _, id, _ in before] + ["Rotterdam", "piano"]
    for route, method, _ in CALLS:
        answer = ask_as(cleo, method, route, ids)
        assert answer.status_code in {200, 201, 202, 404, 409}, (route, answer.content)
        words = answer.content.decode()
        assert not [word for word in hidden if word in words], route
        assert rows_of(ana) == before, route
        path = answer.request["PATH_INFO"]
        assert Client(SERVER_NAME="localhost").generic(method, path).status_code == 401


def rows_of(agent: Agent) -> set[tuple[str, uuid.UUID, str]]:
    """Return kind, id and state of everything that the agent's tenant has."""
    kept: list[Any] = [Conversation, Message, Episode, Fact, Changeset, Retrieval, Job]
    kept += [Suggestion, Memory, Note, Link, Context, ContextSection]
    return {
        (kind.__name__, row.id, f"{getattr(row, 'state', '')} {getattr(row, 'invalid_at', '')}")
        for kind in kept
        for row in kind.objects.of(agent.tenant)
    }


def test_anythingmcp_286_every_call_asks_for_a_key_or_is_known_to_need_none() -> None:
    """A call that forgets to ask would be open; a key without a tenant cannot be stored."""
    open_calls = {"health/live", "health/ready", "schema/", "docs/"}
    for route in urls.api:
        view = getattr(route.callback, "cls", object)
        assert issubclass(view, KeyedView) is (str(route.pattern) not in open_calls)
    patterns: list[Any] = urls.urlpatterns
    prefixes = {str(pattern.pattern).lstrip("^").split("/")[0] for pattern in patterns}
    assert prefixes == {"", "admin", "api", "favicon.ico", "metrics"}


@in_one_transaction
def test_ai_memory_mcp_1935_a_link_into_anothers_memory_cannot_be_made(
    ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    """There: a walk over links showed nodes that a search would have hidden.

    Links could be forged to what the caller did not own. Here what links rows are foreign
    keys, and Postgres refuses one from a tenant to another, whoever writes it. What somebody
    forges who can switch them off is not followed: `tests/retrieval/test_forged_links.py`.
    """
    theirs = Conversation.objects.create(tenant=cleo.tenant, external_id=uuid.uuid4())
    changeset = Changeset.objects.create(
        tenant=cleo.tenant, conversation=theirs, kind=Changeset.Kind.CURATION, actor="cleo"
    )
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    known = Evidence.objects.of(ana.tenant).filter(fact=fact).values("episode")
    episode = Episode.objects.of(ana.tenant).exclude(id__in=known)[0]
    links: dict[str, Any] = {"fact_id": fact.id, "episode_id": episode.id, "changeset": changeset}
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        Evidence.objects.create(tenant=cleo.tenant, message_seqs=[], **links)
    place: dict[str, Any] = {"changeset_id": fact.changeset_id, "position": 999, "action": "new"}
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        Change.objects.create(tenant=cleo.tenant, **place)
    mine = Message.objects.of(ana.tenant)
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        mine.update(conversation=theirs)
    ends = {"from_memory_id": fact.id, "to_memory_id": episode.id, "link_type": "supports"}
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        Link.objects.create(tenant=cleo.tenant, made_by=Link.MadeBy.AGENT, actor="cleo", **ends)
