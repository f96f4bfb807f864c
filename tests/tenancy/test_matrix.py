"""A stranger's id, in every place that takes one, is like an id of nothing, and changes nothing."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction

from episodic.models import Conversation, Episode, Message, Withholding
from jobs.models import Job
from memoryproject import urls
from memoryproject.tenancy.models import TenantModel
from memoryproject.tenancy.views import KeyedView
from retrieval.models import Context, MemoryTest, Retrieval
from semantic.models import Changeset, CorrectionMark, Fact, Suggestion
from tests.ask.conftest import model as model
from tests.ask.conftest import tell_all
from tests.conftest import Agent, make_agent
from tests.emptying import delete_all_rows
from tests.semantic.learning import leave_suggestion
from tests.talk import whole_talk
from tests.tenancy import places
from tests.tenancy.places import Ids, Place, read_places
from wings.erasure.models import Erasure, RetentionPolicy
from wings.erasure.services import place_hold
from wings.events.models import Event, Webhook
from wings.instructions.models import InstructionVersion
from wings.notes.models import Link, Note
from wings.people.models import Person

pytestmark = pytest.mark.django_db

PLACES = read_places()
SAILING = [
    "I keep a small sailing boat at the canal in Bruges.",
    "Nice! Does it have a cabin?",
    "Yes, my sister Hanne painted the cabin green last summer.",
    "I like green boats a lot.",
    "I sail to the sea every Sunday when there is wind.",
    "Take me along some day.",
]
HER_WORDS = re.compile("Mira|Jonas|Rotterdam|Lisbon|piano")
"""Words of ana's that no answer to cleo may hold."""


@dataclass(frozen=True)
class Past:
    """Two tenants with rows of every kind, told of different things."""

    ana: Agent
    cleo: Agent
    hers: Ids
    own: Ids
    digest: dict[str, str]


@pytest.fixture(scope="module")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[Past]:
    """Return what both have left, committed; gone after this file."""
    with django_db_blocker.unblock():
        ana, cleo = make_agent("ana's", "ana"), make_agent("cleo's", "cleo")
        talk = [{"role": "user", "content": text} for text in SAILING]
        hers, own = leave(ana, "ana", whole_talk()), leave(cleo, "cleo", talk)
        yield Past(ana, cleo, hers, own, digest(ana))
        delete_all_rows()


@pytest.fixture(autouse=True)
def answering(request: pytest.FixtureRequest) -> None:
    """Let a model that tells all it is shown answer the call that asks one."""
    place = request.node.callspec.params.get("place") if hasattr(request.node, "callspec") else None
    if place and place.call == "POST ask":
        request.getfixturevalue("model").always("ask", tell_all)


def done(answer: Any) -> Any:
    assert answer.status_code < 300, answer.content
    return answer.json() if answer["Content-Type"].startswith("application/json") else None


