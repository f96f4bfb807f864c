"""Numbers at and beyond their ends, and ids that nobody has, in every call on links and reading."""

from __future__ import annotations

from typing import Any

import pytest

from indexing.models import Memory
from retrieval.models import Context, ContextSection, Retrieval
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.notes.graphs import UNKNOWN, link, write
from wings.notes.models import Link, Note

pytestmark = pytest.mark.django_db

MILLION = 1_000_000
BODIES: dict[str, dict[str, Any]] = {
    "search": {"query": "tea"},
    "reconstruct_context": {"query": "tea"},
    "memories/{memory}/chunk": {"max_tokens": 9},
    "contexts": {"max_tokens": 9},
    "contexts/{context}/add": {"memory_id": "{memory}"},
}
WHOLE = [
    ("search", "max_hops", 0, 3),
    ("search", "max_tokens", 1, MILLION),
    ("search", "max_results", 1, 100),
    ("reconstruct_context", "focus_level", 0, 5),
    ("reconstruct_context", "max_tokens", 1, MILLION),
    ("memories/{memory}/chunk", "max_tokens", 1, MILLION),
    ("contexts", "max_tokens", 1, MILLION),
    ("contexts", "reserved_for_response", 0, MILLION),
    ("contexts", "expires_in_s", 1, 604_800),
    ("contexts/{context}/add", "max_tokens", 1, 500),
    ("contexts/{context}/add", "priority", 0, 100),
]
"""Call, field, least and greatest."""
SHARES = [
    ("search", "min_relevance"),
    ("search", "min_importance"),
    ("reconstruct_context", "min_importance"),
]
NO_NUMBER = ['"5"', '""', "true", "false", "[]", "{}", "[5]", '"five"']
NO_JSON = ["1e400", "-1e400", "NaN", "Infinity", "-Infinity", "0x5", "05", "5.", "+5", "1e"]


@pytest.fixture(scope="module")
def places(ana: Agent) -> dict[str, str]:
    """A note and a context of ana's, by the names that stand in addresses."""
    note = write(ana, "Ana drinks tea.")
    return {"memory": note, "context": ana.post("contexts", {"max_tokens": 900}).json()["id"]}


def send(agent: Agent, call: str, field: str, literal: str, places: dict[str, str]) -> Any:
    """Post a body in which a field is written as `literal`, letter by letter."""
    parts = [f'"{field}": {literal}']
    parts += [
        f'"{name}": "{value}"'.format(**places) if isinstance(value, str) else f'"{name}": {value}'
        for name, value in BODIES[call].items()
        if name != field
    ]
    return agent.client.generic(
        "POST",
        f"/api/v0/{call.format(**places)}",
        f"{{{', '.join(parts)}}}",
        content_type="application/json",
    )


def rows() -> list[int]:
    """Return how many rows there are of everything that these calls could write."""
    kinds: list[Any] = [Note, Link, Memory, Context, ContextSection, Retrieval]
    return [kind.across_tenants.count() for kind in kinds]


@pytest.mark.parametrize("call, field, least, greatest", WHOLE)
def test_a_whole_number_is_taken_from_its_least_to_its_greatest(
    ana: Agent, places: dict[str, str], call: str, field: str, least: int, greatest: int
) -> None:
    for number in (least, least + 1, greatest):
        answer = send(ana, call, field, str(number), places)
        assert answer.status_code in {200, 201}, (number, answer.content)
    before = rows()
    beyond = [least - 1, greatest + 1, -(10**30), 10**30]
    unlike = [f"{least}.0", "1.5", f"{greatest}e0", "-0.1", *NO_NUMBER]
    for literal in [*map(str, beyond), *unlike]:
        assert_problem(send(ana, call, field, literal, places), 400, field)
    for literal in NO_JSON:
        assert_problem(send(ana, call, field, literal, places), 400)
    assert rows() == before


