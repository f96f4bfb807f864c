"""What was changed before people could revert is told in states, and can be reverted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection, connections

from memoryproject.tenancy.postgresql import base
from semantic import states
from semantic.models import Change, Evidence
from semantic.reverts import revert_changeset
from tests.conftest import Agent
from tests.semantic.learning import Talk, act, confirm, end, new, replace

pytestmark = [
    pytest.mark.django_db(databases=["default", "owner"], transaction=True),
    pytest.mark.gate,
]

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
PIANO = "Mira owns a very heavy piano."
TOE = "Jonas broke his toe."


@pytest.fixture
def migrate(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Move semantic's tables to a migration; everything is there again afterwards."""
    # On the way there are no policies yet, and nothing would be served.
    monkeypatch.setattr(base, "check_walls", lambda connection: None)

    def move(name: str) -> None:
        connections.close_all()
        call_command("migrate", "semantic", name, verbosity=0)
        connections["owner"].close()

    yield move
    connections.close_all()
    call_command("migrate", verbosity=0)
    connections["owner"].close()


def told(agent: Agent) -> list[tuple[Any, ...]]:
    """Return every step with the states that it tells, as they are compared."""
    rows = Change.objects.of(agent.tenant).order_by("id")
    return [
        (
            change.id,
            {
                fact_id: tuple(map(states.from_json, pair))
                for fact_id, pair in change.states.items()
            },
        )
        for change in rows
    ]


def test_earlier_changes_are_told_in_states_and_undone(
    ana: Agent, migrate: Callable[[str], None]
) -> None:
    talk = Talk(ana)
    talk.learn(new(BAKERY), new(TOE))
    run = talk.learn(replace(BAKERY, HARBOUR), end(TOE), confirm(BAKERY), new(PIANO))
    before = told(ana)
    assert any(told_of for _, told_of in before)
    migrate("0002")
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM semantic_change LIMIT 0")
        assert "states" not in {column.name for column in cursor.description}
    migrate("0005_reverted")
    assert told(ana) == before
    migrate("0016_correction_marks")  # a revert reads every column, and takes suggestions back
    revert_changeset(act=act(ana), changeset_id=run.id)
    assert talk.held() == {BAKERY, TOE}


def test_history_stays_append_only_afterwards(ana: Agent, migrate: Callable[[str], None]) -> None:
    Talk(ana).learn(new(PIANO))
    migrate("0002")
    migrate("0005_reverted")
    with pytest.raises(Exception, match="semantic_change"):
        Change.objects.of(ana.tenant).update(note="changed")


def test_evidence_that_was_taken_back_is_forgotten_on_the_way_back(
    ana: Agent, migrate: Callable[[str], None]
) -> None:
    talk = Talk(ana)
    first = talk.learn(new(PIANO))
    talk.learn(confirm(PIANO))
    revert_changeset(act=act(ana), changeset_id=first.id)
    taken = Evidence.objects.of(ana.tenant).exclude(withdrawn_by=None).get()
    again = Evidence.objects.create(
        tenant=ana.tenant, fact=taken.fact, episode=taken.episode, message_seqs=[],
        changeset=taken.changeset,
    )  # fmt: skip
    migrate("0002")
    migrate("0005_reverted")
    left = Evidence.objects.of(ana.tenant).values_list("id", flat=True)
    assert taken.id not in left and again.id in left and len(left) == 2
