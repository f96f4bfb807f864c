"""The mirror holds a page of each memory that is held, equal to its row, and of no other."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from hypothesis import given
from hypothesis import strategies as st

from episodic.models import Episode
from indexing.models import Memory, MemoryKind
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, State
from memoryproject.database.ids import make_id
from memoryproject.tenancy.walls import across_tenants
from retrieval.memory import Memory as PageMemory
from semantic.models import Fact
from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import link, write
from tests.talk import whole_talk
from wings.navigation import mirror
from wings.navigation.mirror.page import UnreadablePage, read_page, write_page

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """Mirror into a folder of the test's own."""
    settings.MIRROR_DIR = tmp_path / "mirror"
    yield tmp_path / "mirror"


def pages(folder: Path, agent: Agent) -> dict[str, str]:
    """Return a tenant's pages by their place."""
    found = (folder / str(agent.tenant.id)).rglob("*.md")
    return {str(path.relative_to(folder)): path.read_bytes().decode() for path in found}


def held(agent: Agent) -> set[uuid.UUID]:
    """Return the memories that are held, by the tables."""
    closed = Fact.objects.of(agent.tenant).exclude(invalid_at=None)
    rows = Memory.objects.of(agent.tenant).exclude(id__in=closed.values("id"))
    return set(rows.values_list("id", flat=True))


def read(folder: Path, agent: Agent, memory: Any) -> PageMemory:
    place = mirror.place_of(agent.tenant.id, uuid.UUID(str(memory)))
    return read_page((folder / place).read_bytes().decode())


def assert_equal_to_a_rebuilt_one(folder: Path, agent: Agent) -> None:
    """Check that what jobs have written is what a rebuild writes from nothing."""
    kept = pages(folder, agent)
    for path in (folder / str(agent.tenant.id)).rglob("*.md"):
        path.unlink()
    call_command("rebuild_mirror", tenant=agent.tenant.name)
    assert pages(folder, agent) == kept


def test_a_note_becomes_a_page_with_all_that_it_says(folder: Path, ana: Agent) -> None:
    other = write(ana, "Another.")
    note = write(
        ana,
        "First line.\n\n## Links\n\n- supports: x\n## Content\n\nLast line.",
        user_id="a\nb**User**: c",
        category="work",
        importance=0.95,
        emotion_type="curiosity (mild)",
        emotion_intensity=0.81,
        emotion_valence="positive",
        tags=["a, b", 'c"d'],
        occurred_at="2025-10-01T20:27:07Z",
    )
    link(ana, note, other, "supports")
    drain_jobs()
    page = read(folder, ana, note)
    assert page.content == "First line.\n\n## Links\n\n- supports: x\n## Content\n\nLast line."
    assert (page.user_id, page.category, page.importance) == ("a\nb**User**: c", "work", 0.95)
    assert page.emotion_type == "curiosity (mild)"
    assert (page.emotion_intensity, page.emotion_valence) == (0.81, "positive")
    assert page.tags == ("a, b", 'c"d')
    assert page.at == datetime(2025, 10, 1, 20, 27, 7, tzinfo=UTC)
    assert page.links == (("supports", uuid.UUID(other)),)
    assert (page.kind, page.source_type, page.conversation) == ("note", "note", None)
    assert page.label == "First line."


def test_a_page_is_found_by_day_and_time_under_the_tenants_folder(folder: Path, ana: Agent) -> None:
    note = write(ana)
    drain_jobs()
    (place,) = pages(folder, ana)
    made = mirror.made_at(uuid.UUID(note))
    day = f"{made:%Y}/{made:%m}/{made:%d}"
    assert place == f"{ana.tenant.id}/{day}/{made:%H_%M_%S}_memory_{note}.md"
    assert abs((datetime.now(UTC) - made).total_seconds()) < 60


def test_pages_of_episodes_and_facts_are_those_that_are_held(
    folder: Path, ana: Agent, told: uuid.UUID
) -> None:
    drain_jobs()
    assert {uuid.UUID(place[-39:-3]) for place in pages(folder, ana)} == held(ana)
    episode = Episode.objects.of(ana.tenant).order_by("first_seq")[0]
    page = read(folder, ana, episode.id)
    assert page.content.startswith(f"{episode.title}\n{episode.summary}\n\n")
    assert (page.conversation, page.importance) == (told, episode.surprise)
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    assert read(folder, ana, fact.id).content == fact.fact
    assert_equal_to_a_rebuilt_one(folder, ana)


