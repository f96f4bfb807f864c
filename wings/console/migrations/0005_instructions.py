"""Lets curators and auditors see instructions."""

from typing import Any

from django.db import migrations

ROLES = ("curator", "auditor")
OF_TABLE = {"content_type__app_label": "instructions", "codename": "view_instructionversion"}


def give_right(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="instructions", model="instructionversion")
    right, _ = (
        apps.get_model("auth", "Permission")
        .objects.using(using)
        .get_or_create(
            content_type=kind,
            codename=OF_TABLE["codename"],
            defaults={"name": "Can view version of instructions"},
        )
    )
    for role in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        role.permissions.add(right)


def take_right(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    rights = apps.get_model("auth", "Permission").objects.using(using).filter(**OF_TABLE)
    for role in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        role.permissions.remove(*rights)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0004_no_saved_filters"),
        ("instructions", "0001_initial"),
    ]
    operations = [migrations.RunPython(give_right, take_right)]
