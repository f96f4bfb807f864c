"""What is taken out is whole, bounded, on record, harmless in a spreadsheet, and comes back."""

from __future__ import annotations

import csv
import io
import json
import tracemalloc
import unicodedata
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import given as given_any
from hypothesis import strategies
from pytest_django import Settings

from episodic.models import Episode, Message
from semantic import curation
from semantic.curation import Act
from semantic.models import Evidence, Fact
from tests.conftest import Agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.notes.graphs import link, write
from tests.notes.test_writing import change
from wings.console.counting import count_capped, render_sum
from wings.console.models import ExportRun, ImportRun
from wings.transfer import exports, fact_imports, imports, row_files
from wings.transfer.export_tables import EXPORTS, FACTS
from wings.transfer.exports import ExportFilter
from wings.transfer.file_rows import parse_row

HOME = uuid.UUID("7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11")
TABLES = {"facts": Fact, "episodes": Episode, "messages": Message}
WRITTEN = {"notes", "note_versions", "links", "answers", "reveals", "instructions"}


@pytest.fixture
def curator(db: None) -> Client:
    return visit_as("curator")


def act(agent: Agent) -> Act:
    return Act(tenant=agent.tenant, actor="curator", reason="a test")


def bring_in(agent: Agent, *sentences: str, home: uuid.UUID = HOME) -> None:
    rows = [parse_row({"fact": one, "category": "goal"}, conversation=home) for one in sentences]
    fact_imports.import_rows(act=act(agent), rows=rows, vectors=[None] * len(rows))


def download(browser: Client, form: str = "jsonl", **chosen: Any) -> Any:
    asked = {"tenant": "ana's", "table": "facts", "format": form, **chosen}
    return browser.post(reverse("console:export_download"), asked)


def text_of(answer: Any) -> str:
    assert answer.status_code == 200 and answer.streaming, answer.content
    return b"".join(answer.streaming_content).decode()


def records(text: str, form: str) -> list[dict[str, Any]]:
    if form == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text[1:], newline="")))


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["csv", "jsonl"])
@pytest.mark.parametrize("table", list(TABLES))
def test_every_row_of_the_tenant_is_in_the_file_and_no_others(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID, table: str, form: str
) -> None:
    cleo.say(told, "I live in a lighthouse.")
    cleo.flush(told)
    answer = download(curator, form, table=table)
    assert f'filename="{table}-' in answer["Content-Disposition"]
    rows = records(text_of(answer), form)
    mine = TABLES[table].objects.of(ana.tenant)
    assert [row["id"] for row in rows] == [str(one.id) for one in mine.order_by("id")]
    assert {row["conversation_id"] for row in rows} == {str(told)}
    assert tuple(rows[0]) == EXPORTS[table].columns
    words = {"facts": "fact", "episodes": "summary", "messages": "content"}[table]
    assert sorted(row[words] for row in rows) == sorted(mine.values_list(words, flat=True))


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_an_export_of_facts_comes_back_as_it_was(
    curator: Client, ana: Agent, told: uuid.UUID, form: str
) -> None:
    bring_in(ana, "=SUM(A1) is what Ana likes", 'Ana said "no", twice;\nthen yes', home=told)
    text = text_of(download(curator, form, state="held"))
    kept = ("fact", "category", "keywords", "valid_at")

    def held() -> list[Any]:
        facts = Fact.objects.of(ana.tenant).filter(invalid_at=None)
        return sorted(facts.values_list(*kept))

    def supported() -> set[Any]:
        facts = Evidence.objects.of(ana.tenant).filter(fact__invalid_at=None)
        rows = facts.values_list("fact__fact", "episode_id", "message_seqs")
        return {(fact, episode, tuple(seqs)) for fact, episode, seqs in rows}

    before, why = held(), supported()
    ids = list(Fact.objects.of(ana.tenant).values_list("id", flat=True))
    curation.invalidate_facts(act=act(ana), fact_ids=ids, because=Fact.Because.SUPERSEDED)
    assert held() == []
    file = SimpleUploadedFile("facts", text.encode())
    curator.post(reverse("console:import"), {"tenant": "ana's", "file": file})
    run = ImportRun.objects.of(ana.tenant).get()
    assert (run.total, run.counts.get("faulty", 0)) == (len(before), 0), run.faults
    run = imports.confirm_run(run, reason="back again")
    imports.finish_run(run, report=lambda done: None)
    assert held() == before and len(before) > 5
    assert supported() == why and why


