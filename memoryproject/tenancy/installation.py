"""What an installation has noted about itself in the database: its key pepper, its last count.

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
    """Return what was noted under a name; None: nothing, or there is no table for it yet."""
    if execute("SELECT to_regclass('public.tenancy_installation')", using=using) == [(None,)]:
        return None
    statement = "SELECT value, noted_at FROM public.tenancy_installation WHERE name = %s"
    rows = execute(statement, [name], using=using)
    return Noted(*rows[0]) if rows else None


def write_note(name: str, value: str, *, using: str = "default") -> None:
    execute(WRITE, [name, value], using=using)


def check_pepper(*, using: str, knows_demo: bool = True) -> None:
    """Check that the key pepper is the one of the database, before anything in it is changed.

    A database of before the fingerprint tells by the key of the demo, which stands in the
    data folder (`knows_demo`): what is in a secret of ours only its pepper can write.

    Raises:
        UnsafeDatabase: it is another one.
    """
    noted = find_note(PEPPER, using=using)
    if noted is not None:
        fits = noted.value == secret_form.fingerprint_pepper()
    else:
        fits = not knows_demo or not _has_keys(using) or _fits_demo()
    if not fits:
        raise UnsafeDatabase(LOST_PEPPER)


def note_pepper() -> None:
    """Note the fingerprint of our key pepper, whatever was noted so far; the owner may."""
    write_note(PEPPER, secret_form.fingerprint_pepper(), using="owner")


def _has_keys(using: str) -> bool:
    tables = connections[using].introspection.table_names()
    return APIKey._meta.db_table in tables and APIKey.across_tenants.using(using).exists()


def _fits_demo() -> bool:
    """Return False where the demo's key was made under another pepper than ours."""
    file = settings.DATA_DIR / "api_key"
    secret = file.read_text(encoding="utf-8").strip() if file.exists() else ""
    return not secret or secret_form.may_exist(secret)
