"""An export of another system is previewed, imported once, and undone without a trace."""

from __future__ import annotations

import io
import json
import tracemalloc
import uuid
import zipfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from memoryproject.tenancy.models import TenantModel
from memoryproject.tenancy.quotas import ROWS, set_quota
from semantic.models import Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.console.transfer.peers import (
    ALICE,
    CHATGPT,
    CLAUDE,
    LANGMEM,
    LETTA,
    MEM0,
    TWO_USERS,
    ZEP,
    write,
)
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from wings.erasure.models import Erasure
from wings.notes.models import Note
from wings.transfer.loading import to_uuid
from wings.transfer.peer_imports import read_records

pytestmark = pytest.mark.django_db


def bring(source: str, path: Path, **options: str) -> str:
    said = io.StringIO()
    call_command("import_from", source, str(path), tenant="ana's", stdout=said, **options)
    return said.getvalue()


def count_rows(agent: Agent) -> Counter[str]:
    """Return how many rows each table of tenants has."""
    tables = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    return Counter({model._meta.db_table: model.across_tenants.count() for model in tables})


def undo(agent: Agent) -> str:
    said = io.StringIO()
    changeset = Changeset.objects.of(agent.tenant).get(kind="import", conversation=None)
    words = ["erase", "import", str(changeset.id)]
    call_command(*words, tenant="ana's", reason="a mistake", stdout=said)
    return said.getvalue()


def parts(said: str) -> dict[tuple[str, str], int]:
    """Return the table that the command prints."""
    lines = [line for line in said.splitlines() if line[14:15].strip() and line[50:].strip()]
    numbers = {(line[:14].strip(), line[14:50].strip()): line[50:].strip() for line in lines[1:]}
    return {key: int(number) for key, number in numbers.items() if number.isdigit()}


@pytest.mark.parametrize(
    ("source", "data", "expected"),
    [
        (
            "mem0",
            MEM0,
            {
                ("fact", "new"): 2,
                ("note", "new"): 1,
                ("fact", "no text"): 1,
                ("user", "alex"): 2,
                ("user", "berta"): 1,
                ("left out", "hash"): 1,
                ("left out", "updated_at"): 1,
                ("left out", "metadata.source"): 1,
            },
        ),
        (
            "zep",
            ZEP,
            {
                ("message", "new"): 24,
                ("note", "new"): 1,
                ("fact", "new"): 2,
                ("user", "nobody is named"): 27,
                ("left out", "name"): 2,
                ("left out", "source_node_uuid"): 1,
                ("left out", "target_node_uuid"): 1,
            },
        ),
    ],
)
def test_an_import_is_previewed_done_once_undone_and_leaves_no_row(
    ana: Agent, told: uuid.UUID, tmp_path: Path, source: str, data: Any, expected: Any
) -> None:
    path = write(tmp_path, f"{source}.json", data)
    before = count_rows(ana)
    said = bring(source, path)
    assert parts(said) == expected and "Nothing was written" in said
    assert count_rows(ana) == before
    assert "erase import" in bring(source, path, reason="we move")
    done = count_rows(ana)
    assert done["semantic_fact"] - before["semantic_fact"] == 2
    said = bring(source, path, reason="again")
    assert "nothing was written" in said and count_rows(ana) == done
    assert parts(said)["fact", "imported before"] == 2
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    assert count_rows(ana)["indexing_searchvector"] > done["indexing_searchvector"]
    found = ana.post("search", {"query": "cricket and shoes"})
    assert found.json()["items"]
    undo(ana)
    left = count_rows(ana) - before
    # The record of undoing it, and that people are told of what was retired.
    assert left == {"erasure_erasure": 1, "jobs_job": 1, "events_event": 1}
    assert not before - count_rows(ana)
    assert "erase import" in bring(source, path, reason="after all")
    assert count_rows(ana)["semantic_fact"] == done["semantic_fact"]


