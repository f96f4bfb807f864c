"""All roles see what keys call, as they see the keys."""

from typing import Any

from django.db import migrations

ROLES = ["auditor", "curator", "operator"]


def show_usage(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="tenancy", model="keyusage")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing, _ = permissions.get_or_create(
        content_type=kind, codename="view_keyusage", defaults={"name": "Can view usage of a key"}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.add(seeing)


def hide_usage(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(content_type__app_label="tenancy", codename="view_keyusage")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [("console", "0014_roles_see_webhooks_and_holds"), ("tenancy", "0015_key_usage")]
    operations = [migrations.RunPython(show_usage, hide_usage)]
