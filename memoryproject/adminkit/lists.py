"""Registers the lists of the admin that need no code, which `lists.toml` describes."""

from django.apps import apps
from django.contrib import admin

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.process.tables import read_table

SPANS = {name: recent_filter(name) for name in ("made", "replaced")}


def register_lists() -> None:
    """Register them, when the tables of all apps are there."""
    for app, tables in read_table(__file__).items():
        for name, options in tables.items():
            filters = options.get("list_filter", [])
            options["list_filter"] = [SPANS.get(word, word) for word in filters]
            options["listings"] = tuple(
                Listing(title, apps.get_model(table), field)
                for title, (table, field) in options.get("listings", {}).items()
            )
            admin.site.register(apps.get_model(app, name), ReadOnlyAdmin, **options)
