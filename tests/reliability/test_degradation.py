"""What is away is said so, never as a fault of ours; and all goes on by itself afterwards."""

from __future__ import annotations

import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlencode

import psycopg
import pytest

from memoryproject import embedded, urls
from tests.reliability.client import Answer, Caller, assert_unavailable, at_once
from tests.reliability.product import LASTING_KEYS, Product, installed, web, workers
from tests.tenancy.test_scopes import SCOPES

pytestmark = pytest.mark.gate

NEED_NO_DATABASE = {"health/live", "schema/", "docs/"}
TALK = {"conversation_id": str(uuid.UUID(int=7))}
SAID = {"role": "user", "content": "I moved to Porto."}
WHY = {"reason": "It was said in jest."}
BODIES = {
    "add_message": {**TALK, "message": SAID},
    "add_messages": {**TALK, "messages": [SAID, SAID]},
    "flush": TALK,
    "forget": {**TALK, "text": "Porto"},
    "retrieve_memory": {**TALK, "query": "Porto"},
    "ask": {**TALK, "query": "Porto"},
    "retrieve_memory/raw": {**TALK, "query": "Porto"},
    "context_pre_retrieve": {**TALK, "query": "Porto"},
    "notes/batch": {"notes": [{"content": "A note."}]},
    "people": {"name": "Mira", "user_ids": ["mira"]},
    "people/<id:person_id>/merge": {"reason": "Why not?", "into_id": str(uuid.UUID(int=7))},
    "people/<id:person_id>/unmerge": {"reason": "Why not?"},
    "facts/<id:fact_id>/marks": {
        "reason": "Why not?",
        "mark_ids": [str(uuid.UUID(int=7))],
        "decision": "confirm",
    },
    "memory_tests": {**TALK, "query": "Porto", "must_say": ["Porto"]},
    "instructions": {"keep": ["boats"], "never": [], "words": []},
    "instructions/preview": {"text": "I moved to Porto."},
    "instructions/undo": {"agent_id": "harbour"},
    "links": {
        "from_id": str(uuid.UUID(int=7)),
        "to_id": str(uuid.UUID(int=8)),
        "link_type": "supports",
    },
    "contexts": {"max_tokens": 1000},
    "contexts/<id:context_id>/add": {"memory_id": str(uuid.UUID(int=7))},
    "memories/<id:memory_id>/chunk": {"max_tokens": 100},
    "reconstruct_context": {"query": "Porto"},
    "search": {"query": "Porto"},
    "conversations/<id:conversation_id>/user": {"user_id": "mira"},
    "recent_memory": TALK,
    "recent_memory/raw": TALK,
    "facts/<id:fact_id>/invalidate": {"because": "wrong", **WHY},
    "facts/<id:fact_id>/restore": WHY,
    "facts/<id:fact_id>/correct": {"fact": "Ana lives in Porto.", **WHY},
    "facts/<id:fact_id>/approve": WHY,
    "facts/<id:fact_id>/reject": WHY,
    "suggestions/<id:suggestion_id>/accept": WHY,
    "suggestions/<id:suggestion_id>/decline": WHY,
    "rollbacks": {"since": "2026-01-01T00:00:00Z", "role": "tool", **WHY},
    "rollbacks/<id:rollback_id>/lift": WHY,
    "changesets/<id:changeset_id>/revert": WHY,
    "erasures": {"scope": "note", "id": str(uuid.UUID(int=7)), **WHY},
    "webhooks": {"url": "https://example.com/memory"},
}


def routes() -> list[tuple[str, str]]:
    """Return method and pattern of every route of the API."""
    named = [str(route.pattern) for route in urls.api]
    methods = {name: SCOPES[name][0] if name in SCOPES else "GET" for name in named}
    return [(method, name) for name in named for method in methods[name].split()]


def ask(caller: Caller, method: str, route: str) -> Answer:
    path = re.sub(r"<id:\w+>", TALK["conversation_id"], route)
    path += f"?{urlencode(TALK)}" if route == "messages" else ""
    return caller.ask(method, f"/api/v0/{path}", BODIES.get(route))


def say(caller: Caller) -> Answer:
    return caller.post("add_message", BODIES["add_message"])


def wait_for(condition: Callable[[], bool], *, within_s: float = 60) -> float:
    """Return the seconds until the condition holds."""
    started = time.monotonic()
    while not condition():
        assert time.monotonic() - started < within_s, "it does not come back"
        time.sleep(0.1)
    return time.monotonic() - started


