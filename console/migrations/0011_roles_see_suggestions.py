"""Curators and auditors see what is suggested."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator"]


def show_suggestions(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="semantic", model="suggestion")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing, _ = permissions.get_or_create(
        content_type=kind, codename="view_suggestion", defaults={"name": "Can view suggestion"}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.add(seeing)


def hide_suggestions(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(content_type__app_label="semantic", codename="view_suggestion")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0010_roles_see_withholdings"),
        ("semantic", "0014_suggestions"),
    ]
    operations = [migrations.RunPython(show_suggestions, hide_suggestions)]
