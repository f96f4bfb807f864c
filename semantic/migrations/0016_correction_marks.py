"""Places that still say what a person corrected; the case that an act came from."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0013_corrections_and_tests"),
        ("semantic", "0015_pinned_facts"),
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]

    operations = [
        migrations.AddField(
            model_name="changeset",
            name="case_id",
            field=models.UUIDField(
                help_text="The receipt of the answer that led to it; NULL: none was named.",
                null=True,
            ),
        ),
        migrations.CreateModel(
            name="CorrectionMark",
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
                    "place",
                    models.CharField(
                        choices=[
                            ("message", "message"),
                            ("episode", "title or summary of an episode"),
                            ("fact", "fact"),
                            ("note", "note"),
                        ],
                        max_length=8,
                    ),
                ),
                ("place_id", models.UUIDField(help_text="Of the message or memory.")),
                (
                    "found_by",
                    models.CharField(
                        choices=[
                            ("evidence", "the fact was drawn from it"),
                            ("words", "it says the same words"),
                            ("meaning", "it is near in meaning"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("active", "marked in answers"),
                            ("proposed", "to be confirmed"),
                            ("dropped", "dropped by a person"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "decided_by",
                    models.CharField(
                        blank=True, help_text="Who confirmed or dropped it.", max_length=200
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "changeset",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The act for which it was found.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "fact",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="What is wrong or over.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.fact",
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
                "indexes": [
                    models.Index(fields=["tenant", "place_id"], name="semantic_mark_by_place")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="semantic_correctionmark_tenant_id"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "fact", "place_id"), name="semantic_correctionmark_once"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("semantic_correctionmark", "conversation_id", "episodic_conversation"),
        AddTenantReference("semantic_correctionmark", "fact_id", "semantic_fact"),
        AddTenantReference("semantic_correctionmark", "changeset_id", "semantic_changeset"),
        AddTenantPolicy("semantic_correctionmark"),
    ]
