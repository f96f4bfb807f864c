"""The data folder: an embedded server with a full database and one a hundred times smaller."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from django.apps import apps
from django.conf import settings
from django.db import connections
from psycopg import sql

from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from memoryproject.tenancy.models import TenantModel

FULL = embedded.DATABASE
SMALL = "memory_small"
MARK = "benchmark.json"
"""Says what the folder holds; without it a folder that is in use is not ours to touch."""


Connection = psycopg.Connection[tuple[Any, ...]]


class NotOurs(Exception):
    """The data folder holds a database that no benchmark has made."""


def read_mark(data_dir: Path) -> dict[str, Any] | None:
    """Return what an earlier run wrote down when its load was complete, if it was.

    Raises:
        NotOurs: there is a database, and no mark at all.
    """
    mark = data_dir / MARK
    if not mark.exists():
        if os.path.lexists(embedded.locate(data_dir).link):
            raise NotOurs(f"{data_dir} holds a database that is no benchmark's: choose another.")
        return None
    found: dict[str, Any] | None = json.loads(mark.read_text(encoding="utf-8") or "null")
    return found


def write_mark(data_dir: Path, mark: dict[str, Any] | None) -> None:
    """Write down what the folder holds; None: something unfinished of ours."""
    descriptor = os.open(data_dir / MARK, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(mark, file)


def remove(data_dir: Path) -> None:
    """Stop the server and delete its files; secrets, which the settings know by now, stay."""
    embedded.stop(data_dir)
    paths = embedded.locate(data_dir)
    shutil.rmtree(paths.home, ignore_errors=True)
    if paths.link.is_symlink():
        paths.link.unlink()
    (data_dir / MARK).unlink(missing_ok=True)


@contextmanager
def superuser(database: str) -> Iterator[Connection]:
    """Connect past the product: to load, to clean up, to look at sizes."""
    address = embedded.locate(settings.DATA_DIR).address
    with connect_as_superuser(address, database=database) as connection:
        yield connection


def conninfo(database: str) -> str:
    """Return how the serving role reaches a database, and the rows of all tenants in it."""
    address = embedded.locate(settings.DATA_DIR).address
    local = {**settings.DATABASES["default"]["LOCAL"], "memory.tenant": "*"}
    return psycopg.conninfo.make_conninfo(
        host=address.host,
        port=address.port,
        dbname=database,
        user=embedded.APP_ROLE,
        options=" ".join(f"-c {name}={value}" for name, value in local.items()),
    )


def connect(conninfo: str) -> Connection:
    """Connect as the product does: values are written into the statement, which is planned anew."""
    return psycopg.connect(
        conninfo, autocommit=True, cursor_factory=psycopg.ClientCursor, prepare_threshold=None
    )


def environment(database: str) -> dict[str, str]:
    """Return the environment in which the product's own commands use a database."""
    limits = ("KEY_RATE", "TENANT_RATE", "TENANT_BYTE_RATE")
    unlimited = {f"MEMORY_{name}": "0" for name in limits} | {"MEMORY_WEB_THREADS": "64"}
    own = {**os.environ, "MEMORY_LOG_LEVEL": "WARNING", **unlimited}
    if database == FULL:
        return own
    address = embedded.locate(settings.DATA_DIR).address
    place = f"host={quote(address.host, safe='')}&port={address.port}"
    return {**own, "DATABASE_URL": f"postgresql://{embedded.OWNER_ROLE}@/{database}?{place}"}


def migrate(database: str) -> None:
    """Run the product's own `manage.py migrate` on a database."""
    subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "--verbosity=0"],
        env=environment(database),
        check=True,
    )


def close_connections() -> None:
    """Close Django's own: a database that somebody uses cannot be copied."""
    connections.close_all()


def make_small() -> None:
    """Make the small database, a copy of the full one before anything is loaded."""
    with superuser("postgres") as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
                sql.Identifier(SMALL), sql.Identifier(FULL), sql.Identifier(embedded.OWNER_ROLE)
            )
        )


def forget_tenant(connection: Connection, name: str) -> None:
    """Delete all that a tenant owns and every wake-up: what a measurement of writes leaves.

    Triggers and foreign keys rest meanwhile, so no order among the tables is needed.
    """
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        for model in apps.get_models():
            if issubclass(model, TenantModel):
                connection.execute(
                    sql.SQL(
                        "DELETE FROM {} WHERE tenant_id IN"
                        " (SELECT id FROM tenancy_tenant WHERE name = %s)"
                    ).format(sql.Identifier(model._meta.db_table)),
                    [name],
                )
        connection.execute("DELETE FROM tenancy_tenant WHERE name = %s", [name])
        connection.execute("DELETE FROM django_q_ormq")
