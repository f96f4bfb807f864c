"""What is no longer needed is erased by itself, and what is on hold is not."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [
        ("erasure", "0006_scope_person"),
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]

    operations = [
        migrations.CreateModel(
            name="Hold",
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
                    "conversation_id",
                    models.UUIDField(help_text="NULL: of the whole tenant.", null=True),
                ),
                ("actor", models.CharField(help_text="Who wanted it.", max_length=200)),
                ("reason", models.TextField(help_text="Why, in their own words.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("lifted_at", models.DateTimeField(help_text="NULL: it holds.", null=True)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
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
            name="RetentionPolicy",
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
                        choices=[("conversation", "conversations"), ("note", "notes")],
                        max_length=16,
                    ),
                ),
                (
                    "source_type",
                    models.CharField(
                        blank=True,
                        help_text="Only notes of this source type; empty: all.",
                        max_length=16,
                    ),
                ),
                (
                    "older_than_days",
                    models.PositiveIntegerField(
                        help_text="Nothing was said in it, or written of it, for so long.",
                        null=True,
                    ),
                ),
                (
                    "unserved_days",
                    models.PositiveIntegerField(
                        help_text="No answer was given from it for so long, by the receipts.",
                        null=True,
                    ),
                ),
                (
                    "keep_newest",
                    models.PositiveIntegerField(
                        help_text="Beyond so many, the ones that changed last counted first.",
                        null=True,
                    ),
                ),
                ("actor", models.CharField(help_text="Who made it.", max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "looked_at",
                    models.DateTimeField(help_text="When it was last applied.", null=True),
                ),
            ],
            options={
                "verbose_name_plural": "retention policies",
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="erasure",
            name="erasure_erasure_scope_known",
        ),
        migrations.AlterField(
            model_name="erasure",
            name="scope",
            field=models.CharField(
                choices=[
                    ("message", "a message"),
                    ("conversation", "a conversation"),
                    ("note", "a note"),
                    ("user", "a user's notes"),
                    ("person", "a person"),
                    ("import", "an import"),
                    ("retention", "what a retention policy no longer keeps"),
                    ("tenant", "a tenant"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddConstraint(
            model_name="erasure",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "scope__in",
                        [
                            "message",
                            "conversation",
                            "note",
                            "user",
                            "person",
                            "import",
                            "retention",
                            "tenant",
                        ],
                    )
                ),
                name="erasure_erasure_scope_known",
            ),
        ),
        migrations.AddField(
            model_name="hold",
            name="tenant",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenancy.tenant",
            ),
        ),
        migrations.AddField(
            model_name="retentionpolicy",
            name="tenant",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="tenancy.tenant",
            ),
        ),
        migrations.AddIndex(
            model_name="hold",
            index=models.Index(
                condition=models.Q(("lifted_at", None)),
                fields=["tenant", "conversation_id"],
                name="erasure_hold_in_force",
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="erasure_hold_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="hold",
            constraint=models.CheckConstraint(
                condition=models.Q(("reason", ""), _negated=True), name="erasure_hold_has_reason"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="erasure_retentionpolicy_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("older_than_days__gte", 1),
                    ("unserved_days__gte", 1),
                    ("keep_newest__isnull", False),
                    _connector="OR",
                ),
                name="erasure_retentionpolicy_asks_something",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(("source_type", ""), ("kind", "note"), _connector="OR"),
                name="erasure_retentionpolicy_source_type_of_notes",
            ),
        ),
        AddTenantPolicy("erasure_retentionpolicy"),
        AddTenantPolicy("erasure_hold"),
    ]
