"""A file is looked through before anything is written, and then written in steps."""

from __future__ import annotations

import html
import io
import json
import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pytest_django import Settings

from episodic.models import Conversation, Message
from memoryproject.tenancy.walls import across_tenants
from semantic.curation import Act
from semantic.models import Changeset, Fact
from semantic.reverts import revert_changeset
from tests.conftest import Agent
from tests.console.transfer.peers import CHATGPT
from tests.console.transfer.test_exports import find_by_palette
from tests.console.visitors import SUPERUSER, visit_as
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from wings.console.models import ImportBatch, ImportRun
from wings.transfer import imports

pytestmark = pytest.mark.django_db
HOME = "7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11"
SCRIPT = "<script>alert(1)</script>"
CSV = f"""conversation_id,category,fact,mood
{HOME},interest,Ana plays the cello.,good
{HOME},gossip,Ana is secret.,bad
{HOME},identity,Ana lives in Porto.,
{HOME},identity,ana lives in porto,
"""


@pytest.fixture
def curator(db: None) -> Client:
    return visit_as("curator")


def upload(browser: Client, content: str | bytes, **more: str) -> Any:
    body = content.encode() if isinstance(content, str) else content
    file = SimpleUploadedFile("facts.csv", body)
    return browser.post(reverse("console:import"), {"tenant": "ana's", "file": file, **more})


def start(browser: Client, content: str | bytes, **more: str) -> ImportRun:
    answer = upload(browser, content, **more)
    assert answer.status_code == 302, answer.context["fault"]
    return ImportRun.across_tenants.order_by("-id")[0]


def go(name: str, run: ImportRun) -> str:
    return reverse(f"console:{name}", args=[run.id])


def read(browser: Client, run: ImportRun) -> str:
    answer = browser.get(go("import_run", run))
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def decide(browser: Client, run: ImportRun, **given: str) -> Any:
    return browser.post(go("import_decide", run), given)


def take_steps(browser: Client, run: ImportRun) -> list[dict[str, Any]]:
    told: list[dict[str, Any]] = []
    while not told or told[-1]["state"] == "running":
        answer = browser.post(go("import_step", run), headers={"accept": "application/json"})
        told.append(answer.json())
        assert len(told) < 20
    return told


def sentences(agent: Agent) -> list[str]:
    facts = Fact.objects.of(agent.tenant).filter(invalid_at=None)
    return sorted(facts.values_list("fact", flat=True))


def many(count: int) -> str:
    rows = [f"{HOME},interest,Ana owns boat number {n}." for n in range(count)]
    return "\n".join(["conversation_id,category,fact", *rows])


