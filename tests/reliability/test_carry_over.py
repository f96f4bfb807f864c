"""A data folder of an earlier version is carried over by `migrate` itself, and kept as it was."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memoryproject import embedded
from memoryproject.embedded import databases
from memoryproject.embedded.bootstrap import superuser_conninfo
from tests.reliability.product import MANAGE, PATIENCE_S, Product, web
from tests.reliability.test_backup import count_rows
from tests.template import copy_template
from wings.operations.archive import dumps, files

FOLDER = Path(__file__).parent / "last_landing"
DUMP = FOLDER / "memory.dump.gz"
"""Made by a version whose migrations have been written anew since: rows in each table of ours."""
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))

WHO_READS_THE_LOG = """
    SELECT auth_group.name FROM auth_group
    JOIN auth_group_permissions AS may ON may.group_id = auth_group.id
    JOIN auth_permission AS permission ON permission.id = may.permission_id
    WHERE permission.codename = 'view_pageread'
"""
"""Newer than the dump: the roles get it, too."""
STORED = """
    SELECT (SELECT count(*) FROM episodic_message) + (SELECT count(*) FROM notes_note)
        + (SELECT count(*) FROM notes_noteversion)
"""


@contextmanager
def earlier_version(folder: Path) -> Iterator[Product]:
    """Yield a data folder as that version left it; its database runs."""
    product = Product(folder, key=EXPECTED["secret"])
    copy_template(folder)
    (folder / "key_pepper").write_text(EXPECTED["pepper"])
    address = product.start()
    try:
        databases.create(address, embedded.DATABASE)
        conninfo = superuser_conninfo(address, database=embedded.DATABASE)
        dumps.restore(conninfo, [gzip.decompress(DUMP.read_bytes())])
        with product.connect() as connection:  # as after an erasure that counted what it had not
            connection.execute("DELETE FROM tenancy_storedsize")
            connection.execute(
                "INSERT INTO tenancy_storedsize (id, tenant_id, row_count, byte_count)"
                " SELECT gen_random_uuid(), id, -9, -636 FROM tenancy_tenant"
            )
        yield product
    finally:
        product.stop()


@pytest.mark.gate
def test_two_starts_at_once_carry_an_earlier_version_over(folder: Path) -> None:
    with earlier_version(folder / "old") as product:
        starts = [
            subprocess.Popen([*MANAGE, "migrate", "-v0"], env=product.around()) for _ in range(2)
        ]
        assert [start.wait(timeout=PATIENCE_S * 4) for start in starts] == [0, 0]
        counts = count_rows(product)
        ours = {table: rows for table, rows in EXPECTED["rows"].items() if is_ours(table)}
        assert {table: counts[table] for table in ours} == ours
        assert all(ours.values())
        assert product.query(WHO_READS_THE_LOG) == [("auditor",)]
        check_stored(product)
        (kept,) = databases.list_kept(embedded.locate(product.data_dir).address)
        check_answers(product)
        product.manage("kept_databases", "--use", kept.name)
        assert product.query("SELECT count(*) FROM episodic_message") == [
            (EXPECTED["rows"]["episodic_message"],)
        ]
        assert product.query("SELECT DISTINCT byte_count FROM tenancy_storedsize") == [(-636,)]


@pytest.mark.bench
def test_a_backup_of_an_earlier_version_is_restored(folder: Path) -> None:
    path = folder / "old.backup"
    secrets = {"secret_key": "0123456789abcdef" * 4, "key_pepper": EXPECTED["pepper"]}
    dump = [gzip.decompress(DUMP.read_bytes())]
    files.write_backup(path, dump=dump, secrets=secrets, passphrase="", notes={"embedded": True})
    new = Product(folder / "new", key=EXPECTED["secret"])
    try:
        new.manage("restore", str(path))
        check_stored(new)
        check_answers(new)
        assert databases.list_kept(embedded.locate(new.data_dir).address) == []
    finally:
        new.stop()


def is_ours(table: str) -> bool:
    """Return whether rows of a table are of tenants, and carried over as they are."""
    theirs = ("account", "auth", "axes", "django", "mfa", "socialaccount", "usersessions")
    counted_anew = ("tenancy_allowance", "tenancy_storedsize")
    return not table.startswith(theirs) and table not in counted_anew


def check_stored(product: Product) -> None:
    """Check that what is stored was counted anew, and that a quota holds."""
    assert product.query("SELECT sum(row_count) FROM tenancy_storedsize") == product.query(STORED)
    with web(product.around()) as port:
        caller = product.caller(port)
        stored = caller.get("usage").json()["stored"]
        assert stored["rows"] > 0 and stored["bytes"] > 0
        (tenant,) = product.query(
            "SELECT name FROM tenancy_tenant WHERE id = (SELECT tenant_id FROM episodic_message"
            " LIMIT 1)"
        )[0]
        product.manage("tenant", tenant, "--stored-rows", str(stored["rows"]))
        talk = {"conversation_id": EXPECTED["asked"]["conversation_id"]}
        message = {"role": "user", "content": "One more."}
        assert caller.post("add_message", {**talk, "message": message}).status == 413
        product.manage("tenant", tenant, "--stored-rows", "default")


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
        new.manage("worker", "--drain")
        assert caller.get(f"conversations/{talk['conversation_id']}").json()["pending"] == 0
    sizes = new.query("SELECT sum(units) FROM indexing_shelfsize WHERE user_scope IS NULL")
    assert sizes == new.query("SELECT count(*) FROM indexing_searchunit WHERE invalid_at IS NULL")
