"""Registers the lists of the admin that need no code, which `lists.toml` describes."""

from typing import Any

from django.apps import apps
from django.contrib import admin

from memoryproject.adminkit.base import Listing, ReadOnlyAdmin
from memoryproject.adminkit.filters import recent_filter
from memoryproject.process.tables import read_table

LISTS = read_table(__file__)
OPTIONS = {
    "columns": "list_display", "filters": "list_filter", "search": "search_fields",
    "ids": "id_search", "hidden": "hidden",
}  # fmt: skip
SPANS = {name: recent_filter(name, name) for name in ("made", "replaced")}


def register_lists() -> None:
    """Register them, when the tables of all apps are there."""
    for app, tables in LISTS.items():
        for name, entry in tables.items():
            options: dict[str, Any] = {
                option: entry[word].split() for word, option in OPTIONS.items() if word in entry
            }
            filters = options.get("list_filter", [])
            options["list_filter"] = [SPANS.get(word, word) for word in filters]
            if "help" in entry:
                options["search_help_text"] = entry["help"]
            options["points_at"] = entry.get("points_at", {})
            options["listings"] = tuple(
                Listing(title, apps.get_model(table), field)
                for title, (table, field) in entry.get("listings", {}).items()
            )
            admin.site.register(apps.get_model(app, name), ReadOnlyAdmin, **options)
