"""Curators and auditors see notes, their versions, and links."""

from typing import Any

from django.db import migrations

TABLES = {
    "link": "Can view link",
    "note": "Can view note",
    "noteversion": "Can view note version",
}
ROLES = ["auditor", "curator"]


def show_notes(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    groups = apps.get_model("auth", "Group").objects.using(using)
    for model, words in TABLES.items():
        kind, _ = kinds.get_or_create(app_label="notes", model=model)
        seeing, _ = permissions.get_or_create(
            content_type=kind, codename=f"view_{model}", defaults={"name": words}
        )
        for group in groups.filter(name__in=ROLES):
            group.permissions.add(seeing)


def hide_notes(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(
        content_type__app_label="notes", codename__in=[f"view_{model}" for model in TABLES]
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [("console", "0004_roles_see_files"), ("notes", "0001_initial")]
    operations = [migrations.RunPython(show_notes, hide_notes)]
