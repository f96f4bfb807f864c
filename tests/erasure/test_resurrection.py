"""What was erased does not come back: not by a retry, not by a job that had read it."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connections

from jobs.draining import drain_jobs
from jobs.models import Job, LLMCall, State
from retrieval.memory import Memory
from retrieval.models import ContextSection
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.erasure.lives import CANARY, as_json, dump, erase, import_canary
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.llm.answers import change, changes, ratings, segment, segments
from tests.model_server import Asked, ModelServer, Reply, says
from tests.talk import MORNING, MOVING, messages
from wings.console.models import ImportRun
from wings.navigation import contexts
from wings.transfer import fact_imports, imports
from wings.transfer.file_rows import Row

pytestmark = pytest.mark.django_db(transaction=True)

BATCH = "a-key-of-its-own"
SHIP = f"The ship is called {CANARY}."


def talk_of_canary() -> list[dict[str, Any]]:
    said = messages(MOVING, MORNING)
    said[5]["content"] = f"{SHIP} I will work on it."
    return said


def erasing(agent: Agent, scope: str, name: object, then: Any) -> Callable[[Asked], Reply]:
    """Answer as a model that is only heard when somebody has erased what it was told."""

    def reply(asked: Asked) -> Reply:
        assert CANARY in asked.user
        failed: list[BaseException] = []

        def work() -> None:
            try:
                assert as_json(erase(agent, scope, name))["state"] == "done"
            except BaseException as error:
                failed.append(error)
            finally:
                connections.close_all()

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert not failed, failed
        return says(then)

    return reply


def start(agent: Agent, conversation: uuid.UUID) -> list[str]:
    """Post the talk and ask for everything to be learnt; return the ids of the messages."""
    body = {"conversation_id": str(conversation), "messages": talk_of_canary()}
    posted = agent.post("add_messages", body)
    assert posted.status_code == 201
    assert agent.post("flush", {"conversation_id": str(conversation)}).status_code == 202
    return [row["message_id"] for row in posted.json()["messages"]]


WITH_CANARY = segments(segment(7, f"Mira sails on {CANARY}"))
WITHOUT = segments(segment(6, "Mira moves to Rotterdam"))


@pytest.mark.gate
@pytest.mark.parametrize("scope", ["message", "conversation"])
def test_an_episode_that_was_being_made_is_not(
    model: ModelServer, ana: Agent, conversation: uuid.UUID, scope: str
) -> None:
    ids = start(ana, conversation)
    name = ids[5] if scope == "message" else conversation
    model.script("segment", erasing(ana, scope, name, WITH_CANARY))
    if scope == "message":
        model.script("segment", says(WITHOUT))
        model.script("consolidate", says(changes()))
    drain_jobs()
    assert CANARY.lower() not in dump()
    titles = [row["title"] for row in ana.get("episodes").json()["items"]]
    assert titles == (["Mira moves to Rotterdam"] if scope == "message" else [])
    assert not Job.objects.of(ana.tenant).exclude(state=State.DONE).exists()


@pytest.mark.gate
@pytest.mark.parametrize("scope", ["message", "conversation"])
def test_facts_that_were_being_drawn_are_not(
    model: ModelServer, ana: Agent, conversation: uuid.UUID, scope: str
) -> None:
    ids = start(ana, conversation)
    name = ids[5] if scope == "message" else conversation
    model.script("segment", says(segments(segment(7))))
    drawn = changes(change("new", f"Mira works on the ship {CANARY}.", messages=[6]))
    model.script("consolidate", erasing(ana, scope, name, drawn))
    if scope == "message":
        model.script("segment", says(WITHOUT))
        kept = changes(change("new", "Mira moves to Rotterdam.", messages=[5]))
        model.script("consolidate", says(kept))
    drain_jobs()
    assert CANARY.lower() not in dump()
    facts = [row["fact"] for row in ana.get("facts").json()["items"]]
    assert facts == (["Mira moves to Rotterdam."] if scope == "message" else [])


@pytest.mark.gate
def test_a_review_that_was_being_made_is_not(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    start(ana, conversation)
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", says(changes()))
    drain_jobs()
    asked = {"conversation_id": str(conversation), "query": f"What of {CANARY}?"}
    assert ana.post("retrieve_memory", asked).status_code == 200
    for number in range(6):
        ana.say(conversation, f"So much for the ship, {number}.")
    model.script("segment", says(segments(segment(5))))
    model.always("consolidate", says(changes()))
    model.script("review", erasing(ana, "conversation", conversation, ratings(E1="good")))
    ana.flush(conversation)
    assert CANARY.lower() not in dump()
    assert ana.get("episodes").json()["items"] == []


def test_an_answer_that_was_paid_for_is_forgotten_and_its_price_is_not(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    ids = start(ana, conversation)
    paid = {"prompt_tokens": 600, "completion_tokens": 80}
    model.script("segment", says(WITH_CANARY, usage=paid))
    model.script("consolidate", says(changes()))
    drain_jobs()
    model.script("segment", says(WITHOUT))
    model.script("consolidate", says(changes()))
    done = as_json(erase(ana, "message", ids[5]))
    assert done["counts"]["model_answers"] == 2
    drain_jobs()
    first = LLMCall.objects.of(ana.tenant).filter(purpose="segment").order_by("id")[0]
    assert (first.input_tokens, first.response) == (600, None)
    assert len(model.requests("segment")) == 2
    assert CANARY.lower() not in dump()


def test_a_retry_of_what_was_erased_is_refused(ana: Agent, conversation: uuid.UUID) -> None:
    body = {"conversation_id": str(conversation), "messages": talk_of_canary()}
    first = ana.post("add_messages", body, **{"Idempotency-Key": BATCH}).json()
    one = {"conversation_id": str(conversation), "message": talk_of_canary()[0]}
    assert ana.post("add_message", one, **{"Idempotency-Key": "one"}).status_code == 201
    assert erase(ana, "message", first["messages"][5]["message_id"]).status_code == 200
    refused = ana.post("add_messages", body, **{"Idempotency-Key": BATCH})
    assert assert_problem(refused, 410)["code"] == "gone"
    assert ana.post("add_message", one, **{"Idempotency-Key": "one"}).status_code == 200
    assert erase(ana, "conversation", conversation).status_code == 200
    for call, again, key in (("add_message", one, "one"), ("add_messages", body, BATCH)):
        assert_problem(ana.post(call, again, **{"Idempotency-Key": key}), 410)
    assert CANARY.lower() not in dump()
    assert BATCH not in dump()
    elsewhere = {**one, "conversation_id": str(uuid.uuid4())}
    assert ana.post("add_message", elsewhere, **{"Idempotency-Key": "one"}).status_code == 201


def test_a_retry_of_an_erased_note_is_refused(ana: Agent, cleo: Agent) -> None:
    note = {"content": SHIP, "user_id": "mira"}
    headers = {"Idempotency-Key": "a note"}
    made = ana.post("notes", note, **headers).json()["id"]
    assert erase(ana, "note", made).status_code == 200
    assert_problem(ana.post("notes", note, **headers), 410)
    assert_problem(ana.post("notes", {"content": "Another."}, **headers), 410)
    assert ana.post("notes", note, **{"Idempotency-Key": "another"}).status_code == 201
    assert cleo.post("notes", note, **headers).status_code == 201


def test_an_import_that_had_read_its_rows_does_not_write_what_is_erased(
    ana: Agent, conversation: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana.say(conversation, "Hello.")
    import_canary(ana, conversation)
    run = imports.confirm_run(ImportRun.objects.of(ana.tenant).get(), reason="so")
    embed_rows = fact_imports.embed_rows

    def embed_and_be_slow(rows: Sequence[Row]) -> Any:
        monkeypatch.undo()
        assert as_json(erase(ana, "conversation", conversation))["counts"]["import_rows"] == 1
        return embed_rows(rows)

    monkeypatch.setattr(fact_imports, "embed_rows", embed_and_be_slow)
    done = imports.finish_run(run, report=lambda rows: None)
    assert (done.state, done.opened) == ("done", 1)
    assert CANARY.lower() not in dump()


@pytest.mark.gate
def test_a_context_that_had_read_a_message_does_not_quote_what_is_erased(
    model: ModelServer, ana: Agent, conversation: uuid.UUID, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = messages(MOVING, MORNING)
    for number in (5, 15):
        model.script("segment", says(segments(segment(7))))
        drawn = changes(change("new", "Mira moves.", messages=[number]))
        model.script("consolidate", says(drawn))
        body = {"conversation_id": str(conversation), "messages": said}
        ids = [row["message_id"] for row in ana.post("add_messages", body).json()["messages"]]
        ana.flush(conversation)
        said[6]["content"] = f"{SHIP} I will work on it."
    (fact,) = ana.get("facts").json()["items"]
    context = ana.post("contexts", {"max_tokens": 4000}).json()["id"]
    load_memory = contexts.load_memory
    erased: list[Any] = []

    def work() -> None:
        try:
            erased.append(erase(ana, "message", ids[6]))
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)

    def load_and_be_slow(**wanted: Any) -> Memory:
        memory = load_memory(**wanted)
        assert CANARY in memory.quotation
        thread.start()
        thread.join(timeout=3)
        return memory

    monkeypatch.setattr(contexts, "load_memory", load_and_be_slow)
    ana.post(f"contexts/{context}/add", {"memory_id": fact["id"]})
    thread.join()
    assert as_json(erased[0])["state"] == "done"
    sections = ContextSection.objects.of(ana.tenant)
    assert not sections.filter(content__contains=CANARY).exists()


def test_a_conversation_goes_on_after_its_erasure(ana: Agent, conversation: uuid.UUID) -> None:
    body = {"conversation_id": str(conversation), "messages": talk_of_canary()}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    assert erase(ana, "conversation", conversation).status_code == 200
    state = ana.get(f"conversations/{conversation}").json()
    assert {state[name] for name in ("messages", "pending", "episodes", "facts")} == {0}
    stored = ana.say(conversation, "I live in Porto now and I work as a nurse.")
    assert stored["seq"] == len(body["messages"]) + 1
    asked = {"conversation_id": str(conversation), "query": "Porto", "min_seq": stored["seq"]}
    assert "Porto" in ana.post("retrieve_memory", asked).content.decode()
    ana.flush(conversation)
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["messages"], state["indexed_through_seq"]) == (1, stored["seq"])
    assert ana.get("facts", conversation_id=str(conversation)).json()["items"]
