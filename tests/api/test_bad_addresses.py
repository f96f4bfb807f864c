"""Wrong paths, methods, hosts and query strings are answered in the one shape of errors."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from tests.api.problems import assert_problem
from tests.conftest import Agent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_is_stored")]

POSTED = ["add_message", "add_messages", "flush", "retrieve_memory", "retrieve_memory/raw",
          "context_pre_retrieve", "recent_memory", "recent_memory/raw", "contexts"]  # fmt: skip
LISTED = ["messages", "episodes", "facts", "retrievals", "changesets"]
ID = "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_another_method_is_not_allowed(ana: Agent, method: str) -> None:
    for call in POSTED:
        answer = ana.client.generic(method, f"/api/v0/{call}")
        assert answer.status_code == 405
        assert "POST" in answer["Allow"]
        if method != "HEAD":
            assert_problem(answer, 405)


@pytest.mark.parametrize("call", LISTED)
def test_a_list_takes_no_post(ana: Agent, call: str) -> None:
    assert_problem(ana.post(call, {}), 405)


ONE = [
    f"{call}/{ID}"
    for call in ("jobs", "conversations", "erasures", "memories", "contexts", *LISTED)
]


def test_an_unknown_method_changes_nothing_where_any_scope_may_call(ana: Agent) -> None:
    headers = {"Authorization": f"Bearer {ana.secret}"}
    assert_problem(ana.client.generic("TRACE", "/api/v0/whoami", headers=headers), 405)


@pytest.mark.parametrize("call", [*POSTED, *LISTED, *ONE])
def test_options_and_head_do_not_crash(ana: Agent, call: str) -> None:
    assert ana.client.options(f"/api/v0/{call}").status_code == 200
    assert ana.client.head(f"/api/v0/{call}").status_code in {200, 400, 404, 405}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_the_method_cannot_be_overridden(ana: Agent, method: str) -> None:
    headers = {"X-HTTP-Method-Override": method, "X-Method-Override": method}
    assert_problem(ana.post("recent_memory", {}, **headers), 400, "conversation_id")


@pytest.mark.parametrize(
    "path",
    ["", "v0", "v0/", "v0/nothing", "v0/add_message/", "v0/Add_message", "v1/add_message",
     "v0/retrieve_memory/raw/x", "v0//add_message", "v0/%00", "v0/\u202e", "v0/../../etc/passwd",
     "v0/conversations/", "v0/conversations/x", f"v0/conversations/{{{ID}}}",
     f"v0/conversations/{ID}/", f"v0/conversations/{ID.replace('-', '')}",
     f"v0/conversations/urn:uuid:{ID}", "v0/conversations/%00", "v0/conversations/1",
     "v0/jobs/x", "v0/jobs/x/retry", "v0/facts/x", f"v0/facts/{ID}/", f"v0/facts/{ID}/erase",
     "v0/changesets/x", "v0/changesets/x/revert", "v0/memories", "v0/memories/x",
     f"v0/memories/{ID}/", f"v0/memories/{ID}/peek", "v0/contexts/x", f"v0/contexts/{ID}/drop"],
)  # fmt: skip
def test_an_unknown_path_is_not_found(ana: Agent, path: str) -> None:
    assert assert_problem(ana.client.get(f"/api/{path}"), 404)["code"] == "not_found"
    answer = ana.client.post(f"/api/{path}", {}, content_type="application/json")
    assert_problem(answer, 404)


def test_an_unknown_id_is_not_found(ana: Agent) -> None:
    for call in ("conversations", "jobs", "memories", "contexts", *LISTED):
        assert_problem(ana.get(f"{call}/{uuid.uuid4()}"), 404)
    assert_problem(ana.post(f"jobs/{uuid.uuid4()}/retry"), 404)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "localhost:x", "a b", "", "localhost/../x", "[::1"],
)
def test_another_host_is_refused(ana: Agent, host: str) -> None:
    for call in ("health/live", "facts"):
        body = assert_problem(ana.client.get(f"/api/v0/{call}", headers={"host": host}), 400)
        assert "host" in body["message"]


WRONG_PAGES: list[tuple[str, str]] = [
    *[("limit", given) for given in ["", "0", "-1", "201", "1000000000000", "9" * 5_000, "1.0",
                                     "1e2", " 5", "+5", "five", "٥", "\0", "true", "\ud800"]],
    *[("after", given) for given in ["", "garbage", "-1", "\0", "%", "' OR 1=1 --", "null"]],
    *[("conversation_id", given) for given in ["", "x", "1", "\0", f"{{{ID}}}", ID[:-1]]],
    *[("unknown", given) for given in ["", "1"]],
    *[(name, "1") for name in ["page", "offset", "sort", "order_by", "cursor", "Limit", "\0"]],
]  # fmt: skip


@pytest.mark.parametrize("name, given", WRONG_PAGES)
def test_a_wrong_parameter_is_named(ana: Agent, name: str, given: str) -> None:
    query = {"conversation_id": ID, name: given.encode("utf-8", "surrogatepass")}
    for call in LISTED:
        assert_problem(ana.get(call, **query), 400, name)


def test_the_list_of_messages_needs_a_conversation(ana: Agent) -> None:
    assert_problem(ana.get("messages"), 400, "conversation_id")


@pytest.mark.parametrize(
    "query", [{"category": "Preference"}, {"category": ""}, {"state": "held"}, {"state": "1"}]
)
def test_facts_are_filtered_by_known_words_only(ana: Agent, query: dict[str, Any]) -> None:
    assert_problem(ana.get("facts", **query), 400, *query)


def test_a_page_after_the_last_is_empty(ana: Agent) -> None:
    assert ana.get("messages", conversation_id=ID, after="9" * 18).json()["items"] == []
    for call in LISTED[1:]:
        assert ana.get(call, after=ID).json() == {"items": [], "next": None}