def leave(agent: Agent, name: str, talk: list[dict[str, Any]]) -> Ids:
    """Let an agent use every part of the API; return what it owns then, by kind."""
    conversation = uuid.uuid4()
    key, user, source = f"key of {name}", f"user of {name}", f"source of {name}"
    owner = {"user_id": user, "agent_id": f"agent of {name}"}
    talk_of = {"conversation_id": str(conversation), **owner}
    done(agent.post("add_messages", {**talk_of, "messages": talk}))
    agent.flush(conversation)
    first = {"role": "user", "content": talk[0]["content"]}
    body = {"conversation_id": str(conversation), "message": first}
    done(agent.post("add_message", body, **{"Idempotency-Key": key}))
    done(agent.post("retrieve_memory", {"conversation_id": str(conversation), "query": "Where?"}))
    facts = [str(one) for one in Fact.objects.of(agent.tenant).values_list("id", flat=True)]
    why = {"reason": "It is so."}
    done(agent.post(f"facts/{facts[0]}/invalidate", {**why, "because": "wrong"}))
    asked = {"conversation_id": str(conversation), "query": "Where?", "must_say": ["boat"]}
    done(agent.post("memory_tests", asked))
    leave_suggestion(agent)
    about = {"user_id": user, "source_id": source, "conversation_id": str(conversation)}
    content = talk[0]["content"]
    written = [
        done(agent.post("notes", {"content": f"{content} {number}", **about},
                        **{"Idempotency-Key": f"{key} {number}"}))["id"]
        for number in range(3)
    ]  # fmt: skip
    change = {"version": 1, "label": "Changed"}
    address = f"/api/v0/notes/{written[1]}"
    done(agent.client.patch(address, change, content_type="application/json"))
    done(agent.post("links", {"from_id": written[0], "to_id": written[1]}))
    done(agent.post("links", {"from_id": written[0], "to_id": facts[1]}))
    known = [{"user_ids": [user]}, {"speakers": [f"Visitor {name}"]}, {"speakers": [name]}]
    people = [done(agent.post("people", {"name": name, **one}))["id"] for one in known]
    merged = {**why, "into_id": people[0]}
    done(agent.post(f"people/{people[2]}/merge", merged))
    context = done(agent.post("contexts", {"max_tokens": 900}))["id"]
    done(agent.post(f"contexts/{context}/add", {"memory_id": written[0]}))
    agent.say(uuid.uuid4(), "Believe me.", name="Visitor")
    done(agent.post("rollbacks", {**why, "since": places.SINCE, "speaker": "Visitor"}))
    RetentionPolicy.objects.create(
        tenant=agent.tenant, kind="note", older_than_days=100_000, actor=name
    )
    place_hold(tenant=agent.tenant, conversation_id=uuid.uuid4(), actor=name, reason="A case.")
    done(agent.post("webhooks", {"url": f"https://example.com/{key}"}))
    for whose in ("", owner["agent_id"]):
        body = {"agent_id": whose, "keep": [f"boats of {name}"], "never": [], "words": []}
        path = "/api/v0/instructions"
        done(agent.client.put(path, body, content_type="application/json"))
    done(agent.post("erasures", {"scope": "note", "id": written[2], **why}))
    return ids_of(agent, conversation) | {
        "client_key": [key],
        "user": [user],
        "agent": [owner["agent_id"]],
        "source": [source],
        "end": [f"{written[1]}.relates_to.out"],
    }


def ids_of(agent: Agent, talk: uuid.UUID) -> dict[str, list[str]]:
    owned: dict[str, type[TenantModel]] = {
        "conversation": Conversation, "message": Message, "episode": Episode, "fact": Fact,
        "note": Note, "link": Link, "context": Context, "changeset": Changeset,
        "retrieval": Retrieval, "job": Job, "rollback": Withholding, "erasure": Erasure,
        "suggestion": Suggestion, "mark": CorrectionMark, "memory_test": MemoryTest,
        "instructions": InstructionVersion, "person": Person,
        "webhook": Webhook, "event": Event, "policy": RetentionPolicy,
    }  # fmt: skip
    found = {
        kind: [str(one) for one in model.objects.of(agent.tenant).order_by("id").values_list(
            "id", flat=True)]
        for kind, model in owned.items()
    }  # fmt: skip
    tenant, key = str(agent.tenant.id), str(agent.key.id)
    return {**found, "talk": [str(talk)], "tenant": [tenant], "key": [key]}


def digest(agent: Agent) -> dict[str, str]:
    """Return a hash of all rows that a tenant owns, by table."""
    tables = [model._meta.db_table for model in apps.get_models() if issubclass(model, TenantModel)]
    parts = [
        f"SELECT '{table}', md5(coalesce(string_agg(row::text, '|' ORDER BY row.id), ''))"
        f" FROM {table} AS row WHERE tenant_id = %(tenant)s"
        for table in tables
    ]
    parts.append("SELECT 'tenant', md5(row::text) FROM tenancy_tenant AS row"
                 " WHERE id = %(tenant)s")  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(parts), {"tenant": agent.tenant.id})
        return dict(cursor.fetchall())


def call(agent: Agent, filled: dict[str, Any]) -> Any:
    body = filled["body"]
    return agent.client.generic(
        filled["method"],
        filled["path"],
        "" if body is None else json.dumps(body),
        content_type="application/json",
        query_params=filled["query"],
        headers=filled["headers"],
    )


UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[0-9:.]+(?:Z|\+00:00)")
CHANGING = {"date", "content-length", "memory-receipt", "x-request-id", "request-id"}


