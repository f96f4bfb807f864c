"""Pages are found by their words, the rarer the better, within one tenant's folder."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from indexing.models import MemoryKind
from memoryproject.database.ids import make_id
from memoryproject.tenancy.models import Tenant
from retrieval.memory import Memory
from wings.navigation import in_mirror, mirror, reconstruction
from wings.navigation.in_mirror import Match, search_pages
from wings.navigation.mirror.page import write_page
from wings.navigation.reconstruction import ReconstructRequest

NOW = datetime.now(UTC)
ANA, CLEO = uuid.uuid4(), uuid.uuid4()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    settings.MIRROR_DIR = tmp_path
    yield tmp_path


def store(content: str, tenant: uuid.UUID = ANA, **fields: Any) -> uuid.UUID:
    """Write a page and return its id."""
    given = {"kind": MemoryKind.NOTE, "source_type": "note", "label": "A label", **fields}
    given = {"importance": 0.5, "at": NOW, "created_at": NOW, **given}
    page = Memory(id=given.pop("id", make_id()), content=content, **given)
    mirror.store_text(tenant, page.id, write_page(page))
    return page.id


def ask(query: str, *, tenant: uuid.UUID = ANA, **filters: Any) -> tuple[list[Match], bool]:
    return search_pages(tenant_id=tenant, request=ReconstructRequest(query=query, **filters))


def best(query: str, **given: Any) -> list[Match]:
    return ask(query, **given)[0]


def found(query: str, **given: Any) -> list[uuid.UUID]:
    return [match.memory.id for match in best(query, **given)]


def test_what_holds_rarer_words_comes_first() -> None:
    common = [store(f"The bread of day {number}.") for number in range(5)]
    rare = store("The lighthouse.")
    assert found("the lighthouse")[0] == rare
    assert set(found("the lighthouse")) == {rare, *common}
    assert found("nothing in it: xyz") == []


def test_long_words_are_found_within_others_and_short_ones_are_not() -> None:
    note = store("Two lighthouses withstand it.")
    assert found("lighthouse") == [note]
    assert found("with") == [note] and found("he is") == []


def test_a_share_is_at_most_one_and_whole_where_all_words_are_held() -> None:
    whole, half = store("Bread and butter."), store("Bread alone.")
    shares = {match.memory.id: match.share for match in best("bread butter")}
    assert shares[whole] == pytest.approx(1) and 0 < shares[half] < 1


def test_equals_come_newest_first() -> None:
    notes = [store("Bread.", at=NOW - timedelta(hours=hours)) for hours in (3, 1, 2)]
    assert found("bread") == [notes[1], notes[2], notes[0]]


def test_everything_is_asked_for_by_a_star() -> None:
    notes = {store("Bread."), store("Butter.")}
    matches = best("*")
    assert {match.memory.id for match in matches} == notes
    assert {match.share for match in matches} == {0.5}


def test_capitals_accents_and_unspaced_scripts_are_read_as_by_the_index() -> None:
    cafe, chinese = store("Das CAFÉ."), store("我住在北京。")
    assert found("cafe") == [cafe]
    assert found("北京在哪里") == [chinese]


@pytest.mark.parametrize(
    "name, value, other",
    [
        ("user_id", "u1", "u2"),
        ("category", "travel", ""),
        ("emotion_valence", "positive", "negative"),
        ("conversation_id", uuid.UUID(int=1), None),
    ],
)
def test_a_filter_narrows(name: str, value: Any, other: Any) -> None:
    field = name.removesuffix("_id") if name == "conversation_id" else name
    wanted = store("Bread.", **{field: value})
    store("Bread.", **{field: other})
    assert found("bread", **{name: value}) == [wanted]


def test_times_and_importance_narrow() -> None:
    early = store("Bread.", at=NOW - timedelta(hours=30), importance=0.2)
    late = store("Bread.", at=NOW, importance=0.8)
    day = NOW - timedelta(hours=24)
    assert found("bread", since=day) == [late]
    assert found("bread", until=day) == [early]
    assert found("bread", min_importance=0.5) == [late]


def test_a_page_of_long_ago_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    old = uuid.UUID(int=(int((NOW - timedelta(days=9)).timestamp() * 1000) << 80) + 7)
    store("Bread.", id=old, at=NOW - timedelta(days=9))
    late = store("Bread.")
    assert found("bread", since=NOW - timedelta(days=1)) == [late]
    assert found("bread") == [late, old]


def test_another_tenants_pages_are_not_read() -> None:
    mine, hers = store("Bread."), store("Bread.", tenant=CLEO)
    assert found("bread") == [mine] and found("bread", tenant=CLEO) == [hers]
    assert found("bread", tenant=uuid.uuid4()) == []
    assert in_mirror.load_page(ANA, hers) is None


def test_a_link_does_not_lead_to_another_tenant() -> None:
    hers = store("Butter.", tenant=CLEO)
    mine = store("Bread.", links=(("supports", hers),))
    answer = reconstruction.reconstruct_from_mirror(
        tenant=Tenant(id=ANA, name="ana's"), request=ReconstructRequest(query="bread"), now=NOW
    )
    assert [one.memory.id for one in answer.recalled] == [mine]


def test_links_are_followed_in_rounds_without_cycles() -> None:
    ids = [make_id() for _ in range(4)]
    for place, one in enumerate(ids):
        target = ids[(place + 1) % 4]
        at = NOW if place == 0 else NOW - timedelta(days=300)
        store(f"Link {place}.", id=one, at=at, links=(("supports", target),))
    answer = reconstruction.reconstruct_from_mirror(
        tenant=Tenant(id=ANA, name="ana's"),
        request=ReconstructRequest(query="link", focus_level=3),
        now=NOW,
    )
    assert [(one.memory.id, one.depth) for one in answer.recalled] == [
        (ids[0], 0), (ids[1], 1), (ids[2], 2),
    ]  # fmt: skip
    assert answer.degraded == "mirror"


def test_what_is_no_page_is_passed_over(folder: Path) -> None:
    note = store("Bread.")
    day = (folder / mirror.place_of(ANA, note)).parent
    (day / f"00_00_00_memory_{uuid.uuid4()}.md").write_text("bread")
    (day / f"00_00_00_memory_{uuid.uuid4()}.md").write_bytes(b"\xff bread")
    (day / "bread.md").write_text("bread")
    misplaced = make_id()
    mirror.store_text(ANA, misplaced, (folder / mirror.place_of(ANA, note)).read_text())
    assert found("bread") == [note]


def test_reading_ends_in_time_and_says_so() -> None:
    for number in range(5):
        store(f"Bread {number}.")
    seconds = count()
    matches, cut = search_pages(
        tenant_id=ANA,
        request=ReconstructRequest(query="bread"),
        clock=lambda: float(next(seconds)),
    )
    assert cut and 0 < len(matches) < 5
    _, cut = ask("bread")
    assert not cut


def test_only_so_many_pages_are_read() -> None:
    notes = [store(f"Bread {number}.") for number in range(3)]
    request = ReconstructRequest(query="bread")
    matches, cut = search_pages(tenant_id=ANA, request=request, pages_at_most=2)
    assert cut and {match.memory.id for match in matches} == set(notes[1:])
