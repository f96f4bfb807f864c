"""System checks of sign-in, old settings, the database's log, and replicas."""

import math
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, connections

from memoryproject.database.clock import execute
from memoryproject.database.errors import UnsafeDatabase
from memoryproject.edge import replicas

LOOPBACK = ("localhost", "127.0.0.1", "::1")


@register(Tags.security)
def check_provider(**options: Any) -> list[CheckMessage]:
    """Check that sign-in by the provider is secure, and that somebody can log in at all."""
    if not settings.OIDC_ISSUER:
        return []
    issuer = urlsplit(settings.OIDC_ISSUER)
    is_safe = issuer.scheme == "https" or issuer.hostname in LOOPBACK
    found = [
        (is_safe, "MEMORY_OIDC_ISSUER is not an https address.", "Name the provider's https URL."),
        (settings.OIDC_CLIENT_ID, "MEMORY_OIDC_CLIENT_ID is not set.", "The provider gives it."),
        (settings.OIDC_ROLES, "MEMORY_OIDC_ROLES gives nobody a role.", "Write value=curator, …"),
    ]
    return [
        Error(text, hint=hint, id=f"operations.E{number:03}")
        for number, (is_fine, text, hint) in enumerate(found, start=1)
        if not is_fine
    ]


GONE = {
    "MEMORY_DEBUG": "Debug pages are never shown.",
    "MEMORY_LANGUAGE": "The language of each conversation is detected.",
    "MEMORY_PAGE_BYTES": "Pages of lists end early at 1 MiB of texts.",
    "MEMORY_KEY_FAILURES": "An address may send 60 wrong keys a minute.",
    "MEMORY_LOGIN_FAILURES": "Five wrong passwords in a row lock a name at an address.",
    "MEMORY_LOGIN_LOCK_MINUTES": "A name is locked for ten minutes.",
}
"""Settings of earlier versions, with their replacements."""


@register
def check_settings_that_are_gone(**options: Any) -> list[CheckMessage]:
    """Warn of settings that are set but no longer read."""
    return [
        Warning(f"{name} is set, and no longer a setting.", hint=now, id="operations.W003")
        for name, now in GONE.items()
        if not {name, f"{name}_FILE"}.isdisjoint(os.environ)
    ]


SILENT = {
    "log_min_messages": ("log", "fatal", "panic"),
    "log_min_error_statement": ("panic",),
    "log_error_verbosity": ("terse",),
    "log_parameter_max_length": ("0",),
    "log_parameter_max_length_on_error": ("0",),
    "log_statement": ("none", "ddl"),
}
"""Values with which PostgreSQL's log contains no row, statement or parameter."""


@register(Tags.database)
def check_database_logs_no_content(
    *, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Warn if PostgreSQL would log text of users.

    By default it logs the text of a failed statement and the row of a violated constraint; only a
    superuser can change that.
    """
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    look = "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)"
    found = dict(execute(look, [list(SILENT)]))
    loud = [name for name, values in SILENT.items() if found.get(name) not in (None, *values)]
    if not loud:
        return []
    database = connections[DEFAULT_DB_ALIAS].settings_dict["NAME"]
    orders = "; ".join(f"ALTER DATABASE {database} SET {name} = {SILENT[name][0]}" for name in loud)
    return [
        Warning(
            "PostgreSQL may write what people said into its log.",
            hint=f"As its superuser: {orders}",
            id="operations.W001",
        )
    ]


@register(Tags.database)
def check_replicas_can_be_read_from(
    *, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Warn of each replica that would not be read, and why."""
    if DEFAULT_DB_ALIAS not in (databases or ()):
        return []
    faults = {alias: _find_fault(alias) for alias in settings.READ_DATABASES}
    return [
        Warning(
            f"Nothing is read from {alias} of MEMORY_READ_DATABASE_URL: {fault}.",
            hint="Until that is put right the primary answers.",
            id="operations.W002",
        )
        for alias, fault in faults.items()
        if fault
    ]


def _find_fault(alias: str) -> str:
    try:
        age_s = replicas.measure_age(alias)
    except UnsafeDatabase as error:
        return str(error).rstrip(".")
    except (DatabaseError, InterfaceError):
        return "it does not answer"
    if math.isinf(age_s):
        return "it is no replica of DATABASE_URL, or follows the log from before a failover"
    return f"it is {age_s:.0f} seconds behind" if age_s > settings.READ_AGE_SECONDS else ""
