"""Operators see webhooks with their deliveries; who sees erasures sees policies and holds, too."""

from typing import Any

from django.db import migrations

OF_OPERATORS = (
    ("events", "webhook", "view_webhook", "Can view webhook"),
    ("events", "event", "view_event", "Can view event"),
    ("events", "event", "redeliver_event", "Can have events delivered again"),
)
OF_READERS = (
    ("erasure", "retentionpolicy", "view_retentionpolicy", "Can view retention policy"),
    ("erasure", "hold", "view_hold", "Can view hold"),
)
ROLES = {"operator": OF_OPERATORS, "auditor": OF_READERS, "curator": OF_READERS}


def allow(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        for app, model, codename, name in ROLES[group.name]:
            kind, _ = kinds.get_or_create(app_label=app, model=model)
            permission, _ = permissions.get_or_create(
                content_type=kind, codename=codename, defaults={"name": name}
            )
            group.permissions.add(permission)


def refuse(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        for app, _, codename, _ in ROLES[group.name]:
            ours = permissions.filter(content_type__app_label=app, codename=codename)
            group.permissions.remove(*ours)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0013_roles_see_marks_and_tests"),
        ("events", "0001_initial"),
        ("erasure", "0007_retention"),
    ]
    operations = [migrations.RunPython(allow, refuse)]
