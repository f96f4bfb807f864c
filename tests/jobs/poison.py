"""A message that no run gets past, since the database refuses what is made from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import connection

POISON = "POISON"


@contextmanager
def poisoned(table: str, column: str) -> Iterator[None]:
    """Let every write fail that leaves POISON in a search unit of such a row.

    A real failure of the commit, as a value is that the database refuses.
    """
    place = connection.settings_dict
    where = {"host": place["HOST"], "port": place["PORT"], "dbname": place["NAME"]}
    with psycopg.connect(user="memory_owner", autocommit=True, **where) as owner:
        owner.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT no_poison"
            f" CHECK ({column} NOT LIKE '%{POISON.lower()}%') NOT VALID"
        )
        yield
        owner.execute(f"ALTER TABLE {table} DROP CONSTRAINT no_poison")
