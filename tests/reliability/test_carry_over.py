"""A database of before keys began with the tenant is carried over: docs/operating.md says how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from tests.reliability.product import Product, web
from tests.reliability.test_backup import count_rows, run_embedded
from tests.template import copy_template

FOLDER = Path(__file__).parent / "last_landing"
DUMP = FOLDER / "memory.data"
"""Made by that version with the first of the commands below: rows in each table of ours."""
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
COMMANDS = (
    "embedded pg_dump var -Fc --data-only --exclude-table=django_migrations -f memory.data",
    'embedded psql new -c "TRUNCATE django_content_type, auth_group CASCADE"',
    "embedded pg_restore new --data-only --disable-triggers --single-transaction memory.data",
    "embedded psql new -c \"DELETE FROM django_migrations WHERE name = '0002_roles'\"",
)

WHO_READS_THE_LOG = """
    SELECT auth_group.name FROM auth_group
    JOIN auth_group_permissions AS may ON may.group_id = auth_group.id
    JOIN auth_permission AS permission ON permission.id = may.permission_id
    WHERE permission.codename = 'view_pageread'
"""
"""Newer than the dump: the last command brings it."""


@pytest.mark.gate
def test_a_database_of_the_last_landing_is_carried_over(folder: Path) -> None:
    new = Product(folder / "new", key=EXPECTED["secret"])
    copy_template(new.data_dir)
    (new.data_dir / "key_pepper").write_text(EXPECTED["pepper"])
    try:
        for command in COMMANDS[1:]:
            run_embedded(*arguments_of(command, new.data_dir))
        new.manage("migrate", "-v0")
        counts = count_rows(new)
        ours = {table: rows for table, rows in EXPECTED["rows"].items() if is_ours(table)}
        assert {table: counts[table] for table in ours} == ours
        assert all(ours.values())
        assert new.query(WHO_READS_THE_LOG) == [("auditor",)]
        check_answers(new)
    finally:
        new.stop()


def arguments_of(command: str, data_dir: Path) -> list[str | Path]:
    """Return what a command of the page passes to the tool, for a folder of this test."""
    words: list[str | Path] = [*command.split('"')[0].split()[1:], *command.split('"')[1:2]]
    places = {"new": data_dir, "memory.data": DUMP}
    return [places.get(str(word), word) for word in words]


def is_ours(table: str) -> bool:
    """Return whether rows of a table are of tenants; what is left of an allowance is not kept."""
    theirs = ("account", "auth", "axes", "django", "mfa", "socialaccount", "usersessions")
    return not table.startswith(theirs) and table != "tenancy_allowance"


def check_answers(new: Product) -> None:
    """Check that the keys open it, that it answers as before, and that it goes on."""
    with web(new.around()) as port:
        caller = new.caller(port)
        answer = caller.post("context_pre_retrieve", EXPECTED["asked"])
        assert answer.content.decode() == EXPECTED["answer"]
        stranger = Product(new.data_dir, key=EXPECTED["stranger"]).caller(port)
        assert stranger.post("context_pre_retrieve", EXPECTED["asked"]).content == b""
        talk = {"conversation_id": EXPECTED["asked"]["conversation_id"]}
        message = {"role": "user", "content": "I have a dog called Bruno now."}
        assert caller.post("add_message", {**talk, "message": message}).status == 201
        assert caller.post("flush", talk).status == 202
        new.manage("drain_jobs")
        assert caller.get(f"conversations/{talk['conversation_id']}").json()["pending"] == 0
    sizes = new.query("SELECT sum(units) FROM indexing_shelfsize")
    assert sizes == new.query("SELECT count(*) FROM indexing_searchunit WHERE invalid_at IS NULL")


def test_operating_names_the_commands_that_this_test_runs() -> None:
    page = (settings.BASE_DIR / "docs" / "operating.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert command in " ".join(page.split())
