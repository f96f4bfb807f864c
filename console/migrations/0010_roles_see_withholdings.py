"""Curators and auditors see what is withheld."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator"]


def show_withholdings(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="episodic", model="withholding")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing, _ = permissions.get_or_create(
        content_type=kind, codename="view_withholding", defaults={"name": "Can view withholding"}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.add(seeing)


def hide_withholdings(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(content_type__app_label="episodic", codename="view_withholding")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [("console", "0009_roles_see_erasures"), ("episodic", "0006_withholdings")]
    operations = [migrations.RunPython(show_withholdings, hide_withholdings)]
