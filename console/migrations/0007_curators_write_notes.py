"""Curators change and delete notes, and draw and remove links."""

from typing import Any

from django.db import migrations

WORDS = "Can change and delete notes, draw and remove links"


def let_curators(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="notes", model="note")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    curating, _ = permissions.get_or_create(
        content_type=kind, codename="curate_note", defaults={"name": WORDS}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name="curator"):
        group.permissions.add(curating)


def stop_curators(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    curating = permissions.filter(content_type__app_label="notes", codename="curate_note")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name="curator"):
        group.permissions.remove(*curating)


class Migration(migrations.Migration):
    dependencies = [("console", "0006_roles_see_contexts"), ("notes", "0004_curating")]
    operations = [migrations.RunPython(let_curators, stop_curators)]
