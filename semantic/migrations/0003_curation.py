"""Changes have room for the states of facts, and evidence can be taken back."""

import django.db.models.deletion
from django.db import migrations, models

import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantReference


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0003_reveals"),
        ("semantic", "0002_same_tenant"),
        ("tenancy", "0003_managing_keys"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="fact",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [("curate_fact", "Can correct, invalidate, restore and revert")],
            },
        ),
        migrations.RemoveConstraint(
            model_name="evidence",
            name="semantic_evidence_once",
        ),
        migrations.AddField(
            model_name="change",
            name="states",
            field=models.JSONField(
                default=dict,
                help_text="By id of each fact that was opened or closed: its state before and after.",
            ),
        ),
        migrations.AddField(
            model_name="evidence",
            name="withdrawn_by",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                help_text="The changeset that took it back; empty: it counts.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="semantic.changeset",
            ),
        ),
        migrations.AlterField(
            model_name="change",
            name="action",
            field=models.CharField(
                choices=[
                    ("new", "new"),
                    ("merge", "merged into an active one"),
                    ("reinforce", "reinforced"),
                    ("update", "replaced by a newer version"),
                    ("invalidate", "invalidated"),
                    ("restore", "restored"),
                    ("withdraw", "evidence taken back"),
                    ("return", "evidence restored"),
                    ("skip", "left undone"),
                ],
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="change",
            index=models.Index(fields=["other_memory_id"], name="semantic_change_by_other"),
        ),
        migrations.AddIndex(
            model_name="fact",
            index=models.Index(
                condition=models.Q(("invalidated_because", "wrong")),
                fields=["conversation"],
                name="semantic_fact_declared_wrong",
            ),
        ),
        migrations.AddConstraint(
            model_name="evidence",
            constraint=models.UniqueConstraint(
                condition=models.Q(("withdrawn_by", None)),
                fields=("fact", "episode"),
                name="semantic_evidence_counts_once",
            ),
        ),
        AddTenantReference("semantic_evidence", "withdrawn_by_id", "semantic_changeset"),
    ]
