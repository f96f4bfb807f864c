"""Curators and auditors see what was agreed on in the review queue."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator"]
SEEN = [
    ("semantic", "triage", "triage"),
]


def show(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    groups = apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES)
    for app, model, name in SEEN:
        kind, _ = kinds.get_or_create(app_label=app, model=model)
        seeing, _ = permissions.get_or_create(
            content_type=kind, codename=f"view_{model}", defaults={"name": f"Can view {name}"}
        )
        for group in groups:
            group.permissions.add(seeing)


def hide(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    groups = apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES)
    for app, model, _ in SEEN:
        seeing = permissions.filter(content_type__app_label=app, codename=f"view_{model}")
        for group in groups:
            group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0016_saving_filters"),
        ("semantic", "0017_triage"),
    ]
    operations = [migrations.RunPython(show, hide)]
