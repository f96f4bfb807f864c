"""What a rule only suspects waits for a curator."""

import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0008_rollbacks_go_on"),
        ("semantic", "0013_kind_erasure"),
        ("tenancy", "0008_scopes_in_words"),
    ]

    operations = [
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
                    ("suggest", "suggested to curators"),
                ],
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="Suggestion",
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
                        choices=[("contradiction", "contradiction"), ("duplicate", "duplicate")],
                        max_length=16,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        help_text="A code: same_slot, near_words, cap, …", max_length=40
                    ),
                ),
                (
                    "valid_until",
                    models.DateTimeField(
                        help_text="Until when the old fact was true; NULL: until the new one began.",
                        null=True,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "decision",
                    models.CharField(
                        blank=True,
                        choices=[("accepted", "accepted"), ("declined", "declined")],
                        max_length=16,
                    ),
                ),
                (
                    "is_withdrawn",
                    models.BooleanField(
                        default=False, help_text="The changeset that made it is undone."
                    ),
                ),
                (
                    "is_reopened",
                    models.BooleanField(
                        default=False, help_text="The changeset that decided on it is undone."
                    ),
                ),
                (
                    "changeset",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The run that made it.",
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
                    "decided_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
                    ),
                ),
                (
                    "new_fact",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="NULL: nothing takes its place.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.fact",
                    ),
                ),
                (
                    "old_fact",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
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
                    models.Index(
                        condition=models.Q(
                            ("is_withdrawn", False),
                            models.Q(("decision", ""), ("is_reopened", True), _connector="OR"),
                        ),
                        fields=["tenant", "id"],
                        name="semantic_suggestion_undecided",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="semantic_suggestion_tenant_id"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "old_fact", "new_fact", "kind"),
                        name="semantic_suggestion_made_once",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason__regex", "^[a-z_]+$")),
                        name="semantic_suggestion_reason_is_code",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_by", None), ("decision", "")),
                            models.Q(
                                models.Q(("decision", ""), _negated=True),
                                ("decided_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="semantic_suggestion_decided_by",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("semantic_suggestion", "conversation_id", "episodic_conversation"),
        AddTenantReference("semantic_suggestion", "changeset_id", "semantic_changeset"),
        AddTenantReference("semantic_suggestion", "old_fact_id", "semantic_fact"),
        AddTenantReference("semantic_suggestion", "new_fact_id", "semantic_fact"),
        AddTenantReference("semantic_suggestion", "decided_by_id", "semantic_changeset"),
        AddTenantPolicy("semantic_suggestion"),
    ]
