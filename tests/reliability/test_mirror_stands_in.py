"""While the database is away the mirror answers, to keys that were seen lately and to no others."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.reliability.client import Answer, Caller, assert_unavailable
from tests.reliability.product import Product, installed, web

pytestmark = pytest.mark.gate

QUERY = {"query": "Where does the lighthouse stand?"}
STRANGE = "cleo's"


def write(caller: Caller, content: str, **fields: Any) -> str:
    answer = caller.post("notes", {"content": content, **fields})
    assert answer.status == 201, answer.content
    return str(answer.json()["id"])


def link(caller: Caller, near: str, far: str) -> None:
    body = {"from_id": near, "to_id": far, "link_type": "supports"}
    assert caller.post("links", body).status == 201


def ids(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.content
    return [one["id"] for one in answer.json()["memories_retrieved"]]


def test_the_mirror_answers_while_the_database_is_away(template: Product, folder: Path) -> None:
    with installed(template, folder, MEMORY_MIRROR_DIR=str(folder / "mirror")) as product:
        product.start()
        hers = product.manage("create_api_key", "--tenant", STRANGE)
        cold = product.manage("create_api_key", "--tenant", "ana's")
        with web(product.around()) as port:
            ana, cleo = product.caller(port), Caller(port, hers)
            stands = write(ana, "The lighthouse stands at the cape.", user_id="u1")
            bread = write(ana, "Bread is baked.", occurred_at="2020-01-01T00:00:00Z")
            link(ana, stands, bread)
            secret = write(cleo, "The lighthouse of cleo stands elsewhere.")
            product.manage("worker", "--drain")
            before = ana.post("reconstruct_context", QUERY)
            assert ids(before) == [stands, bread] and before.json()["degraded"] is None
            product.stop()

            answer = ana.post("reconstruct_context", QUERY)
            assert ids(answer) == [stands, bread]
            body = answer.json()
            assert body["degraded"] == answer.headers["memory-degraded"] == "mirror"
            assert "The lighthouse stands at the cape." in body["synthesized_context"]
            assert body["memories_retrieved"][0]["file_path"].endswith(f"_memory_{stands}.md")
            assert ids(cleo.post("reconstruct_context", QUERY)) == [secret]
            assert ids(ana.post("reconstruct_context", {**QUERY, "user_id": "u2"})) == []
            assert ids(ana.post("reconstruct_context", {**QUERY, "focus_level": 0})) == [stands]
            small = ana.post("reconstruct_context", {**QUERY, "max_tokens": 1}).json()
            assert (small["synthesized_context"], small["context_tokens"]) == ("", 0)
            assert_search_answers(ana, stands)
            assert_others_are_refused(ana, cold)

            product.start()
            again = ana.post("reconstruct_context", QUERY)
            assert ids(again) == [stands, bread] and again.json()["degraded"] is None


def assert_search_answers(ana: Caller, stands: str) -> None:
    """Check that `search` answers too, in its own form."""
    answer = ana.post("search", {"query": "lighthouse", "source_types": ["note"]})
    assert answer.status == 200 and answer.headers["memory-degraded"] == "mirror"
    body = answer.json()
    assert [item["id"] for item in body["items"]] == [stands]
    assert (body["degraded"], body["receipt"], body["total_count"]) == ("mirror", None, 1)
    assert body["items"][0]["snippet"] == "The lighthouse stands at the cape."


def assert_others_are_refused(ana: Caller, cold: str) -> None:
    """Check that no key that was not seen, and no other call, is answered without a database."""
    for call in ("reconstruct_context", "search"):
        assert_unavailable(Caller(ana.port, cold).post(call, QUERY))
        for made_up in ("mem_unknown", f"{ana.key}x"):  # no server of ours writes such a key
            assert Caller(ana.port, made_up).post(call, QUERY).status == 401
    assert ana.post("reconstruct_context", {"focus_level": 9}).status == 400
    talk = {"conversation_id": str(uuid.uuid4())}
    assert_unavailable(ana.post("retrieve_memory", {**talk, "query": "lighthouse"}))
    assert_unavailable(ana.get("notes"))


def test_without_a_mirror_nothing_answers(product: Product) -> None:
    with web(product.around()) as port:
        ana = product.caller(port)
        write(ana, "The lighthouse stands at the cape.")
        product.stop()
        assert_unavailable(ana.post("reconstruct_context", QUERY))
