"""The store does what LangGraph's own tests ask of its stores; the ideas are theirs."""

from __future__ import annotations

import asyncio
import os
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    PutOp,
    SearchOp,
)

from memory_server_client import Client, TooLarge
from memory_server_client.integrations.langgraph import MemoryServerStore

PEOPLE = ("people", "ana")


class Blocking:
    """The asynchronous methods, waited for, under the names of the others."""

    def __init__(self, store: MemoryServerStore) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return lambda *given, **named: asyncio.run(
            getattr(self._store, f"a{name}")(*given, **named)
        )


@pytest.fixture
def plain(client: Client) -> MemoryServerStore:
    return MemoryServerStore(client, name=uuid.uuid4().hex)


@pytest.fixture(params=["sync", "async"])
def store(request: pytest.FixtureRequest, plain: MemoryServerStore) -> Any:
    return plain if request.param == "sync" else Blocking(plain)


def keys(items: list[Any]) -> list[str]:
    return [item.key for item in items]


def test_an_item_is_put_read_changed_and_deleted(store: Any) -> None:
    value = {"title": "Tides", "read": [1, 2.5, None, True], "by": {"name": "Åsa"}}
    store.put(PEOPLE, "k", value)
    item = store.get(PEOPLE, "k")
    assert (item.namespace, item.key, item.value) == (PEOPLE, "k", value)
    assert store.get(("people", "bo"), "k") is None and store.get(PEOPLE, "other") is None
    store.put(PEOPLE, "k", {"title": "Ebb"})
    changed = store.get(PEOPLE, "k")
    assert changed.value == {"title": "Ebb"}
    assert changed.created_at == item.created_at < changed.updated_at
    store.delete(PEOPLE, "k")
    store.delete(PEOPLE, "k")
    assert store.get(PEOPLE, "k") is None and store.search(()) == []
    store.put(PEOPLE, "k", value)
    assert store.get(PEOPLE, "k").value == value


def test_a_batch_answers_in_order_and_sees_what_it_has_put(store: Any) -> None:
    results = store.batch(
        [
            PutOp(("a", "b"), "k1", {"n": 1}),
            PutOp(("a", "c"), "k2", {"n": 2}),
            GetOp(("a", "b"), "k1"),
            GetOp(("a",), "k1"),
            SearchOp(("a",), filter={"n": 2}),
            ListNamespacesOp(),
            PutOp(("a", "b"), "k1", None),
            GetOp(("a", "b"), "k1"),
        ]
    )
    assert [results[place] for place in (0, 1, 3, 6, 7)] == [None] * 5
    assert results[2].value == {"n": 1} and keys(results[4]) == ["k2"]
    assert results[5] == [("a", "b"), ("a", "c")]


def test_a_prefix_ends_where_a_label_ends(store: Any) -> None:
    spaces = [("foo",), ("foo", "child"), ("foobar",), ("foo2", "x"), ("a%b",), ("a_b",), ("a\n",)]
    for space in spaces:
        store.put(space, "k", {"v": 1})

    def below(*prefix: str) -> set[tuple[str, ...]]:
        return {item.namespace for item in store.search(prefix, limit=100)}

    assert below() == set(spaces)
    assert below("foo") == {("foo",), ("foo", "child")}
    assert below("foobar") == {("foobar",)} and below("fo") == set() == below("a")
    assert below("a%b") == {("a%b",)} and below("a_b") == {("a_b",)}
    assert set(store.list_namespaces(prefix=["foo"])) == {("foo",), ("foo", "child")}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (None, "abc"),
        ({"by": "Ana"}, "ab"),
        ({"by": "Ana", "n": 1}, "a"),
        ({"n": {"$gt": 1}}, "bc"),
        ({"n": {"$gte": 1, "$lt": 3}}, "ab"),
        ({"n": {"$lte": 1}}, "a"),
        ({"n": {"$ne": 2}}, "ac"),
        ({"n": {"$eq": 2}}, "b"),
        ({"by": {"$gt": 1}}, ""),
        ({"at": {"port": "Faro"}}, "c"),
        ({"tags": ["x"]}, "c"),
        ({"none": 1}, ""),
    ],
)
def test_a_filter_narrows(plain: MemoryServerStore, wanted: Any, found: str) -> None:
    plain.put(PEOPLE, "a", {"by": "Ana", "n": 1, "text": "boat"})
    plain.put(PEOPLE, "b", {"by": "Ana", "n": 2, "text": "boat"})
    plain.put(PEOPLE, "c", {"by": "Bo", "n": 3, "at": {"port": "Faro"}, "tags": ["x"]})
    assert set(keys(plain.search(PEOPLE, filter=wanted))) == set(found)
    ranked = plain.search(PEOPLE, query="boat by Ana", filter=wanted)
    assert set(keys(ranked)) >= set(found) & {"a", "b"} and set(keys(ranked)) <= set(found)


def test_an_operator_that_there_is_not_is_named(plain: MemoryServerStore) -> None:
    plain.put(PEOPLE, "a", {"n": 1})
    with pytest.raises(ValueError, match=r"\$near"):
        plain.search(PEOPLE, filter={"n": {"$near": 1}})


def test_pages_do_not_overlap(store: Any) -> None:
    for number in range(5):
        store.put(PEOPLE, f"k{number}", {"text": f"test document number {number}"})
    for query in (None, "test document"):
        pages = [keys(store.search(PEOPLE, query=query, limit=2, offset=at)) for at in (0, 2, 4, 6)]
        assert [len(page) for page in pages] == [2, 2, 1, 0]
        assert len({key for page in pages for key in page}) == 5
    assert keys(store.search(PEOPLE)) == ["k4", "k3", "k2", "k1", "k0"]