@pytest.mark.parametrize("call, field", SHARES)
def test_a_share_is_taken_from_0_to_1(
    ana: Agent, places: dict[str, str], call: str, field: str
) -> None:
    for literal in ("0", "1", "0.0", "1.0", "1e-300", "0.5"):
        assert send(ana, call, field, literal, places).status_code == 200, literal
    for literal in ["-1e-9", "1.0000001", "-1", "2", str(10**30), *NO_NUMBER]:
        assert_problem(send(ana, call, field, literal, places), 400, field)
    for literal in NO_JSON:
        assert_problem(send(ana, call, field, literal, places), 400)


@pytest.mark.parametrize("field, least, greatest", [("depth", 0, 5), ("limit", 1, 1000)])
def test_a_walk_goes_from_its_least_to_its_greatest(
    ana: Agent, places: dict[str, str], field: str, least: int, greatest: int
) -> None:
    link(ana, places["memory"], write(ana))
    address = f"memories/{places['memory']}/walk"
    for number in (least, greatest):
        nodes = ana.get(address, **{field: number}).json()["nodes"]
        assert len(nodes) == (number > 0)
    beyond = [least - 1, greatest + 1, 10**30, -(10**30)]
    for given in [
        *beyond,
        "1.0",
        "1e0",
        "true",
        "NaN",
        "Infinity",
        "",
        " 1",
        "1 ",
        "+1",
        "٣",
        "1_0",
    ]:
        assert_problem(ana.get(address, **{field: given}), 400, field)


def test_a_budget_too_small_for_anything_gets_an_empty_answer(
    ana: Agent, places: dict[str, str]
) -> None:
    note = write(ana, "波尔图的茶馆今天开门。")
    found = ana.post("search", {"query": "*", "max_tokens": 1}).json()
    assert (found["items"], found["tokens_used"], found["total_count"]) == ([], 0, 2)
    back = ana.post("reconstruct_context", {"query": "tea", "max_tokens": 1}).json()
    assert (back["memories_retrieved"], back["synthesized_context"]) == ([], "")
    assert back["context_tokens"] == 0
    read = ana.post(f"memories/{note}/chunk", {"max_tokens": 1, "include_header": True}).json()
    assert (read["content"], read["token_count"], read["truncated"]) == ("", 0, True)
    small = ana.post("contexts", {"max_tokens": 1}).json()
    added = ana.post(f"contexts/{small['id']}/add", {"memory_id": note}).json()
    assert (added["added"], added["reason"], added["remaining_tokens"]) == (False, "no_room", 0)
    text = ana.get(f"contexts/{small['id']}/text")
    assert (text.status_code, text.content) == (200, b"")


def test_an_unknown_memory_is_not_found_in_a_body_either(
    ana: Agent, places: dict[str, str]
) -> None:
    add = f"contexts/{places['context']}/add"
    assert_problem(ana.post(add, {"memory_id": UNKNOWN}), 404)
    for ends in ((places["memory"], UNKNOWN), (UNKNOWN, places["memory"])):
        answer = ana.post("links", {"from_id": ends[0], "to_id": ends[1]})
        assert_problem(answer, 404, "from_id" if ends[0] == UNKNOWN else "to_id")
    nowhere = {"query": "*", "conversation_id": UNKNOWN}
    found = ana.post("search", {**nowhere, "source_ids": ["nobody's"]}).json()
    assert (found["items"], found["total_count"]) == ([], 0)


def test_a_link_to_itself_a_link_again_and_a_type_that_is_none_are_refused(
    ana: Agent, places: dict[str, str]
) -> None:
    near, far = places["memory"], write(ana)
    drawn = link(ana, near, far, "supports")
    wrong: list[tuple[str, str, Any, str]] = [
        (near, near, "supports", "to_id"),
        (near, far, "supports", "to_id"),
        (far, near, "likes", "link_type"),
        (far, near, "supersedes", "link_type"),
        (far, near, ["supports"], "link_type"),
    ]
    for from_id, to_id, link_type, field in wrong:
        body = {"from_id": from_id, "to_id": to_id, "link_type": link_type}
        assert_problem(ana.post("links", body), 400, field)
    assert [str(one.id) for one in Link.objects.of(ana.tenant)] == [drawn["id"]]
    for call in ("search", "reconstruct_context"):
        body = {"query": "tea", "link_types": ["likes"]}
        assert_problem(ana.post(call, body), 400)
