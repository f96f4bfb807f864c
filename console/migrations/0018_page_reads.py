"""Who looked at what in the admin; auditors see it."""

from typing import Any

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


def show(apps: Any, schema_editor: Any) -> None:
    using = schema_editor.connection.alias
    kinds = apps.get_model("contenttypes", "ContentType").objects.using(using)
    kind, _ = kinds.get_or_create(app_label="console", model="pageread")
    seeing, _ = (
        apps.get_model("auth", "Permission")
        .objects.using(using)
        .get_or_create(
            content_type=kind, codename="view_pageread", defaults={"name": "Can view page read"}
        )
    )
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name="auditor"):
        group.permissions.add(seeing)


def hide(apps: Any, schema_editor: Any) -> None:
    """Leave the rest to the table's end: its permission goes with its content type's rows."""
    using = schema_editor.connection.alias
    permissions = apps.get_model("auth", "Permission").objects.using(using)
    seeing = permissions.filter(content_type__app_label="console", codename="view_pageread")
    for group in apps.get_model("auth", "Group").objects.using(using).filter(name="auditor"):
        group.permissions.remove(*seeing)


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0017_roles_see_triage"),
        ("tenancy", "0016_read_from"),
    ]

    operations = [
        migrations.CreateModel(
            name="PageRead",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=memoryproject.database.ids.make_id,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                (
                    "person",
                    models.CharField(help_text="The user's name in the admin.", max_length=150),
                ),
                (
                    "page",
                    models.CharField(
                        help_text="The page by the name of its address.", max_length=64
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(
                        help_text="What it was about; NULL: a list or a search.", null=True
                    ),
                ),
                (
                    "words_sha256",
                    models.CharField(
                        blank=True,
                        help_text="Of what was searched for, under the server's pepper.",
                        max_length=64,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "verbose_name": "page read",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [models.Index(fields=["created_at"], name="console_pageread_by_time")],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="console_pageread_tenant_id"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("console_pageread"),
        migrations.RunPython(show, hide),
    ]
