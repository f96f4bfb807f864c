"""Error of a database that answers but must not be used."""

from django.db import OperationalError


class UnsafeDatabase(OperationalError):
    """The database would not keep tenants apart, so nothing is served from it.

    The message is for operators, and names the command that helps.
    """
