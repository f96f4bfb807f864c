"""A key bound to users sees and writes what is theirs; all else is as unknown as a stranger's."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.test import Client

from episodic.models import Conversation, Message
from memoryproject import urls
from memoryproject.tenancy import services
from memoryproject.tenancy.views import KeyedView
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.guards.test_tenant_walls import TENANT_MODELS
from tests.talk import whole_talk
from wings.notes.models import Note

UNKNOWN = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class House:
    """A tenant with what two users said, and a key of one of them."""

    owner: Agent
    bound: Agent
    hers: dict[str, str]
    """Ids of what belongs to the other user, by kind."""
    own: dict[str, str]


def bind(agent: Agent, *users: str) -> Agent:
    """Return another key of the agent's tenant, which may do everything for some users."""
    made = services.create_api_key(tenant=agent.tenant, name="bound", user_ids=users)
    client = Client(headers={"authorization": f"Bearer {made.secret}"}, SERVER_NAME="localhost")
    return Agent(key=made.key, secret=made.secret, client=client)


def settle(agent: Agent, user: str) -> dict[str, str]:
    """Let a user have said and noted something; return the ids of it."""
    talk = str(uuid.uuid4())
    said = {"conversation_id": talk, "user_id": user, "messages": whole_talk()}
    assert agent.post("add_messages", said).status_code == 201
    agent.flush(uuid.UUID(talk))
    asked = agent.post("retrieve_memory", {"conversation_id": talk, "query": "Where to?"})
    within = {"content": f"Lisbon, said {user}.", "conversation_id": talk}
    agent.post("notes", {"content": f"Lisbon, of {user}.", "user_id": user})
    ids = {"talk": talk, "note": agent.post("notes", within).json()["id"]}
    ids["retrieval"] = asked["Memory-Receipt"]
    for kind in ("fact", "episode", "message"):
        ids[kind] = agent.get(f"{kind}s", conversation_id=talk).json()["items"][0]["id"]
    return ids


@pytest.fixture(scope="module")
def house(shared: None) -> Iterator[House]:
    owner = make_agent("ana's", "ana")
    hers, own = settle(owner, "ana"), settle(owner, "bo")
    owner.post("links", {"from_id": own["note"], "to_id": hers["note"]})
    yield House(owner, bind(owner, "bo"), hers, own)


pytestmark = pytest.mark.django_db
LISTS = {"conversations": "talk", "facts": "fact", "episodes": "episode", "notes": "note",
         "retrievals": "retrieval"}  # fmt: skip
READ_BY_ID = ("conversations/{talk}", "conversations/{talk}/profile", "facts/{fact}",
              "episodes/{episode}", "messages/{message}",
              "notes/{note}", "notes/{note}/versions", "retrievals/{retrieval}",
              "memories/{fact}", "memories/{episode}", "memories/{note}")  # fmt: skip


@pytest.mark.parametrize("call", LISTS)
def test_lists_hold_what_is_theirs(house: House, call: str) -> None:
    items = house.bound.get(call, limit=200).json()["items"]
    named = {item["id"] for item in items}
    assert house.own[LISTS[call]] in named or call in ("facts", "episodes")
    whole = house.owner.get(call, limit=200).json()["items"]
    assert 0 < len(items) < len(whole)
    talks = {item.get("conversation_id") for item in items if "conversation_id" in item}
    assert house.hers["talk"] not in talks and house.hers[LISTS[call]] not in named
    asked = house.bound.get(call, conversation_id=house.hers["talk"])
    assert call == "conversations" or asked.json()["items"] == []


@pytest.mark.parametrize("call", READ_BY_ID)
def test_what_is_anothers_is_like_nothing(house: House, call: str) -> None:
    assert house.bound.get(call.format(**house.own)).status_code == 200
    answer = house.bound.get(call.format(**house.hers))
    nothing = house.bound.get(call.format(**dict.fromkeys(house.hers, UNKNOWN)))
    assert (answer.status_code, answer.json()) == (404, nothing.json())


def test_answers_hold_nothing_of_others(house: House) -> None:
    everything = {"query": "*", "max_results": 100, "max_hops": 3}
    found = house.bound.post("search", everything).json()["items"]
    sources = {item["source_id"] for item in found if item["source_type"] != "note"}
    assert sources == {house.own["talk"]}
    assert house.hers["note"] not in {item["id"] for item in found}
    assert house.bound.post("search", {**everything, "user_id": "ana"}).json()["total_count"] == 0
    wide = {"query": "Lisbon", "focus_level": 5, "since": "2020-01-01T00:00:00Z"}
    brought = house.bound.post("reconstruct_context", wide).json()["memories_retrieved"]
    assert brought and {one["user_id"] for one in brought} == {"bo"}
    assert house.hers["note"] not in str(brought)
    peek = house.bound.get(f"memories/{house.own['note']}").json()
    assert peek["related_ids"] == []
    assert house.owner.get(f"memories/{house.own['note']}").json()["related_ids"] != []
    for call in ("retrieve_memory", "context_pre_retrieve"):
        for talk, is_empty in (("talk", False), (None, True)):
            place = house.own["talk"] if talk else house.hers["talk"]
            body = {"conversation_id": place, "query": "What about Lisbon?"}
            assert (house.bound.post(call, body).content == b"") is is_empty
    listed = house.bound.get("messages", conversation_id=house.hers["talk"])
    assert listed.json()["items"] == []


