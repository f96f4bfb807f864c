"""Contexts that agents put together, and what they hold."""

import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields


class Migration(migrations.Migration):
    dependencies = [
        ("indexing", "0014_parts_of_notes"),
        ("retrieval", "0006_answers_by_time"),
        ("tenancy", "0003_managing_keys"),
    ]

    operations = [
        migrations.CreateModel(
            name="Context",
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
                    "max_tokens",
                    models.PositiveIntegerField(
                        help_text="Of the prompt and its response together."
                    ),
                ),
                (
                    "reserved_tokens",
                    models.PositiveIntegerField(help_text="Left for the response."),
                ),
                (
                    "used_tokens",
                    models.PositiveIntegerField(
                        default=0, help_text="All sections with what parts them, counted apart."
                    ),
                ),
                (
                    "counter",
                    models.CharField(
                        help_text="How its tokens are counted, for good.", max_length=16
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "expires_at",
                    models.DateTimeField(help_text="From then on it is unknown, and soon deleted."),
                ),
                (
                    "made_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The key that made it.",
                        null=True,
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
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ContextSection",
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
                    "kind",
                    models.CharField(
                        choices=[("system", "system prompt"), ("retrieved", "of a memory")],
                        max_length=10,
                    ),
                ),
                ("position", models.PositiveIntegerField(help_text="Order of adding: 0, 1, 2, …")),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        help_text="0 to 100; the highest stands first."
                    ),
                ),
                (
                    "content",
                    models.TextField(help_text="As it stands in the text; it may quote messages."),
                ),
                ("tokens", models.PositiveIntegerField(help_text="Of the content alone.")),
                (
                    "truncated",
                    models.BooleanField(help_text="Whether a part of the memory is missing."),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "context",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="retrieval.context",
                    ),
                ),
                (
                    "memory",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="Empty for the system prompt.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="indexing.memory",
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
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddIndex(
            model_name="context",
            index=models.Index(fields=["expires_at", "id"], name="retrieval_context_by_expiry"),
        ),
        migrations.AddConstraint(
            model_name="context",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="retrieval_context_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="context",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("used_tokens", 0),
                    (
                        "max_tokens__gte",
                        django.db.models.expressions.CombinedExpression(
                            models.F("used_tokens"), "+", models.F("reserved_tokens")
                        ),
                    ),
                    _connector="OR",
                ),
                name="retrieval_context_within_budget",
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="retrieval_contextsection_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.UniqueConstraint(
                fields=("context", "position"), name="retrieval_section_position"
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.UniqueConstraint(
                fields=("context", "memory"), name="retrieval_section_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "system"), ("memory", None)),
                    models.Q(("kind", "retrieved"), ("memory__isnull", False)),
                    _connector="OR",
                ),
                name="retrieval_section_kind",
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.CheckConstraint(
                condition=models.Q(("priority__lte", 100)), name="retrieval_section_priority"
            ),
        ),
        migrations.AddConstraint(
            model_name="contextsection",
            constraint=models.CheckConstraint(
                condition=models.Q(("content", ""), _negated=True),
                name="retrieval_section_not_empty",
            ),
        ),
    ]
