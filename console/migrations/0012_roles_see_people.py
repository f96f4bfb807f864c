"""Curators and auditors see who is who."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator"]
TABLES = ["person", "alias", "merge"]


def show_people(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    groups = list(apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES))
    for table in TABLES:
        kind, _ = kinds.get_or_create(app_label="people", model=table)
        seeing, _ = permissions.get_or_create(
            content_type=kind, codename=f"view_{table}", defaults={"name": f"Can view {table}"}
        )
        for group in groups:
            group.permissions.add(seeing)


def hide_people(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(
        content_type__app_label="people", codename__in=[f"view_{table}" for table in TABLES]
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0011_roles_see_suggestions"),
        ("people", "0001_initial"),
    ]
    operations = [migrations.RunPython(show_people, hide_people)]
