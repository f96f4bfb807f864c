"""What is wrong with a database that answers."""

from django.db import OperationalError


class UnsafeDatabase(OperationalError):
    """It would not keep tenants apart, so nothing is served from it.

    The message is a sentence for who runs the server, with the command that helps.
    """
