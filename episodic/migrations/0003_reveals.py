"""Who may read what was said; a reveal is recorded for good."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantReference, ForbidChanges


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0002_same_tenant"),
        ("tenancy", "0003_managing_keys"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="message",
            options={
                "base_manager_name": "across_tenants",
                "permissions": [
                    ("read_content", "Can read what was said"),
                    ("reveal_content", "Can have a conversation shown, which is recorded"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reveal",
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
                ("reason", models.TextField(help_text="Why, in the person's own words.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("until", models.DateTimeField(help_text="From then on it is masked again.")),
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
                    models.Index(fields=["person", "until"], name="episodic_reveal_by_person")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="episodic_reveal_tenant_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="episodic_reveal_has_reason",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("episodic_reveal", "conversation_id", "episodic_conversation"),
        ForbidChanges("episodic_reveal"),
    ]