def test_while_the_database_is_away_everything_says_so_and_then_goes_on(product: Product) -> None:
    """The one key was just used, and its calls fail in the views; the other's at the door."""
    cold = product.manage("create_api_key", "--tenant", "ana's")
    model = {"MEMORY_LLM": "openai", "OPENAI_API_KEY": "never-sent"}
    with web(product.around() | model, app=f"{LASTING_KEYS}:application") as port:
        caller = product.caller(port)
        assert say(caller).status == 201
        token = sign_in_form(caller)
        product.stop()
        for method, route in routes():
            for key in (caller.key, cold):
                answer = ask(Caller(port, key), method, route)
                if route in NEED_NO_DATABASE:
                    assert answer.status == 200
                else:
                    assert_unavailable(answer)
        assert_admin_says_so(caller, token)
        product.start()
        wait_for(lambda: say(caller).status == 201)
        assert caller.get("health/ready").status == 200
        stored = caller.get(f"messages?conversation_id={TALK['conversation_id']}").json()["items"]
        assert [item["seq"] for item in stored] == [1, 2]


def test_a_database_that_was_killed_is_started_again_by_the_workers(product: Product) -> None:
    with web(product.around()) as port, workers(product.around()):
        caller = product.caller(port)
        assert say(caller).status == 201
        job = caller.post("flush", TALK).json()["job_id"]
        wait_for(lambda: caller.get(f"jobs/{job}").json()["state"] == "done")
        os.kill(embedded.find_running(product.data_dir) or 0, signal.SIGKILL)
        wait_for(lambda: say(caller).status == 201, within_s=120)


def sign_in_form(caller: Caller) -> str:
    """Return the token that the admin's form holds."""
    page = caller.ask("GET", "/admin/login/")
    assert page.status == 200
    return page.headers["set-cookie"].split("csrftoken=")[1].split(";")[0]


def assert_admin_says_so(caller: Caller, token: str) -> None:
    """Check that a person is told too: at the form, when signing in, and when signed in."""
    form = urlencode({"csrfmiddlewaretoken": token, "username": "a", "password": "b"})
    cookies = f"csrftoken={token}; sessionid={'x' * 32}"
    kind = "application/x-www-form-urlencoded"
    answers = [
        caller.ask("POST", "/admin/login/", form, Cookie=cookies, Content_Type=kind),
        caller.ask("GET", "/admin/", None, Cookie=cookies),
        caller.ask("GET", "/admin/login/", None, Cookie=cookies),
    ]
    for answer in answers:
        assert answer.status == 503 and int(answer.headers["retry-after"]) > 0
        assert b"database is away" in answer.content and b"Traceback" not in answer.content
    assert caller.ask("GET", "/admin/login/").status == 200, "the empty form needs no database"


def test_a_database_that_is_not_migrated_yet_is_called_away(product: Product) -> None:
    product.make_older()
    with web(product.around()) as port:
        caller = product.caller(port)
        assert_unavailable(say(caller))
        assert_unavailable(caller.post("flush", TALK))
        ready = caller.get("health/ready")
        assert_unavailable(ready)
        assert "walls" in ready.json()["fields"], "a table has no policy yet"
        product.make_newer()
        product.manage("migrate", "console", "0001", "-v0")
        assert say(caller).status == 201, "nothing that it needs is missing"
        ready = caller.get("health/ready")
        assert_unavailable(ready)
        assert "migrations" in ready.json()["fields"]
        # A copy could not be made while somebody uses the database.
        product.manage("migrate", "-v0", "--keep-no-copy")
        assert caller.post("flush", TALK).status == 202
        assert caller.get("health/ready").status == 200


@contextmanager
def crowded(product: Product) -> Iterator[int]:
    """Take every connection that the server gives; yield how many."""
    with ExitStack() as stack:
        count = 0
        while True:
            try:
                stack.enter_context(product.connect("memory_app"))
            except psycopg.OperationalError:
                break
            count += 1
        yield count


def test_when_connections_run_out_calls_say_so_and_then_go_on(
    template: Product, folder: Path
) -> None:
    with installed(template, folder) as product:
        product.settings["max_connections"] = "15"
        product.start()
        with web(product.around()) as port:
            caller = product.caller(port)
            with crowded(product) as taken:
                assert taken > 5
                for answer in at_once(lambda _: say(caller), range(8), threads=4):
                    assert_unavailable(answer)
                assert_unavailable(caller.get("health/ready"))
                assert caller.get("health/live").status == 200
            wait_for(lambda: say(caller).status == 201)
            statuses = {
                answer.status for answer in at_once(lambda _: say(caller), range(8), threads=4)
            }
            assert statuses == {201}
