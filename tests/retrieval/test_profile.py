"""Profiles: what to know before the first question, in a budget, with its evidence and receipt."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent
from tests.retrieval.test_user_scope import say
from tests.tenancy.test_keys_of_users import bind

pytestmark = pytest.mark.django_db

JSON = {"format": "json", "max_tokens": 2000}


@pytest.fixture(scope="module")
def home(shared: None) -> Iterator[Agent]:
    """Two conversations of nora's, led by an agent, and one of olga's."""
    ana = make_agent("ana's", "ana")
    lines = [
        "My name is Nora and I work as a nurse at the Ullevaal hospital in Oslo.",
        "I am allergic to peanuts, even a trace is dangerous for me.",
        "Please always answer me in short sentences, without emojis.",
        "My locker code at the Oslo hospital is 4482.",
    ]
    later = [
        "My locker code at the Oslo hospital is 5190.",
        "I am going to Bergen on 12 June to visit my sister Ingrid.",
    ]
    say(ana, "nora", [("Nora", line) for line in lines], "2026-02-03T10:00:00Z", agent_id="bot")
    say(ana, "nora", [("Nora", line) for line in later], "2026-05-03T10:00:00Z", agent_id="bot")
    say(ana, "olga", [("Olga", "I am allergic to shellfish.")], "2026-03-03T10:00:00Z")
    yield ana


def get(agent: Agent, call: str = "users/nora/profile", **query: Any) -> Any:
    answer = agent.get(call, **query)
    assert answer.status_code == 200, answer.content
    return answer


def read(agent: Agent, call: str = "users/nora/profile", **query: Any) -> dict[str, list[Any]]:
    sections = get(agent, call, **{**JSON, **query}).json()["sections"]
    return {one["name"]: one["facts"] or one["episodes"] for one in sections}


def test_a_profile_says_what_to_know_under_its_heading(home: Agent) -> None:
    text = get(home).content.decode()
    dangers, rest = text.removeprefix("## Dangers\n").split("## How to treat them\n")
    assert "peanuts" in dangers and "shellfish" not in text
    guidelines, rest = rest.split("## Who this is\n")
    assert "short sentences" in guidelines
    assert "Nora" not in dangers  # one speaker needs no name before each line
    assert "12 June" in rest.split("## Present matters and plans\n### 2026-05\n")[1]


def test_the_newer_value_stands_there_and_the_older_is_kept_for_an_auditor(home: Agent) -> None:
    text = get(home, max_tokens=2000).content.decode()
    assert "5190" in text and "4482" not in text
    facts = [fact for several in read(home).values() for fact in several if "fact" in fact]
    (code,) = [fact for fact in facts if "5190" in fact["fact"]]
    assert ["4482" in fact["fact"] for fact in code["earlier"]] == [True]
    then = get(home, max_tokens=2000, as_of="2026-03-01T00:00:00Z").content.decode()
    assert "4482" in then and "5190" not in then and "Bergen" not in then


def test_each_line_has_its_evidence_and_the_receipt_tells_it_again(home: Agent) -> None:
    answer = get(home, **JSON)
    body = answer.json()
    (danger,) = body["sections"][0]["facts"]
    (source,) = danger["sources"]
    said = home.get(f"messages/{source['message_id']}").json()
    assert "peanuts" in said["content"] and danger["source_episodic_ids"] == [said["episode_id"]]
    receipt = Retrieval.objects.of(home.tenant).get(id=body["receipt"])
    assert (receipt.kind, receipt.parameters["user_id"]) == ("profile", "nora")
    hits = RetrievalHit.objects.of(home.tenant).filter(retrieval=receipt).order_by("rank")
    shown = [one["id"] for part in body["sections"] for one in part["facts"] or part["episodes"]]
    assert [str(hit.memory_id) for hit in hits] == shown
    replay = home.get(f"retrievals/{receipt.id}/replay").json()
    assert (replay["text"], replay["exact"]) == (body["text"], True)
    assert answer["Memory-Receipt"] == str(receipt.id)


def test_every_budget_holds(home: Agent) -> None:
    for max_tokens in (1, 10, 40, 90, 200, 400):
        for fence in ("true", "false"):
            body = get(home, **{**JSON, "max_tokens": max_tokens, "fence": fence}).json()
            assert body["tokens"] <= max_tokens
            assert body["left_out"] > 0 or max_tokens > 90
    assert get(home, max_tokens=1).content == b""


def test_sections_narrow_it(home: Agent) -> None:
    assert list(read(home, sections="episodes,dangers")) == ["dangers", "episodes"]
    assert_problem(home.get("users/nora/profile", sections="dangers,secrets"), 400, "sections")


def test_the_etag_changes_with_what_is_known(home: Agent) -> None:
    first = get(home)
    count = Retrieval.objects.of(home.tenant).count()
    headers = {"if-none-match": first["ETag"]}
    again = home.client.get("/api/v0/users/nora/profile", headers=headers)
    assert (again.status_code, again.content, again["ETag"]) == (304, b"", first["ETag"])
    assert Retrieval.objects.of(home.tenant).count() == count
    assert get(home, format="json")["ETag"] != first["ETag"]
    fact = Fact.objects.of(home.tenant).get(fact__contains="peanuts")
    wrong = {"because": "wrong", "reason": "She said so."}
    assert home.post(f"facts/{fact.id}/invalidate", wrong).status_code == 200
    changed = home.client.get("/api/v0/users/nora/profile", headers=headers)
    assert changed.status_code == 200 and b"peanuts" not in changed.content
    assert changed["ETag"] != first["ETag"]


def test_a_correction_stands_in_the_place_of_what_was_wrong(home: Agent) -> None:
    fact = Fact.objects.of(home.tenant).get(fact__contains="peanuts")
    better = {"fact": "Nora is allergic to walnuts.", "reason": "She said so."}
    assert home.post(f"facts/{fact.id}/correct", better).status_code == 201
    text = get(home, sections="dangers,identity,present").content.decode()
    assert "walnuts" in text and "peanuts" not in text


def test_a_conversation_and_an_agent_have_profiles_too(home: Agent) -> None:
    assert "peanuts" in get(home, "agents/bot/profile").content.decode()
    talk = home.get("conversations", user_id="olga").json()["items"][0]["id"]
    text = get(home, f"conversations/{talk}/profile").content.decode()
    assert "shellfish" in text and "peanuts" not in text
    assert_problem(home.get(f"conversations/{uuid.uuid4()}/profile"), 404)


def test_nobody_sees_the_profile_of_another_one(home: Agent) -> None:
    nora, olga, stranger = bind(home, "nora"), bind(home, "olga"), make_agent("cleo's", "cleo")
    assert get(nora).content == get(home).content
    for agent in (olga, stranger):
        assert get(agent).content == get(agent, "users/nobody/profile").content == b""
        assert get(agent, "agents/bot/profile").content == b""
    talk = home.get("conversations", user_id="nora").json()["items"][0]["id"]
    assert_problem(olga.get(f"conversations/{talk}/profile"), 404)


@pytest.mark.parametrize("user_id", ["a/b", "ünï 100%", "..", "a?b"])
def test_any_name_of_a_user_goes_into_the_address(home: Agent, user_id: str) -> None:
    say(home, user_id, [("Ola", "I am allergic to celery.")], "2026-03-03T10:00:00Z")
    assert "celery" in get(home, f"users/{quote(user_id, safe='')}/profile").content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("max_tokens", "0"), ("max_tokens", "many"), ("format", "html"), ("fence", "1"),
     ("as_of", "yesterday"), ("links", "blue"), ("sections", ""), ("nothing", "1")],
)  # fmt: skip
def test_bad_input_is_refused_by_field(home: Agent, field: str, value: str) -> None:
    assert_problem(home.get("users/nora/profile", **{field: value}), 400, field)
