"""Registers the admin lists that need no code, by `lists.toml` here and in each wing."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.db.models import Model

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.process.tables import read_table
from memoryproject.wings import read_files

SPANS = {name: recent_filter(name) for name in ("made", "replaced")}


def register_lists() -> None:
    """Register the lists, once all apps' models are loaded."""
    for lists in (read_table(__file__), *read_files("lists.toml")):
        for app, tables in lists.items():
            for name, options in tables.items():
                _register_list(apps.get_model(app, name), options)


def _register_list(model: type[Model], options: dict[str, Any]) -> None:
    filters = options.get("list_filter", [])
    options["list_filter"] = [SPANS.get(word, word) for word in filters]
    options["listings"] = tuple(
        Listing(title, apps.get_model(table), field)
        for title, (table, field) in options.get("listings", {}).items()
    )
    admin.site.register(model, ReadOnlyAdmin, **options)
