"""The one clock that all machines share."""

from datetime import datetime

from django.db import connection


def read_database_clock() -> datetime:
    """Return the time by the database, which also goes on within a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now: datetime = cursor.fetchone()[0]
    return now