def seen(answer: Any, name: str, past: Past) -> tuple[Any, ...]:
    """Return an answer without what is new in each: its own ids and times, and the name asked."""
    known = {one for owned in (past.own, past.hers) for ids in owned.values() for one in ids}
    text = answer.content.decode().replace(name, "NAME")
    text = UUID.sub(lambda found: found[0] if found[0] in known else "NEW", text)
    headers = {key.lower(): value for key, value in answer.headers.items()}
    kept = {key: value for key, value in headers.items() if key not in CHANGING}
    return answer.status_code, TIME.sub("TIME", text), kept


def test_every_place_that_takes_an_id_is_in_the_matrix() -> None:
    """A field that is new is given its kind in `places.KINDS`, a cursor in `places.CURSORS`."""
    assert [str(place) for place in PLACES if not places.kinds_of(place)] == []
    assert {place.word for place in PLACES} - {"after", "id"} == set(places.KINDS)
    assert {place.call for place in PLACES if place.word == "after"} == set(places.CURSORS)


def test_every_call_with_a_body_is_in_the_matrix() -> None:
    assert set(places.BODIES) == places.read_calls()


def test_every_route_with_an_id_is_in_the_matrix() -> None:
    """What the description of the API leaves out would be left out here."""
    routes = {
        re.sub(r"<(?:id|path):(\w+)>", r"{\1}", str(route.pattern))
        for route in urls.api
        if issubclass(getattr(route.callback, "cls", object), KeyedView)
    }
    # They take numbers and words alone, or nothing.
    without = {"contexts", "memory_tests/run", "usage", "whoami"}
    assert routes - {place.route for place in PLACES} == without
    slots = [str(route.pattern) for route in urls.api if "<" in str(route.pattern)]
    assert all(re.fullmatch(r"[\w/]*(<(?:id|path):\w+>[\w/]*)+", slot) for slot in slots)


def test_each_kind_has_rows_to_be_asked_for(past: Past) -> None:
    wanted = {kind for place in PLACES for kind in places.kinds_of(place)}
    assert {kind for kind in wanted if not past.hers[kind] or not past.own[kind]} == set()
    empty = [table for table, value in past.digest.items() if value == digest_of_nothing()]
    assert set(empty) <= HAVE_NO_ROWS


HAVE_NO_ROWS = {
    "console_exportrun", "console_importrun", "console_importbatch", "console_pageread",
    "episodic_reveal",
    "episodic_review", "events_notification", "indexing_vectorindex", "indexing_wordcount",
    "jobs_llmcall", "semantic_triage", "tenancy_keyusage", "tenancy_membership",
}  # fmt: skip
"""Tables to which no call of the API leads at once, without a model, a large shelf or a person."""


def digest_of_nothing() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT md5('')")
        return str(cursor.fetchone()[0])


def ask(name: str, *, place: Place, kind: str, past: Past) -> tuple[Any, ...]:
    """Let cleo name something; return the answer, and undo what the call did to her rows."""
    with transaction.atomic():
        answer = call(past.cleo, places.fill(place, name, kind=kind, own=past.own))
        assert digest(past.ana) == past.digest, (kind, name)
        transaction.set_rollback(True)
    return seen(answer, name, past)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_strangers_id_is_like_none_and_changes_nothing(place: Place, past: Past) -> None:
    for kind in places.kinds_of(place):
        name = past.hers[kind][0]
        answer = ask(name, place=place, kind=kind, past=past)
        assert answer == ask(places.neighbour(name), place=place, kind=kind, past=past), kind
        status, text, _ = answer
        assert not HER_WORDS.search(text), text
        assert not [one for ids in past.hers.values() for one in ids if one in text], text
        if place.where == "path" and place.word in {"user_id", "agent_id"}:
            assert (status, text) == (200, ""), kind  # nothing is known of a new one either
        elif place.where == "path" or place.call == "GET instructions":
            assert status == 404, (kind, text)
        elif place.where == "query" and place.word != "after":
            assert (status, json.loads(text)["items"]) == (200, []), kind
        else:
            assert status in {200, 201, 202, 404, 409}, (kind, status, text)


@pytest.mark.parametrize("place", [one for one in PLACES if one.where == "path"], ids=str)
def test_the_same_call_with_an_own_id_finds_it(place: Place, past: Past) -> None:
    """Else the 404 above could be that of a call that never finds anything."""
    kind = places.kinds_of(place)[0]
    filled = places.fill(place, past.own[kind][0], kind=kind, own=past.own)
    answer = call(past.cleo, filled)
    assert answer.status_code != 404, answer.content
