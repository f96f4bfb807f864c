"""All memory goes out as one file and comes back as it was, under any tenant."""

from __future__ import annotations

import filecmp
import io
import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from episodic.models import Conversation, Episode, Message
from indexing.models import SearchUnit
from jobs.draining import drain_jobs
from memoryproject.process.release import VERSION
from memoryproject.tenancy.services import get_or_create_tenant
from semantic import curation
from semantic.curation import Act
from semantic.models import Changeset, Evidence, Fact
from tests.conftest import Agent
from tests.console.transfer.test_exports import leave_notes
from tests.console.transfer.test_import_from import count_rows
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from wings.console.models import ExportRun

pytestmark = pytest.mark.django_db


def export(tenant: str, path: Path) -> bytes:
    call_command("export_memory", "all", str(path), tenant=tenant)
    return path.read_bytes()


def bring(path: Path, tenant: str, **options: str) -> str:
    said = io.StringIO()
    call_command("import_from", "memory", str(path), tenant=tenant, stdout=said, **options)
    return said.getvalue()


def live(agent: Agent, conversation: uuid.UUID) -> None:
    """Leave something in every table that a file has, in every state."""
    leave_notes(agent, conversation)
    facts = list(Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("id")[:3])
    act = Act(tenant=agent.tenant, actor="curator", reason="a test")
    wrong = Fact.Because.WRONG
    curation.invalidate_facts(act=act, fact_ids=[facts[0].id], because=wrong)
    correction = {"fact": "Mira owns fifty boxes of books.", "reason": "counted"}
    answer = agent.post(f"facts/{facts[1].id}/correct", correction)
    assert answer.status_code in {200, 201}, answer.content
    link = {"from_id": str(facts[1].id), "to_id": str(facts[2].id), "link_type": "supports"}
    agent.post("links", link)
    agent.say(conversation, "One more thing: 我喜欢跑步。", metadata={"a": [1, 2.5, None]})
    agent.say(uuid.uuid4(), "Somewhere else.", role="system", timestamp="2001-01-01T00:00:00Z")


def test_what_goes_out_comes_back_as_it_was(
    ana: Agent, cleo: Agent, told: uuid.UUID, tmp_path: Path
) -> None:
    live(ana, told)
    first = export("ana's", tmp_path / "first.jsonl")
    lines = [json.loads(line) for line in first.splitlines()]
    assert lines[0] == {"format": "memory-server", "version": 1, "server": VERSION}
    tables = {line["table"] for line in lines[1:]}
    assert tables == set("conversations episodes messages facts notes note_versions links".split())
    run = ExportRun.objects.of(ana.tenant).get()
    assert (run.table, run.rows) == ("all", len(lines) - 1)
    before = count_rows(cleo)
    assert "Nothing was written" in bring(tmp_path / "first.jsonl", "cleo's")
    assert count_rows(cleo) == before
    bring(tmp_path / "first.jsonl", "cleo's", reason="we move")
    assert export("cleo's", tmp_path / "second.jsonl") == first
    done = count_rows(cleo)
    assert "nothing was written" in bring(tmp_path / "first.jsonl", "cleo's", reason="again")
    assert count_rows(cleo) == done
    for tenant in ("ana's", "cleo's"):
        said = bring(tmp_path / "second.jsonl", tenant, reason="again")
        assert "nothing was written" in said
    assert Evidence.objects.of(cleo.tenant).count() > 3
    copy = Fact.objects.of(cleo.tenant).exclude(superseded_by=None).get()
    assert copy.superseded_by is not None and copy.superseded_by.tenant == cleo.tenant
    question = {"conversation_id": str(told), "query": "How many boxes does Mira own?"}
    drained = drain_jobs()
    assert (drained.later, drained.dead) == (0, 0)
    answers = [agent.post("retrieve_memory", question).content.decode() for agent in (ana, cleo)]
    # The file has no marks of corrections.
    unmarked = re.sub(
        r" \[(corrected|declared wrong) on [^\]]*\]|, corrected( on [\d-]+)?", "", answers[0]
    )
    assert sorted(unmarked.split("\n")) == sorted(answers[1].split("\n"))
    assert "boxes" in unmarked != answers[0]


def test_ids_are_kept_where_nobody_has_them_and_an_import_can_be_undone(
    ana: Agent, cleo: Agent, told: uuid.UUID, tmp_path: Path
) -> None:
    live(ana, told)
    path = tmp_path / "all.jsonl"
    first = export("ana's", path)
    kept = set(Fact.objects.of(ana.tenant).values_list("id", flat=True))
    said = set(Message.objects.of(ana.tenant).values_list("id", flat=True))
    call_command("erase", "tenant", "ana's", reason="we move")
    cleo.say(uuid.uuid4(), "I was here before.")
    before = count_rows(cleo)
    bring(path, "cleo's", reason="we have moved")
    assert set(Fact.objects.of(cleo.tenant).values_list("id", flat=True)) == kept
    assert set(Message.objects.of(cleo.tenant).values_list("id", flat=True)) > said
    drain_jobs()
    changeset = Changeset.objects.of(cleo.tenant).get(kind="import")
    call_command("erase", "import", str(changeset.id), tenant="cleo's", reason="a mistake")
    left = count_rows(cleo) - before
    assert left.pop("indexing_shelfsize", 0) <= 1  # of notes in no conversation, at zero
    assert left == {"erasure_erasure": 1, "jobs_job": 2}  # the undoing, and notes' vectors
    bring(path, "new", reason="after all")
    assert export("new", tmp_path / "again.jsonl") == first


