"""What each key called, a row a day."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference


class Migration(migrations.Migration):
    dependencies = [("tenancy", "0014_membership")]
    operations = [
        migrations.CreateModel(
            name="KeyUsage",
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
                ("day", models.DateField()),
                ("calls", models.BigIntegerField(help_text="Answered calls, whatever the answer.")),
                (
                    "errors",
                    models.BigIntegerField(help_text="Answers from 400 to 499, without 429."),
                ),
                (
                    "refused",
                    models.BigIntegerField(help_text="Answers 429: it called too often."),
                ),
                ("faults", models.BigIntegerField(help_text="Answers from 500 on.")),
                ("bytes_in", models.BigIntegerField(help_text="Of the bodies that it sent.")),
                ("bytes_out", models.BigIntegerField(help_text="Of the answers.")),
                (
                    "latencies",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="Calls by latency: place n, from 0 on, within 2 ** (n / 2) ms.",
                        size=None,
                    ),
                ),
                (
                    "key",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.apikey",
                    ),
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
                "verbose_name": "usage of a key",
                "verbose_name_plural": "usage of keys",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="tenancy_keyusage_tenant_id"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "key", "day"), name="tenancy_keyusage_one_a_day"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("tenancy_keyusage", "key_id", "tenancy_apikey"),
        AddTenantPolicy("tenancy_keyusage"),
    ]
