"""Conversations in which a canary is said in every place where something can be said."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import uuid
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core import serializers
from django_q.models import OrmQ
from django_q.signing import SignedPackage

from episodic.models import Conversation
from indexing.models import Memory
from memoryproject.tenancy.models import Tenant, TenantModel
from memoryproject.tenancy.walls import acting_for
from semantic.models import Fact, Suggestion
from tests.conftest import Agent
from tests.talk import MORNING, messages, whole_talk
from wings.transfer import imports

CANARY = "Zanzibarquux"
"""A word that nobody says, also as part of longer ones and in any case."""
OTHER = uuid.UUID(int=11)
USER = f"user-{CANARY}"


def say_canary(agent: Agent, conversation: uuid.UUID) -> None:
    """Say the canary as each role, as a name and in metadata; then talk on, and learn."""
    said = whole_talk()
    said[3]["content"] = f"Mira, is {CANARY} the name of the ship that you work on?"
    said[4]["content"] = f"Yes, I moved to the ship {CANARY} in Rotterdam last week."
    said[4]["metadata"] = {CANARY: [CANARY]}
    extra = messages([("Mira", f"My sister works in {CANARY} as a nurse.")], MORNING)[0]
    tool = {**extra, "role": "tool", "name": CANARY, "content": f"{{'ship': '{CANARY}'}}"}
    said[8:8] = [extra, tool]
    headers = {"Idempotency-Key": "retry-me"}
    body = {"conversation_id": str(conversation), "messages": said}
    assert agent.post("add_messages", body, **headers).status_code == 201
    agent.flush(conversation)
    agent.say(conversation, f"I think of {CANARY} again.", name="Mira")


def ask_canary(agent: Agent, conversation: uuid.UUID) -> None:
    """Ask for the canary in every call that takes a question."""
    here = {"conversation_id": str(conversation), "query": f"What about {CANARY}?"}
    for call in ("retrieve_memory", "retrieve_memory/raw", "context_pre_retrieve"):
        assert agent.post(call, here).status_code == 200
    asked = {"query": CANARY, "conversation_id": str(conversation)}
    assert agent.post("reconstruct_context", asked).status_code == 200
    assert agent.post("search", {"query": CANARY}).status_code == 200


def write_canary(agent: Agent, conversation: uuid.UUID | None = None) -> str:
    """Write a note that holds the canary in every field, twice; return its id."""
    fields: dict[str, Any] = {
        "source_type": "document",
        "source_id": CANARY,
        "user_id": USER,
        "label": f"About {CANARY}",
        "description": f"{CANARY} described",
        "content": f"All of {CANARY}.",
        "category": CANARY,
        "tags": [CANARY],
        "metadata": {CANARY: CANARY},
        "source_path": f"/home/{CANARY}/a.txt",
        "excerpt": f"{CANARY}, it said.",
    }
    if conversation is not None:
        fields["conversation_id"] = str(conversation)
    made = agent.post("notes", fields, **{"Idempotency-Key": f"note {conversation}"})
    assert made.status_code == 201, made.content
    note = made.json()["id"]
    changed = agent.client.patch(
        f"/api/v0/notes/{note}",
        {"version": 1, "content": f"More of {CANARY}."},
        content_type="application/json",
    )
    assert changed.status_code == 200, changed.content
    return str(note)


def quote_canary(agent: Agent, conversation: uuid.UUID) -> None:
    """Put memories of a conversation into a context, and link one with another."""
    home = Conversation.objects.of(agent.tenant).get(external_id=conversation)
    facts = Fact.objects.of(agent.tenant).filter(conversation=home, invalid_at=None)
    quoting = facts.filter(fact__contains=CANARY).order_by("id")
    assert quoting, "no fact holds the canary"
    prompt = {"max_tokens": 4000, "system_prompt": f"Speak of {CANARY}."}
    context = agent.post("contexts", prompt).json()["id"]
    added = agent.post(f"contexts/{context}/add", {"memory_id": str(quoting[0].id)})
    assert added.status_code == 200, added.content
    other = facts.exclude(id=quoting[0].id).order_by("id")[0]
    drawn = {"from_id": str(other.id), "to_id": str(quoting[0].id)}
    assert agent.post("links", drawn).status_code == 201
    suggestion = Suggestion.objects.create(
        tenant=agent.tenant, conversation=home, changeset=other.changeset, kind="duplicate",
        old_fact=other, new_fact=quoting[0], reason="near_words",
    )  # fmt: skip
    told = {"reason": f"{CANARY} is another."}
    assert agent.post(f"suggestions/{suggestion.id}/decline", told).status_code == 200
    act = {"reason": f"It is not {CANARY}.", "because": "wrong"}
    assert agent.post(f"facts/{quoting[0].id}/invalidate", act).status_code == 200


def import_canary(agent: Agent, conversation: uuid.UUID) -> None:
    """Have a file of facts looked through, of which one holds the canary, and save a search."""
    rows = [
        {"fact": f"Mira knows {CANARY}.", "category": "identity"},
        {"fact": "Mira knows Jonas.", "category": "identity", "conversation_id": str(OTHER)},
    ]
    file = io.BytesIO("\n".join(json.dumps(row) for row in rows).encode())
    with acting_for(agent.tenant.id):
        imports.start_run(
            tenant=agent.tenant,
            person="somebody",
            name="facts.jsonl",
            file=file,
            conversation=conversation,
        )


def tell_everywhere(agent: Agent, conversation: uuid.UUID) -> None:
    """Leave the canary in every place that one conversation can."""
    say_canary(agent, conversation)
    write_canary(agent, conversation)
    ask_canary(agent, conversation)
    quote_canary(agent, conversation)
    import_canary(agent, conversation)


def dump() -> str:
    """Return the whole database as SQL, as a backup would hold it, in lower case."""
    done = subprocess.run(
        [sys.executable, "-m", "memoryproject.embedded", "pg_dump", str(settings.DATA_DIR)],
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.lower()


def queued() -> str:
    """Return what waits in the queue, unpacked, in lower case."""
    payloads = OrmQ.objects.values_list("payload", flat=True)
    return "".join(str(SignedPackage.loads(payload)) for payload in payloads).lower()


def digest(tenant: Tenant, *, conversation: uuid.UUID | None = None) -> dict[str, str]:
    """Return a hash of each table's rows of a tenant, or of one conversation of it."""
    home = None
    if conversation is not None:
        home = Conversation.objects.of(tenant).get(external_id=conversation).id
    found = {}
    for model in apps.get_models():
        if not issubclass(model, TenantModel):
            continue
        rows = model.objects.of(tenant)
        if home is not None:
            if not any(field.name == "conversation" for field in model._meta.fields):
                continue
            rows = rows.filter(conversation=home)
        told = serializers.serialize("json", rows.order_by("id"))
        found[model._meta.db_table] = hashlib.sha256(told.encode()).hexdigest()
    return found


def erase(agent: Agent, scope: str, name: object, **more: Any) -> Any:
    """Ask for an erasure."""
    body = {"scope": scope, "id": str(name), "reason": "a request by the person", **more}
    return agent.post("erasures", body)


def memories(agent: Agent) -> int:
    """Return how many memories a tenant has."""
    return Memory.objects.of(agent.tenant).count()


def as_json(answer: Any) -> Any:
    """Return an answer's body, after a look at its status."""
    assert answer.status_code in {200, 202}, answer.content
    return json.loads(answer.content)
