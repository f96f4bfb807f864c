"""Links are typed and directed, within a tenant, each once; the server's follow from the facts."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from episodic.models import Episode
from indexing.kinds import LinkType
from semantic.models import Evidence, Fact
from tests.api.problems import assert_problem
from tests.api.threads import run_in_threads
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import bo as bo
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, link, links_of, write
from wings.notes.models import Link

pytestmark = pytest.mark.django_db


def test_a_link_is_seen_from_both_ends(ana: Agent) -> None:
    near, far = write(ana), write(ana)
    drawn = link(ana, near, far, "supports")
    assert (drawn["made_by"], drawn["actor"]) == ("agent", "key ana")
    assert (drawn["from_id"], drawn["to_id"], drawn["link_type"]) == (near, far, "supports")
    (out,) = ana.get(f"memories/{near}/links").json()["items"]
    (into,) = ana.get(f"memories/{far}/links").json()["items"]
    shared = {name: drawn[name] for name in ("id", "from_id", "to_id", "link_type", "made_by",
                                             "actor", "created_at")}  # fmt: skip
    assert out == {**shared, "direction": "out", "other_id": far, "other_kind": "note"}
    assert into == {**shared, "direction": "in", "other_id": near, "other_kind": "note"}


@pytest.mark.parametrize("link_type", [kind.value for kind in LinkType])
def test_every_type_can_be_drawn_beside_the_others(ana: Agent, link_type: str) -> None:
    near, far = write(ana), write(ana)
    link(ana, near, far, "mentions" if link_type != "mentions" else "follows")
    link(ana, near, far, link_type)
    link(ana, far, near, link_type)
    assert len(links_of(ana, near)) == 3
    assert links_of(ana, near, link_types=link_type) == [
        (link_type, "out", far), (link_type, "in", far),
    ]  # fmt: skip


def test_a_link_is_drawn_once(ana: Agent, bo: Agent) -> None:
    near, far = write(ana), write(ana)
    first = link(ana, near, far)
    again = bo.post("links", {"from_id": near, "to_id": far})
    problem = assert_problem(again, 400, "to_id")
    assert first["id"] in problem["fields"]["to_id"][0]


@pytest.mark.django_db(transaction=True)
def test_of_many_at_once_one_is_drawn(ana: Agent) -> None:
    near, far = write(ana), write(ana)
    body = {"from_id": near, "to_id": far}
    statuses = run_in_threads(lambda index: ana.post("links", body).status_code)
    assert sorted(statuses) == [201] + [400] * 7
    assert Link.objects.of(ana.tenant).count() == 1


def test_a_removed_link_is_gone(ana: Agent, cleo: Agent) -> None:
    near, far = write(ana), write(ana)
    drawn = link(ana, near, far)
    assert_problem(cleo.client.delete(f"/api/v0/links/{drawn['id']}"), 404)
    assert ana.client.delete(f"/api/v0/links/{drawn['id']}").status_code == 204
    assert_problem(ana.client.delete(f"/api/v0/links/{drawn['id']}"), 404)
    assert links_of(ana, near) == links_of(ana, far) == []


@pytest.mark.parametrize(
    "changed, status, field",
    [
        ({"to_id": "same"}, 400, "to_id"),
        ({"link_type": "likes"}, 400, "link_type"),
        ({"link_type": "derived_from"}, 400, "link_type"),
        ({"link_type": "next"}, 400, "link_type"),
        ({"link_type": 1}, 400, "link_type"),
        ({"to_id": UNKNOWN}, 404, "to_id"),
        ({"from_id": UNKNOWN}, 404, "from_id"),
        ({"to_id": "x"}, 400, "to_id"),
        ({"weight": 1}, 400, "weight"),
    ],
)
def test_a_wrong_link_is_refused(
    ana: Agent, changed: dict[str, Any], status: int, field: str
) -> None:
    near, far = write(ana), write(ana)
    body = {"from_id": near, "to_id": far} | changed
    body["to_id"] = near if body["to_id"] == "same" else body["to_id"]
    assert_problem(ana.post("links", body), status, field)
    assert not Link.objects.of(ana.tenant).exists()


def test_nobody_links_to_a_strangers_memory(ana: Agent, cleo: Agent) -> None:
    mine, hers = write(ana), write(cleo)
    for ends in ((mine, hers), (hers, mine)):
        assert_problem(ana.post("links", dict(zip(("from_id", "to_id"), ends, strict=True))), 404)
    assert_problem(ana.get(f"memories/{hers}/links"), 404)
    assert_problem(ana.get(f"memories/{UNKNOWN}/links"), 404)


def test_postgres_itself_refuses_an_edge_between_tenants(ana: Agent, cleo: Agent) -> None:
    mine, hers = write(ana), write(cleo)
    for tenant in (ana.tenant, cleo.tenant):
        with pytest.raises(IntegrityError, match="same_tenant"), transaction.atomic():
            Link.objects.create(
                tenant=tenant,
                from_memory_id=uuid.UUID(mine),
                to_memory_id=uuid.UUID(hers),
                link_type="relates_to",
                made_by="agent",
                actor="somebody",
            )


@pytest.mark.parametrize("wrong", ["itself", "derived_from"])
def test_postgres_itself_refuses_what_is_no_link(ana: Agent, wrong: str) -> None:
    near, far = uuid.UUID(write(ana)), uuid.UUID(write(ana))
    with pytest.raises(IntegrityError, match="notes_link"), transaction.atomic():
        Link.objects.create(
            tenant=ana.tenant,
            from_memory_id=near,
            to_memory_id=near if wrong == "itself" else far,
            link_type="relates_to" if wrong == "itself" else wrong,
            made_by="agent",
            actor="somebody",
        )


def test_links_come_in_pages(ana: Agent) -> None:
    hub = write(ana)
    others = [write(ana) for _ in range(4)]
    for other in others:
        link(ana, hub, other)
        link(ana, other, hub, "follows")
    link(ana, others[0], hub)
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = ana.get(f"memories/{hub}/links", limit=2, **after).json()
        found += page["items"]
        if page["next"] is None:
            break
        after = {"after": page["next"]}
    whole = ana.get(f"memories/{hub}/links").json()["items"]
    assert found == whole and len(found) == 9
    assert [item["other_id"] for item in found] == sorted(
        (item["other_id"] for item in found), reverse=True
    )


def test_links_to_a_deleted_note_are_not_shown(ana: Agent) -> None:
    near, far = write(ana), write(ana)
    link(ana, near, far)
    ana.client.delete(f"/api/v0/notes/{far}")
    assert links_of(ana, near) == []
    assert_problem(ana.post("links", {"from_id": near, "to_id": far, "link_type": "follows"}), 404)


def test_facts_lead_to_their_episodes_and_episodes_to_their_neighbours(
    ana: Agent, told: uuid.UUID
) -> None:
    first, second = Episode.objects.of(ana.tenant).order_by("first_seq")
    assert ("next", "out", str(second.id)) in links_of(ana, first.id)
    assert ("next", "in", str(first.id)) in links_of(ana, second.id)
    assert links_of(ana, second.id, link_types="next") == [("next", "in", str(first.id))]
    evidence = list(Evidence.objects.of(ana.tenant).filter(withdrawn_by=None))
    assert evidence
    for row in evidence:
        assert ("derived_from", "out", str(row.episode_id)) in links_of(ana, row.fact_id)
        assert ("derived_from", "in", str(row.fact_id)) in links_of(ana, row.episode_id, limit=200)
    (item, *_) = ana.get(f"memories/{evidence[0].fact_id}/links").json()["items"]
    assert (item["id"], item["made_by"], item["actor"], item["created_at"]) == (
        None, "server", None, None,
    )  # fmt: skip
    assert not Link.objects.of(ana.tenant).exists()


def test_evidence_that_was_taken_back_is_no_link(ana: Agent, told: uuid.UUID) -> None:
    row = Evidence.objects.of(ana.tenant).order_by("id")[0]
    Evidence.objects.of(ana.tenant).filter(id=row.id).update(withdrawn_by=row.changeset_id)
    assert links_of(ana, row.fact_id, link_types="derived_from") == []
    into = links_of(ana, row.episode_id, link_types="derived_from", limit=200)
    assert ("derived_from", "in", str(row.fact_id)) not in into


def test_a_fact_leads_to_the_one_that_it_replaced_until_that_is_reverted(
    ana: Agent, told: uuid.UUID
) -> None:
    old = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[0]
    body = {"fact": "Mira lives in Antwerp.", "reason": "She said so."}
    answer = ana.post(f"facts/{old.id}/correct", body)
    assert answer.status_code == 201, answer.content
    old.refresh_from_db()
    new = old.superseded_by
    assert new is not None
    assert links_of(ana, new.id, link_types="supersedes") == [("supersedes", "out", str(old.id))]
    assert links_of(ana, old.id, link_types="supersedes") == [("supersedes", "in", str(new.id))]
    assert links_of(ana, new.id, link_types="derived_from") == []  # a person said it
    reverted = ana.post(f"changesets/{new.changeset_id}/revert", {"reason": "She did not."})
    assert reverted.status_code in {200, 201}, reverted.content
    assert links_of(ana, new.id, link_types="supersedes") == []
    assert links_of(ana, old.id, link_types="supersedes") == []
    assert links_of(ana, old.id, link_types="derived_from")