@pytest.mark.django_db
def test_rows_can_be_narrowed_by_conversation_state_and_day(curator: Client, ana: Agent) -> None:
    other = uuid.uuid4()
    bring_in(ana, "Ana sings.", "Ana dances.")
    bring_in(ana, "Ana plays.", home=other)
    sung = Fact.objects.of(ana.tenant).get(fact="Ana sings.")
    curation.invalidate_facts(act=act(ana), fact_ids=[sung.id], because=Fact.Because.WRONG)
    today = str(sung.created_at.date())

    def facts(**chosen: str) -> list[str]:
        return [row["fact"] for row in records(text_of(download(curator, **chosen)), "jsonl")]

    assert facts(conversation_id=str(other)) == ["Ana plays."]
    assert facts(state="closed") == ["Ana sings."]
    assert facts(state="held") == ["Ana dances.", "Ana plays."]
    assert len(facts(since=today, until=today)) == 3
    assert facts(since="2000-01-01", until="2000-01-02") == []
    assert facts(since="9999-01-01") == [] == facts(conversation_id=str(uuid.uuid4()))


@pytest.mark.django_db
def test_who_took_what_is_on_record_also_when_it_was_broken_off(
    curator: Client, ana: Agent, cleo: Agent
) -> None:
    bring_in(ana, "Ana sings.")
    text_of(download(curator, "csv", state="held"))
    run = ExportRun.objects.of(ana.tenant).get()
    assert (run.person, run.table, run.format, run.filters) == (
        "curator",
        "facts",
        "csv",
        {"state": "held"},
    )
    assert run.rows == 1 and run.finished_at is not None
    broken_off = iter(download(curator).streaming_content)
    next(broken_off)
    assert ExportRun.objects.of(ana.tenant).order_by("-id")[0].rows is None
    asked = {"tenant": "ana's"}
    page = visit_as("auditor").get(reverse("console:export"), asked).content.decode()
    assert reverse("console:import") not in page
    assert (
        reverse("console:import") in curator.get(reverse("console:export"), asked).content.decode()
    )
    assert "curator" in page and "state: held" in page and "broken off" in page
    assert not ExportRun.objects.of(cleo.tenant).exists()
    list(broken_off)  # collected as garbage it would close the connection of another request


@pytest.mark.django_db
def test_looking_at_the_page_counts_and_records_nothing(curator: Client, ana: Agent) -> None:
    page = curator.get(reverse("console:export"), {"tenant": "ana's"})
    assert "Nothing to download" in page.content.decode()
    bring_in(ana, "Ana sings.", "Ana dances.")
    page = curator.get(reverse("console:export"), {"tenant": "ana's", "state": "held"})
    assert page.context["size"] == "2"
    assert not ExportRun.objects.of(ana.tenant).exists()


@pytest.mark.django_db
def test_rows_are_counted_up_to_a_cap(ana: Agent, settings: Settings) -> None:
    bring_in(ana, *[f"Ana owns boat {n}." for n in range(30)])
    rows = FACTS.rows(ana.tenant)
    assert render_sum([count_capped(rows)]) == "30"
    settings.COUNTED_AT_MOST = 10
    assert render_sum([count_capped(rows)]) == "10+"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"conversation_id": "mine"}, "conversation_id"),
        ({"conversation_id": "\x00"}, "conversation_id"),
        ({"state": "lost"}, "state"),
        ({"since": "yesterday"}, "since"),
        ({"until": "2026-02-30"}, "until"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "until"),
    ],
)
def test_bad_input_is_the_form_again_with_words(
    curator: Client, ana: Agent, wrong: dict[str, str], field: str
) -> None:
    for answer in (
        curator.get(reverse("console:export"), {"tenant": "ana's", **wrong}),
        download(curator, **wrong),
    ):
        assert answer.status_code == 400
        assert answer.context["errors"][field][0] in answer.content.decode()
    assert not ExportRun.objects.of(ana.tenant).exists()


