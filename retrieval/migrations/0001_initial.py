"""Receipts of answers, contexts, and memory tests."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.expressions
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("episodic", "0001_initial"),
        ("indexing", "0001_initial"),
        ("jobs", "0001_initial"),
        ("tenancy", "0001_initial"),
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
                        help_text="Tokens for the prompt and its response together."
                    ),
                ),
                (
                    "reserved_tokens",
                    models.PositiveIntegerField(help_text="Tokens reserved for the response."),
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
                        help_text="The counter of its tokens; never changes.", max_length=16
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "expires_at",
                    models.DateTimeField(
                        help_text="Time from which it counts as unknown, and is soon deleted."
                    ),
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
                "indexes": [
                    models.Index(fields=["expires_at", "id"], name="retrieval_context_by_expiry"),
                ],
                "constraints": [
                    models.CheckConstraint(
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
                ],
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
                    models.TextField(help_text="Its text; may quote messages."),
                ),
                ("tokens", models.PositiveIntegerField(help_text="Tokens of the content alone.")),
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "context", "position"), name="retrieval_section_position"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "context", "memory"), name="retrieval_section_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "system"), ("memory", None)),
                            models.Q(("kind", "retrieved"), ("memory__isnull", False)),
                            _connector="OR",
                        ),
                        name="retrieval_section_kind",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("priority__lte", 100)),
                        name="retrieval_section_priority",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("content", ""), _negated=True),
                        name="retrieval_section_not_empty",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
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
                        help_text="max_tokens of the call; NULL: none.", null=True
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
                        help_text="Failures of the last run: names of fields, with the index in a list.",
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
                    ),
                ],
                "constraints": [
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
        migrations.CreateModel(
            name="Retrieval",
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
                        choices=[
                            ("retrieve", "retrieve_memory"),
                            ("retrieve_raw", "retrieve_memory/raw"),
                            ("context", "context_pre_retrieve"),
                            ("search", "search"),
                            ("reconstruct", "reconstruct_context"),
                        ],
                        max_length=16,
                    ),
                ),
                ("query", models.TextField()),
                ("parameters", models.JSONField(help_text="All parameters as applied.")),
                ("embedding_model", models.CharField(blank=True, max_length=200)),
                (
                    "counts",
                    models.JSONField(
                        default=dict,
                        help_text="Number of memories found by each ranking, per kind of memory.",
                    ),
                ),
                (
                    "degraded",
                    models.CharField(
                        blank=True,
                        help_text="What was missing, such as no_vectors; empty: nothing.",
                        max_length=40,
                    ),
                ),
                (
                    "tokens",
                    models.PositiveIntegerField(
                        default=0, help_text="Size of the answer, estimated."
                    ),
                ),
                (
                    "latency_ms",
                    models.PositiveIntegerField(
                        help_text="From the checked question to its answer, before this was written; NULL: not measured.",
                        null=True,
                    ),
                ),
                (
                    "relevance",
                    models.FloatField(
                        help_text="How likely it is that the answer holds what was asked for; NULL: not known.",
                        null=True,
                    ),
                ),
                (
                    "through_seq",
                    models.BigIntegerField(
                        default=0, help_text="Last message of the conversation when it was asked."
                    ),
                ),
                (
                    "reviewable",
                    models.BooleanField(
                        default=False,
                        help_text="Whether the served episodes are still to be reviewed.",
                    ),
                ),
                (
                    "parts",
                    models.JSONField(
                        help_text="What the text was made of: our words, and references to what was said; NULL: not kept.",
                        null=True,
                    ),
                ),
                (
                    "signature",
                    models.CharField(
                        blank=True,
                        db_default="",
                        help_text="Keyed hash of the text that was served; empty: not kept.",
                        max_length=64,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "asked_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="Key of the caller.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.apikey",
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="NULL: the id was unknown.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "review_job",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The job that reviews them.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="jobs.job",
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
                "permissions": [("run_playground", "Can run searches in the playground")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("review_job", None), ("reviewable", True)),
                        fields=["conversation", "created_at"],
                        name="retrieval_pending_review",
                    ),
                    models.Index(
                        fields=["tenant", "created_at"],
                        include=("latency_ms",),
                        name="retrieval_with_latency",
                    ),
                    models.Index(
                        fields=["conversation", "through_seq"], name="retrieval_by_conversation"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="RetrievalHit",
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
                ("memory_id", models.UUIDField()),
                (
                    "memory_kind",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        max_length=8,
                    ),
                ),
                (
                    "rank",
                    models.PositiveIntegerField(
                        help_text="1 is best: by kind of memory, of a search of all together."
                    ),
                ),
                (
                    "score",
                    models.FloatField(
                        help_text="RRF, for episodes times retrievability; of a search the relevance."
                    ),
                ),
                (
                    "lexical_rank",
                    models.PositiveIntegerField(help_text="NULL: not in that ranking.", null=True),
                ),
                (
                    "vector_rank",
                    models.PositiveIntegerField(help_text="NULL: not in that ranking.", null=True),
                ),
                (
                    "retrieval",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="retrieval.retrieval",
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
                    models.Index(fields=["memory_id"], name="retrieval_hit_by_memory"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "retrieval", "memory_id"), name="retrieval_hit_once"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("retrieval_context"),
        AddTenantPolicy("retrieval_contextsection"),
        AddTenantPolicy("retrieval_memorytest"),
        AddTenantPolicy("retrieval_retrieval"),
        AddTenantPolicy("retrieval_retrievalhit"),
    ]
