"""Detects by migrations and columns which version made a database.

Some migrations were rewritten under their old names. So names alone are not enough: the columns
that the applied migrations should have created must exist, too.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connections
from django.db.migrations.exceptions import InconsistentMigrationHistory, NodeNotFoundError
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field, ManyToManyField

from memoryproject.database.clock import execute

Columns = set[tuple[str, str]]
"""Names of tables and of columns in them."""
COLUMNS = "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s"


class Standing(Enum):
    EMPTY = "nothing was migrated yet"
    CURRENT = "all of our migrations were applied"
    BEHIND = "some of our migrations follow"
    EARLIER = "made by migrations that have been written anew since: rows must be carried over"
    NEWER = "made by a later version"


def find_standing(using: str) -> Standing:
    """Return the state of a connection's database relative to our migrations."""
    connection = connections[using]
    loader = MigrationLoader(connection)
    ours = {app.label for app in apps.get_app_configs() if _is_ours(Path(app.path))}
    applied = {key for key in loader.applied_migrations if key[0] in ours}
    known = {key for key in loader.disk_migrations if key[0] in ours}
    if not applied:
        return Standing.EMPTY
    if applied - known:
        return Standing.EARLIER if known - applied else Standing.NEWER
    try:
        loader.check_consistent_history(connection)
    except (InconsistentMigrationHistory, NodeNotFoundError):
        return Standing.EARLIER
    if _find_expected_columns(loader) - read_columns(using):
        return Standing.EARLIER
    return Standing.BEHIND if known - applied else Standing.CURRENT


def read_columns(using: str) -> Columns:
    return {(table, column) for table, column in execute(COLUMNS, ["public"], using=using)}


def _is_ours(folder: Path) -> bool:
    """Return whether an app is ours, and not a library in a virtualenv inside the folder."""
    inside = folder.is_relative_to(settings.BASE_DIR)
    return inside and "site-packages" not in folder.relative_to(settings.BASE_DIR).parts


def _find_expected_columns(loader: MigrationLoader) -> Columns:
    nodes = [key for key in loader.applied_migrations if key in loader.graph.nodes]
    state = loader.project_state(nodes)
    return {
        (str(model.options.get("db_table") or f"{app}_{name}"), column)
        for (app, name), model in state.models.items()
        for column in _name_columns(model.fields)
        if not model.options.get("proxy") and model.options.get("managed", True)
    }


def _name_columns(fields: dict[str, Field]) -> Iterator[str]:  # type: ignore[type-arg]
    """Yield the columns of unbound fields, which do not know their names."""
    for name, field in fields.items():
        if not isinstance(field, ManyToManyField):
            yield field.db_column or (f"{name}_id" if field.is_relation else name)