def find_by_palette(browser: Client, words: str) -> str:
    """Return what Ctrl+K shows."""
    answer = browser.get(reverse("console:search"), {"extended": "1", "s": words})
    return str(answer.content.decode())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("role", "tables"),
    [
        ("curator", {*WRITTEN, "facts", "episodes", "messages"}),
        (SUPERUSER, {*WRITTEN, "facts", "episodes", "messages", "reads"}),
        ("auditor", {*WRITTEN, "facts", "reads"}),
        ("operator", set()),
        ("", set()),
    ],
)
def test_who_may_take_out_what(ana: Agent, told: uuid.UUID, role: str, tables: set[str]) -> None:
    browser = visit_as(role)
    page = browser.get(reverse("console:export"))
    assert page.status_code == (200 if tables else 403)
    if tables:
        assert {one.name for one in page.context["tables"]} == tables
    for table in EXPORTS:
        answer = download(browser, table=table)
        assert answer.status_code == (200 if table in tables else 403)
        seen = browser.get(reverse("console:export"), {"table": table})
        assert seen.status_code == (200 if table in tables else 403)
        assert answer.streaming is (table in tables)
    assert (reverse("console:export") in find_by_palette(browser, "Export")) is bool(tables)


@pytest.mark.django_db
def test_a_download_is_posted_and_never_of_an_unknown_form(curator: Client, ana: Agent) -> None:
    assert curator.get(reverse("console:export_download")).status_code == 405
    assert not download(curator, "xlsx").streaming
    assert not ExportRun.objects.of(ana.tenant).exists()


DANGEROUS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1",
             "＝1+1", "＋1", "－1", "＠SUM(A1)", " =1", "\n=1", "\u00a0\u3000=1", "\u200b=1",
             "\ufeff+1", "\u2212" + "1"]  # fmt: skip


@pytest.mark.django_db
def test_no_cell_is_a_formula(curator: Client, ana: Agent, conversation: uuid.UUID) -> None:
    for content in DANGEROUS:
        ana.say(conversation, content, name=content.strip())
    rows = records(text_of(download(curator, "csv", table="messages")), "csv")
    for row, content in zip(rows, DANGEROUS, strict=True):
        assert row["content"] == f"'{content}"
        assert not any(cell.startswith(("=", "+", "-", "@", "\t", "\r")) for cell in row.values())


@given_any(strategies.text(alphabet="'=+-@＝＋－＠ \u3000\u200b\t\rab,\"\n", max_size=8))
def test_a_cell_is_defused_and_comes_back_as_it_was(cell: str) -> None:
    safe = row_files.defuse(cell)
    seen = safe.lstrip(" \u3000\u200b\t\r\n")
    assert not unicodedata.normalize("NFKC", seen).startswith(("=", "+", "-", "@"))
    assert row_files.restore(safe) == cell


