"""The page of a changeset, and undoing one."""

from __future__ import annotations

import html
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.models import LLMCall
from semantic.models import Change, Changeset, Fact
from semantic.reverts import revert_changeset
from tests.admin.pages import page, seen
from tests.conftest import Agent
from tests.semantic.learning import Talk, act, confirm, new, replace
from tests.semantic.test_curation import correct, declare

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at a harbour in Ghent."
PIANO = "Mira owns a very heavy piano."
SCRIPT = "<script>alert(1)</script>"
LIST = page(Changeset, "changelist")


@pytest.fixture(scope="module")
def talk(ana: Agent) -> Talk:
    return Talk(ana)


def look(browser: Client, changeset: Changeset, **query: Any) -> Any:
    answer = browser.get(page(Changeset, "change", changeset.id), query)
    assert answer.status_code == 200
    return answer


def plain(answer: Any) -> str:
    """Return a page's words without its tags."""
    text = html.unescape(re.sub(r"<[^>]*>", "", answer.content.decode()))
    return " ".join(text.split())


def way(changeset: Changeset) -> str:
    return f"/admin/changesets/{changeset.id}/revert/"


def test_a_run_shows_every_change_before_and_after(curator: Client, talk: Talk) -> None:
    talk.learn(new(BAKERY))
    run = talk.learn(replace(BAKERY, HARBOUR), new(PIANO), confirm("Nobody said this."))
    answer = look(curator, run)
    told = [
        (one.what, seen(one.sentence), one.before, one.after) for one in answer.context["steps"]
    ]
    assert told == [
        (
            "replaced another",
            "Mira works at a <del>bakery</del><ins>harbour</ins> in Ghent.",
            "",
            "active",
        ),
        ("created", PIANO, "", "active"),
        ("created", "Nobody said this.", "", "active"),
    ]
    assert "the engine named a fact that it was never shown" in plain(answer)


def test_a_run_leads_to_its_job_and_says_what_its_model_calls_cost(
    curator: Client, talk: Talk
) -> None:
    run = talk.learn(new(PIANO))
    for cost in ("0.00025", "0.00050"):
        LLMCall.objects.create(
            tenant=talk.agent.tenant, job=run.job_id, request_sha256=cost, purpose="consolidate",
            model="a-model", ok=True, input_tokens=1_200, output_tokens=80, cost=cost,
            prompt_version="consolidate@1",
        )  # fmt: skip
    answer = look(curator, run)
    text = plain(answer)
    assert f"/admin/jobs/job/{run.job_id}/change/" in answer.content.decode()
    assert "2,400, 160" in text and "0.00075" in text and "consolidate@1" in text


def test_a_revert_and_what_it_undoes_lead_to_each_other(curator: Client, talk: Talk) -> None:
    run = talk.learn(new(PIANO))
    assert way(run) in look(curator, run).content.decode()
    undo = revert_changeset(act=act(talk.agent), changeset_id=run.id)
    undone, undoing = (look(curator, one).content.decode() for one in (run, undo))
    assert page(Changeset, "change", undo.id) in undone and way(run) not in undone
    assert page(Changeset, "change", run.id) in undoing and way(undo) in undoing


def test_an_auditor_reads_changesets_and_cannot_undo(auditor: Client, talk: Talk) -> None:
    run = talk.learn(new(PIANO))
    assert way(run) not in look(auditor, run).content.decode()
    assert auditor.get(way(run)).status_code == 403


def test_a_plan_says_what_would_be_closed_reopened_and_kept(curator: Client, talk: Talk) -> None:
    talk.learn(new(BAKERY), new("Jonas has a van."))
    run = talk.learn(replace(BAKERY, HARBOUR), new(PIANO), confirm("Jonas has a van."))
    talk.learn(confirm(PIANO))
    answer = curator.get(way(run))
    text = plain(answer)
    assert answer.status_code == 200
    assert f"restored {BAKERY}" in text and f"retired {HARBOUR}" in text
    assert f"kept {PIANO} Other evidence supports it" in text
    assert "kept Jonas has a van." in text
    assert talk.held() == {HARBOUR, PIANO, "Jonas has a van."}
    done = curator.post(way(run), {"revert-reason": "A bad run."})
    made = Changeset.objects.of(talk.agent.tenant).order_by("-id")[0]
    assert done["Location"] == page(Changeset, "change", made.id)
    assert (made.actor, made.reason, made.reverts) == ("curator", "A bad run.", run)
    assert talk.held() == {BAKERY, PIANO, "Jonas has a van."}