def test_a_file_that_is_not_ours_is_refused_in_words(ana: Agent, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    header = '{"format": "memory-server", "version": 1}\n'
    for text, said in [
        ("", "first line"),
        ('{"format": "memory-server", "version": 2}\n', "first line"),
        (header + "{\n", "^line 2: This is not valid JSON"),
        (header + '{"table": "secrets"}\n', "^line 2.table: There is no table"),
        (header + '{"table": "messages", "id": "x"}\n', "^line 2.id: .* messages is not as"),
        (
            header + '{"table": "conversations", "external_id": "x"}\n',
            "^line 2.external_id: .* conversations is not as",
        ),
    ]:
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CommandError, match=said):
            bring(path, "ana's", reason="so")
    with pytest.raises(CommandError, match="cannot be read"):
        bring(tmp_path / "none.jsonl", "ana's")
    with pytest.raises(CommandError, match="no other option"):
        call_command("export_memory", "all", "-", tenant="ana's", state="held")
    assert not Conversation.objects.of(ana.tenant).exists()


def many_lines(count: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file of so many episodes, facts and notes together.

    Every third seq is missing, as if it were erased.
    """
    start = datetime(2026, 3, 2, tzinfo=UTC)
    third = range(count // 3)
    homes = [str(uuid.UUID(int=number + 1)) for number in range(10)]

    def at(number: int) -> str:
        return (start + timedelta(seconds=number)).isoformat().replace("+00:00", "Z")

    def row_id(kind: int, number: int) -> str:
        return str(uuid.UUID(int=(kind << 100) + number))

    yield {"format": "memory-server", "version": 1, "server": VERSION}
    for home in homes:
        yield {
            **{"table": "conversations", "external_id": home, "user_id": "", "agent_id": ""},
            "language": "english",
            **{"next_seq": 3 * (len(third) // 10 + 1) + 1, "window_doubled": False},
            **{"previous_summary": "A summary.", "created_at": at(0)},
        }
    for number in third:
        seq = 3 * (number // 10) + 1
        yield {
            **{"table": "episodes", "id": row_id(1, number)},
            **{"conversation_id": homes[number % 10]},
            **{"title": f"Episode {number} of a long life", "summary": f"It was day {number}."},
            **{"first_seq": seq, "last_seq": seq, "start_at": at(number)},
            **{"end_at": at(number + 1), "surprise": 0.25, "stability": 2.5, "difficulty": 5.125},
            **{"created_at": at(number), "last_reviewed_at": at(number)},
            **{"consolidated_at": at(number), "engine": "offline", "degraded": False},
        }
    for number, step in ((number, step) for number in third for step in range(2)):
        yield {
            **{"table": "messages", "id": row_id(2, 3 * number + step)},
            **{"conversation_id": homes[number % 10], "seq": 3 * (number // 10) + 1 + step},
            **{"role": "user", "name": "Mira", "content": f"Sentence {number} of step {step}."},
            **{"timestamp": at(number), "received_at": at(number)},
            "episode_id": None if step else row_id(1, number),
            "metadata": {"number": number},
            "user_id": "",
        }
    for number in third:
        over = number % 7 == 0
        yield {
            **{"table": "facts", "id": row_id(3, number), "conversation_id": homes[number % 10]},
            **{"category": "experience", "fact": f"Mira saw ship {number}.", "keywords": ["ship"]},
            **{"valid_at": at(number), "valid_until": at(number + 1) if over else None},
            **{"created_at": at(number), "invalid_at": at(number + 2) if over else None},
            "invalidated_because": "superseded" if over else "",
            "superseded_by": row_id(3, number + 1) if over and number + 1 in third else None,
            "version": 2 if over else 1,
            "user_id": "",
            "evidence": [{"episode": row_id(1, number), "messages": [3 * (number // 10) + 1]}],
        }
    for number in third:
        yield {
            **{"table": "notes", "id": row_id(4, number), "conversation_id": homes[number % 10]},
            **{"version": 1, "source_type": "note", "source_id": "", "user_id": ""},
            **{"label": f"Note {number}", "description": "", "content": f"Ship {number} is red."},
            **{"importance": 0.5, "category": "", "emotion_type": "", "emotion_intensity": None},
            **{"emotion_valence": "", "tags": ["ship"], "metadata": {}, "span_id": ""},
            **{"start_byte": None, "end_byte": None, "source_path": "", "excerpt": ""},
            **{"occurred_at": at(number), "created_at": at(number), "updated_at": at(number)},
            **{"updated_by": "ana", "deleted_at": None, "deleted_by": ""},
        }
    for number in third:
        yield {
            **{"table": "links", "from_id": row_id(4, number), "from_kind": "note"},
            **{"link_type": "relates_to", "to_id": row_id(3, number), "to_kind": "fact"},
            **{"made_by": "agent", "actor": "ana", "created_at": at(number)},
        }


@pytest.mark.gate
def test_a_thousand_memories_come_back_byte_for_byte(ana: Agent, tmp_path: Path) -> None:
    path = tmp_path / "written.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in many_lines(1_200))
    bring(path, "ana's", reason="a large file")
    export("ana's", tmp_path / "first.jsonl")
    assert filecmp.cmp(path, tmp_path / "first.jsonl", shallow=False)
    bring(tmp_path / "first.jsonl", "copy", reason="a copy")
    export("copy", tmp_path / "second.jsonl")
    assert filecmp.cmp(path, tmp_path / "second.jsonl", shallow=False)
    copy = get_or_create_tenant(name="copy")
    assert Episode.objects.of(copy).count() + Fact.objects.of(copy).count() == 800
    kinds = ("episode", "fact", "note")
    assert all(SearchUnit.objects.of(copy).filter(shelf=kind).exists() for kind in kinds)
    ids = chain(
        Fact.objects.of(copy).values_list("id"), Fact.objects.of(ana.tenant).values_list("id")
    )
    assert len(set(ids)) == 2 * 400
