"""Erasures, policies and holds, and the functions that let an erasure past what keeps history."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy, read_sql

KEEP_NOT = """
DROP TRIGGER erasure_erasure_done ON erasure_erasure;
DROP TRIGGER erasure_erasure_kept ON erasure_erasure;
"""
NO_FUNCTIONS = """
DROP FUNCTION public.memory_erase_import(uuid, uuid);
DROP FUNCTION public.memory_forget_acts(uuid, uuid[]);
DROP FUNCTION public.memory_erase_history(uuid, uuid);
DROP FUNCTION public.memory_forget_reasons(uuid, uuid[]);
DROP FUNCTION public.memory_check_erasing(uuid, text);
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("semantic", "0001_initial"),
        ("tenancy", "0001_initial"),
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
                            ("person", "a person"),
                            ("import", "an import"),
                            ("retention", "what a retention policy no longer keeps"),
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
                    models.CharField(
                        help_text="Who requested it: a key or a person.", max_length=200
                    ),
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
                        default=dict, help_text="Number of rows deleted so far, by kind."
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
                    models.CheckConstraint(
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
                ("lifted_at", models.DateTimeField(help_text="NULL: it is in effect.", null=True)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
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
                        condition=models.Q(("lifted_at", None)),
                        fields=["tenant", "conversation_id"],
                        name="erasure_hold_in_force",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="erasure_hold_has_reason",
                    )
                ],
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
                        help_text="Number to keep, those changed last first.",
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
                "verbose_name_plural": "retention policies",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("older_than_days__gte", 1),
                            ("unserved_days__gte", 1),
                            ("keep_newest__isnull", False),
                            _connector="OR",
                        ),
                        name="erasure_retentionpolicy_asks_something",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source_type", ""), ("kind", "note"), _connector="OR"),
                        name="erasure_retentionpolicy_source_type_of_notes",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("erasure_erasure"),
        AddTenantPolicy("erasure_hold"),
        AddTenantPolicy("erasure_retentionpolicy"),
        migrations.RunSQL(read_sql(__file__, "kept"), KEEP_NOT),
        migrations.RunSQL(read_sql(__file__, "erasing"), NO_FUNCTIONS),
    ]