def test_what_is_over_loses_its_page_and_gets_it_back(
    folder: Path, ana: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    why = {"because": "wrong", "reason": "It was said in jest."}
    drain_jobs()
    path = folder / mirror.place_of(ana.tenant.id, fact.id)
    assert path.exists()
    assert ana.post(f"facts/{fact.id}/invalidate", why).status_code == 200
    drain_jobs()
    assert not path.exists()
    restored = ana.post(f"facts/{fact.id}/restore", {"reason": "It is true after all."})
    assert restored.status_code == 200
    drain_jobs()
    assert path.exists()
    assert_equal_to_a_rebuilt_one(folder, ana)


def test_a_corrected_fact_is_replaced_by_its_new_wording(
    folder: Path, ana: Agent, told: uuid.UUID
) -> None:
    fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
    body = {"fact": "Ana keeps seven tortoises.", "reason": "So she says."}
    assert ana.post(f"facts/{fact.id}/correct", body).status_code in {200, 201}
    drain_jobs()
    texts = "\n".join(pages(folder, ana).values())
    assert "Ana keeps seven tortoises." in texts
    assert not (folder / mirror.place_of(ana.tenant.id, fact.id)).exists()
    assert_equal_to_a_rebuilt_one(folder, ana)


def test_an_undone_changeset_is_followed_and_its_return_too(
    folder: Path, ana: Agent, told: uuid.UUID
) -> None:
    drain_jobs()
    before = pages(folder, ana)
    (changeset,) = ana.get("changesets").json()["items"]
    for undone in (changeset["id"], None):
        undone = undone or ana.get("changesets").json()["items"][0]["id"]
        answer = ana.post(f"changesets/{undone}/revert", {"reason": "To see what comes."})
        assert answer.status_code in {200, 201}, answer.content
        drain_jobs()
        assert {uuid.UUID(place[-39:-3]) for place in pages(folder, ana)} == held(ana)
        assert_equal_to_a_rebuilt_one(folder, ana)
    assert pages(folder, ana) == before


def test_a_fact_that_is_said_again_becomes_more_important_on_its_page_too(
    folder: Path, ana: Agent, told: uuid.UUID
) -> None:
    body = {"conversation_id": str(told), "messages": whole_talk()}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(told)
    facts = Fact.objects.of(ana.tenant).filter(invalid_at=None)
    importances = {read(folder, ana, fact.id).importance for fact in facts}
    assert 0.6 in importances
    assert_equal_to_a_rebuilt_one(folder, ana)


def test_a_changed_and_a_deleted_note_are_followed(folder: Path, ana: Agent) -> None:
    note, gone = write(ana, "Before."), write(ana, "Gone.")
    drawn = link(ana, note, gone)
    drain_jobs()
    patch = {"version": 1, "content": "After.", "occurred_at": "2020-01-01T00:00:00Z"}
    answer = ana.client.patch(f"/api/v0/notes/{note}", patch, content_type="application/json")
    assert answer.status_code == 200
    ana.client.delete(f"/api/v0/notes/{gone}")
    drain_jobs()
    assert len(pages(folder, ana)) == 1
    assert read(folder, ana, note).content == "After."
    ana.client.delete(f"/api/v0/links/{drawn['id']}")
    drain_jobs()
    assert read(folder, ana, note).links == ()
    assert_equal_to_a_rebuilt_one(folder, ana)


def test_what_waits_is_one_job(folder: Path, ana: Agent) -> None:
    notes = [write(ana) for _ in range(3)]
    (job,) = Job.objects.of(ana.tenant).filter(kind=Kind.MIRROR)
    assert (job.state, set(job.input), job.scope) == (State.READY, set(notes), ana.tenant.id)


def test_nothing_is_mirrored_where_it_is_off(ana: Agent) -> None:
    assert settings.MIRROR_DIR is None
    write(ana)
    assert not Job.objects.of(ana.tenant).filter(kind=Kind.MIRROR).exists()
    with pytest.raises(CommandError, match="MEMORY_MIRROR_DIR"):
        call_command("rebuild_mirror")


def test_a_rebuild_removes_what_belongs_nowhere(folder: Path, ana: Agent, cleo: Agent) -> None:
    note, hers = write(ana, "Mine."), write(cleo, "Hers.")
    drain_jobs()
    before = pages(folder, ana), pages(folder, cleo)
    stray = make_id()
    mirror.store_text(ana.tenant.id, stray, "stray")
    mirror.store_text(ana.tenant.id, uuid.UUID(hers), pages(folder, cleo).popitem()[1])
    mirror.remove(ana.tenant.id, uuid.UUID(note))
    call_command("rebuild_mirror")
    assert (pages(folder, ana), pages(folder, cleo)) == before


def test_a_tenants_pages_lie_in_his_folder_alone(folder: Path, ana: Agent, cleo: Agent) -> None:
    write(ana, "Mine."), write(cleo, "Hers.")
    drain_jobs()
    mine, hers = pages(folder, ana), pages(folder, cleo)
    assert len(mine) == len(hers) == 1 and not set(mine) & set(hers)
    page = mirror.load_pages(
        tenant=ana.tenant, memory_ids=Memory.objects.of(cleo.tenant).values_list("id", flat=True)
    )
    assert page == {}


def test_pages_can_be_read_by_their_owner_only(folder: Path, ana: Agent) -> None:
    write(ana)
    drain_jobs()
    for path in (folder / str(ana.tenant.id)).rglob("*"):
        if path.name != mirror.LOCK:
            assert path.stat().st_mode & 0o077 == 0 or path.is_dir()


def test_a_folder_that_is_away_costs_time_and_nothing_else(
    folder: Path, ana: Agent, settings: Any, tmp_path: Path
) -> None:
    settings.MIRROR_DIR = tmp_path / "file"
    settings.MIRROR_DIR.write_text("in the way")
    note = write(ana)
    assert drain_jobs().dead == 0
    job = Job.objects.of(ana.tenant).get(kind=Kind.MIRROR)
    assert (job.state, job.error_class, job.transient_failures) == (
        State.READY, "FolderAway", 1,
    )  # fmt: skip
    settings.MIRROR_DIR = folder
    Job.objects.of(ana.tenant).update(run_after=job.created_at)
    drain_jobs()
    assert read(folder, ana, note).content == "A note."


def test_pages_are_nothing_that_a_conversation_waits_for(
    folder: Path, ana: Agent, conversation: uuid.UUID
) -> None:
    write(ana, conversation_id=str(conversation))
    assert Job.objects.of(ana.tenant).get(kind=Kind.MIRROR).state == State.READY
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["open_jobs"], state["waits_for"]) == (1, [])  # the note's vector


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_the_folder_reads_what_is_held_afterwards(folder: Path, ana: Agent) -> None:
    note = write(ana, "Before.")
    ids = [uuid.UUID(note)]

    @across_tenants()
    def write_page_of_it() -> None:
        mirror.mirror_memories(tenant=ana.tenant, memory_ids=ids)
        connections.close_all()

    thread = threading.Thread(target=write_page_of_it)
    with mirror.writing(ana.tenant.id):
        thread.start()
        thread.join(timeout=0.3)
        assert thread.is_alive() and pages(folder, ana) == {}
        patch = {"version": 1, "content": "After."}
        ana.client.patch(f"/api/v0/notes/{note}", patch, content_type="application/json")
    thread.join(timeout=60)
    assert read(folder, ana, note).content == "After."


