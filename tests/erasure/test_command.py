"""Erasing from the command line."""

from __future__ import annotations

import io
import uuid

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.walls import across_tenants
from tests.conftest import Agent
from tests.erasure.lives import CANARY, digest, memories
from tests.erasure.test_columns import COLUMNS
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from wings.erasure.models import Erasure

pytestmark = pytest.mark.django_db


def erase(*words: str, **options: object) -> str:
    said = io.StringIO()
    with across_tenants():
        call_command("erase", *words, stdout=said, **options)
    return said.getvalue()


def test_a_dry_run_says_how_much_it_would_be(ana: Agent, told: uuid.UUID) -> None:
    before = digest(ana.tenant)
    said = erase("conversation", str(told), tenant="ana's", dry_run=True)
    assert said.startswith("Would be erased: ") and "16 messages" in said
    assert digest(ana.tenant) == before


def test_a_conversation_is_erased(ana: Agent, told: uuid.UUID) -> None:
    said = erase("conversation", str(told), tenant="ana's", reason="asked for")
    assert said.startswith("Erased: ") and "16 messages" in said
    assert memories(ana) == 0
    erasure = Erasure.objects.of(ana.tenant).get()
    assert (erasure.state, erasure.reason) == ("done", "asked for")
    assert erasure.actor.startswith("command, ")


def test_a_tenant_is_erased_by_its_name(ana: Agent, cleo: Agent, told: uuid.UUID) -> None:
    assert "1 keys" in erase("tenant", "ana's", reason="they have left")
    assert list(Tenant.objects.values_list("name", flat=True)) == ["cleo's"]


@pytest.mark.parametrize(
    ("words", "options", "said"),
    [
        (["note", str(uuid.uuid4())], {"reason": "so"}, "--tenant"),
        (["note", str(uuid.uuid4())], {"reason": "so", "tenant": "nobody's"}, "nobody's"),
        (["note", str(uuid.uuid4())], {"reason": "so", "tenant": "ana's"}, "no such note"),
        (["note", "x"], {"reason": "so", "tenant": "ana's"}, "UUID"),
        (["tenant", "nobody's"], {"reason": "so"}, "nobody's"),
        (["tenant", "ana's"], {}, "--reason"),
    ],
)
def test_what_is_wrong_is_said(
    ana: Agent, words: list[str], options: dict[str, str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        erase(*words, **options)
    assert Tenant.objects.filter(name="ana's").exists()


@pytest.mark.gate
@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize("how", ["free", "rewrite"])
def test_the_tables_can_be_vacuumed(ana: Agent, how: str) -> None:
    note = ana.post("notes", {"content": "Mira likes canals."}).json()["id"]
    assert "tables vacuumed" in erase("note", note, tenant="ana's", reason="so", vacuum=how)


@pytest.mark.gate
@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize("how", ["free", "rewrite"])
def test_a_vacuum_leaves_none_of_its_words_in_the_planners_statistics(ana: Agent, how: str) -> None:
    notes = [ana.post("notes", {"content": text}).json()["id"] for text in (CANARY, "a", "b")]
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE notes_note")
    assert CANARY in sampled()
    erase("note", notes[0], tenant="ana's", reason="so", vacuum=how)
    assert CANARY not in sampled()


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_a_vacuum_rewrites_every_table_that_words_are_erased_from(ana: Agent) -> None:
    note = ana.post("notes", {"content": "Mira likes canals."}).json()["id"]
    before = files()
    erase("note", note, tenant="ana's", reason="so", vacuum="rewrite")
    after = files()
    assert {table for table in COLUMNS if before[table] == after[table]} == {
        "django_migrations",
        "tenancy_installation",
    }


def sampled() -> str:
    """Return what the planner has kept of the values of notes."""
    address = embedded.locate(settings.DATA_DIR).address
    # The owner, whom policies bind, is not shown what was sampled.
    with connect_as_superuser(address, database=connections["owner"].settings_dict["NAME"]) as boss:
        row = boss.execute(
            "SELECT string_agg(concat(most_common_vals, histogram_bounds), '') FROM pg_stats"
            " WHERE tablename = 'notes_note'"
        ).fetchone()
    assert row is not None
    return str(row[0])


def files() -> dict[str, int]:
    """Return the file of each table."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT relname, relfilenode FROM pg_class WHERE relkind = 'r'")
        return dict(cursor.fetchall())