def test_writing_is_for_theirs_alone(house: House) -> None:
    hello = {"message": {"role": "user", "content": "Hello."}}
    told = Message.objects.of(house.owner.tenant).count()
    taken = house.bound.post("add_message", {"conversation_id": house.hers["talk"], **hello})
    assert_problem(taken, 409)
    fresh = {"conversation_id": str(uuid.uuid4()), **hello}
    assert_problem(house.bound.post("add_message", {**fresh, "user_id": "ana"}), 403)
    assert_problem(house.bound.post("flush", {"conversation_id": house.hers["talk"]}), 404)
    assert_problem(house.bound.post("notes", {"content": "Hers.", "user_id": "ana"}), 403)
    assert_problem(house.bound.post(f"notes/{house.hers['note']}/restore", {}), 404)
    assert Message.objects.of(house.owner.tenant).count() == told
    assert house.bound.post("add_message", fresh).status_code == 201
    made = Conversation.objects.of(house.owner.tenant).get(external_id=fresh["conversation_id"])
    assert made.user_id == "bo"
    note = house.bound.post("notes", {"content": "Mine."}).json()
    assert note["user_id"] == "bo"
    address = f"/api/v0/notes/{note['id']}"
    for user, status, wanted in (("ana", 403, "bo"), (None, 200, "bo")):
        change = {"version": 1, "user_id": user}
        answer = house.bound.client.patch(address, change, content_type="application/json")
        assert answer.status_code == status
        assert Note.objects.of(house.owner.tenant).get(id=note["id"]).user_id == wanted


def test_a_key_of_several_users_must_say_for_whom(house: House) -> None:
    both = bind(house.owner, "bo", "ana")
    body = {"conversation_id": str(uuid.uuid4()), "message": {"role": "user", "content": "Hi."}}
    assert "user_id" in assert_problem(both.post("add_message", body), 403)["message"]
    assert both.post("add_message", {**body, "user_id": "ana"}).status_code == 201
    assert both.post("add_message", body).status_code == 201
    assert both.get("whoami").json()["key"]["user_ids"] == ["bo", "ana"]


def test_calls_that_do_not_keep_to_users_are_refused(house: House) -> None:
    """A view that is new is refused until it says `for_users`, and then belongs above."""
    open_to_bound = set()
    for route in urls.api:
        view = getattr(route.callback, "cls", object)
        if not issubclass(view, KeyedView) or not view.permission_classes:
            continue
        if view.for_users:
            open_to_bound.add(str(route.pattern))
            continue
        address = f"/api/v0/{route.pattern}".replace("<id:", "<").split("<")
        path = address[0] + "".join(UNKNOWN + part.split(">")[1] for part in address[1:])
        methods = [name for name in ("get", "post", "delete") if hasattr(view, name)]
        for method in methods:
            answer = house.bound.client.generic(method.upper(), path)
            assert "bound to users" in assert_problem(answer, 403)["message"], path
    assert len(open_to_bound) == 32


def test_each_table_says_whose_its_rows_are_or_why_nobodys() -> None:
    without = {
        model.__name__
        for model in TENANT_MODELS
        if not model.users_by and "of_users" not in vars(model)
    }
    assert without == set(NOBODYS)


CLOSED = "the calls that show it are refused"
REACHED = "found through rows that are a user's"
WITHIN = "the index: statements that search it name users or a conversation"
MACHINERY = "of the machinery, shown to nobody"
NOBODYS = {
    **dict.fromkeys(
        [
            "Alias",
            "APIKey",
            "Context",
            "ContextSection",
            "Erasure",
            "InstructionVersion",
            "Link",
            "Merge",
            "Person",
            "CorrectionMark",
            "Event",
            "MemoryTest",
            "Notification",
            "Triage",
            "Webhook",
        ],
        CLOSED,
    ),
    **dict.fromkeys(["Change", "Evidence", "NoteVersion", "RetrievalHit", "Review"], REACHED),
    **dict.fromkeys(["SearchUnit", "SearchVector", "ShelfSize", "WordCount"], WITHIN),
    **dict.fromkeys(["Memory", "VectorIndex"], WITHIN),
    **dict.fromkeys(["ErasedKey", "Job", "LLMCall", "StoredSize"], MACHINERY),
    **dict.fromkeys(
        [
            "ExportRun",
            "ImportBatch",
            "ImportRun",
            "Reveal",
            "Membership",
            "PageRead",
            "KeyUsage",
            "Hold",
            "RetentionPolicy",
        ],
        "for people in the admin",
    ),
}
"""Tables whose rows belong to no user, and why a key bound to users gets to none of another."""
