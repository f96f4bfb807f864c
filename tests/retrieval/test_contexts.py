"""A context is put together within its budget, whoever adds to it, until it expires."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from hypothesis import HealthCheck, given
from hypothesis import settings as trials
from hypothesis import strategies as st

from indexing.models import Memory
from jobs.reconciler import reconcile
from memoryproject.ai.counting import COUNTERS
from memoryproject.text import tokens
from retrieval.models import Context, ContextSection
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.api.threads import run_in_threads
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, write
from tests.retrieval.counting import counted_by
from wings.navigation import contexts

pytestmark = pytest.mark.django_db

PROMPT = "You are a helpful assistant."
LONG = " ".join(f"Sentence number {number} tells of tea." for number in range(400))


def make(agent: Agent, **given: Any) -> dict[str, Any]:
    """Start a context and return it."""
    answer = agent.post("contexts", {"max_tokens": 2000, **given})
    assert answer.status_code == 201, answer.content
    body: dict[str, Any] = answer.json()
    return body


def add(agent: Agent, context: dict[str, Any], memory: Any, **given: Any) -> dict[str, Any]:
    """Add a memory to a context and return what became of it."""
    answer = agent.post(f"contexts/{context['id']}/add", {"memory_id": str(memory), **given})
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def text_of(agent: Agent, context: dict[str, Any]) -> str:
    """Return the text of a context, which is within its budget."""
    answer = agent.get(f"contexts/{context['id']}/text")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    text = str(answer.content.decode())
    shown = agent.get(f"contexts/{context['id']}").json()
    room = max(0, shown["max_tokens"] - shown["reserved_for_response"])
    counter = COUNTERS[shown["counter"]]
    assert answer["Memory-Token-Counter"] == shown["counter"]
    assert answer["Memory-Remaining-Tokens"] == str(shown["remaining_tokens"])
    assert counter.count(text) <= room - shown["remaining_tokens"]
    assert text == "\n\n".join(section["content"] for section in shown["sections"])
    return text


def test_a_context_starts_with_its_system_prompt_and_room_for_the_response(ana: Agent) -> None:
    made = make(ana, max_tokens=5000, system_prompt=PROMPT)
    size = tokens.count_tokens(PROMPT)
    assert made["remaining_tokens"] == 5000 - 500 - size
    assert made["sections"] == [
        {
            "type": "system",
            "memory_id": None,
            "priority": 100,
            "token_count": size,
            "truncated": False,
            "content": PROMPT,
        }
    ]
    assert (made["retrieved_ids"], made["counter"]) == ([], tokens.in_use().name)
    assert text_of(ana, made) == PROMPT
    assert ana.get(f"contexts/{made['id']}").json() == made


def test_without_a_prompt_it_is_empty_and_valid(ana: Agent) -> None:
    made = make(ana, max_tokens=5000, reserved_for_response=0)
    assert (made["remaining_tokens"], made["sections"]) == (5000, [])
    assert text_of(ana, made) == ""


def test_memories_of_every_kind_are_added_under_a_header(ana: Agent, told: uuid.UUID) -> None:
    made = make(ana, max_tokens=8000, system_prompt=PROMPT)
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    episode = Memory.objects.of(ana.tenant).filter(kind="episode").order_by("id")[0]
    note = write(ana, "Mira likes canals.", label="Canals")
    left = made["remaining_tokens"]
    for memory in (note, fact.id, episode.id):
        added = add(ana, made, memory)
        assert (added["added"], added["reason"], added["memory_id"]) == (True, "added", str(memory))
        assert added["remaining_tokens"] == left - added["token_count"] - 1
        left = added["remaining_tokens"]
    text = text_of(ana, made)
    assert text.startswith(f"{PROMPT}\n\n[note: Canals]\nMira likes canals.\n\n[fact: ")
    assert fact.fact in text and "\n\n[episode: " in text
    shown = ana.get(f"contexts/{made['id']}").json()
    assert shown["retrieved_ids"] == [note, str(fact.id), str(episode.id)]


def test_the_highest_priority_stands_first_then_the_order_of_adding(ana: Agent) -> None:
    made = make(ana, system_prompt=PROMPT)
    for priority, label in [(50, "a"), (10, "b"), (50, "c"), (100, "d"), (0, "e")]:
        add(ana, made, write(ana, f"Note {label}.", label=label), priority=priority)
    shown = ana.get(f"contexts/{made['id']}").json()
    assert [section["content"][-2] for section in shown["sections"][1:]] == list("dacbe")
    assert text_of(ana, made).startswith(PROMPT)


def test_adding_twice_adds_once(ana: Agent) -> None:
    made = make(ana)
    note = write(ana, "Mira likes canals.")
    first = add(ana, made, note)
    text = text_of(ana, made)
    again = add(ana, made, note, priority=90, max_tokens=3)
    assert again == {**first, "reason": "already_there"}
    assert text_of(ana, made) == text


def test_no_memory_takes_more_than_500_tokens_and_may_be_given_less(ana: Agent) -> None:
    made = make(ana, max_tokens=5000)
    whole = add(ana, made, write(ana, LONG))
    assert 480 < whole["token_count"] <= 500 and whole["truncated"]
    less = add(ana, made, write(ana, LONG), max_tokens=50)
    assert 30 < less["token_count"] <= 50 and less["truncated"]
    assert_problem(
        ana.post(f"contexts/{made['id']}/add", {"memory_id": write(ana), "max_tokens": 501}),
        400,
        "max_tokens",
    )


def test_what_is_left_is_filled_and_then_there_is_no_room(ana: Agent) -> None:
    made = make(ana, max_tokens=1200)
    results = [add(ana, made, write(ana, LONG)) for _ in range(4)]
    assert [result["reason"] for result in results] == ["added", "added", "no_room", "no_room"]
    assert results[1]["truncated"] and results[1]["token_count"] <= 200
    refused = results[-1]
    assert (refused["added"], refused["token_count"], refused["truncated"]) == (False, 0, None)
    assert 0 <= refused["remaining_tokens"] < 10
    text_of(ana, made)


@pytest.mark.parametrize("size", [1, 499, 500, 501])
def test_a_budget_too_small_for_anything_gives_an_empty_text(ana: Agent, size: int) -> None:
    made = make(ana, max_tokens=size)
    assert made["remaining_tokens"] == max(0, size - 500)
    assert add(ana, made, write(ana, "我们搬到了波尔图"))["reason"] == "no_room"
    assert text_of(ana, made) == ""


def test_a_system_prompt_that_does_not_fit_is_refused_and_not_cut(ana: Agent) -> None:
    needed = 500 + tokens.count_tokens(PROMPT)
    body = {"max_tokens": needed, "system_prompt": PROMPT}
    assert text_of(ana, make(ana, **body)) == PROMPT
    problem = assert_problem(ana.post("contexts", {**body, "max_tokens": needed - 1}), 400)
    assert list(problem["fields"]) == ["system_prompt"] and PROMPT not in str(problem)
    assert Context.objects.of(ana.tenant).count() == 1


@pytest.mark.parametrize("name", COUNTERS)
def test_a_context_is_counted_for_good_by_the_counter_it_was_made_with(
    ana: Agent, name: str
) -> None:
    with counted_by(name):
        made = make(ana, max_tokens=700, system_prompt="0b8f7c52-6f0e-4a57 " * 3)
    assert made["counter"] == name
    for content in ("我们上周搬到了波尔图。" * 9, "id 7c1b5f3e-2d53-4d0c 😀 " * 9, LONG):
        assert add(ana, made, write(ana, content))["counter"] == name
    text_of(ana, made)


PIECES = st.sampled_from(
    ["tea ", "Porto. ", "我们", "😀", "7c1b5f3e-2d53 ", "\n", "नमस्ते ", "x" * 50, "\t ", "1234567 "]
)
CONTENTS = st.lists(PIECES, min_size=1, max_size=80).map("".join).filter(lambda text: text.strip())


@pytest.mark.gate
@pytest.mark.parametrize("name", COUNTERS)
@trials(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=15,
)
@given(
    contents=st.lists(
        st.tuples(CONTENTS, st.integers(1, 500), st.integers(0, 100)), min_size=1, max_size=6
    ),
    budget=st.integers(1, 400),
)
def test_no_text_is_ever_over_its_budget(
    ana: Agent, name: str, contents: list[tuple[str, int, int]], budget: int
) -> None:
    with counted_by(name):
        made = make(ana, max_tokens=budget, reserved_for_response=0)
        for content, size, priority in contents:
            added = add(ana, made, write(ana, content), max_tokens=size, priority=priority)
            assert added["token_count"] <= size
            assert added["remaining_tokens"] >= 0
            text_of(ana, made)


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_sixteen_agents_adding_at_once_stay_within_the_budget() -> None:
    ana = make_agent("ana's", "ana")
    notes = [write(ana, LONG, label=f"Note {number}") for number in range(16)]
    made = make(ana, max_tokens=2500, system_prompt=PROMPT)

    def add_some(number: int) -> list[str]:
        mine = [notes[number], notes[0], notes[15 - number]]
        size = 100 + 19 * number
        return [str(add(ana, made, note, max_tokens=size)["reason"]) for note in mine]

    reasons = [reason for several in run_in_threads(add_some, threads=16) for reason in several]
    text_of(ana, made)
    shown = ana.get(f"contexts/{made['id']}").json()
    assert len(shown["retrieved_ids"]) == len(set(shown["retrieved_ids"]))
    assert reasons.count("added") == len(shown["retrieved_ids"])
    assert "no_room" in reasons and "added" in reasons
    rows = ContextSection.objects.of(ana.tenant).order_by("position")
    assert [row.position for row in rows] == list(range(len(rows)))


def test_the_database_itself_keeps_the_budget_and_the_walls(ana: Agent, cleo: Agent) -> None:
    made = make(ana, max_tokens=1000)
    mine = Context.objects.of(ana.tenant).filter(id=made["id"])
    with pytest.raises(IntegrityError, match="within_budget"), transaction.atomic():
        mine.update(used_tokens=501)
    with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
        ContextSection.objects.create(
            tenant=ana.tenant, context=mine.get(), kind="retrieved", memory_id=write(cleo),
            position=0, priority=50, content="x", tokens=1, truncated=False,
        )  # fmt: skip


def test_a_note_that_was_deleted_since_is_left_out(ana: Agent) -> None:
    made = make(ana)
    kept, gone = write(ana, "Kept."), write(ana, "Secret.")
    for note in (gone, kept):
        add(ana, made, note)
    ana.client.delete(f"/api/v0/notes/{gone}")
    assert "Secret" not in text_of(ana, made)
    assert ana.get(f"contexts/{made['id']}").json()["retrieved_ids"] == [kept]
    assert_problem(ana.post(f"contexts/{made['id']}/add", {"memory_id": gone}), 404)


def test_a_colleague_may_go_on_and_a_stranger_may_not(ana: Agent, bo: Agent, cleo: Agent) -> None:
    made = make(ana, system_prompt=PROMPT)
    assert add(bo, made, write(ana, "Ours."))["added"]
    hers = make(cleo)
    assert_problem(cleo.get(f"contexts/{made['id']}"), 404)
    assert_problem(cleo.get(f"contexts/{made['id']}/text"), 404)
    address = f"contexts/{made['id']}/add"
    assert_problem(cleo.post(address, {"memory_id": write(cleo, "Hers.")}), 404)
    note = write(ana, "Mine.")
    assert_problem(cleo.post(f"contexts/{hers['id']}/add", {"memory_id": note}), 404)
    assert_problem(ana.post(address, {"memory_id": UNKNOWN}), 404)
    assert_problem(ana.get(f"contexts/{UNKNOWN}"), 404)
    assert "Hers" not in text_of(ana, made)


def expire(made: dict[str, Any], ago: timedelta) -> None:
    """Let a context have expired some time ago."""
    Context.across_tenants.filter(id=made["id"]).update(expires_at=Now() - ago)


def test_an_expired_context_is_unknown_and_then_deleted(ana: Agent) -> None:
    made, live = make(ana, system_prompt=PROMPT), make(ana, system_prompt=PROMPT)
    note = write(ana)
    add(ana, made, note)
    expire(made, timedelta(seconds=1))
    assert_problem(ana.get(f"contexts/{made['id']}"), 404)
    assert_problem(ana.get(f"contexts/{made['id']}/text"), 404)
    assert_problem(ana.post(f"contexts/{made['id']}/add", {"memory_id": note}), 404)
    assert Context.objects.of(ana.tenant).count() == 2
    reconcile()
    assert [str(row.id) for row in Context.objects.of(ana.tenant)] == [live["id"]]
    assert ContextSection.objects.of(ana.tenant).count() == 1
    assert text_of(ana, live) == PROMPT


def test_a_context_lasts_a_day_or_as_long_as_was_asked(ana: Agent) -> None:
    for asked, lasts in (({}, 86_400), ({"expires_in_s": 1}, 1), ({"expires_in_s": 999}, 999)):
        row = Context.objects.of(ana.tenant).get(id=make(ana, **asked)["id"])
        assert row.expires_at - row.created_at == timedelta(seconds=lasts)


def test_of_many_expired_ones_the_longest_gone_go_first(ana: Agent) -> None:
    made = [make(ana) for _ in range(3)]
    for hours, one in enumerate(made, start=1):
        expire(one, timedelta(hours=hours))
    assert contexts.delete_expired(at_most=2) == 2
    assert [str(row.id) for row in Context.objects.of(ana.tenant)] == [made[0]["id"]]


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, "max_tokens"),
        *(({"max_tokens": value}, "max_tokens") for value in (0, -5, 1_000_001, "9", 1.5, True)),
        ({"max_tokens": 9, "system_prompt": 1}, "system_prompt"),
        ({"max_tokens": 900, "system_prompt": " "}, "system_prompt"),
        ({"max_tokens": 9, "reserved_for_response": -1}, "reserved_for_response"),
        ({"max_tokens": 9, "expires_in_s": 0}, "expires_in_s"),
        ({"max_tokens": 9, "expires_in_s": 604_801}, "expires_in_s"),
        ({"max_tokens": 9, "systemPrompt": "x"}, "systemPrompt"),
    ],
)
def test_a_bad_context_is_refused_by_its_field(
    ana: Agent, body: dict[str, Any], field: str
) -> None:
    assert_problem(ana.post("contexts", body), 400, field)


@pytest.mark.parametrize(
    "change, field",
    [
        ({"memory_id": None}, "memory_id"),
        ({"memory_id": "x"}, "memory_id"),
        *(({"max_tokens": value}, "max_tokens") for value in (0, 501, "5", True)),
        *(({"priority": value}, "priority") for value in (-1, 101, "5", 5.5)),
        ({"id": UNKNOWN}, "id"),
    ],
)
def test_a_bad_addition_is_refused_by_its_field(
    ana: Agent, change: dict[str, Any], field: str
) -> None:
    made = make(ana)
    body = {"memory_id": write(ana), **change}
    assert_problem(ana.post(f"contexts/{made['id']}/add", body), 400, field)
    assert ana.get(f"contexts/{made['id']}").json() == made
