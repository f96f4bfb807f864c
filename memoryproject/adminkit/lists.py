"""Registers the admin lists that need no code, by `lists.toml` here and in each wing."""

from pathlib import Path

from django.apps import apps
from django.contrib import admin

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.process.tables import read_table

SPANS = {name: recent_filter(name) for name in ("made", "replaced")}


def register_lists() -> None:
    """Register them, once the models of all apps are loaded."""
    files = [Path(app.path) / "lists.toml" for app in apps.get_app_configs()]
    for file in (Path(__file__).with_suffix(".toml"), *filter(Path.exists, files)):
        _register_file(file)


def _register_file(file: Path) -> None:
    for app, tables in read_table(str(file)).items():
        for name, options in tables.items():
            filters = options.get("list_filter", [])
            options["list_filter"] = [SPANS.get(word, word) for word in filters]
            options["listings"] = tuple(
                Listing(title, apps.get_model(table), field)
                for title, (table, field) in options.get("listings", {}).items()
            )
            admin.site.register(apps.get_model(app, name), ReadOnlyAdmin, **options)
