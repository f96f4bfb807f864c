"""Imports, exports, the read log, and people's saved searches."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="ExportRun",
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
                ("table", models.CharField(max_length=16)),
                ("format", models.CharField(max_length=8)),
                (
                    "filters",
                    models.JSONField(default=dict, help_text="Filters, by field."),
                ),
                (
                    "rows",
                    models.PositiveIntegerField(
                        help_text="Number of rows sent; NULL: interrupted, or still running.",
                        null=True,
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("finished_at", models.DateTimeField(null=True)),
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
                "verbose_name": "export",
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="ImportRun",
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
                ("file_name", models.CharField(max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("preview", "waits for a decision"),
                            ("running", "being written"),
                            ("done", "done"),
                        ],
                        default="preview",
                        max_length=8,
                    ),
                ),
                ("reason", models.TextField(blank=True)),
                (
                    "total",
                    models.PositiveIntegerField(
                        help_text="Number of facts in the file that are new."
                    ),
                ),
                (
                    "done",
                    models.PositiveIntegerField(
                        default=0, help_text="Number of them that are done."
                    ),
                ),
                (
                    "opened",
                    models.PositiveIntegerField(default=0, help_text="Facts that were opened."),
                ),
                (
                    "counts",
                    models.JSONField(default=dict, help_text="What else the file held, by kind."),
                ),
                (
                    "faults",
                    models.JSONField(
                        default=list, help_text="The first rows left out: line and reason."
                    ),
                ),
                (
                    "last_changeset",
                    models.UUIDField(
                        help_text="The next batch adds to it if it goes on with the same conversation.",
                        null=True,
                    ),
                ),
                (
                    "started_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("finished_at", models.DateTimeField(null=True)),
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
                "verbose_name": "import",
                "abstract": False,
                "base_manager_name": "across_tenants",
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="PageRead",
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
                (
                    "page",
                    models.CharField(
                        help_text="The page by the name of its address.", max_length=64
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(
                        help_text="Row that was viewed; NULL: a list or a search.", null=True
                    ),
                ),
                (
                    "words_sha256",
                    models.CharField(
                        blank=True,
                        help_text="Keyed hash of the search words, with the server's pepper.",
                        max_length=64,
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
                "verbose_name": "page read",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [models.Index(fields=["created_at"], name="console_pageread_by_time")],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="SavedFilter",
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
                    "owner",
                    models.CharField(help_text="The user's name in the admin.", max_length=150),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "path",
                    models.CharField(help_text="From /admin/ on, with its query.", max_length=2000),
                ),
                (
                    "shared",
                    models.BooleanField(default=False, help_text="Whether everybody sees it."),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("owner", "name"), name="console_saved_filter_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("name", ""), _negated=True), ("path__startswith", "/")
                        ),
                        name="console_saved_filter_whole",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportBatch",
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
                ("position", models.PositiveIntegerField()),
                (
                    "rows",
                    models.JSONField(help_text="The facts to open; emptied when that is done."),
                ),
                (
                    "changesets",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        default=list,
                        help_text="Its results.",
                        size=None,
                    ),
                ),
                ("done_at", models.DateTimeField(null=True)),
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
                    "run",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="console.importrun",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "import batches",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "run", "position"), name="console_import_batch_once"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("console_exportrun"),
        AddTenantPolicy("console_importbatch"),
        AddTenantPolicy("console_importrun"),
        AddTenantPolicy("console_pageread"),
    ]
