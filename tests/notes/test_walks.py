"""A walk goes breadth first, both ways, each memory once, and never leaves the tenant."""

from __future__ import annotations

import uuid
from collections import deque
from itertools import pairwise
from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from episodic.models import Episode
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, around, link, links_of, write
from wings.navigation import links

pytestmark = pytest.mark.django_db


def test_a_walk_goes_both_ways_nearest_first_then_newest(ana: Agent) -> None:
    a, b, c, d, e, f = (write(ana) for _ in range(6))
    link(ana, a, b)
    link(ana, c, a)
    link(ana, b, d)
    link(ana, e, d)
    link(ana, e, f)
    assert around(ana, a, depth=1) == [(c, 1), (b, 1)]
    assert around(ana, a) == [(c, 1), (b, 1), (d, 2)]
    assert around(ana, a, depth=4) == [(c, 1), (b, 1), (d, 2), (e, 3), (f, 4)]
    assert around(ana, a, depth=0) == []
    assert around(ana, f, depth=5)[-1] == (c, 5)


def test_cycles_end_and_each_memory_comes_once(ana: Agent) -> None:
    ring = [write(ana) for _ in range(4)]
    for place, note in enumerate(ring):
        link(ana, note, ring[(place + 1) % 4])
        link(ana, ring[(place + 1) % 4], note, "follows")
    found = around(ana, ring[0], depth=5)
    assert sorted(memory for memory, _ in found) == sorted(ring[1:])
    assert dict(found) == {ring[1]: 1, ring[3]: 1, ring[2]: 2}


def test_each_memory_comes_with_the_link_that_led_there(ana: Agent) -> None:
    a, b, c = (write(ana) for _ in range(3))
    link(ana, a, b, "supports")
    link(ana, c, b, "caused_by")
    answer = ana.get(f"memories/{a}/walk").json()
    assert (answer["start"], answer["cut"]) == (a, False)
    assert answer["nodes"] == [
        {"id": b, "kind": "note", "depth": 1, "from_id": a, "to_id": b,
         "link_type": "supports", "direction": "out"},
        {"id": c, "kind": "note", "depth": 2, "from_id": c, "to_id": b,
         "link_type": "caused_by", "direction": "in"},
    ]  # fmt: skip


def test_only_links_of_the_types_asked_for_are_followed(ana: Agent) -> None:
    a, b, c, d = (write(ana) for _ in range(4))
    link(ana, a, b, "supports")
    link(ana, b, c, "contradicts")
    link(ana, a, d, "mentions")
    assert around(ana, a, link_types="supports") == [(b, 1)]
    assert around(ana, a, link_types="supports,contradicts") == [(b, 1), (c, 2)]
    assert around(ana, a, link_types="next") == []


def test_a_walk_that_finds_more_than_it_may_says_so(ana: Agent) -> None:
    hub = write(ana)
    leaves = [write(ana) for _ in range(6)]
    for leaf in leaves:
        link(ana, hub, leaf)
        link(ana, hub, leaf, "mentions")
        link(ana, leaf, hub)
    far = write(ana)
    link(ana, leaves[0], far)

    def take(limit: int, depth: int = 2) -> tuple[list[str], bool]:
        answer = ana.get(f"memories/{hub}/walk", limit=limit, depth=depth).json()
        return [node["id"] for node in answer["nodes"]], answer["cut"]

    newest = leaves[::-1]
    assert take(3) == (newest[:3], True)
    assert take(6) == (newest, True)  # `far` is left out
    assert take(6, depth=1) == (newest, False)
    assert take(7) == ([*newest, far], False)
    assert take(1) == (newest[:1], True)


def test_deleted_notes_are_neither_found_nor_passed_through(ana: Agent) -> None:
    a, b, c = (write(ana) for _ in range(3))
    link(ana, a, b)
    link(ana, b, c)
    ana.client.delete(f"/api/v0/notes/{b}")
    assert around(ana, a) == around(ana, c) == []


def test_deleted_notes_take_no_room(ana: Agent) -> None:
    hub = write(ana)
    leaves = [write(ana) for _ in range(8)]
    for leaf in leaves:
        link(ana, hub, leaf)
    for leaf in leaves[2:]:
        ana.client.delete(f"/api/v0/notes/{leaf}")
    answer = ana.get(f"memories/{hub}/walk", limit=2).json()
    assert [node["id"] for node in answer["nodes"]] == [leaves[1], leaves[0]]
    assert answer["cut"] is False


