"""What a tenant stores, in parts that add up."""

import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids


class Migration(migrations.Migration):
    dependencies = [
        ("tenancy", "0009_policies_are_forced"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredSize",
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
                    "row_count",
                    models.BigIntegerField(help_text="Messages, notes and their earlier versions."),
                ),
                (
                    "byte_count",
                    models.BigIntegerField(help_text="Their texts and metadata, in UTF-8."),
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
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="tenancy_storedsize_tenant_id"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
    ]