def test_namespaces_are_listed(store: Any) -> None:
    spaces = ["a b c", "a b d e", "a b d i", "a b f", "a c f", "b a f", "users 1", "users 2 x"]
    assert store.list_namespaces() == []
    for space in spaces:
        store.put(tuple(space.split()), "k", {"v": 1})

    def listed(**narrow: Any) -> list[str]:
        return [" ".join(space) for space in store.list_namespaces(**narrow)]

    assert listed() == spaces
    assert listed(prefix=("a", "b")) == spaces[:4]
    assert listed(suffix=("f",)) == ["a b f", "a c f", "b a f"]
    assert listed(prefix=("a",), suffix=("f",)) == ["a b f", "a c f"]
    assert listed(prefix=("a", "*", "f")) == ["a b f", "a c f"]
    assert listed(suffix=("*", "x")) == ["users 2 x"]
    assert listed(prefix=("*", "a")) == ["b a f"] and listed(prefix=("none",)) == []
    assert listed(prefix=("a", "b"), max_depth=3) == ["a b c", "a b d", "a b f"]
    assert listed(max_depth=1) == ["a", "b", "users"]
    assert listed(limit=2, offset=1) == spaces[1:3]


@pytest.mark.parametrize("space", [(), ("a", "b.c"), ("a", ""), ("langgraph", "a"), ("a\x00",)])
def test_a_namespace_that_is_none_is_refused(store: Any, space: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(space, "k", {"v": 1})


def test_a_query_ranks_by_what_a_value_says_now(store: Any) -> None:
    store.put(PEOPLE, "zoo", {"text": "zany zebra Xerxes"})
    store.put(PEOPLE, "dog", {"text": "something about dogs"})
    first, *_ = store.search(PEOPLE, query="Zany Xerxes")
    assert first.key == "zoo" and 0.5 < first.score <= 1
    store.put(PEOPLE, "zoo", {"text": "a new text about dogs"})
    later = {item.key: item.score for item in store.search(PEOPLE, query="Zany Xerxes")}
    assert later.get("zoo", 0.0) < first.score
    assert set(keys(store.search(PEOPLE, query="dogs"))) == {"zoo", "dog"}
    assert {item.score for item in store.search(PEOPLE, query=" ")} == {None}
    assert store.search(("people", "bo"), query="dogs") == []
    for query in ("dogs " * 100, "dogs!@#$%^&*()"):
        assert len(store.search(PEOPLE, query=query)) == 2


def test_only_indexed_fields_are_found(client: Client, plain: MemoryServerStore) -> None:
    value = {"name": "quince", "note": "walrus", "list": [{"x": "mango"}]}
    some = MemoryServerStore(client, name=plain.name, index_fields=["name", "none"])
    some.put(PEOPLE, "default", value)
    some.put(PEOPLE, "paths", value, index=["note", "list[*].x"])
    some.put(PEOPLE, "never", value, index=False)

    def best(query: str) -> set[str]:
        return {item.key for item in some.search(PEOPLE, query=query) if item.score == 1}

    assert (best("quince"), best("walrus"), best("mango")) == ({"default"}, {"paths"}, {"paths"})
    assert len(some.search(PEOPLE)) == 3


@pytest.mark.parametrize("text", ["这是中文", "これは日本語です", "이건 한국어야", "यह रूसी है"])
def test_any_script_is_found(plain: MemoryServerStore, text: str) -> None:
    for other in ("这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"):
        plain.put(PEOPLE, other, {"text": other})
    assert plain.search(PEOPLE, query=text)[0].key == text


def test_names_may_be_long(store: Any) -> None:
    space, key = tuple(str(uuid.uuid4()) * 3 for _ in range(4)), "k" * 500
    store.put(space, key, {"v": 1})
    assert store.get(space, key).value == {"v": 1} and store.get(space, key[1:]) is None
    assert store.search(space[:2])[0].namespace == space
    assert store.list_namespaces(prefix=space[:3]) == [space]


def test_what_the_server_cannot_keep_is_refused(plain: MemoryServerStore) -> None:
    with pytest.raises(TooLarge, match="metadata"):
        plain.put(PEOPLE, "k", {"text": "x" * 20_000})
    with pytest.raises(NotImplementedError):
        plain.put(PEOPLE, "k", {"v": 1}, ttl=5)
    assert plain.get(PEOPLE, "k") is None


def test_stores_and_tenants_are_apart(client: Client, plain: MemoryServerStore) -> None:
    plain.put(PEOPLE, "k", {"text": "boat"})
    with Client(key=os.environ["MEMORY_STRANGER_KEY"]) as stranger:
        others = [MemoryServerStore(client, name="x"), MemoryServerStore(stranger, name=plain.name)]
        for other in others:
            assert other.get(PEOPLE, "k") is None and other.list_namespaces() == []
            assert other.search((), query="boat") == [] == other.search(())


def test_threads_that_put_one_key_do_not_fail(plain: MemoryServerStore) -> None:
    plain.put(PEOPLE, "k", {"n": -1})
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda n: plain.put(PEOPLE, "k", {"n": n}), range(12)))
    assert len(plain.search(PEOPLE)) == 1


def test_an_item_that_two_processes_put_first_is_read_and_deleted(
    client: Client, plain: MemoryServerStore
) -> None:
    plain.put(PEOPLE, "k", {"n": 1})
    (note,) = client.list_notes(tag=plain._tag(PEOPLE))
    client.add_note(
        "twin",
        source_id=note["source_id"],
        tags=note["tags"],
        metadata={**note["metadata"], "value": {"n": 2}},
    )
    item = plain.get(PEOPLE, "k")
    assert item is not None and item.value == {"n": 2}
    plain.delete(PEOPLE, "k")
    assert plain.get(PEOPLE, "k") is None
