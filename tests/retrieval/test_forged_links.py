"""A link between tenants that somebody forged leads nowhere: every answer is as if it were not.

Somebody with every right has switched foreign keys off and written it. What is asked before
and after, and with an edge to an id that nobody has, is answered alike: body, counts, headers.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from episodic.models import Episode
from memoryproject.database.ids import make_id
from memoryproject.embedded import locate
from memoryproject.embedded.bootstrap import connect_as_superuser
from retrieval.search import in_tenant
from semantic.models import Evidence, Fact
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import UNKNOWN, around, link, links_of, write
from tests.retrieval.searches import found, search
from wings.navigation import finding, links, mirror, reading
from wings.notes.models import Link

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.gate]

SECRET = "The treasure lies under the old oak."
ROW = """
    INSERT INTO notes_link
        (id, tenant_id, from_memory_id, to_memory_id, link_type, made_by, actor)
    VALUES (%s, %s, %s, %s, 'supports', 'person', 'mallory')
"""


def forge(settings: Settings, owner: Agent, *edges: tuple[Any, Any]) -> None:
    """Write links into a tenant, whatever they lead to, past every foreign key."""
    address = locate(settings.DATA_DIR).address
    with connect_as_superuser(address, database=settings.DATABASES["default"]["NAME"]) as forging:
        forging.execute("SET session_replication_role = replica")
        for near, far in edges:
            forging.execute(ROW, [make_id(), owner.tenant.id, near, far])


@pytest.fixture
def mine(ana: Agent) -> str:
    """A note of ana's with a neighbour of its own."""
    note = write(ana, "The kettle sings.")
    link(ana, note, write(ana, "Das Fahrrad steht im Keller."))
    return note


@pytest.fixture
def hers(cleo: Agent) -> str:
    """A note of cleo's with a neighbour of its own."""
    note = write(cleo, SECRET, label="Treasure")
    link(cleo, note, write(cleo, f"{SECRET} Dig deep.", label="Treasure"))
    return note


def ask_everything(agent: Agent, memory: Any) -> dict[str, tuple[int, dict[str, str], Any]]:
    """Return status, headers and body of each call that shows or follows links, by name."""
    wide = {"since": "2000-01-01T00:00:00Z", "focus_level": 5}
    everywhere = {"max_hops": 3, "max_results": 100, "min_relevance": 0.1}
    context = agent.post("contexts", {"max_tokens": 2000}).json()["id"]
    answers = {
        "note": agent.get(f"notes/{memory}"),
        "versions": agent.get(f"notes/{memory}/versions"),
        "peek": agent.get(f"memories/{memory}"),
        "links": agent.get(f"memories/{memory}/links"),
        "walk": agent.get(f"memories/{memory}/walk", depth=5, limit=1000),
        "chunk": agent.post(
            f"memories/{memory}/chunk", {"max_tokens": 500, "include_header": True}
        ),
        "add": agent.post(f"contexts/{context}/add", {"memory_id": str(memory)}),
        "context": agent.get(f"contexts/{context}"),
        "text": agent.get(f"contexts/{context}/text"),
        "search": agent.post("search", {"query": "kettle", **everywhere, "min_relevance": 0.4}),
        "by type": agent.post("search", {"query": "*", "link_types": ["supports"], **everywhere}),
        "reconstruct": agent.post("reconstruct_context", {"query": "kettle", **wide}),
    }
    return {name: (one.status_code, headers(one), body(one)) for name, one in answers.items()}


def headers(answer: Any) -> dict[str, str]:
    """Return the headers without the ids of what was just made."""
    passing = {"Memory-Receipt", "X-Request-Id"}
    return {name: value for name, value in answer.items() if name not in passing}


def body(answer: Any) -> Any:
    """Return the body without the ids and times of what was just made."""
    if "json" not in answer["Content-Type"]:
        return answer.content
    passing = {"receipt", "context_id", "created_at", "expires_at"}
    return {
        name: value
        for name, value in json.loads(answer.content).items()
        if name not in passing and not (name == "id" and "sections" in answer.json())
    }


@pytest.mark.parametrize("owner", ["ana", "cleo"])
def test_every_answer_is_as_before_and_as_if_the_other_end_did_not_exist(
    ana: Agent, cleo: Agent, mine: str, hers: str, settings: Settings, owner: str
) -> None:
    before, strangers = ask_everything(ana, mine), ask_everything(cleo, hers)
    assert before["walk"][2]["nodes"] and before["search"][2]["hop_paths"]
    forger = ana if owner == "ana" else cleo
    edges = [(mine, hers), (hers, mine)]
    forge(settings, forger, *edges)
    assert Link.across_tenants.count() == 4
    after = ask_everything(ana, mine)
    assert after == before
    assert "reasure" not in str(after) and hers not in str(after)
    assert ask_everything(cleo, hers) == strangers
    forge(settings, ana, (mine, UNKNOWN), (UNKNOWN, mine))
    assert ask_everything(ana, mine) == before