def test_a_walk_leads_from_a_note_by_a_fact_to_episodes(ana: Agent, told: uuid.UUID) -> None:
    first, second = Episode.objects.of(ana.tenant).order_by("first_seq")
    note = write(ana)
    facts = [other for kind, _, other in links_of(ana, first.id) if kind == "derived_from"]
    link(ana, note, facts[0], "supports")
    found = dict(around(ana, note, depth=3, limit=1000))
    assert found[facts[0]] == 1 and found[str(first.id)] == 2 and found[str(second.id)] == 3
    kinds = {node["kind"] for node in ana.get(f"memories/{note}/walk", depth=3).json()["nodes"]}
    assert kinds == {"fact", "episode"}


def test_unknown_and_strange_memories_are_not_found(ana: Agent, cleo: Agent) -> None:
    hers = write(cleo)
    for memory in (UNKNOWN, hers):
        assert_problem(ana.get(f"memories/{memory}/walk"), 404)


@pytest.mark.parametrize(
    "name, given",
    [("depth", "6"), ("depth", "-1"), ("depth", "x"), ("depth", "1.0"), ("limit", "0"),
     ("limit", "1001"), ("limit", ""), ("link_types", "likes"), ("link_types", ""),
     ("link_types", "supports,"), ("link_types", "supports mentions"), ("unknown", "1"),
     ("link_types", "\0")],
)  # fmt: skip
def test_a_wrong_walk_is_refused(ana: Agent, name: str, given: str) -> None:
    assert_problem(ana.get(f"memories/{write(ana)}/walk", **{name: given}), 400, name)


@pytest.mark.parametrize(
    "name, given",
    [("limit", "0"), ("limit", "201"), ("link_types", "x"), ("after", "x"), ("after", ""),
     ("after", f"{UNKNOWN}.supports.up"), ("after", f"{UNKNOWN}.likes.in"), ("depth", "1"),
     ("after", f"{UNKNOWN}.supports"), ("after", "\0.supports.in")],
)  # fmt: skip
def test_a_wrong_list_of_links_is_refused(ana: Agent, name: str, given: str) -> None:
    assert_problem(ana.get(f"memories/{write(ana)}/links", **{name: given}), 400, name)


def test_a_walk_is_one_statement_however_far_it_goes(ana: Agent) -> None:
    chain = [write(ana) for _ in range(6)]
    for near, far in pairwise(chain):
        link(ana, near, far)
    counts = []
    for depth in (1, 5):
        with CaptureQueriesContext(connection) as asked:
            links.walk(tenant=ana.tenant, start=uuid.UUID(chain[0]), depth=depth)
        counts.append(len(asked))
        assert sum("RECURSIVE" in query["sql"] for query in asked) == 1
    assert counts[0] == counts[1]


def breadth_first(edges: set[tuple[int, int]], start: int, depth: int) -> dict[int, int]:
    """Return how far each number is from the start, both ways."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        near = waiting.popleft()
        if found[near] == depth:
            continue
        for ends in edges:
            if near in ends:
                far = ends[0] if ends[1] == near else ends[1]
                if far not in found:
                    found[far] = found[near] + 1
                    waiting.append(far)
    return {number: far for number, far in found.items() if number != start}


@pytest.mark.parametrize("seed", range(5))
def test_any_graph_is_walked_as_by_hand(ana: Agent, seed: int) -> None:
    chance = Random(seed)
    notes = [write(ana) for _ in range(12)]
    edges = {(chance.randrange(12), chance.randrange(12)) for _ in range(14)}
    edges = {ends for ends in edges if ends[0] != ends[1]}
    for near, far in edges:
        link(ana, notes[near], notes[far], chance.choice(["supports", "mentions"]))
    for start in range(0, 12, 4):
        for depth in (1, 2, 3, 5):
            expected = breadth_first(edges, start, depth)
            in_order = sorted(expected.items(), key=lambda item: (item[1], -item[0]))
            found = around(ana, notes[start], depth=depth)
            assert found == [(notes[number], far) for number, far in in_order]
            some = around(ana, notes[start], depth=depth, limit=3)
            assert some == found[:3]
