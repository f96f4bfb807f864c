"""Curators and auditors see what was erased; erasing is a permission that no role brings."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator"]


def show_erasures(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="erasure", model="erasure")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing, _ = permissions.get_or_create(
        content_type=kind, codename="view_erasure", defaults={"name": "Can view erasure"}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.add(seeing)


def hide_erasures(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(content_type__app_label="erasure", codename="view_erasure")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [("console", "0008_policies"), ("erasure", "0001_initial")]
    operations = [migrations.RunPython(show_erasures, hide_erasures)]
