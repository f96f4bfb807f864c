"""Takes from roles the right to save searches, which are no longer saved."""

from typing import Any

from django.db import migrations

ROLES = ("curator", "operator")


def forget_rights(apps: Any, schema_editor: Any) -> None:
    rights = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    rights.filter(content_type__app_label="console", content_type__model="savedfilter").delete()


def give_right(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="console", model="savedfilter")
    right, _ = (
        apps.get_model("auth", "Permission")
        .objects.using(using)
        .get_or_create(
            content_type=kind,
            codename="add_savedfilter",
            defaults={"name": "Can add saved filter"},
        )
    )
    for role in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        role.permissions.add(right)


class Migration(migrations.Migration):
    dependencies = [("console", "0002_roles")]
    operations = [migrations.RunPython(forget_rights, give_right)]