def test_what_each_source_says_becomes_messages_facts_and_notes(ana: Agent, tmp_path: Path) -> None:
    bring("letta", write(tmp_path, "agent.af", LETTA), reason="so")
    letta = Message.objects.of(ana.tenant).filter(metadata__source="letta").order_by("seq")
    said = [(one.role, one.content, one.occurred_at.second) for one in letta]
    assert said == [
        ("user", "My name is Chad.", 0),
        ("assistant", "Nice to meet you, Chad.", 5),
    ]
    note = Note.objects.of(ana.tenant).get(label="human")
    assert (note.content, note.source_id) == ("Chad likes vibe coding.", "block-0")
    flat = {**LETTA["agents"][0], "core_memory": LETTA["blocks"]}
    assert parts(bring("letta", write(tmp_path, "flat.af", flat))) == {
        ("message", "imported before"): 2,
        ("message", "no text"): 1,
        ("note", "imported before"): 1,
    }
    lines = "".join(json.dumps(item) + "\n" for item in LANGMEM)
    path = tmp_path / "store.jsonl"
    path.write_text(lines, encoding="utf-8")
    bring("langmem", path, reason="so")
    fact = Fact.objects.of(ana.tenant).get()
    assert fact.fact == "The user prefers dark mode."
    assert fact.conversation.external_id == to_uuid("langmem/memories/u1")
    assert fact.valid_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert not Evidence.objects.of(ana.tenant).exists()
    profile = Note.objects.of(ana.tenant).get(label="UserProfile")
    assert json.loads(profile.content) == {"name": "Ana", "age": 31}


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("mem0", {"structured_attributes": 2, "metadata.room": 2}),
        ("zep", {"name": 2, "episodes": 2}),
        ("langmem", {}),
    ],
)
def test_a_search_by_user_finds_what_an_import_brought_of_him(
    ana: Agent, tmp_path: Path, source: str, lost: dict[str, int]
) -> None:
    path = write(tmp_path, f"{source}.json", TWO_USERS[source])
    preview = parts(bring(source, path))
    each = 2 if source == "zep" else 1
    assert preview["user", "alice"] == preview["user", "bruno"] == each
    assert {name: count for (what, name), count in preview.items() if what == "left out"} == lost
    bring(source, path, reason="we move")
    drain_jobs()
    for user, pet, other in (("alice", "parrot", "tortoise"), ("bruno", "tortoise", "parrot")):
        query = {"query": "Who keeps which animal?", "user_id": user}
        found = ana.post("search", query).json()["items"]
        assert [pet in item["snippet"] for item in found if item["source_type"] == "fact"] == [True]
        recalled = ana.post("retrieve_memory", {**query, "scope": "user"}).content.decode()
        assert pet in recalled and other not in recalled
    fact = Fact.objects.of(ana.tenant).get(fact__contains="Kiwi")
    assert fact.valid_at == datetime(2026, 2, 26, 9, 32, 54, tzinfo=UTC)
    agents = Conversation.objects.of(ana.tenant).values_list("agent_id", flat=True)
    assert set(agents) == ({"concierge"} if source == "mem0" else {""})
    if source == "zep":
        thread = Conversation.objects.of(ana.tenant).get(external_id=to_uuid("thread-of-alice"))
        assert thread.user_id == "alice"


def test_whoever_imports_may_say_whose_it_is(ana: Agent, tmp_path: Path) -> None:
    bring("claude", write(tmp_path, "claude.json", CLAUDE), reason="so", user="ana")
    items = [
        {**TWO_USERS["langmem"][0], "namespace": ["chat", "alice", "helper", "facts"]},
        {"prefix": "chat.bruno.helper", "key": "pet", "value": {"content": "Has a tortoise."}},
        {**TWO_USERS["langmem"][0], "namespace": ["team"]},
    ]
    path = write(tmp_path, "store.json", items)
    preview = parts(bring("langmem", path, namespace="chat/{user_id}/{agent_id}"))
    assert preview["user", "nobody is named"] == 1 and preview["agent", "helper"] == 2
    bring("langmem", path, namespace="chat/{user_id}/{agent_id}", reason="so", user="the team")
    owners = Conversation.objects.of(ana.tenant).order_by("user_id")
    assert list(owners.values_list("user_id", "agent_id")) == [
        ("alice", "helper"),
        ("ana", ""),
        ("bruno", "helper"),
        ("the team", ""),
    ]


def test_facts_that_an_earlier_import_brought_for_nobody_get_their_user(
    ana: Agent, tmp_path: Path
) -> None:
    older, newer = (
        {"namespace": ["chat", "alice"], "key": key, "value": {"content": text}}
        for key, text in (("1", "Alice sings in a choir."), ("2", "Alice paints boats."))
    )
    bring("langmem", write(tmp_path, "old.json", [older]), reason="so")
    path = write(tmp_path, "new.json", [older, newer])
    bring("langmem", path, reason="so", namespace="chat/{user_id}")
    drain_jobs()
    body = {"query": "What does Alice do?", "scope": "user", "user_id": "alice"}
    recalled = ana.post("retrieve_memory", body).content.decode()
    assert "choir" in recalled and "boats" in recalled


def test_chats_are_read_from_archives_along_the_branch_that_is_shown(
    ana: Agent, tmp_path: Path
) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("user.json", "[1]")
        archive.writestr("conversations.json", json.dumps(CHATGPT))
    bring("chatgpt", path, reason="so")
    home = Conversation.objects.of(ana.tenant).get()
    rows = Message.objects.of(ana.tenant).order_by("seq")
    assert home.external_id == uuid.UUID(ALICE)
    assert [(one.role, one.content) for one in rows] == [
        ("user", "Where is the ship?"),
        ("assistant", "In the harbour of Rotterdam."),
        ("user", "Thanks."),
    ]
    assert rows[0].occurred_at.timestamp() == 1772442001.5
    assert rows[2].occurred_at == rows[1].occurred_at  # it has no time of its own
    assert rows[0].metadata == {"title": "A ship", "source": "chatgpt", "source_id": "message-a"}
    said = bring("claude", write(tmp_path, "conversations.json", CLAUDE), reason="so")
    assert parts(said) == {
        ("message", "new"): 2,
        ("user", "nobody is named"): 2,
        ("left out", "attachments"): 1,
    }
    assert rows.all().count() == 5 and Conversation.objects.of(ana.tenant).count() == 1


