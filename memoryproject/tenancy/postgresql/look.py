"""Looks whether the database would keep tenants apart for who serves."""

from pathlib import Path

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from psycopg.errors import InsufficientPrivilege, InvalidParameterValue

from memoryproject.database.errors import UnsafeDatabase

LOOK = Path(__file__).parents[1].joinpath("sql", "walls.sql").read_text(encoding="utf-8")


def check_walls(connection: BaseDatabaseWrapper) -> None:
    """Raise UnsafeDatabase where policies do not hold who serves by the connection.

    Tables that are not there yet are for `migrate` to make, with their policies.
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
