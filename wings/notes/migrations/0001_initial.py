"""What was written on purpose, and links."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import (
    AddTenantPolicy,
    CountStored,
    ShareMemoryId,
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("episodic", "0001_initial"),
        ("indexing", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Note",
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
                    "version",
                    models.PositiveIntegerField(
                        default=1, help_text="1, 2, 3, …; each PATCH makes one."
                    ),
                ),
                (
                    "source_type",
                    models.CharField(
                        choices=[
                            ("thread_summary", "thread_summary"),
                            ("plan_summary", "plan_summary"),
                            ("knowledge_base", "knowledge_base"),
                            ("brand_kit", "brand_kit"),
                            ("offer", "offer"),
                            ("span", "span"),
                            ("reference", "reference"),
                            ("document", "document"),
                            ("note", "note"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "source_id",
                    models.TextField(
                        blank=True, help_text="The agent's own id of what it is about."
                    ),
                ),
                (
                    "user_id",
                    models.TextField(
                        blank=True, help_text="The user it is about, by the agent's own id."
                    ),
                ),
                ("label", models.TextField(help_text="A short text for lists.")),
                ("description", models.TextField(blank=True)),
                (
                    "content",
                    models.TextField(help_text="As written, or as it follows from the metadata."),
                ),
                ("importance", models.FloatField(default=0.5, help_text="0 to 1.")),
                (
                    "category",
                    models.CharField(
                        blank=True, help_text="A word of the agent's own.", max_length=100
                    ),
                ),
                ("emotion_type", models.CharField(blank=True, max_length=100)),
                (
                    "emotion_intensity",
                    models.FloatField(help_text="0 to 1; NULL: not said.", null=True),
                ),
                (
                    "emotion_valence",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("positive", "positive"),
                            ("negative", "negative"),
                            ("neutral", "neutral"),
                            ("mixed", "mixed"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "metadata",
                    models.JSONField(
                        default=dict,
                        help_text="Of a summary its counts and points; else the agent's own.",
                    ),
                ),
                (
                    "span_id",
                    models.TextField(blank=True, help_text="The stored text that it points into."),
                ),
                (
                    "start_byte",
                    models.BigIntegerField(help_text="First byte of the span.", null=True),
                ),
                (
                    "end_byte",
                    models.BigIntegerField(help_text="The byte after the span.", null=True),
                ),
                (
                    "source_path",
                    models.TextField(blank=True, help_text="Of a document: where it came from."),
                ),
                (
                    "excerpt",
                    models.TextField(blank=True, help_text="Of a document: a passage of it."),
                ),
                (
                    "occurred_at",
                    models.DateTimeField(help_text="When it was so, by the agent's clock."),
                ),
                (
                    "actor",
                    models.CharField(
                        help_text="Who wrote this version: a key, a person.", max_length=200
                    ),
                ),
                ("updated_at", models.DateTimeField(help_text="When this version was written.")),
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
                        db_default=0, default=0, help_text="Its place in that request: 0, 1, 2, …"
                    ),
                ),
                (
                    "body_sha256",
                    models.CharField(
                        blank=True,
                        help_text="Hash of that request, if it has an idempotency key.",
                        max_length=64,
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
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "deleted_at",
                    models.DateTimeField(help_text="NULL: it is not deleted.", null=True),
                ),
                ("deleted_by", models.CharField(blank=True, max_length=200)),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        help_text="Empty: it belongs to the whole tenant.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "made_by",
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
                "permissions": [
                    ("curate_note", "Can change and delete notes, draw and remove links")
                ],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        fields=["tenant", "source_type", "source_id", "id"],
                        name="notes_note_by_source",
                    ),
                    models.Index(fields=["tenant", "user_id", "id"], name="notes_note_by_user"),
                    models.Index(
                        fields=["tenant", "category", "id"], name="notes_note_by_category"
                    ),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["tags"], name="notes_note_by_tags"
                    ),
                    models.Index(
                        condition=models.Q(("deleted_at__isnull", False)),
                        fields=["id"],
                        name="notes_note_deleted",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "source_type__in",
                                [
                                    "thread_summary",
                                    "plan_summary",
                                    "knowledge_base",
                                    "brand_kit",
                                    "offer",
                                    "span",
                                    "reference",
                                    "document",
                                    "note",
                                ],
                            )
                        ),
                        name="notes_note_source_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "emotion_valence__in",
                                ["", "positive", "negative", "neutral", "mixed"],
                            )
                        ),
                        name="notes_note_valence_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("importance__gte", 0),
                            ("importance__lte", 1),
                            models.Q(
                                ("emotion_intensity", None),
                                models.Q(
                                    ("emotion_intensity__gte", 0), ("emotion_intensity__lte", 1)
                                ),
                                _connector="OR",
                            ),
                        ),
                        name="notes_note_shares",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("label", ""), _negated=True),
                            models.Q(("content", ""), _negated=True),
                        ),
                        name="notes_note_worded",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("end_byte", None), ("span_id", ""), ("start_byte", None)),
                            models.Q(
                                models.Q(("span_id", ""), _negated=True),
                                ("end_byte__isnull", False),
                                ("start_byte__isnull", False),
                                ("end_byte__gte", models.F("start_byte")),
                                ("start_byte__gte", 0),
                            ),
                            _connector="OR",
                        ),
                        name="notes_note_span",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)), name="notes_note_version_positive"
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "client_key", "client_index"),
                        name="notes_note_client_key",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="NoteVersion",
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
                    "version",
                    models.PositiveIntegerField(
                        default=1, help_text="1, 2, 3, …; each PATCH makes one."
                    ),
                ),
                (
                    "source_type",
                    models.CharField(
                        choices=[
                            ("thread_summary", "thread_summary"),
                            ("plan_summary", "plan_summary"),
                            ("knowledge_base", "knowledge_base"),
                            ("brand_kit", "brand_kit"),
                            ("offer", "offer"),
                            ("span", "span"),
                            ("reference", "reference"),
                            ("document", "document"),
                            ("note", "note"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "source_id",
                    models.TextField(
                        blank=True, help_text="The agent's own id of what it is about."
                    ),
                ),
                (
                    "user_id",
                    models.TextField(
                        blank=True, help_text="The user it is about, by the agent's own id."
                    ),
                ),
                ("label", models.TextField(help_text="A short text for lists.")),
                ("description", models.TextField(blank=True)),
                (
                    "content",
                    models.TextField(help_text="As written, or as it follows from the metadata."),
                ),
                ("importance", models.FloatField(default=0.5, help_text="0 to 1.")),
                (
                    "category",
                    models.CharField(
                        blank=True, help_text="A word of the agent's own.", max_length=100
                    ),
                ),
                ("emotion_type", models.CharField(blank=True, max_length=100)),
                (
                    "emotion_intensity",
                    models.FloatField(help_text="0 to 1; NULL: not said.", null=True),
                ),
                (
                    "emotion_valence",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("positive", "positive"),
                            ("negative", "negative"),
                            ("neutral", "neutral"),
                            ("mixed", "mixed"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), default=list, size=None
                    ),
                ),
                (
                    "metadata",
                    models.JSONField(
                        default=dict,
                        help_text="Of a summary its counts and points; else the agent's own.",
                    ),
                ),
                (
                    "span_id",
                    models.TextField(blank=True, help_text="The stored text that it points into."),
                ),
                (
                    "start_byte",
                    models.BigIntegerField(help_text="First byte of the span.", null=True),
                ),
                (
                    "end_byte",
                    models.BigIntegerField(help_text="The byte after the span.", null=True),
                ),
                (
                    "source_path",
                    models.TextField(blank=True, help_text="Of a document: where it came from."),
                ),
                (
                    "excerpt",
                    models.TextField(blank=True, help_text="Of a document: a passage of it."),
                ),
                (
                    "occurred_at",
                    models.DateTimeField(help_text="When it was so, by the agent's clock."),
                ),
                (
                    "actor",
                    models.CharField(
                        help_text="Who wrote this version: a key, a person.", max_length=200
                    ),
                ),
                ("updated_at", models.DateTimeField(help_text="When this version was written.")),
                (
                    "replaced_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "note",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="notes.note",
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
                        condition=models.Q(
                            (
                                "source_type__in",
                                [
                                    "thread_summary",
                                    "plan_summary",
                                    "knowledge_base",
                                    "brand_kit",
                                    "offer",
                                    "span",
                                    "reference",
                                    "document",
                                    "note",
                                ],
                            )
                        ),
                        name="notes_noteversion_source_type_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "emotion_valence__in",
                                ["", "positive", "negative", "neutral", "mixed"],
                            )
                        ),
                        name="notes_noteversion_valence_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("importance__gte", 0),
                            ("importance__lte", 1),
                            models.Q(
                                ("emotion_intensity", None),
                                models.Q(
                                    ("emotion_intensity__gte", 0), ("emotion_intensity__lte", 1)
                                ),
                                _connector="OR",
                            ),
                        ),
                        name="notes_noteversion_shares",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("label", ""), _negated=True),
                            models.Q(("content", ""), _negated=True),
                        ),
                        name="notes_noteversion_worded",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("end_byte", None), ("span_id", ""), ("start_byte", None)),
                            models.Q(
                                models.Q(("span_id", ""), _negated=True),
                                ("end_byte__isnull", False),
                                ("start_byte__isnull", False),
                                ("end_byte__gte", models.F("start_byte")),
                                ("start_byte__gte", 0),
                            ),
                            _connector="OR",
                        ),
                        name="notes_noteversion_span",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("version__gte", 1)),
                        name="notes_noteversion_version_positive",
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "note", "version"), name="notes_version_once"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Link",
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
                    "link_type",
                    models.CharField(
                        choices=[
                            ("relates_to", "relates_to"),
                            ("references", "references"),
                            ("mentions", "mentions"),
                            ("supports", "supports"),
                            ("contradicts", "contradicts"),
                            ("follows", "follows"),
                            ("part_of", "part_of"),
                            ("caused_by", "caused_by"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "made_by",
                    models.CharField(
                        choices=[("agent", "an agent"), ("person", "a person")], max_length=8
                    ),
                ),
                ("actor", models.CharField(help_text="Which key or person.", max_length=200)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "from_memory",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
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
                (
                    "to_memory",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="indexing.memory",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        fields=["tenant", "to_memory", "from_memory", "link_type"],
                        name="notes_link_backwards",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "from_memory", "to_memory", "link_type"),
                        name="notes_link_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("from_memory", models.F("to_memory")), _negated=True),
                        name="notes_link_not_to_itself",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "link_type__in",
                                [
                                    "relates_to",
                                    "references",
                                    "mentions",
                                    "supports",
                                    "contradicts",
                                    "follows",
                                    "part_of",
                                    "caused_by",
                                ],
                            )
                        ),
                        name="notes_link_type_known",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("notes_link"),
        AddTenantPolicy("notes_note"),
        AddTenantPolicy("notes_noteversion"),
        ShareMemoryId("notes_note"),
        CountStored(
            "notes_note", ["label", "description", "content", "excerpt", "metadata"], changes=True
        ),
        CountStored(
            "notes_noteversion", ["label", "description", "content", "excerpt", "metadata"]
        ),
    ]
