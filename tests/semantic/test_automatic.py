"""A rule that people nearly always agreed with may decide alone: bounded, and until undone."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from memoryproject.edge.errors import Problem
from memoryproject.tenancy.models import Tenant
from semantic import reverts
from semantic.curation import Act
from semantic.models import Changeset, Suggestion
from tests.conftest import Agent
from tests.semantic.learning import Talk, new, repeats
from wings.events import notices
from wings.events.models import Event, Notification
from wings.events.notices import find_address
from wings.suggestions import automatic, suggestions, triage

pytestmark = pytest.mark.django_db

RULE = ("duplicate", "near_words")


def suggest(talk: Talk, stem: str, count: int) -> None:
    """Learn pairs of facts that nearly repeat each other, ten pairs a run."""
    for start in range(0, count, 10):
        hats = [f"Mira {stem} {number} hats." for number in range(start, min(start + 10, count))]
        talk.learn(*map(new, hats))
        again = [f"Jonas has seen it: {hat}" for hat in hats]
        talk.learn(*map(new, again), hints=[*map(repeats, hats, again)])


def accept_all(tenant: Tenant) -> None:
    act = Act(tenant, "curator", "The same.")
    for row in suggestions.find_suggestions(tenant):
        suggestions.accept_suggestion(act=act, suggestion_id=row.id)


def read_rule(tenant: Tenant) -> automatic.Automation:
    (row,) = automatic.list_automations(tenant, now=timezone.now())
    return row


def decided_alone(tenant: Tenant) -> list[Suggestion]:
    rows = Suggestion.objects.of(tenant).filter(decided_by__actor__startswith=triage.AUTOMATIC)
    return list(rows.select_related("decided_by").order_by("id"))


def test_a_proven_rule_decides_so_many_a_day_until_its_decisions_are_undone(
    ana: Agent, cleo: Agent
) -> None:
    talk, others = Talk(ana), Talk(cleo)
    suggest(talk, "wears", 10)
    accept_all(ana.tenant)
    with pytest.raises(Problem, match="20 of its suggestions"):
        automatic.allow_rule(ana.tenant, RULE, at_most=3, now=timezone.now())
    suggest(talk, "owns", 10)
    accept_all(ana.tenant)
    assert triage.measure_rules(ana.tenant) == {RULE: (20, 20)}
    suggest(talk, "sells", 5)
    suggest(others, "sells", 5)
    automatic.decide_alone(at_most=100)
    assert decided_alone(ana.tenant) == []
    with pytest.raises(Problem, match="0 to 100"):
        automatic.allow_rule(ana.tenant, RULE, at_most=101, now=timezone.now())
    since = timezone.now() - timedelta(minutes=5)  # of rows made in this transaction it is past
    automatic.allow_rule(ana.tenant, RULE, at_most=3, now=since)
    for _ in range(2):
        automatic.decide_alone(at_most=100)
    alone = decided_alone(ana.tenant)
    assert len(alone) == 3 and decided_alone(cleo.tenant) == []
    made = alone[0].decided_by
    assert made is not None and made.kind == Changeset.Kind.CURATION
    assert made.reason == "Accepted by itself: of 20 like it people accepted 100 %."
    ana.tenant.refresh_from_db()
    assert (read_rule(ana.tenant).decided, read_rule(ana.tenant).today) == (20, 3)

    for row in alone[:2]:
        assert row.decided_by_id is not None
        act = Act(ana.tenant, "curator", "No.")
        reverts.revert_changeset(act=act, changeset_id=row.decided_by_id)
    assert read_rule(ana.tenant).is_stopped
    for _ in range(2):
        automatic.decide_alone(at_most=100)
    assert len(decided_alone(ana.tenant)) == 3
    (stop,) = Event.objects.of(ana.tenant).filter(type="rule.stopped")  # told once
    assert stop.data == {"rule_id": "duplicate:near_words", "count": 1}
    boss = User.objects.create_superuser("boss")
    notices.notify_people(at_most=100)
    told = Notification.objects.of(ana.tenant).get(type="rule.stopped", person=boss)
    assert find_address(told.type, told.subject, ana.tenant).startswith("/admin/review-queue/?")
    assert not Notification.objects.of(cleo.tenant).exists()
    Tenant.objects.filter(id=ana.tenant.id).update(
        settings={automatic.SETTING: {"duplicate:near_words": [9, timezone.now().isoformat()]}}
    )
    ana.tenant.refresh_from_db()
    assert not read_rule(ana.tenant).is_stopped
    automatic.allow_rule(ana.tenant, RULE, at_most=0, now=timezone.now())
    ana.tenant.refresh_from_db()
    assert automatic.SETTING not in ana.tenant.settings
