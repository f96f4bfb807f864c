"""A key that may curate mends facts over REST; each act has its actor and reason, and is undone."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from memoryproject.tenancy.models import Scope
from semantic.models import Changeset, Evidence, Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent

pytestmark = pytest.mark.django_db

WHY = "Mira told us on the telephone."


def pick_fact(agent: Agent) -> Fact:
    return Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("id")[0]


def act(agent: Agent, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = agent.post(path, {"reason": WHY, **body})
    assert answer.status_code == status, answer.content
    given: dict[str, Any] = answer.json()
    return given


def served(agent: Agent, talk: uuid.UUID, query: str) -> list[str]:
    """Return the ids of the facts that an agent is served."""
    body = {"conversation_id": str(talk), "query": query, "semantic_limit": 200}
    found = agent.post("retrieve_memory/raw", body).json()["semantic"]
    return [fact["id"] for fact in found]


def state(fact: Fact) -> tuple[bool, str]:
    fact.refresh_from_db()
    return fact.invalid_at is None, fact.invalidated_because


@pytest.mark.parametrize("because", ["superseded", "wrong"])
def test_a_fact_is_invalidated_and_no_longer_served(
    ana: Agent, told: uuid.UUID, because: str
) -> None:
    fact = pick_fact(ana)
    assert str(fact.id) in served(ana, told, fact.fact)
    shown = act(ana, f"facts/{fact.id}/invalidate", because=because)
    assert (shown["id"], shown["invalidated_because"]) == (str(fact.id), because)
    assert shown["invalid_at"] is not None and shown["version"] == fact.version + 1
    assert state(fact) == (False, because)
    assert str(fact.id) not in served(ana, told, fact.fact)
    made = Changeset.objects.of(ana.tenant).get(id=shown["changeset_id"])
    assert (made.kind, made.actor, made.reason) == ("curation", "key ana", WHY)


def test_a_fact_is_restored_and_served_again(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    act(ana, f"facts/{fact.id}/invalidate", because="wrong")
    shown = act(ana, f"facts/{fact.id}/restore")
    assert (shown["invalid_at"], shown["invalidated_because"]) == (None, None)
    assert state(fact) == (True, "")
    assert str(fact.id) in served(ana, told, fact.fact)


def test_a_corrected_fact_stands_on_the_word_of_a_person(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    sentence = "Mira starts at the harbour authority of Antwerp on 1 May."
    shown = act(ana, f"facts/{fact.id}/correct", 201, fact=sentence, version=fact.version)
    new = Fact.objects.of(ana.tenant).get(id=shown["id"])
    assert (new.fact, new.category, state(new)) == (sentence, fact.category, (True, ""))
    assert (state(fact), fact.superseded_by_id) == ((False, "wrong"), new.id)
    assert Evidence.objects.of(ana.tenant).filter(fact=fact).exists()
    assert not Evidence.objects.of(ana.tenant).filter(fact=new).exists()
    found = served(ana, told, sentence)
    assert str(new.id) in found and str(fact.id) not in found


def test_a_correction_brings_category_and_keywords_of_its_own(ana: Agent, told: uuid.UUID) -> None:
    body = {"fact": "Mira hates pianos.", "category": "preference", "keywords": ["piano", "鋼琴"]}
    shown = act(ana, f"facts/{pick_fact(ana).id}/correct", 201, **body)
    assert {name: shown[name] for name in body} == body


def test_what_cannot_be_done_is_a_conflict_and_changes_nothing(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    other = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("-id")[0]
    path = f"facts/{fact.id}"
    wrong = {"because": "wrong", "reason": WHY}
    assert_problem(ana.post(f"{path}/restore", {"reason": WHY}), 409)
    stale = {"fact": "Mira keeps bees.", "reason": WHY, "version": fact.version + 1}
    assert_problem(ana.post(f"{path}/correct", stale), 409)
    said = {"fact": other.fact, "reason": WHY}
    assert_problem(ana.post(f"{path}/correct", said), 409)
    assert state(fact) == (True, "")
    act(ana, f"{path}/invalidate", because="wrong")
    acts = Changeset.objects.of(ana.tenant).count()
    assert_problem(ana.post(f"{path}/invalidate", wrong), 409)
    assert_problem(ana.post(f"{path}/correct", {"fact": "Mira keeps bees.", "reason": WHY}), 409)
    assert Changeset.objects.of(ana.tenant).count() == acts


GOOD: dict[str, dict[str, Any]] = {
    "facts/{fact}/invalidate": {"because": "wrong", "reason": WHY},
    "facts/{fact}/restore": {"reason": WHY},
    "facts/{fact}/correct": {"fact": "Mira keeps bees.", "reason": WHY},
    "changesets/{changeset}/revert": {"reason": WHY},
}
BAD: list[tuple[str, str, Any]] = [
    *[(call, "reason", bad) for call in GOOD for bad in (None, "", " \n", 5, True, [], "x" * 2001)],
    *[(call, name, 1) for call in GOOD for name in ("actor", "tenant", "unknown")],
    *[("facts/{fact}/invalidate", "because", bad) for bad in (None, "", "erased", "Wrong", 1)],
    *[("facts/{fact}/correct", "fact", bad) for bad in (None, "", "  ", 5, "x" * 1001)],
    *[("facts/{fact}/correct", "category", bad) for bad in ("", "Identity", "none", 1)],
    *[("facts/{fact}/correct", "version", bad) for bad in (0, -1, "1", True, 1.0)],
    *[("facts/{fact}/correct", "keywords", bad) for bad in ("piano", {}, ["x"] * 21)],
    *[("changesets/{changeset}/revert", "leave_conflicts", bad) for bad in (1, "true", "no")],
]


@pytest.mark.parametrize("call, field, value", BAD)
def test_bad_input_is_named_and_changes_nothing(
    ana: Agent, told: uuid.UUID, call: str, field: str, value: Any
) -> None:
    fact = pick_fact(ana)
    path = call.format(fact=fact.id, changeset=fact.changeset_id)
    assert_problem(ana.post(path, {**GOOD[call], field: value}), 400, field)
    assert state(fact) == (True, "") and Changeset.objects.of(ana.tenant).count() == 1


@pytest.mark.parametrize("bad", [[""], [" "], [5], [None], ["x" * 101]])
def test_a_bad_keyword_is_named_by_its_place(ana: Agent, told: uuid.UUID, bad: Any) -> None:
    path = f"facts/{pick_fact(ana).id}/correct"
    body = {"fact": "Mira keeps bees.", "reason": WHY, "keywords": ["bee", *bad]}
    assert_problem(ana.post(path, body), 400, "keywords.1")


def test_a_key_that_only_reads_cannot_curate(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    reader = make_agent("ana's", "reader", (Scope.READ, Scope.INGEST, Scope.ADMIN))
    assert reader.get(f"facts/{fact.id}").status_code == 200
    for call, body in GOOD.items():
        path = call.format(fact=fact.id, changeset=fact.changeset_id)
        assert_problem(reader.post(path, body), 403)
    assert_problem(reader.get(f"changesets/{fact.changeset_id}/revert"), 403)
    assert state(fact) == (True, "")


def test_an_act_is_undone_and_the_undoing_too(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    done = act(ana, f"facts/{fact.id}/invalidate", because="wrong")["changeset_id"]
    plan = ana.get(f"changesets/{done}/revert").json()
    assert (plan["changeset_id"], plan["reverted_by"], plan["conflicts"]) == (done, None, 0)
    assert plan["steps"] == [
        {
            "fact_id": str(fact.id),
            "fact": fact.fact,
            "verdict": "reopen",
            "is_conflict": False,
            "later": [],
        }
    ]
    assert state(fact) == (False, "wrong"), "a plan changes nothing"
    undone = act(ana, f"changesets/{done}/revert", 201)
    assert (undone["kind"], undone["reverts"], undone["actor"]) == ("revert", done, "key ana")
    assert state(fact) == (True, "")
    assert ana.get(f"changesets/{done}").json()["reverted_by"] == undone["id"]
    assert_problem(ana.post(f"changesets/{done}/revert", {"reason": WHY}), 409)
    act(ana, f"changesets/{undone['id']}/revert", 201)
    assert state(fact) == (False, "wrong")
    assert ana.get(f"changesets/{done}").json()["reverted_by"] is None


def test_what_is_in_the_way_of_a_revert_is_named_and_can_be_left(
    ana: Agent, told: uuid.UUID
) -> None:
    fact = pick_fact(ana)
    first = act(ana, f"facts/{fact.id}/invalidate", because="superseded")["changeset_id"]
    later = act(ana, f"facts/{fact.id}/restore")["changeset_id"]
    plan = ana.get(f"changesets/{first}/revert").json()
    assert plan["conflicts"] == 1
    (step,) = plan["steps"]
    assert (step["verdict"], step["is_conflict"], step["later"]) == (
        "changed_later",
        True,
        [later],
    )
    assert_problem(ana.post(f"changesets/{first}/revert", {"reason": WHY}), 409)
    act(ana, f"changesets/{first}/revert", 201, leave_conflicts=True)
    assert state(fact) == (True, "")


def test_reverting_a_run_takes_its_facts_out_of_every_answer(ana: Agent, told: uuid.UUID) -> None:
    fact = pick_fact(ana)
    act(ana, f"changesets/{fact.changeset_id}/revert", 201)
    assert state(fact)[0] is False
    assert served(ana, told, fact.fact) == []
    assert ana.get("facts").json()["items"] == []


def test_a_long_name_of_a_key_is_cut_in_the_record(ana: Agent, told: uuid.UUID) -> None:
    colleague = make_agent("ana's", "n" * 200)
    done = act(colleague, f"facts/{pick_fact(ana).id}/invalidate", because="wrong")
    actor = Changeset.objects.of(ana.tenant).get(id=done["changeset_id"]).actor
    assert actor == "key " + "n" * 196


def test_a_reason_is_kept_as_it_was_said(ana: Agent, told: uuid.UUID) -> None:
    said = "<b>nie</b> wieder, 不是 \U0001f9ff"
    fact = pick_fact(ana)
    done = act(ana, f"facts/{fact.id}/invalidate", because="wrong", reason=said)
    assert ana.get(f"changesets/{done['changeset_id']}").json()["reason"] == said
    assert ana.get(f"facts/{fact.id}").json()["history"][-1]["reason"] == said
