"""Curators and auditors see which contexts agents put together."""

from typing import Any

from django.db import migrations

TABLES = {"context": "Can view context", "contextsection": "Can view context section"}
ROLES = ["auditor", "curator"]


def show_contexts(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    groups = apps.get_model("auth", "Group").objects.using(using)
    for model, words in TABLES.items():
        kind, _ = kinds.get_or_create(app_label="retrieval", model=model)
        seeing, _ = permissions.get_or_create(
            content_type=kind, codename=f"view_{model}", defaults={"name": words}
        )
        for group in groups.filter(name__in=ROLES):
            group.permissions.add(seeing)


def hide_contexts(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(
        content_type__app_label="retrieval", codename__in=[f"view_{model}" for model in TABLES]
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [("console", "0005_roles_see_notes"), ("retrieval", "0007_contexts")]
    operations = [migrations.RunPython(show_contexts, hide_contexts)]
