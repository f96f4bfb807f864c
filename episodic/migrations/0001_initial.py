"""What was said and what happened."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import (
    AddTenantPolicy,
    CountStored,
    ForbidChanges,
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("jobs", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Conversation",
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
                    "external_id",
                    models.UUIDField(help_text="The agent's id; unique within the tenant."),
                ),
                (
                    "user_id",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Its user, by the agent's own id; empty: none was named.",
                    ),
                ),
                (
                    "agent_id",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The agent that leads it, by the agent's own id; empty: none was named.",
                    ),
                ),
                (
                    "next_seq",
                    models.BigIntegerField(default=1, help_text="The seq of the next message."),
                ),
                (
                    "pending_count",
                    models.PositiveIntegerField(
                        default=0, help_text="Messages in the window: those in no episode yet."
                    ),
                ),
                (
                    "window_doubled",
                    models.BooleanField(
                        default=False,
                        help_text="One run found no boundary; the window may grow to 40.",
                    ),
                ),
                (
                    "previous_summary",
                    models.TextField(
                        blank=True,
                        help_text="Summary of the last episode, for the next segmentation.",
                    ),
                ),
                (
                    "version",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="Incremented by each write that must abort a running job.",
                    ),
                ),
                (
                    "language",
                    models.CharField(
                        choices=[
                            ("arabic", "arabic"),
                            ("armenian", "armenian"),
                            ("basque", "basque"),
                            ("catalan", "catalan"),
                            ("danish", "danish"),
                            ("dutch", "dutch"),
                            ("english", "english"),
                            ("finnish", "finnish"),
                            ("french", "french"),
                            ("german", "german"),
                            ("greek", "greek"),
                            ("hindi", "hindi"),
                            ("hungarian", "hungarian"),
                            ("indonesian", "indonesian"),
                            ("irish", "irish"),
                            ("italian", "italian"),
                            ("lithuanian", "lithuanian"),
                            ("nepali", "nepali"),
                            ("norwegian", "norwegian"),
                            ("portuguese", "portuguese"),
                            ("romanian", "romanian"),
                            ("russian", "russian"),
                            ("serbian", "serbian"),
                            ("simple", "simple"),
                            ("spanish", "spanish"),
                            ("swedish", "swedish"),
                            ("tamil", "tamil"),
                            ("turkish", "turkish"),
                            ("yiddish", "yiddish"),
                        ],
                        default="simple",
                        max_length=16,
                    ),
                ),
                (
                    "withheld_count",
                    models.PositiveBigIntegerField(
                        default=0,
                        help_text="Number of quarantined messages: kept, but not learned from or served.",
                    ),
                ),
                (
                    "erased_count",
                    models.PositiveBigIntegerField(
                        default=0, help_text="Messages that were erased: each leaves a gap in seq."
                    ),
                ),
                (
                    "has_corrections",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Whether a person ever corrected something, so that reading looks for marks.",
                    ),
                ),
                (
                    "has_tests",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Whether it has memory tests, which changesets then queue.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
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
                        condition=models.Q(("user_id", ""), _negated=True),
                        fields=["tenant", "user_id"],
                        name="episodic_conversation_by_user",
                    ),
                    models.Index(
                        condition=models.Q(("agent_id", ""), _negated=True),
                        fields=["tenant", "agent_id"],
                        name="episodic_conversation_by_agent",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "external_id"), name="episodic_conversation_external_id"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Episode",
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
                ("first_seq", models.BigIntegerField(help_text="First message, included.")),
                ("last_seq", models.BigIntegerField(help_text="Last message, included.")),
                ("title", models.TextField(help_text="5 to 15 words.")),
                ("summary", models.TextField(help_text="At most 50 words.")),
                (
                    "stability",
                    models.FloatField(help_text="FSRS: days until retrievability falls to 0.9."),
                ),
                ("difficulty", models.FloatField(help_text="FSRS: 1 (easy) to 10.")),
                (
                    "surprise",
                    models.FloatField(help_text="0 (expected) to 1 (changes everything); fixed."),
                ),
                ("start_at", models.DateTimeField(help_text="Time of its first message.")),
                ("end_at", models.DateTimeField(help_text="Time of its last message.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "last_reviewed_at",
                    models.DateTimeField(help_text="At first equal to created_at."),
                ),
                (
                    "consolidated_at",
                    models.DateTimeField(help_text="NULL: facts are not extracted yet.", null=True),
                ),
                (
                    "consolidation_failed_at",
                    models.DateTimeField(
                        help_text="Set when extracting facts failed finally; waits for a retry.",
                        null=True,
                    ),
                ),
                ("engine", models.CharField(help_text="The engine that made it.", max_length=40)),
                (
                    "degraded",
                    models.BooleanField(
                        default=False, help_text="The offline engine replaced a failing model."
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
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
                        fields=["conversation", "created_at"], name="episodic_episode_by_creation"
                    ),
                    models.Index(
                        fields=["conversation", "first_seq"], name="episodic_episode_in_order"
                    ),
                    models.Index(
                        condition=models.Q(
                            ("consolidated_at", None), ("consolidation_failed_at", None)
                        ),
                        fields=["conversation", "first_seq"],
                        name="episodic_episode_fresh",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("first_seq__gte", 1), ("last_seq__gte", models.F("first_seq"))
                        ),
                        name="episodic_episode_range",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("surprise__gte", 0), ("surprise__lte", 1)),
                        name="episodic_episode_surprise",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("difficulty__gte", 1), ("difficulty__lte", 10), ("stability__gt", 0)
                        ),
                        name="episodic_episode_fsrs",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("title", ""), _negated=True),
                            models.Q(("summary", ""), _negated=True),
                        ),
                        name="episodic_episode_worded",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ErasedKey",
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
                    "digest",
                    models.CharField(
                        help_text="HMAC-SHA256 of the key and of what it was used for.",
                        max_length=64,
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
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
                        fields=("tenant", "digest"), name="episodic_erased_key_once"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
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
                ("reason", models.TextField(help_text="Reason, in the person's own words.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("until", models.DateTimeField(help_text="Time from which on it is masked again.")),
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
                    models.Index(fields=["person", "until"], name="episodic_reveal_by_person"),
                ],
                "constraints": [
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
        migrations.CreateModel(
            name="Review",
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
                    "retrieval_id",
                    models.UUIDField(help_text="The receipt of the answer that served it."),
                ),
                (
                    "rating",
                    models.CharField(
                        choices=[
                            ("again", "again"),
                            ("hard", "hard"),
                            ("good", "good"),
                            ("easy", "easy"),
                        ],
                        max_length=8,
                    ),
                ),
                ("engine", models.CharField(max_length=40)),
                ("degraded", models.BooleanField(default=False)),
                ("stability_before", models.FloatField()),
                ("stability_after", models.FloatField()),
                ("difficulty_before", models.FloatField()),
                ("difficulty_after", models.FloatField()),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "episode",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.episode",
                    ),
                ),
                (
                    "job",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
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
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "job", "episode"), name="episodic_review_once_a_job"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rating__in", ["again", "hard", "good", "easy"])),
                        name="episodic_review_rating_known",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Withholding",
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
                    "since",
                    models.DateTimeField(
                        help_text="Messages received from then on, by the server's clock."
                    ),
                ),
                (
                    "speaker",
                    models.TextField(blank=True, help_text="The messages' name; empty: any."),
                ),
                (
                    "role",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("user", "user"),
                            ("assistant", "assistant"),
                            ("system", "system"),
                            ("tool", "tool"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "message_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        help_text="Only these messages; NULL: any.",
                        null=True,
                        size=None,
                    ),
                ),
                (
                    "actor",
                    models.CharField(help_text="Who did it: a person or a key.", max_length=200),
                ),
                ("reason", models.TextField(help_text="Reason, in the person's own words.")),
                ("made", models.JSONField(default=dict, help_text="Its effects, in numbers.")),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("lifted_at", models.DateTimeField(help_text="NULL: it is in effect.", null=True)),
                ("lifted_by", models.CharField(blank=True, max_length=200)),
                (
                    "done_at",
                    models.DateTimeField(
                        help_text="NULL: a worker continues to quarantine, or to lift the quarantine.",
                        null=True,
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="Conversation; empty: any.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "posted_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The key that posted it.",
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="episodic_withholding_reasoned",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Message",
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
                    "seq",
                    models.BigIntegerField(
                        help_text="Number in the conversation: 1, 2, 3, …; only erased messages leave gaps."
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("user", "user"),
                            ("assistant", "assistant"),
                            ("system", "system"),
                            ("tool", "tool"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "name",
                    models.TextField(
                        blank=True, help_text="Who spoke; empty: only the role is known."
                    ),
                ),
                ("content", models.TextField(help_text="As posted: not trimmed, not normalised.")),
                (
                    "occurred_at",
                    models.DateTimeField(help_text="When it was said, by the agent's clock."),
                ),
                (
                    "received_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="By the database's clock.",
                    ),
                ),
                (
                    "client_key",
                    models.CharField(
                        help_text="Idempotency key of the request that posted it.",
                        max_length=255,
                        null=True,
                    ),
                ),
                (
                    "client_index",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Place in that request's batch."
                    ),
                ),
                (
                    "body_sha256",
                    models.CharField(
                        blank=True,
                        help_text="Hash of the whole request, if it has an idempotency key.",
                        max_length=64,
                    ),
                ),
                (
                    "pending_after",
                    models.PositiveIntegerField(
                        help_text="Messages in the window just after this one, for the answer to a retry."
                    ),
                ),
                (
                    "metadata",
                    models.JSONField(
                        default=dict, help_text="The agent's own data, returned unchanged."
                    ),
                ),
                (
                    "token_sizes",
                    models.JSONField(
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        help_text="Quarters of a token of the cleaned content, by counter.",
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "episode",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.episode",
                    ),
                ),
                (
                    "posted_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The key that posted it.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenancy.apikey",
                    ),
                ),
                (
                    "quarantined_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The job that no engine could finish because of this message.",
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
                (
                    "withheld_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The quarantine because of which it is not learned from or served; NULL: none.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.withholding",
                    ),
                ),
            ],
            options={
                "permissions": [
                    ("read_content", "Can read what was said"),
                    ("reveal_content", "Can have a conversation shown, which is recorded"),
                ],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("episode", None), ("quarantined_by", None)),
                        fields=["conversation", "seq"],
                        name="episodic_message_window",
                    ),
                    models.Index(
                        condition=models.Q(("episode", None), ("quarantined_by", None)),
                        fields=["received_at"],
                        name="episodic_message_waiting",
                    ),
                    models.Index(fields=["episode", "seq"], name="episodic_message_by_episode"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "conversation", "seq"), name="episodic_message_seq"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "conversation", "client_key", "client_index"),
                        name="episodic_message_client_key",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("seq__gte", 1)), name="episodic_message_seq_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("content", ""), _negated=True),
                        name="episodic_message_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["user", "assistant", "system", "tool"])),
                        name="episodic_message_role_known",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddField(
            model_name="episode",
            name="withheld_by",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                help_text="Why it was taken apart: it is kept as a record without messages.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="episodic.withholding",
            ),
        ),
        migrations.AddConstraint(
            model_name="episode",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                condition=models.Q(("withheld_by", None)),
                expressions=[
                    ("tenant", "="),
                    ("conversation", "="),
                    (
                        models.Func(
                            models.F("first_seq"),
                            models.F("last_seq"),
                            django.contrib.postgres.fields.ranges.RangeBoundary(
                                inclusive_lower=True, inclusive_upper=True
                            ),
                            function="int8range",
                            output_field=django.contrib.postgres.fields.ranges.BigIntegerRangeField(),
                        ),
                        "&&",
                    ),
                ],
                name="episodic_episode_no_overlap",
            ),
        ),
        AddTenantPolicy("episodic_conversation"),
        AddTenantPolicy("episodic_episode"),
        AddTenantPolicy("episodic_erasedkey"),
        AddTenantPolicy("episodic_message"),
        AddTenantPolicy("episodic_reveal"),
        AddTenantPolicy("episodic_review"),
        AddTenantPolicy("episodic_withholding"),
        ForbidChanges("episodic_reveal"),
        CountStored("episodic_message", ["content", "metadata"]),
    ]
