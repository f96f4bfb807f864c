"""What was believed at a moment is read back exactly; and two moments are compared."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from memoryproject.database.clock import read_database_clock
from semantic.models import Fact
from tests.conftest import Agent, tell
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation

pytestmark = pytest.mark.django_db(transaction=True)

WHY = "Mira told us on the telephone."


def act(agent: Agent, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = agent.post(path, {"reason": WHY, **body})
    assert answer.status_code == status, answer.content
    given: dict[str, Any] = answer.json()
    return given


def believed(agent: Agent, at: datetime, **query: Any) -> set[str]:
    answer = agent.get("facts", known_at=at.isoformat(), limit=200, **query)
    assert answer.status_code == 200, answer.content
    return {item["id"] for item in answer.json()["items"]}


def compare(agent: Agent, since: datetime, until: datetime, **query: Any) -> dict[str, Any]:
    """Return the differences by the fact's id."""
    moments = {"from": since.isoformat(), "to": until.isoformat()}
    answer = agent.get("diff", **moments, **query)
    assert answer.status_code == 200, answer.content
    return {item["fact_id"]: item for item in answer.json()["items"]}


def test_each_past_moment_has_the_facts_that_were_believed_then(
    ana: Agent, cleo: Agent, conversation: uuid.UUID
) -> None:
    before = read_database_clock()
    tell(ana, conversation)
    moments = [read_database_clock()]
    rows = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")
    first, second, third = (str(fact.id) for fact in rows[:3])
    everything = {str(fact.id) for fact in rows}

    act(ana, f"facts/{first}/invalidate", because="wrong")
    moments.append(read_database_clock())
    act(ana, f"facts/{first}/restore")
    moments.append(read_database_clock())
    new = act(ana, f"facts/{second}/correct", 201, fact="The user keeps two dogs.")["id"]
    newest = act(ana, f"facts/{new}/correct", 201, fact="The user keeps three dogs.")["id"]
    moments.append(read_database_clock())
    act(ana, f"facts/{third}/invalidate", because="superseded")
    moments.append(read_database_clock())

    assert believed(ana, before) == set() == believed(cleo, moments[-1])
    assert [believed(ana, at) for at in moments] == [
        everything,
        everything - {first},
        everything,
        everything - {second} | {newest},
        everything - {second, third} | {newest},
    ]
    assert believed(ana, moments[-1], conversation_id=str(uuid.uuid4())) == set()
    # Of what is over it is still known that it was true; of what was never true it is not.
    said = Fact.objects.of(ana.tenant).get(id=third).valid_at + timedelta(seconds=1)
    assert third in believed(ana, moments[-1], as_of=said.isoformat())
    true_then = ana.get("facts", as_of=said.isoformat(), limit=200).json()["items"]
    assert third in {item["id"] for item in true_then} and second not in str(true_then)
    assert second in believed(ana, moments[0], as_of=said.isoformat())
    assert ana.get("facts", known_at=said.isoformat(), state="active").status_code == 400

    assert compare(ana, moments[1], moments[1]) == {} == compare(cleo, before, moments[-1])
    assert {item["what"] for item in compare(ana, before, moments[0]).values()} == {"added"}
    assert compare(ana, moments[0], moments[2]) == {}
    (restored,) = compare(ana, moments[1], moments[2]).values()
    assert (restored["what"], restored["fact_id"], restored["because"]) == ("restored", first, None)
    whole = compare(ana, moments[0], moments[-1], conversation_id=str(conversation))
    assert {fact: item["what"] for fact, item in whole.items()} == {
        second: "corrected", third: "ended",
    }  # fmt: skip
    corrected = whole[second]
    assert corrected["newer"]["fact"] == "The user keeps three dogs."
    assert corrected["newer"]["id"] == newest and corrected["because"] == "wrong"
    assert corrected["changeset"]["reason"] == WHY
    assert corrected["changeset"]["actor"] == "key ana"
    assert compare(ana, before, moments[-1], conversation_id=str(uuid.uuid4())) == {}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-03-02T09:00:00", "to": "2026-03-01T09:00:00"}, "to"),
        ({"from": "2026-03-02T09:00:00", "conversation_id": "7"}, "conversation_id"),
    ],
)
def test_moments_that_cannot_be_compared_are_refused(
    ana: Agent, query: dict[str, str], field: str
) -> None:
    answer = ana.get("diff", **query)
    assert answer.status_code == 400 and list(answer.json()["fields"]) == [field]


def test_a_moment_is_read_in_milliseconds_too(ana: Agent) -> None:
    body = ana.get("diff", **{"from": "1759264020000"}).json()
    assert body["from"] == "2025-09-30T20:27:00Z" and body["items"] == []