@given_any(
    strategies.lists(
        strategies.tuples(
            strategies.text(alphabet=strategies.characters(exclude_categories=["Cs"])),
            strategies.text(alphabet="=+;,'\" \n\t", min_size=1),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_written_as_csv_is_read_as_it_was(rows: list[tuple[str, str]]) -> None:
    given = [{"a": a.replace("\x00", ""), "b": f"b{b}"} for a, b in rows]
    columns = ("a", "b")
    text = row_files.render_header(columns, form="csv")
    text += row_files.render_rows(given, columns, form="csv")
    read = [line.row for line in row_files.read_rows(io.BytesIO(text.encode()))]
    assert read == given


@pytest.mark.gate
@pytest.mark.django_db
def test_memory_and_queries_stay_bounded(ana: Agent, settings: Settings) -> None:
    settings.EXPORT_CHUNK = 100
    filler = "and so on " * 60
    for start in range(0, 2_000, 500):
        bring_in(ana, *[f"Ana owns boat {n} {filler}" for n in range(start, start + 500)])

    def peak_of(pieces: Iterator[str]) -> int:
        tracemalloc.start()
        try:
            assert sum(len(piece) for piece in pieces) > 1_000_000
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    filters = ExportFilter({}, export=FACTS, tenant=ana.tenant)
    assert filters.is_valid()
    pieces = exports.start_export(filters, form="csv", person="me")
    with CaptureQueriesContext(connection) as caught:
        assert peak_of(pieces) < 1_500_000
    assert len(caught) <= 2 * 2_000 / 100 + 5  # a page, and what its rows stand for


@pytest.mark.django_db
def test_the_command_writes_the_same_file(ana: Agent, told: uuid.UUID, tmp_path: Path) -> None:
    out = io.StringIO()
    call_command("export_memory", "facts", "-", tenant="ana's", stdout=out)
    lines = records(out.getvalue(), "jsonl")
    assert len(lines) == Fact.objects.of(ana.tenant).count() > 3
    file = tmp_path / "episodes.csv"
    call_command("export_memory", "episodes", str(file), tenant="ana's", conversation=str(told))
    rows = records(file.read_text(encoding="utf-8"), "csv")
    assert len(rows) == Episode.objects.of(ana.tenant).count()
    assert {run.person for run in ExportRun.objects.of(ana.tenant)} == {"manage.py"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong", [{"tenant": "nobody"}, {"state": "lost"}, {"since": "soon"}, {"path": "/none/x.csv"}]
)
def test_the_command_says_what_is_wrong(ana: Agent, wrong: dict[str, str]) -> None:
    options = {"tenant": "ana's", **wrong}
    with pytest.raises(CommandError):
        call_command("export_memory", "facts", options.pop("path", "-"), **options)


def leave_notes(agent: Agent, conversation: uuid.UUID) -> tuple[str, str, str]:
    """Write two notes of which the first is changed, link them, and delete a third."""
    first = write(agent, "=SUM(A1) is one", tags=["a", "b"], conversation_id=str(conversation))
    second = write(agent, "Two.", importance=0.25, metadata={"k": [1]})
    gone = write(agent, "Three.")
    change(agent, first, version=1, content="One is more")
    link(agent, first, second, "supports")
    agent.client.delete(f"/api/v0/notes/{gone}")
    return first, second, gone


@pytest.mark.django_db
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_notes_their_versions_and_links_are_in_files_of_their_own(
    curator: Client, ana: Agent, cleo: Agent, conversation: uuid.UUID, form: str
) -> None:
    first, second, gone = leave_notes(ana, conversation)
    leave_notes(cleo, conversation)

    def rows_of(table: str, **chosen: Any) -> list[dict[str, Any]]:
        rows = records(text_of(download(curator, form, table=table, **chosen)), form)
        assert all(tuple(row) == EXPORTS[table].columns for row in rows)
        return rows

    notes = rows_of("notes")
    assert [row["id"] for row in notes] == [first, second, gone]
    assert [row["content"] for row in notes] == ["One is more", "Two.", "Three."]
    assert [bool(row["deleted_at"]) for row in notes] == [False, False, True]
    assert notes[0]["tags"] == ("a; b" if form == "csv" else ["a", "b"])
    assert [row["id"] for row in rows_of("notes", state="held")] == [first, second]
    assert [row["id"] for row in rows_of("notes", conversation_id=conversation)] == [first]
    (earlier,) = rows_of("note_versions", conversation_id=conversation)
    assert (earlier["note_id"], str(earlier["version"])) == (first, "1")
    assert earlier["content"] == ("'" if form == "csv" else "") + "=SUM(A1) is one"
    (drawn,) = rows_of("links")
    assert (drawn["from_id"], drawn["link_type"], drawn["to_id"]) == (first, "supports", second)
    assert rows_of("links", state="by people") == []


@pytest.mark.django_db
def test_links_cannot_be_narrowed_to_a_conversation(curator: Client, ana: Agent) -> None:
    answer = download(curator, table="links", conversation_id=HOME)
    assert answer.status_code == 400
    assert "belong to no conversation" in answer.content.decode()


@pytest.mark.django_db
def test_the_command_writes_notes(ana: Agent, conversation: uuid.UUID, tmp_path: Path) -> None:
    first, second, _ = leave_notes(ana, conversation)
    file = tmp_path / "notes.jsonl"
    call_command("export_memory", "notes", str(file), tenant="ana's", state="held")
    assert [row["id"] for row in records(file.read_text("utf-8"), "jsonl")] == [first, second]