def test_a_reader_never_sees_half_a_page(folder: Path) -> None:
    tenant, memory = make_id(), make_id()
    texts = [letter * 200_000 for letter in "ab"]
    mirror.store_text(tenant, memory, texts[0])
    stop = threading.Event()

    def write_on() -> None:
        while not stop.is_set():
            for text in texts:
                mirror.store_text(tenant, memory, text)

    thread = threading.Thread(target=write_on)
    thread.start()
    try:
        seen = {mirror.read_text(tenant, memory) for _ in range(300)}
        until = time.monotonic() + 60
        while len(seen) < 2 and time.monotonic() < until:
            seen.add(mirror.read_text(tenant, memory))
    finally:
        stop.set()
        thread.join()
    assert seen <= set(texts) and len(seen) == 2
    assert [path.name for path in folder.rglob("*") if path.name.startswith(".")] == []


WORDS = st.text(max_size=40)
SHARES = st.floats(0, 1)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
PAGES = st.builds(
    PageMemory,
    id=st.uuids(version=4),
    kind=st.sampled_from(MemoryKind),
    source_type=st.sampled_from(["note", "offer", "fact"]),
    source_id=WORDS,
    label=WORDS,
    content=st.text(max_size=200),
    importance=SHARES,
    at=MOMENTS,
    created_at=MOMENTS,
    conversation=st.none() | st.uuids(),
    user_id=WORDS,
    category=WORDS,
    emotion_type=WORDS,
    emotion_intensity=st.none() | SHARES,
    emotion_valence=st.sampled_from(["", "positive", "negative", "neutral", "mixed"]),
    tags=st.lists(WORDS, max_size=3).map(tuple),
    links=st.lists(st.tuples(st.sampled_from(["supports", "part_of"]), st.uuids()), max_size=3).map(
        tuple
    ),
)


@given(PAGES)
def test_a_page_is_read_back_as_it_was(page: PageMemory) -> None:
    assert read_page(write_page(page)) == page


@pytest.mark.parametrize("text", ["", "# Memory: x", "# Memory: x\n## Content\n\n\n\n## Links\n"])
def test_what_is_no_page_is_not_read(text: str) -> None:
    with pytest.raises(UnreadablePage):
        read_page(text)


@given(st.uuids(), st.uuids())
def test_no_id_leads_out_of_the_tenants_folder(tenant: uuid.UUID, memory: uuid.UUID) -> None:
    parts = mirror.place_of(tenant, memory).parts
    assert parts[0] == str(tenant) and len(parts) == 5
    assert not {"..", ".", "/"} & set(parts)
