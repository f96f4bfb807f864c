"""The three roles, where a flush between tests has taken them away."""

from __future__ import annotations

import importlib

from django.apps import apps
from django.contrib.auth.models import Group
from django.db import connection


def have_roles() -> None:
    """Make the groups as the migrations do, unless they are there."""
    if Group.objects.filter(name="curator").exists():
        return
    editor = connection.schema_editor()
    importlib.import_module("console.migrations.0001_roles").make_roles(apps, editor)
    importlib.import_module("console.migrations.0004_roles_see_files").show_runs(apps, editor)
    importlib.import_module("console.migrations.0005_roles_see_notes").show_notes(apps, editor)
    contexts = importlib.import_module("console.migrations.0006_roles_see_contexts")
    contexts.show_contexts(apps, editor)
    writing = importlib.import_module("console.migrations.0007_curators_write_notes")
    writing.let_curators(apps, editor)
    erasures = importlib.import_module("console.migrations.0009_roles_see_erasures")
    erasures.show_erasures(apps, editor)
    withheld = importlib.import_module("console.migrations.0010_roles_see_withholdings")
    withheld.show_withholdings(apps, editor)
