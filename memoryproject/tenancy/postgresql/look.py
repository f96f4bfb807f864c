"""Checks that the database keeps tenants apart for the serving role, and is this server's."""

from pathlib import Path

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import InsufficientPrivilege, InvalidParameterValue, UndefinedTable

from memoryproject.database.errors import UnsafeDatabase
from memoryproject.tenancy.secret_form import fingerprint_pepper

PEPPER = "key pepper"
"""Name of the note with the pepper's fingerprint."""
FIND_PEPPER = "SELECT value FROM public.tenancy_installation WHERE name = %s"
LOST_PEPPER = (
    "MEMORY_KEY_PEPPER, or the file key_pepper in the data folder, is not the secret under which"
    " the keys in this database were made; a file that was missing has been made anew. Put the"
    " former one back from a backup; where it is lost for good, manage.py migrate --accept-pepper"
    " goes on with this one, and all API keys, webhook secrets and second factors so far are void."
)
LOOK = Path(__file__).parents[1].joinpath("sql", "walls.sql").read_text(encoding="utf-8")


def check_walls(connection: BaseDatabaseWrapper) -> None:
    """Raise UnsafeDatabase if policies do not apply to the connection's role.

    Missing tables are ignored: `migrate` makes them, with their policies.
    """
    role = connection.settings_dict["ROLE"]
    try:
        with connection.cursor() as cursor:
            cursor.execute(LOOK)
            user, is_super, bypasses, owned, open_table = cursor.fetchone()
    except DatabaseError as error:
        if not isinstance(error.__cause__, (InsufficientPrivilege, InvalidParameterValue)):
            raise
        raise UnsafeDatabase(
            f"The login cannot act as the role {role}: run manage.py migrate, and as the owner "
            f"of the role GRANT {role} TO the login of DATABASE_URL."
        ) from error
    faults = {
        f"Statements run as {user} and not as {role}: what stands between the server and the "
        "database must pass SET LOCAL on.": user != role,
        f"The role {role} is a superuser, whom no policy binds: ALTER ROLE {role} NOSUPERUSER.":
            is_super,
        f"The role {role} bypasses policies: ALTER ROLE {role} NOBYPASSRLS.": bypasses,
        f"The role {role} owns the table {owned}, or is a member of its owner, and could take "
        "its policy away: give the tables to another role.": owned,
        f"The table {open_table} shows rows of all tenants, since its policy is not forced: "
        "run manage.py migrate, or ALTER TABLE … ENABLE and FORCE ROW LEVEL SECURITY.": open_table,
    }  # fmt: skip
    for sentence, is_so in faults.items():
        if is_so:
            raise UnsafeDatabase(sentence)


def check_pepper(connection: BaseDatabaseWrapper) -> None:
    """Raise UnsafeDatabase if the database has another key pepper than ours.

    Otherwise every key would be unknown, without an explanation. A database without one gets ours
    from `migrate`.
    """
    with connection.cursor() as cursor:
        try:
            cursor.execute(FIND_PEPPER, [PEPPER])
        except DatabaseError as error:
            if isinstance(error.__cause__, UndefinedTable):
                return
            raise
        if any(value != fingerprint_pepper() for (value,) in cursor.fetchall()):
            raise UnsafeDatabase(LOST_PEPPER)
