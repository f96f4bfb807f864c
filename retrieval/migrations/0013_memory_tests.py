"""Questions with expectations, run after each changeset."""

import django.contrib.postgres.fields
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
        ("retrieval", "0012_replays"),
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]

    operations = [
        migrations.CreateModel(
            name="MemoryTest",
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
                ("query", models.TextField()),
                (
                    "max_tokens",
                    models.PositiveIntegerField(
                        help_text="Of the call, as an agent gives it; NULL: none.", null=True
                    ),
                ),
                (
                    "must_say",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "must_not_say",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "at_most_tokens",
                    models.PositiveIntegerField(help_text="Of the answer; NULL: any.", null=True),
                ),
                (
                    "case_id",
                    models.UUIDField(help_text="The receipt that it was made from.", null=True),
                ),
                (
                    "made_by",
                    models.CharField(help_text="Who made it: a person or a key.", max_length=200),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "ran_at",
                    models.DateTimeField(help_text="Its last run; NULL: none yet.", null=True),
                ),
                (
                    "failures",
                    models.JSONField(
                        default=list,
                        help_text="Of the last run: the names of fields, with the place in a list.",
                    ),
                ),
                (
                    "broken_by",
                    models.UUIDField(
                        help_text="The changeset after which it first failed; NULL: it passes.",
                        null=True,
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
                        fields=["tenant", "conversation"], name="retrieval_test_of_conversation"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="retrieval_memorytest_tenant_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("query", ""), _negated=True), name="retrieval_test_asks"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantReference("retrieval_memorytest", "conversation_id", "episodic_conversation"),
        AddTenantPolicy("retrieval_memorytest"),
    ]