def test_a_file_is_looked_through_and_nothing_is_written(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    page = read(curator, run)
    assert (run.total, run.counts["twice"], run.counts["faulty"]) == (2, 1, 1)
    assert "Ana plays the cello." in page and "Ana is secret" not in page
    assert "`category` must be one of" in page and ">3</th>" in page
    assert "not used: mood" in page
    assert "conversation, made anew" in page
    assert not Fact.objects.of(ana.tenant).exists()
    assert not Changeset.objects.of(ana.tenant).exists()


def test_it_is_written_with_a_reason_and_a_receipt_of_what_was_done(
    curator: Client, ana: Agent
) -> None:
    run = start(curator, CSV)
    assert decide(curator, run, reason="moving house").status_code == 302
    assert not Fact.objects.of(ana.tenant).exists()
    told = take_steps(curator, run)
    assert told[-1] == {"done": 2, "total": 2, "state": "done"}
    assert sentences(ana) == ["Ana lives in Porto.", "Ana plays the cello."]
    changeset = Changeset.objects.of(ana.tenant).get()
    assert (changeset.kind, changeset.actor, changeset.reason) == (
        "import",
        "curator",
        "moving house",
    )
    page = read(curator, run)
    assert reverse("admin:semantic_changeset_change", args=[changeset.id]) in page
    assert f"{HOME}</a></td><td>2</td>" in page
    again = start(curator, CSV)
    assert (again.total, again.counts["held"]) == (0, 2)
    assert "Nothing to import" in read(curator, again)


def test_without_a_script_a_button_goes_on(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    decide(curator, run, reason="moving house")
    for _ in range(2):
        assert curator.post(go("import_step", run)).url == go("import_run", run)
    assert len(sentences(ana)) == 2 and "Done" in read(curator, run)


def test_a_script_need_not_be_there_and_nothing_is_inline(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    decide(curator, run, reason="moving house")
    text = read(curator, run)
    ours = text[text.index('class="console"') :].split("</main>")[0]
    assert "Go on" in ours
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|\son\w+=|style=", ours)


@pytest.mark.parametrize("reason", ["", "   ", "x" * 2001, "nul \x00"])
def test_no_good_reason_is_the_page_again(curator: Client, ana: Agent, reason: str) -> None:
    run = start(curator, CSV)
    answer = decide(curator, run, reason=reason)
    assert answer.status_code == 400 and "Say why" in answer.content.decode()
    run.refresh_from_db()
    assert run.state == ImportRun.State.PREVIEW


def test_it_can_be_thrown_away_but_only_before_the_decision(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    assert decide(curator, run, discard="1").url == reverse("console:import")
    assert not ImportBatch.objects.of(ana.tenant).exists()
    assert curator.get(go("import_run", run)).status_code == 404
    other = start(curator, CSV)
    decide(curator, other, reason="moving house")
    for given in ({"discard": "1"}, {"reason": "once more"}):
        assert decide(curator, other, **given).status_code == 400


@pytest.mark.gate
def test_a_run_that_was_broken_off_goes_on_where_it_was(curator: Client, ana: Agent) -> None:
    run = start(curator, many(imports.BATCH + 20))
    decide(curator, run, reason="boats")
    first = curator.post(go("import_step", run), headers={"accept": "application/json"}).json()
    assert first == {"done": imports.BATCH, "total": imports.BATCH + 20, "state": "running"}
    assert len(sentences(ana)) == imports.BATCH
    assert "You can leave this page" in read(curator, run)
    take_steps(curator, run)
    assert len(sentences(ana)) == imports.BATCH + 20
    changeset = Changeset.objects.of(ana.tenant).get()
    act = Act(tenant=ana.tenant, actor="curator", reason="too many boats")
    revert_changeset(act=act, changeset_id=changeset.id)
    assert sentences(ana) == []


def test_a_batch_that_was_written_is_kept_no_longer(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    decide(curator, run, reason="moving house")
    assert "cello" in json.dumps(ImportBatch.objects.of(ana.tenant).get().rows)
    take_steps(curator, run)
    assert ImportBatch.objects.of(ana.tenant).get().rows == []


def test_a_step_before_the_decision_writes_nothing(curator: Client, ana: Agent) -> None:
    run = start(curator, CSV)
    assert take_steps(curator, run) == [{"done": 0, "total": 2, "state": "preview"}]
    assert sentences(ana) == []


def test_jsonl_semicolons_and_tabs_are_read_too(curator: Client, ana: Agent) -> None:
    line = {"conversation_id": HOME, "category": "goal", "fact": "Ana =wants= a boat, or two."}
    for content in (
        json.dumps(line) + "\n\n",
        "\ufefffact;category;conversation_id\r\nAna wants; a boat.;goal".replace("; a", " a")
        + f";{HOME}\r\n",
        f"fact\tcategory\tconversation_id\nAna wants a boat.\tgoal\t{HOME}\n",
    ):
        assert start(curator, content).total == 1


def test_rows_that_name_no_conversation_go_into_the_one_that_was_chosen(
    curator: Client, ana: Agent
) -> None:
    plain = "fact,category\nAna sings.,interest\n"
    assert start(curator, plain).counts["faulty"] == 1
    assert start(curator, plain, conversation_id=HOME).total == 1
    assert "whole id" in upload(curator, plain, conversation_id="mine").context["fault"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b" \n \n", "empty"),
        ("fact,category\n\xe9t\xe9,goal".encode("latin-1"), "UTF-8"),
        (CSV.encode("utf-16"), "UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "UTF-8"),
        (b"PK\x03\x04 a zip\nof things\n", "no column `fact`"),
        (b"name,age\nAna,5\n", "no column `fact`. It has: age, name"),
        (b"fact,text\nAna,5\n", "no column `category`"),
        (b'{"text": "Ana"}\n', "no column `fact`"),
        (b"fact,fact,category\n", "occurs twice"),
        (b"fact,category\n", "no rows"),
        (b'[{"fact": "Ana"}]', "one object a line"),
        (b'fact,category\n"Ana sings.,goal\n', "not valid CSV"),
        (b"fact,category\n" + b"x" * 200_000 + b",goal\n", "not valid CSV"),
        (b'{"fact": "' + b"x" * 1_100_000, "longer than"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_file_is_the_form_again_with_words(
    curator: Client, ana: Agent, content: bytes, said: str
) -> None:
    answer = upload(curator, content)
    assert answer.status_code == 400
    assert said in answer.context["fault"]
    assert answer.context["fault"] in html.unescape(answer.content.decode())
    assert not ImportRun.objects.of(ana.tenant).exists()


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "5",
        '["fact"]',
        '{"fact": NaN}',
        "[" * 100_000,
        '{"a": ' * 50_000,
        '{"fact": {"is": "nested"}, "category": "goal"}',
        '{"fact": "nul \\u0000", "category": "goal"}',
        '{"fact": "half \\ud800", "category": "goal"}',
        '{"fact": "Ana.", "category": ' + "9" * 5000 + "}",
    ],
    ids=lambda line: line[:20],
)
def test_a_bad_line_is_a_fault_and_the_others_stay_good(
    curator: Client, ana: Agent, line: str
) -> None:
    good = json.dumps({"conversation_id": HOME, "category": "goal", "fact": "Ana sings."})
    run = start(curator, f"{good}\n{line}\n")
    assert (run.total, run.counts["faulty"]) == (1, 1)
    assert run.faults[0]["line"] == 2


def test_a_nul_in_a_cell_and_too_many_cells_are_faults(curator: Client, ana: Agent) -> None:
    run = start(curator, f"{CSV}{HOME},goal,nul \x00,\n{HOME},goal,one,two,three\n")
    assert [fault["line"] for fault in run.faults] == [3, 6, 7]
    assert "5 cells under 4" in run.faults[2]["said"]


def test_a_file_that_is_too_large_is_refused_in_words(
    curator: Client, ana: Agent, settings: Settings
) -> None:
    settings.MAX_UPLOAD_BYTES = 1024 * 1024
    answer = upload(curator, many(40_000))
    assert answer.status_code == 400 and "over 1 MB" in answer.context["fault"]
    settings.MAX_UPLOAD_BYTES, settings.IMPORT_ROWS_AT_MOST = 64 * 1024 * 1024, 10
    assert "more than 10 rows" in upload(curator, many(11)).context["fault"]


def test_what_a_file_says_is_escaped(curator: Client, ana: Agent) -> None:
    content = f"fact,category,conversation_id,{SCRIPT}\nAna {SCRIPT},goal,{HOME},x\n"
    run = start(curator, content)
    text = curator.get(go("import_run", run)).content.decode()
    assert SCRIPT not in text and html.escape(SCRIPT) in text
    wrong = upload(curator, f"{SCRIPT},b\n1,2\n").content.decode()
    assert SCRIPT not in wrong


@pytest.mark.parametrize(
    ("role", "status"),
    [("curator", 200), (SUPERUSER, 200), ("auditor", 403), ("operator", 403), ("", 403)],
)
def test_who_may_import(curator: Client, ana: Agent, role: str, status: int) -> None:
    run = start(curator, CSV)
    browser = curator if role == "curator" else visit_as(role)
    assert browser.get(reverse("console:import")).status_code == status
    assert browser.get(go("import_run", run)).status_code == status
    if status == 403:
        assert upload(browser, CSV).status_code == 403
        assert decide(browser, run, reason="mine").status_code == 403
        assert browser.post(go("import_step", run)).status_code == 403
    found = find_by_palette(browser, "Import")
    assert (reverse("console:import") in found) is (status == 200)


def test_addresses_that_lead_nowhere_are_404_and_looking_decides_nothing(
    curator: Client, ana: Agent
) -> None:
    run = start(curator, CSV)
    assert curator.get(f"/admin/import/{uuid.uuid4()}/").status_code == 404
    assert curator.get("/admin/import/nothing/").status_code == 404
    assert curator.get(go("import_decide", run)).status_code == 405
    assert curator.get(go("import_step", run)).status_code == 405


def test_the_list_tells_what_to_do_and_stays_at_one_tenant(
    curator: Client, ana: Agent, cleo: Agent
) -> None:
    address = reverse("console:import")
    assert "None yet" in curator.get(address, {"tenant": "ana's"}).content.decode()
    start(curator, CSV)
    assert "facts.csv" in curator.get(address, {"tenant": "ana's"}).content.decode()
    assert "facts.csv" not in curator.get(address, {"tenant": "cleo's"}).content.decode()


def test_looking_through_a_file_asks_as_much_however_many_rows_it_has(
    curator: Client, ana: Agent
) -> None:
    def count(rows: int) -> int:
        with CaptureQueriesContext(connection) as caught:
            start(curator, many(rows))
        return len(caught)

    count(5)
    assert count(400) <= count(5)


def test_the_command_tells_first_and_imports_with_a_reason(ana: Agent, tmp_path: Path) -> None:
    file, out = tmp_path / "facts.csv", io.StringIO()
    file.write_text(CSV)
    call_command("import_from", "facts", file, tenant="ana's", stdout=out)
    assert "2 facts would be new" in out.getvalue() and "line 3:" in out.getvalue()
    assert not ImportRun.objects.of(ana.tenant).exists() and sentences(ana) == []
    call_command("import_from", "facts", file, tenant="ana's", reason="moving", stdout=out)
    assert "2 facts opened" in out.getvalue() and len(sentences(ana)) == 2


def test_the_command_says_that_it_cannot_read_the_file(db: None) -> None:
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_from", "facts", Path("none.csv"), tenant="x", stdout=io.StringIO())


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_two_who_write_the_same_run_write_every_row_once(ana: Agent) -> None:
    run = imports.start_run(
        tenant=ana.tenant,
        person="curator",
        name="boats.csv",
        file=io.BytesIO(many(2 * imports.BATCH + 7).encode()),
        conversation=None,
    )
    imports.confirm_run(run, reason="boats")

    @across_tenants()
    def finish() -> int:
        try:
            return imports.finish_run(run, report=lambda done: None).done
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        done = [task.result() for task in [pool.submit(finish), pool.submit(finish)]]
    assert done == [run.total, run.total]
    run.refresh_from_db()
    assert run.opened == run.total == len(sentences(ana)) == 2 * imports.BATCH + 7
    assert Changeset.objects.of(ana.tenant).count() == 1


def test_an_export_of_another_system_is_previewed_imported_and_undone(
    ana: Agent,
) -> None:
    boss = visit_as(SUPERUSER)
    body = json.dumps(CHATGPT).encode()
    file = SimpleUploadedFile("conversations.json", body)
    named = {"tenant": "ana's", "source": "chatgpt", "user": "alice"}
    boss.post(reverse("console:import"), {**named, "file": file})
    run = ImportRun.objects.of(ana.tenant).get()
    page = read(boss, run)
    assert run.total and "What becomes of them" in page
    assert not Message.objects.of(ana.tenant).exists()
    decide(boss, run, reason="we move")
    assert take_steps(boss, run)[-1]["state"] == "done"
    assert Message.objects.of(ana.tenant).count() == run.total
    assert {home.user_id for home in Conversation.objects.of(ana.tenant)} == {"alice"}
    changeset = Changeset.objects.of(ana.tenant).get(kind="import")
    erase = reverse("console:erase_import", args=[changeset.id])
    assert erase in read(boss, run)
    page = reverse("admin:semantic_changeset_change", args=[changeset.id])
    message = Message.objects.of(ana.tenant).first()
    assert message and f"?q={message.id}" in boss.get(page).content.decode()
    done = boss.post(erase, {"reason": "a mistake", "typed": str(changeset.id)[-8:]}, follow=True)
    assert "nothing is left" in done.content.decode()
    assert not Message.objects.of(ana.tenant).exists()
    assert not Conversation.objects.of(ana.tenant).exists()


def test_a_file_that_is_no_export_of_its_source_is_refused(curator: Client, ana: Agent) -> None:
    for source, content, said in (
        ("claude", b'[{"chat_messages": [5]}]', "not an export of claude"),
        ("mem0", b"PK", "JSON"),
        ("nobody", b"[]", "no such source"),
    ):
        assert said in upload(curator, content, source=source).context["fault"]
    assert not ImportRun.objects.of(ana.tenant).exists()