def test_undoing_leaves_what_others_have_added(ana: Agent, tmp_path: Path) -> None:
    path = write(tmp_path, "zep.json", ZEP)
    bring("zep", path, reason="so")
    graph = to_uuid("zep/graph")
    ana.say(uuid.UUID(ALICE), "I am here now, and I bought a blue bicycle.", name="Kendra")
    ana.say(graph, "I live in a lighthouse.", name="Kendra")
    ana.flush(uuid.UUID(ALICE))
    ana.flush(graph)
    undo(ana)
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    left = Message.objects.of(ana.tenant).order_by("content").values_list("content", flat=True)
    assert [text[:9] for text in left] == ["I am here", "I live in"]
    facts = " ".join(Fact.objects.of(ana.tenant).values_list("fact", flat=True))
    assert "Adidas" not in facts and "Puma" not in facts and "lighthouse" in facts
    assert not Note.objects.of(ana.tenant).exists()
    assert not Changeset.objects.of(ana.tenant).filter(kind="import").exists()


def test_a_fact_that_is_over_is_retired_and_its_past_can_be_asked_for(
    ana: Agent, tmp_path: Path
) -> None:
    bring("zep", write(tmp_path, "zep.json", ZEP), reason="so")
    over = Fact.objects.of(ana.tenant).get(fact="Kendra loves Adidas shoes.")
    assert over.invalid_at is not None and over.invalidated_because == Fact.Because.SUPERSEDED
    assert (over.valid_at.year, over.valid_until) == (2024, datetime(2024, 11, 2, tzinfo=UTC))
    changeset = over.changeset
    assert (changeset.engine, changeset.reason, changeset.conversation) == ("zep", "so", None)
    answer = ana.get(f"changesets/{changeset.id}")
    assert answer.status_code == 200
    notes = {change["note"] for change in answer.json()["changes"]}
    assert notes == {"imported"}
    refused = ana.post(f"changesets/{changeset.id}/revert", {"reason": "so"})
    assert refused.status_code == 409 and "scope import" in refused.json()["message"]
    done = ana.post("erasures", {"scope": "import", "id": str(changeset.id), "reason": "so"})
    assert done.status_code == 200 and done.json()["counts"]["messages"] == 24
    assert Erasure.objects.of(ana.tenant).get().state == "done"


@pytest.mark.parametrize(
    ("source", "text", "said"),
    [
        ("mem0", "{", "not valid JSON"),
        ("mem0", "[1]", r"^\[0\]: This is no object"),
        ("chatgpt", '[{"mapping": {"a": 1}, "current_node": "a"}]', r"chatgpt: see \[0\]"),
        ("claude", "", "not valid JSON"),
    ],
)
def test_a_file_of_another_form_is_refused_in_words(
    ana: Agent, tmp_path: Path, source: str, text: str, said: str
) -> None:
    path = tmp_path / "file.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CommandError, match=said):
        bring(source, path, reason="so")
    with pytest.raises(CommandError, match="cannot be read"):
        bring(source, tmp_path / "none.json")
    assert not Changeset.objects.of(ana.tenant).exists()


def test_what_cannot_be_stored_is_counted_and_a_quota_holds(ana: Agent, tmp_path: Path) -> None:
    memories = [
        {"id": "1", "memory": "Has a dog.", "user_id": "a"},
        {"id": "2", "memory": "has a dog", "user_id": "a"},
        {"id": "1", "memory": "Has a cat.", "user_id": "a"},
        {"id": "3", "memory": "Has a\0bird.", "user_id": "a"},
        {"id": "4", "memory": "x" * 70_000, "user_id": "a"},
    ]
    said = bring("mem0", write(tmp_path, "mem0.json", memories), reason="so")
    assert parts(said) == {
        ("fact", "new"): 1,
        ("fact", "twice in the file"): 2,
        ("user", "a"): 1,
        ("fact", "characters that cannot be stored"): 1,
        ("note", "longer than 64 KiB"): 1,
    }
    set_quota(ana.tenant, {ROWS: 10})
    ana.tenant.refresh_from_db()
    with pytest.raises(CommandError, match="may store"):
        bring("zep", write(tmp_path, "zep.json", ZEP), reason="so")
    assert not Message.objects.of(ana.tenant).exists()


@pytest.mark.gate
def test_a_large_file_is_never_in_memory_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(2_000):
            text = f"{number} " + "and so on " * 1_000
            message = {"uuid": str(number), "sender": "human", "text": text}
            chat = {"uuid": ALICE, "chat_messages": [message]}
            file.write(("," if number else "") + json.dumps(chat))
        file.write("]")
    assert path.stat().st_size > 20_000_000
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_records(path, source="claude")) == 2_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()