def test_what_is_in_the_way_is_named_and_can_be_left(curator: Client, talk: Talk) -> None:
    run = talk.learn(new(BAKERY), new(PIANO))
    later = correct(talk, BAKERY, HARBOUR).changeset
    text = curator.get(way(run)).content.decode()
    assert page(Changeset, "change", later.id) in text and "In the way: 1" in text
    assert "revert-leave_conflicts" in text
    assert "revert-leave_conflicts" not in curator.get(way(later)).content.decode()
    refused = curator.post(way(run), {"revert-reason": "A bad run."})
    assert refused.status_code == 400 and "Changed since then" in refused.content.decode()
    assert talk.held() == {HARBOUR, PIANO}
    given = {"revert-reason": "A bad run.", "revert-leave_conflicts": "on"}
    assert curator.post(way(run), given).status_code == 302
    assert talk.held() == {HARBOUR}


def test_what_is_undone_already_says_by_whom(curator: Client, talk: Talk) -> None:
    run = talk.learn(new(PIANO))
    undo = revert_changeset(act=act(talk.agent), changeset_id=run.id)
    text = curator.get(way(run)).content.decode()
    assert "It is undone already" in text and page(Changeset, "change", undo.id) in text
    assert curator.post(way(run), {"revert-reason": "Again."}).status_code == 400


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2_001, "a\x00b"])
def test_undoing_needs_a_reason(curator: Client, talk: Talk, reason: str) -> None:
    run = talk.learn(new(PIANO))
    answer = curator.post(way(run), {"revert-reason": reason})
    assert answer.status_code == 400 and list(answer.context["form"].errors) == ["reason"]
    assert talk.held() == {PIANO}


def test_a_changeset_of_no_conversation_cannot_be_undone(curator: Client, ana: Agent) -> None:
    alone = Changeset.objects.create(tenant=ana.tenant, kind="import", actor="lin")
    assert way(alone) not in look(curator, alone).content.decode()
    assert curator.post(way(alone), {"revert-reason": "Why not."}).status_code == 400


def test_a_changeset_that_is_not_there_is_not_found(curator: Client) -> None:
    assert curator.get(f"/admin/changesets/{uuid.uuid4()}/revert/").status_code == 404


def test_reasons_and_facts_are_escaped(curator: Client, talk: Talk) -> None:
    talk.learn(new(f"Mira likes {SCRIPT}."))
    fact = talk.fact(f"Mira likes {SCRIPT}.")
    changeset = correct(talk, fact.fact, f"Mira loves {SCRIPT}.").changeset
    for text in (look(curator, changeset), curator.get(way(changeset))):
        assert SCRIPT not in text.content.decode()
        assert html.escape(SCRIPT) in text.content.decode()


def test_the_list_says_how_many_changes_each_has(curator: Client, talk: Talk) -> None:
    talk.learn(new(BAKERY), new(PIANO))
    declare(talk, PIANO)
    rows = curator.get(LIST).context["cl"].result_list
    assert [(row.kind, row.change_count) for row in rows] == [
        ("curation", 1),
        ("consolidation", 2),
    ]


def count_queries(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(address).status_code == 200
    return len(asked)


@pytest.mark.gate
def test_long_changesets_are_shown_in_pages_at_the_price_of_short_ones(
    curator: Client, talk: Talk
) -> None:
    short = talk.learn(new(PIANO))
    long = talk.learn(*[new(f"Mira owns a book of the year {1700 + n}.") for n in range(103)])
    assert Change.objects.of(talk.agent.tenant).filter(changeset=long).count() == 103
    look(curator, short)
    costs = [count_queries(curator, page(Changeset, "change", one.id)) for one in (short, long)]
    assert costs[0] == costs[1] <= 23
    assert count_queries(curator, way(short)) == count_queries(curator, way(long)) <= 23
    second = look(curator, long, changes="2")
    assert [told.change.position for told in second.context["steps"]] == [100, 101, 102]
    for odd in ("0", "x", "999", ""):
        look(curator, long, changes=odd)


def test_a_fact_that_was_erased_is_named_by_its_id(curator: Client, talk: Talk) -> None:
    run = talk.learn(new(PIANO))
    changed = Change.objects.of(talk.agent.tenant).get(changeset=run)
    gone = uuid.uuid4()
    Change.objects.create(
        tenant=talk.agent.tenant, changeset=run, position=1, action="new", memory_id=gone,
        states={str(gone): [None, {"because": "", "valid_until": None, "superseded_by": None}]},
    )  # fmt: skip
    text = plain(look(curator, run))
    assert f"{gone}, which is not there any more" in text
    assert curator.get(way(run)).status_code == 200
    assert Fact.objects.of(talk.agent.tenant).filter(id=changed.memory_id).exists()
