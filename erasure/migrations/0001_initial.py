"""What was erased, by whom, when and how much of it."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0002_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Erasure",
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
                    "scope",
                    models.CharField(
                        choices=[
                            ("message", "a message"),
                            ("conversation", "a conversation"),
                            ("note", "a note"),
                            ("user", "a user's notes"),
                            ("tenant", "a tenant"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "target",
                    models.UUIDField(
                        help_text="The row that was erased; NULL: the notes of a user.", null=True
                    ),
                ),
                (
                    "subject",
                    models.TextField(
                        blank=True,
                        help_text="Whose notes, by the agent's own id; emptied when they are erased.",
                    ),
                ),
                (
                    "actor",
                    models.CharField(help_text="Who wanted it: a key, a person.", max_length=200),
                ),
                ("reason", models.TextField(help_text="Why, in their own words; kept.")),
                (
                    "state",
                    models.CharField(
                        choices=[("running", "being erased"), ("done", "erased")],
                        default="running",
                        max_length=8,
                    ),
                ),
                (
                    "counts",
                    models.JSONField(
                        default=dict, help_text="How many were deleted so far, by kind."
                    ),
                ),
                (
                    "pages",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        default=list,
                        help_text="Memories whose pages are still in the mirror.",
                        size=None,
                    ),
                ),
                ("job_id", models.UUIDField(help_text="The job that does it.", null=True)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "finished_at",
                    models.DateTimeField(help_text="NULL: not all is erased yet.", null=True),
                ),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
            ],
            options={
                "permissions": [("erase", "Can erase for good")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="erasure_erasure_tenant_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("scope__in", ["message", "conversation", "note", "user", "tenant"])
                        ),
                        name="erasure_erasure_scope_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at", None), ("state", "running")),
                            models.Q(
                                ("finished_at__isnull", False),
                                ("pages", []),
                                ("state", "done"),
                                ("subject", ""),
                            ),
                            _connector="OR",
                        ),
                        name="erasure_erasure_done_keeps_nothing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="erasure_erasure_has_reason",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
    ]
