"""The list of facts at another time: what was true then, and what was believed."""

from __future__ import annotations

import html
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from memoryproject.adminkit.filters import read_moment
from memoryproject.edge.errors import Problem
from semantic.corrections import correct_fact
from semantic.curation import Act, invalidate_facts
from semantic.models import Fact
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told

pytestmark = pytest.mark.django_db
LIST = "/admin/semantic/fact/"
MINUTE = timedelta(minutes=1)


def find(browser: Client, **query: Any) -> set[Fact]:
    answer = browser.get(LIST, query)
    assert answer.status_code == 200
    return set(answer.context["cl"].result_list)


@pytest.fixture
def facts(ana: Agent, told: uuid.UUID) -> list[Fact]:
    """Facts of two days, of which the first is over and the second was wrong."""
    over, wrong, *rest = Fact.objects.of(ana.tenant).order_by("valid_at", "id")
    for fact, because in ((over, Fact.Because.SUPERSEDED), (wrong, Fact.Because.WRONG)):
        act = Act(tenant=ana.tenant, actor="bo", reason="I know better.")
        invalidate_facts(act=act, fact_ids=[fact.id], because=because)
        fact.refresh_from_db()
    return [over, wrong, *rest]


def test_facts_are_those_that_were_true_then(curator: Client, facts: list[Fact]) -> None:
    over, wrong, *rest = facts
    first_day = {fact for fact in rest if fact.valid_at.day == 2}
    assert first_day and first_day < set(rest)
    assert find(curator, true_at="2026-03-03T00:00") == {over, *first_day}
    assert over.valid_until is not None
    assert find(curator, true_at=over.valid_until.isoformat()) == set(rest)
    assert find(curator, true_at=(over.valid_until - MINUTE).isoformat()) == {over, *rest}
    assert find(curator, true_at="2026-03-01") == set()
    assert wrong not in find(curator, true_at=wrong.valid_at.isoformat())


@pytest.mark.django_db(transaction=True)  # so that the database's clock goes on
def test_facts_are_those_that_the_server_believed_then(curator: Client, facts: list[Fact]) -> None:
    over, wrong, *rest = facts
    assert wrong.invalid_at is not None
    learnt = max(fact.created_at for fact in facts)
    assert find(curator, believed_at=learnt.isoformat()) == {over, wrong, *rest}
    assert find(curator, believed_at=max(over.invalid_at, wrong.invalid_at).isoformat()) == set(
        rest
    )
    assert find(curator, believed_at="2026-03-05T19:00") == set(), "said then, learnt later"


def test_a_corrected_fact_gives_way_to_the_better_one(
    ana: Agent, curator: Client, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).order_by("id")[0]
    act = Act(tenant=ana.tenant, actor="bo", reason="A slip.")
    better = correct_fact(act=act, fact_id=fact.id, sentence="Mira works at the port of Antwerp.")
    found = find(curator, true_at=(fact.valid_at + MINUTE).isoformat())
    assert better in found and fact not in found


def test_a_time_narrows_what_other_filters_leave(curator: Client, facts: list[Fact]) -> None:
    conversation = {"conversation__exact": str(facts[0].conversation_id)}
    both = find(curator, true_at="2026-03-03", state="superseded", **conversation)
    assert both == {facts[0]}
    page = curator.get(LIST, {"state": "active", "true_at": "2026-03-03"}).content.decode()
    assert '<input type="hidden" name="state" value="active">' in page
    assert 'value="2026-03-03"' in page and "True at 2026-03-03 00:00:00 UTC" in page
    assert find(curator, true_at="2026-03-03", conversation__exact=str(uuid.uuid4())) == set()


def test_what_is_no_time_is_said_and_narrows_nothing(curator: Client, facts: list[Fact]) -> None:
    for written in ("soon", '"><script>alert(1)</script>'):
        answer = curator.get(LIST, {"true_at": written})
        text = answer.content.decode()
        assert "True at: This is no time." in html.unescape(text)
        assert "<script>alert" not in text
        assert set(answer.context["cl"].result_list) == set(facts)


def test_the_page_of_a_conversation_leads_to_the_facts_of_its_time(
    curator: Client, facts: list[Fact]
) -> None:
    page = reverse("admin:episodic_conversation_change", args=[facts[0].conversation_id])
    shown = curator.get(page, {"as_of": "2026-03-03", "known": "now"}).content.decode()
    (then,) = re.findall(r'href="([^"]+)">All facts true then<', shown)
    answer = curator.get(html.unescape(then))
    assert set(answer.context["cl"].result_list) == find(curator, true_at="2026-03-03")


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2026-03-02", datetime(2026, 3, 2, tzinfo=UTC)),
        (" 2026-03-02T09:30 ", datetime(2026, 3, 2, 9, 30, tzinfo=UTC)),
        ("2026-03-02T09:30:15Z", datetime(2026, 3, 2, 9, 30, 15, tzinfo=UTC)),
        ("2026-03-02T09:30+02:00", datetime(2026, 3, 2, 7, 30, tzinfo=UTC)),
        ("1772442000000", datetime(2026, 3, 2, 9, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_people_and_programs_write_them(written: str, at: datetime) -> None:
    assert read_moment(written) == at


@pytest.mark.parametrize("written", ["", "now", "2026-02-30", "9" * 5000, "0001-01-01T00:00+23:59"])
def test_other_words_are_no_time(written: str) -> None:
    with pytest.raises(Problem, match="no time"):
        read_moment(written)
