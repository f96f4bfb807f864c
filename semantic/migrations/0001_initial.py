"""What is known: facts, what supports them, and how they changed."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import (
    AddTenantPolicy,
    ForbidChanges,
    ShareMemoryId,
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("indexing", "0001_initial"),
        ("episodic", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Changeset",
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
                    "job_id",
                    models.UUIDField(
                        help_text="The run's job; NULL: a person's action.", null=True
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("consolidation", "consolidation run"),
                            ("curation", "curation"),
                            ("import", "import"),
                            ("revert", "revert of another"),
                            ("erasure", "erasure of a message"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "actor",
                    models.CharField(
                        help_text="Who did it: a person, a key, the worker.", max_length=200
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                ("engine", models.CharField(blank=True, max_length=40)),
                ("model", models.CharField(blank=True, max_length=200)),
                ("prompt_version", models.CharField(blank=True, max_length=40)),
                ("degraded", models.BooleanField(default=False)),
                (
                    "unknown_aliases",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Proposals that named a fact the engine was never shown.",
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "case_id",
                    models.UUIDField(
                        help_text="The receipt of the answer that led to it; NULL: none was named.",
                        null=True,
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "reverts",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The changeset that this undoes.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
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
                        fields=["tenant", "started_at"], name="semantic_changeset_by_time"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Change",
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
                ("position", models.PositiveIntegerField(help_text="Order within the changeset.")),
                (
                    "action",
                    models.CharField(
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
                (
                    "memory_id",
                    models.UUIDField(help_text="What changed; NULL: nothing did.", null=True),
                ),
                (
                    "other_memory_id",
                    models.UUIDField(
                        help_text="The fact that it replaced, or the episode it came from.",
                        null=True,
                    ),
                ),
                (
                    "note",
                    models.CharField(
                        blank=True,
                        help_text="Code of a reason: unknown_alias, cap, duplicate, …",
                        max_length=40,
                    ),
                ),
                (
                    "states",
                    models.JSONField(
                        default=dict,
                        help_text="State before and after, by id of each fact that was opened or closed.",
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
                    "changeset",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(fields=["memory_id"], name="semantic_change_by_memory"),
                    models.Index(fields=["other_memory_id"], name="semantic_change_by_other"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "changeset", "position"), name="semantic_change_position"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Fact",
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
                    "category",
                    models.CharField(
                        choices=[
                            ("identity", "identity"),
                            ("preference", "preference"),
                            ("interest", "interest"),
                            ("personality", "personality"),
                            ("relationship", "relationship"),
                            ("experience", "experience"),
                            ("goal", "goal"),
                            ("guideline", "guideline"),
                        ],
                        max_length=16,
                    ),
                ),
                ("fact", models.TextField(help_text="One sentence, understandable by itself.")),
                (
                    "keywords",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        default=list,
                        help_text="Names and nouns.",
                        size=None,
                    ),
                ),
                (
                    "content_hash",
                    models.CharField(
                        help_text="SHA-256 of the normalized sentence: a fact is active once.",
                        max_length=64,
                    ),
                ),
                (
                    "version",
                    models.PositiveIntegerField(
                        default=1, help_text="Incremented by each change of state."
                    ),
                ),
                (
                    "valid_at",
                    models.DateTimeField(help_text="Time from which it was true in the world."),
                ),
                (
                    "valid_until",
                    models.DateTimeField(
                        help_text="Time until which it was true; NULL: still true.", null=True
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "invalid_at",
                    models.DateTimeField(
                        help_text="When the server stopped believing it; NULL: active.", null=True
                    ),
                ),
                (
                    "invalidated_because",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("superseded", "the world changed"),
                            ("wrong", "it was never true"),
                            ("reverted", "what brought it was undone"),
                            ("erased", "it was erased"),
                            ("waiting", "it waits for a curator"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "changeset",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="What brought it in.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
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
                    "superseded_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        null=True,
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
                (
                    "search_text",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.F("fact"),
                            models.F("keywords"),
                            function="public.memory_search_text",
                        ),
                        output_field=models.TextField(),
                    ),
                ),
                (
                    "is_pinned",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Case(
                            models.When(
                                models.Q(
                                    ("category", "guideline"),
                                    (
                                        "fact__iregex",
                                        "allerg|anaphyla|epi-?pen|intoleran|insulin|diabet|epilep|seizure|asthma|blood thinner|warfarin|penicillin|pacemaker|pregnan|coeliac|celiac|medication|prescri|\\m[0-9]+ ?(mg|µg|mcg|micrograms?)\\M|allergi|unverträglich|zöliakie|schwanger|medikament|alérgic|alergi|celíac|embaraz|cœliaque|enceinte|médicament|过敏|不耐|胰岛素|糖尿病|癫痫|哮喘|怀孕|吃药|服药|アレルギー|薬を",
                                    ),
                                    _connector="OR",
                                ),
                                then=models.Value(True),
                            ),
                            default=models.Value(False),
                        ),
                        help_text="Guidelines and dangers, which agents get without asking.",
                        output_field=models.BooleanField(),
                    ),
                ),
            ],
            options={
                "permissions": [("curate_fact", "Can correct, invalidate, restore and revert")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("invalid_at", None)),
                        fields=["conversation", "created_at"],
                        name="semantic_fact_active",
                    ),
                    models.Index(
                        condition=models.Q(("invalid_at", None), ("is_pinned", True)),
                        fields=["conversation", "created_at"],
                        name="semantic_fact_pinned",
                    ),
                    models.Index(
                        condition=models.Q(("invalidated_because", "wrong")),
                        fields=["conversation"],
                        name="semantic_fact_declared_wrong",
                    ),
                    models.Index(
                        condition=models.Q(("invalidated_because", "waiting")),
                        fields=["tenant", "id"],
                        name="semantic_fact_waiting",
                    ),
                    models.Index(
                        condition=models.Q(("invalid_at__isnull", False)),
                        fields=["tenant", "invalid_at"],
                        name="semantic_fact_closed",
                    ),
                    models.Index(
                        condition=models.Q(("invalid_at__isnull", False)),
                        fields=["invalidated_because", "id"],
                        name="semantic_fact_by_reason",
                    ),
                    models.Index(
                        fields=["conversation", "valid_at"], name="semantic_fact_of_conversation"
                    ),
                    models.Index(fields=["valid_at"], name="semantic_fact_by_time"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("invalid_at", None)),
                        fields=("tenant", "conversation", "content_hash"),
                        name="semantic_fact_held_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "category__in",
                                [
                                    "identity",
                                    "preference",
                                    "interest",
                                    "personality",
                                    "relationship",
                                    "experience",
                                    "goal",
                                    "guideline",
                                ],
                            )
                        ),
                        name="semantic_fact_category_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("fact", ""), _negated=True),
                        name="semantic_fact_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("invalid_at", None),
                                ("invalidated_because", ""),
                                ("superseded_by", None),
                            ),
                            models.Q(
                                ("invalid_at__isnull", False),
                                models.Q(("invalidated_because", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="semantic_fact_closed_for_a_reason",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Evidence",
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
                    "message_seqs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="Messages that say it; empty: the whole episode.",
                        size=None,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "changeset",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
                    ),
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
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
                (
                    "withdrawn_by",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="The changeset that withdrew it; empty: it is valid.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.changeset",
                    ),
                ),
                (
                    "fact",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.fact",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "evidence",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("withdrawn_by", None)),
                        fields=("tenant", "fact", "episode"),
                        name="semantic_evidence_counts_once",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
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
                ("place_id", models.UUIDField(help_text="Id of the message or memory.")),
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
                        help_text="The changeset for which it was found.",
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
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="tenancy.tenant",
                    ),
                ),
                (
                    "fact",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="The fact that is wrong or over.",
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="semantic.fact",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(fields=["tenant", "place_id"], name="semantic_mark_by_place"),
                ],
                "constraints": [
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
                        help_text="NULL: nothing replaces it.",
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
                    ),
                ],
                "constraints": [
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
                    models.DateTimeField(help_text="Hidden from the queue until then.", null=True),
                ),
                (
                    "is_kept",
                    models.BooleanField(
                        default=False, help_text="Somebody has looked at it and kept it."
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
                    models.UniqueConstraint(fields=("tenant", "fact"), name="semantic_triage_once"),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("semantic_change"),
        AddTenantPolicy("semantic_changeset"),
        AddTenantPolicy("semantic_correctionmark"),
        AddTenantPolicy("semantic_evidence"),
        AddTenantPolicy("semantic_fact"),
        AddTenantPolicy("semantic_suggestion"),
        AddTenantPolicy("semantic_triage"),
        ShareMemoryId("semantic_fact"),
        ForbidChanges("semantic_changeset"),
        ForbidChanges("semantic_change"),
    ]
