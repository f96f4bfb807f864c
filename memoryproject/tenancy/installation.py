"""Notes of an installation in its database, such as the fingerprint of its key pepper.

The notes belong to no tenant. `migrate` makes their table.
"""

from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db import connections

from memoryproject.database.clock import execute
from memoryproject.database.errors import UnsafeDatabase
from memoryproject.tenancy import secret_form
from memoryproject.tenancy.models import APIKey
from memoryproject.tenancy.postgresql.look import LOST_PEPPER, PEPPER

WRITE = """
INSERT INTO public.tenancy_installation (name, value) VALUES (%s, %s)
ON CONFLICT (name) DO UPDATE SET value = excluded.value, noted_at = now()
"""


class Noted(NamedTuple):
    value: str
    at: datetime


def find_note(name: str, *, using: str = "default") -> Noted | None:
    """Return the note of that name; None if there is none, or no table yet."""
    if execute("SELECT to_regclass('public.tenancy_installation')", using=using) == [(None,)]:
        return None
    statement = "SELECT value, noted_at FROM public.tenancy_installation WHERE name = %s"
    rows = execute(statement, [name], using=using)
    return Noted(*rows[0]) if rows else None


def write_note(name: str, value: str, *, using: str = "default") -> None:
    execute(WRITE, [name, value], using=using)


def check_pepper(*, using: str, knows_demo: bool = True) -> None:
    """Check that our key pepper is the database's, before changing anything in it.

    A database older than the fingerprint is checked by the demo's key in the data folder
    (`knows_demo`): a secret contains a check that only its own pepper can make.

    Raises:
        UnsafeDatabase: it has another pepper.
    """
    noted = find_note(PEPPER, using=using)
    if noted is not None:
        fits = noted.value == secret_form.fingerprint_pepper()
    else:
        fits = not knows_demo or not _has_keys(using) or _fits_demo()
    if not fits:
        raise UnsafeDatabase(LOST_PEPPER)


def note_pepper() -> None:
    """Store the fingerprint of our key pepper, replacing any other; only the owner may."""
    write_note(PEPPER, secret_form.fingerprint_pepper(), using="owner")


def _has_keys(using: str) -> bool:
    tables = connections[using].introspection.table_names()
    return APIKey._meta.db_table in tables and APIKey.across_tenants.using(using).exists()


def _fits_demo() -> bool:
    """Return False if the demo's key was made with another pepper than ours."""
    file = settings.DATA_DIR / "api_key"
    secret = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return not secret or secret_form.may_exist(secret)
