"""What curators agree on about facts in the review queue."""

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
        ("semantic", "0016_correction_marks"),
        ("tenancy", "0015_key_usage"),
    ]

    operations = [
        migrations.CreateModel(
            name="Triage",
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
                    "assignee",
                    models.CharField(
                        blank=True, help_text="A user's name; empty: all.", max_length=150
                    ),
                ),
                ("comment", models.CharField(blank=True, max_length=500)),
                (
                    "snoozed_until",
                    models.DateTimeField(help_text="Not in the queue until then.", null=True),
                ),
                (
                    "is_kept",
                    models.BooleanField(
                        default=False, help_text="Somebody has looked, and it may stay as it is."
                    ),
                ),
                ("changed_by", models.CharField(max_length=150)),
                (
                    "changed_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
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
                "verbose_name_plural": "triage",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="semantic_triage_tenant_id"
                    ),
                    models.UniqueConstraint(fields=("tenant", "fact"), name="semantic_triage_once"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("semantic_triage", "conversation_id", "episodic_conversation"),
        AddTenantReference("semantic_triage", "fact_id", "semantic_fact"),
        AddTenantPolicy("semantic_triage"),
    ]
