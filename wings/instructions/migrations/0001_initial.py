"""Versions of instructions."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="InstructionVersion",
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
                    "agent_id",
                    models.TextField(blank=True, help_text="Its agent; empty: all of the tenant."),
                ),
                (
                    "keep",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        default=list,
                        help_text="What to keep as facts, though it may seem small.",
                        size=None,
                    ),
                ),
                (
                    "never",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        default=list,
                        help_text="What never to keep as a fact: words, or a description.",
                        size=None,
                    ),
                ),
                (
                    "words",
                    models.JSONField(
                        blank=True,
                        default=list,
                        help_text="Words of the trade, each a `word` and its `meaning`.",
                    ),
                ),
                (
                    "actor",
                    models.CharField(help_text="Who saved it: a key, a person.", max_length=200),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "undone_at",
                    models.DateTimeField(help_text="NULL: it was not undone.", null=True),
                ),
                ("undone_by", models.CharField(blank=True, max_length=200)),
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
                "verbose_name": "version of instructions",
                "verbose_name_plural": "instructions",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(fields=["tenant", "agent_id", "id"], name="instructions_by_agent")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("undone_at", None), ("undone_by", "")),
                            ("undone_at__isnull", False),
                            _connector="OR",
                        ),
                        name="instructions_undone_by_somebody",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("instructions_instructionversion"),
    ]