def test_a_strangers_id_is_answered_as_one_that_nobody_has(
    ana: Agent, mine: str, hers: str, settings: Settings
) -> None:
    forge(settings, ana, (mine, hers))
    named, unknown = ask_everything(ana, hers), ask_everything(ana, UNKNOWN)
    assert named == unknown
    of_one_memory = ("note", "versions", "peek", "links", "walk", "chunk", "add")
    assert {named[name][0] for name in of_one_memory} == {404}
    drawn = [ana.post("links", {"from_id": mine, "to_id": end}) for end in (hers, UNKNOWN)]
    assert [(one.status_code, headers(one), one.json()) for one in drawn[:1]] == [
        (one.status_code, headers(one), one.json()) for one in drawn[1:]
    ]
    assert drawn[0].status_code == 404


def test_what_lies_behind_a_stranger_is_not_reached_either(
    ana: Agent, cleo: Agent, settings: Settings
) -> None:
    """ana → cleo → ana: the second memory of ana's own is no neighbour by way of cleo's."""
    near, through, far = write(ana, "Near."), write(cleo, SECRET), write(ana, "Das Ende.")
    forge(settings, ana, (near, through), (through, far))
    forge(settings, cleo, (near, through), (through, far))
    assert around(ana, near, depth=5) == [] == links_of(ana, near)
    assert around(ana, far, depth=5) == []
    assert found(ana, "near", max_hops=3, min_relevance=0.4) == [near]
    assert around(cleo, through, depth=5) == [] == links_of(cleo, through)


def test_the_services_follow_it_as_little_as_the_calls(
    ana: Agent, mine: str, hers: str, settings: Settings
) -> None:
    forge(settings, ana, (mine, hers), (hers, mine))
    start, tenant = uuid.UUID(mine), ana.tenant
    walk = links.walk(tenant=tenant, start=start, depth=5)
    assert len(walk.nodes) == 1 and not walk.cut
    assert len(links.links_of(tenant=tenant, memory_id=start, at_most=100)) == 1
    assert len(reading.peek(tenant=tenant, memory_id=start).related_ids) == 1
    assert len(links.neighbours(tenant=tenant, memory_ids=[start])[start]) == 1
    several = links.walk_from(tenant=tenant, starts=[start], depth=3)
    assert len(several.nodes) == 1
    request = in_tenant.SearchRequest("kettle", max_hops=3, min_relevance=0.4)
    findings = finding.find(tenant=tenant, request=request)
    assert (findings.total, findings.hops_used) == (2, 1)


def test_a_page_of_the_mirror_does_not_name_the_other_end(
    ana: Agent, mine: str, hers: str, settings: Settings, tmp_path: Path
) -> None:
    settings.MIRROR_DIR = tmp_path / "mirror"
    start = uuid.UUID(mine)
    before = mirror.load_pages(tenant=ana.tenant, memory_ids=[start])
    forge(settings, ana, (mine, hers))
    assert mirror.load_pages(tenant=ana.tenant, memory_ids=[start]) == before
    assert len(before[start].links) == 1


def test_forged_evidence_leads_from_a_fact_to_no_strangers_episode(
    ana: Agent, cleo: Agent, told: uuid.UUID, settings: Settings
) -> None:
    """What the server derives is read from rows that can be forged, too."""
    theirs = uuid.uuid4()
    cleo.say(theirs, SECRET, name="Cleo")
    cleo.say(theirs, "I buried it in May, and told nobody.", name="Cleo")
    cleo.flush(theirs)
    secret = Episode.objects.of(cleo.tenant).get()
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None).order_by("id")[0]
    links, walk = links_of(ana, fact.id), around(ana, fact.id, depth=3, limit=1000)
    row = Evidence.objects.of(ana.tenant).filter(fact=fact)[0]
    address = locate(settings.DATA_DIR).address
    with connect_as_superuser(address, database=settings.DATABASES["default"]["NAME"]) as forging:
        forging.execute("SET session_replication_role = replica")
        forging.execute(
            "UPDATE semantic_evidence SET episode_id = %s, message_seqs = '{}' WHERE id = %s",
            [secret.id, row.id],
        )
    assert set(links_of(ana, fact.id)) < set(links)
    assert set(around(ana, fact.id, depth=3, limit=1000)) <= set(walk)
    shown = ana.post(f"memories/{fact.id}/chunk", {"max_tokens": 1000}).json()["content"]
    context = ana.post("contexts", {"max_tokens": 2000}).json()["id"]
    ana.post(f"contexts/{context}/add", {"memory_id": str(fact.id)})
    text = ana.get(f"contexts/{context}/text").content.decode()
    wide = {"since": "2000-01-01T00:00:00Z", "focus_level": 5}
    answers = [
        search(ana, fact.fact, max_hops=3, max_results=100),
        ana.post("reconstruct_context", {"query": fact.fact, **wide}).json(),
        ana.get(f"memories/{fact.id}").json(),
    ]
    for said in (shown, text, *map(str, answers)):
        assert "oak" not in said and str(secret.id) not in said and secret.title not in said
