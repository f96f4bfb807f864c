"""What can be found: search units, vectors, and the statistics of words."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
import pgvector.django.halfvec
import pgvector.django.sparsevec
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import (
    AddTenantPolicy,
    ShareMemoryId,
    read_sql,
)

DROP_WORDS = """
DROP FUNCTION public.memory_terms(text, text, text, integer);
DROP FUNCTION public.memory_own(text, integer);
DROP FUNCTION public.memory_term(text, text);
DROP FUNCTION public.memory_words(text, text);
DROP FUNCTION public.memory_slot(text);
"""
STOP_COUNTING = """
DROP FUNCTION public.memory_count_units() CASCADE;
DROP FUNCTION public.memory_add_units(integer, public.memory_unit[]);
DROP FUNCTION public.memory_count_words(uuid, uuid, text);
DROP TYPE public.memory_unit;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("episodic", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.RunSQL(read_sql(__file__, "words"), DROP_WORDS),
        migrations.CreateModel(
            name="Memory",
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
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        max_length=8,
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
                "verbose_name_plural": "memories",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["episode", "fact", "note"])),
                        name="indexing_memory_kind_known",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SearchUnit",
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
                            ("episode", "title and summary of an episode"),
                            ("message", "one message of an episode"),
                            ("fact", "a fact"),
                            ("note", "a note"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "shelf",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        help_text="Which kind of memory the unit leads to: each kind is ranked by itself.",
                        max_length=8,
                    ),
                ),
                (
                    "category",
                    models.CharField(
                        blank=True, help_text="Category of a fact; else empty.", max_length=16
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
                    "invalid_at",
                    models.DateTimeField(
                        help_text="When the server stopped believing it; NULL: it still does.",
                        null=True,
                    ),
                ),
                (
                    "first_seq",
                    models.BigIntegerField(
                        help_text="First message it stands for; of a note its part, from 0.",
                        null=True,
                    ),
                ),
                (
                    "last_seq",
                    models.BigIntegerField(
                        help_text="Last message it stands for; of a note its part, from 0.",
                        null=True,
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
                        max_length=16,
                    ),
                ),
                (
                    "lexical_text",
                    models.TextField(help_text="Prepared by indexing.text: bigrams included."),
                ),
                (
                    "own_words",
                    models.IntegerField(
                        help_text="Number of its own words, which come before its neighbors'. NULL: all.",
                        null=True,
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "memory",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
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
                (
                    "words",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.F("language"),
                            models.F("lexical_text"),
                            function="public.memory_words",
                        ),
                        help_text="Its lexemes: 1 in a slot for each; the next slot has the weight of repeats.",
                        output_field=pgvector.django.sparsevec.SparseVectorField(
                            dimensions=1000000000
                        ),
                    ),
                ),
                (
                    "dl",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func(
                            models.F("language"),
                            models.F("lexical_text"),
                            function="public.memory_dl",
                        ),
                        help_text="Length in lexemes.",
                        output_field=models.IntegerField(),
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("invalid_at", None)),
                        fields=["tenant", "conversation", "shelf"],
                        include=("id", "memory", "category", "dl", "words"),
                        name="indexing_unit_by_words",
                    ),
                    models.Index(fields=["conversation", "valid_at"], name="indexing_unit_by_time"),
                    django.contrib.postgres.indexes.GinIndex(
                        models.Func(
                            models.F("kind"),
                            models.F("language"),
                            models.F("lexical_text"),
                            models.F("own_words"),
                            function="public.memory_terms",
                            output_field=django.contrib.postgres.fields.ArrayField(
                                base_field=models.IntegerField(), size=None
                            ),
                        ),
                        name="indexing_unit_by_terms",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SearchVector",
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
                            ("episode", "title and summary of an episode"),
                            ("message", "one message of an episode"),
                            ("fact", "a fact"),
                            ("note", "a note"),
                        ],
                        max_length=8,
                    ),
                ),
                (
                    "shelf",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        help_text="Which kind of memory the unit leads to: each kind is ranked by itself.",
                        max_length=8,
                    ),
                ),
                (
                    "category",
                    models.CharField(
                        blank=True, help_text="Category of a fact; else empty.", max_length=16
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
                    "invalid_at",
                    models.DateTimeField(
                        help_text="When the server stopped believing it; NULL: it still does.",
                        null=True,
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("dim", models.PositiveSmallIntegerField()),
                (
                    "embedding",
                    pgvector.django.halfvec.HalfVectorField(
                        help_text="A unit vector: order by <#> is order by cosine."
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="episodic.conversation",
                    ),
                ),
                (
                    "memory",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
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
                (
                    "unit",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="indexing.searchunit",
                    ),
                ),
            ],
            options={
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("dim__lte", 1024), ("invalid_at", None)),
                        fields=["tenant", "conversation", "shelf", "model"],
                        include=("unit", "memory", "category", "dim", "embedding"),
                        name="indexing_vector_covering",
                    ),
                    models.Index(
                        condition=models.Q(("dim__gt", 1024), ("invalid_at", None)),
                        fields=["tenant", "conversation", "shelf", "model"],
                        name="indexing_vector_wide",
                    ),
                    models.Index(
                        condition=models.Q(("kind", "episode")),
                        fields=["memory", "model"],
                        name="indexing_vector_headline",
                    ),
                    models.Index(
                        fields=["conversation", "valid_at"], name="indexing_vector_by_time"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "unit", "model"), name="indexing_vector_one_a_model"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "dim",
                                models.Func(
                                    models.F("embedding"),
                                    function="vector_dims",
                                    output_field=models.IntegerField(),
                                ),
                            )
                        ),
                        name="indexing_vector_dim_true",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ShelfSize",
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
                    "shelf",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        max_length=8,
                    ),
                ),
                ("units", models.BigIntegerField()),
                ("lexemes", models.BigIntegerField(help_text="Sum of the units' lengths.")),
                (
                    "counted",
                    models.BooleanField(
                        default=False,
                        help_text="Whether its words are counted: from 2,000 units on.",
                    ),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "conversation", "shelf"),
                        name="indexing_shelf_size_one_a_shelf",
                        nulls_distinct=False,
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="VectorIndex",
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
                    "shelf",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        max_length=8,
                    ),
                ),
                ("model", models.CharField(max_length=200)),
                ("dim", models.PositiveSmallIntegerField()),
                (
                    "name",
                    models.CharField(help_text="Name of the index in PostgreSQL.", max_length=63),
                ),
                (
                    "recall",
                    models.FloatField(
                        help_text="Recall of the 100 nearest, when it was built: 0.0 to 1.0.",
                        null=True,
                    ),
                ),
                (
                    "built_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="The scope; empty: the whole tenant.",
                        null=True,
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
                "verbose_name_plural": "vector indexes",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "conversation", "shelf", "model"),
                        name="indexing_vector_index_one_a_scope",
                        nulls_distinct=False,
                    ),
                    models.UniqueConstraint(
                        fields=("tenant", "name"), name="indexing_vector_index_name"
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="WordCount",
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
                    "shelf",
                    models.CharField(
                        choices=[("episode", "episode"), ("fact", "fact"), ("note", "note")],
                        max_length=8,
                    ),
                ),
                ("slot", models.IntegerField(help_text="Of the lexeme, in `SearchUnit.words`.")),
                ("units", models.IntegerField()),
                (
                    "conversation",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        null=True,
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
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "conversation", "shelf", "slot"),
                        name="indexing_word_count_one_a_word",
                        nulls_distinct=False,
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("indexing_memory"),
        AddTenantPolicy("indexing_searchvector"),
        AddTenantPolicy("indexing_shelfsize"),
        AddTenantPolicy("indexing_vectorindex"),
        AddTenantPolicy("indexing_wordcount"),
        AddTenantPolicy("indexing_searchunit", reads=False),
        ShareMemoryId("episodic_episode"),
        # New rows are marked as visible soon: then indexes are enough to answer.
        migrations.RunSQL(
            "ALTER TABLE indexing_searchunit SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(
            "ALTER TABLE indexing_searchvector SET (autovacuum_vacuum_insert_scale_factor = 0.02)",
            migrations.RunSQL.noop,
        ),
        # Wider rows than 2 kB would be moved out of line, where an exact scan is slow.
        migrations.RunSQL(
            "ALTER TABLE indexing_searchvector ALTER COLUMN embedding SET STORAGE MAIN",
            migrations.RunSQL.noop,
        ),
        migrations.RunSQL(read_sql(__file__, "counting"), STOP_COUNTING),
    ]
