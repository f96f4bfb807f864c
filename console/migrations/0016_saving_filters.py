"""Who may change something may save searches and lists; auditors only look."""

from typing import Any

from django.db import migrations

ROLES = ["curator", "operator"]


def let_them_save(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="console", model="savedfilter")
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    saving, _ = permissions.get_or_create(
        content_type=kind, codename="add_savedfilter", defaults={"name": "Can add saved filter"}
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.add(saving)


def forbid_it(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    saving = permissions.filter(content_type__app_label="console", codename="add_savedfilter")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name__in=ROLES):
        group.permissions.remove(*saving)


class Migration(migrations.Migration):
    dependencies = [("console", "0015_roles_see_usage")]
    operations = [migrations.RunPython(let_them_save, forbid_it)]
