"""The steps of `migrate`: what a database needs, one process at a time, and what is kept."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from importlib import import_module

from django.apps import apps
from django.conf import settings
from django.contrib.contenttypes.models import ContentType
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as DjangoMigrate
from django.db import connections, transaction

from memoryproject import embedded
from memoryproject.embedded import databases
from memoryproject.tenancy import installation
from memoryproject.tenancy.postgresql.look import PEPPER
from wings.operations import stored_sizes
from wings.operations.upgrade import carrying
from wings.operations.upgrade.history import Standing, find_standing

LOCK = 0x6D696772617465
"""Advisory lock of `migrate`: a second process waits, and finds nothing left to do."""
ROLES = ("0002_roles", "0003_no_right_to_save")
"""Migrations of the console that change the rights of roles."""
Report = Callable[[str], None]
NEWER = (
    "The database was made by a later version of the server: start that one, or go back to the"
    " database of before with manage.py kept_databases --use NAME, or restore a backup."
)
EARLIER = (
    "The database was made by an earlier version, whose rows must be carried over to new tables:"
    " docs/operating.md says how under Upgrade, for a database of your own."
)


def upgrade(*, report: Report, verbosity: int, keeps_copy: bool = True) -> None:
    """Upgrade the database to this version; an embedded one is kept as it was.

    Any number of processes may call it at once.

    Raises:
        CommandError, EmbeddedPostgresError, UnsafeDatabase: it failed; nothing was changed.
    """
    connections.close_all()
    if settings.EMBEDDED_POSTGRES:
        address = embedded.locate(settings.DATA_DIR).address
        with closing(databases.lock_upgrades(address, LOCK)):
            _upgrade_embedded(address, report, verbosity, keeps_copy)
        return
    with closing(connections["owner"].copy()) as lock:
        with lock.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [LOCK])
        if (standing := _find_standing()) is Standing.EARLIER:
            raise CommandError(EARLIER)
        _migrate(verbosity, counts=standing is Standing.BEHIND)


def _upgrade_embedded(
    address: embedded.ServerAddress, report: Report, verbosity: int, keeps_copy: bool
) -> None:
    standing = _find_standing()
    connections.close_all()  # else nobody could copy or rename what they are connected to
    kept = ""
    if standing is Standing.EARLIER:
        carry_over(address, source=embedded.DATABASE, report=report)
        kept = databases.put_in_use(address, databases.UNFINISHED)
    elif standing is Standing.BEHIND and keeps_copy:
        kept = databases.keep_copy(address)
    if standing is not Standing.EARLIER:
        _migrate(verbosity, counts=standing is Standing.BEHIND)
    if kept:
        report(
            f"The database as it was is kept as {kept}, until manage.py kept_databases --delete"
            " deletes it; --use goes back to it."
        )


def carry_over(address: embedded.ServerAddress, *, source: str, report: Report) -> None:
    """Create UNFINISHED in this version with the rows of `source`."""
    report("An earlier version made the database: its rows are carried over to a new one …")
    databases.create(address, databases.UNFINISHED)
    with pointing_at(databases.UNFINISHED):
        _run_migrations()
        connections.close_all()
        carrying.carry_rows(address, source=source, target=databases.UNFINISHED, report=report)
        _set_roles()
        _migrate(verbosity=0, counts=True)


def _set_roles() -> None:
    """Give copied roles new view rights, as the console's migrations do."""
    for name in ROLES:
        made = import_module(f"wings.console.migrations.{name}").Migration
        with connections["owner"].schema_editor() as editor:
            made.operations[0].code(apps, editor)


def bring_up(address: embedded.ServerAddress, name: str, *, report: Report) -> str:
    """Upgrade a database that nobody uses; return the name of the result.

    Raises:
        CommandError, EmbeddedPostgresError, UnsafeDatabase: it failed.
    """
    with pointing_at(name):
        standing = _find_standing(knows_demo=False)
    if standing is Standing.EARLIER:
        carry_over(address, source=name, report=report)
        return databases.UNFINISHED
    with pointing_at(name):
        _migrate(verbosity=0, counts=True)
    return name


@contextmanager
def pointing_at(name: str) -> Iterator[None]:
    """Connect the owner's connection to another database of the same server."""
    before = connections["owner"].settings_dict["NAME"]
    _lead_to(name)
    try:
        yield
    finally:
        _lead_to(before)


def _lead_to(name: str) -> None:
    connections["owner"].close()
    connections["owner"].settings_dict["NAME"] = name
    ContentType.objects.clear_cache()  # ids of the other database


def _find_standing(*, knows_demo: bool = True) -> Standing:
    """Return which steps the database needs.

    Raises:
        CommandError: a later version made it.
        UnsafeDatabase: it has another key pepper.
    """
    with transaction.atomic(using="owner"):
        installation.check_pepper(using="owner", knows_demo=knows_demo)
    standing = find_standing("owner")
    if standing is Standing.NEWER:
        raise CommandError(NEWER)
    return standing


def _migrate(verbosity: int, *, counts: bool) -> None:
    """Apply the remaining migrations, store our pepper's fingerprint, and count stored sizes."""
    _run_migrations(verbosity)
    if installation.find_note(PEPPER, using="owner") is None:
        installation.note_pepper()
    if counts:
        stored_sizes.repair_all(using="owner")
    connections["owner"].close()


def _run_migrations(verbosity: int = 0) -> None:
    call_command(DjangoMigrate(), database="owner", verbosity=verbosity, interactive=False)
