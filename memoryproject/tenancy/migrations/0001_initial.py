"""Tenants with their keys, the two roles, and the SQL functions that every app's tables use."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, read_sql

REVOKE = """
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON TABLES FROM memory_app;
ALTER DEFAULT PRIVILEGES IN SCHEMA public REVOKE ALL ON SEQUENCES FROM memory_app;
REVOKE ALL ON ALL TABLES IN SCHEMA public FROM memory_app;
REVOKE ALL ON ALL SEQUENCES IN SCHEMA public FROM memory_app;
REVOKE USAGE ON SCHEMA public FROM memory_app;
"""
DROP_WORDS = """
DROP FUNCTION public.memory_search_text(text, text[]);
DROP FUNCTION public.memory_dl(text, text);
DROP FUNCTION public.memory_ts(text, text);
"""
LET_GO = """
DROP TRIGGER django_admin_log_unchanged ON django_admin_log;
DROP TRIGGER django_admin_log_kept ON django_admin_log;
"""
FORGET_ALLOWANCES = """
DROP FUNCTION public.memory_take_call(uuid[], double precision[], integer[]);
DROP TABLE tenancy_allowance;
"""


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # Roles and extensions belong to more than one database: going back keeps them.
        migrations.RunSQL(read_sql(__file__, "roles"), REVOKE),
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS vector", migrations.RunSQL.noop),
        migrations.RunSQL("CREATE EXTENSION IF NOT EXISTS btree_gist", migrations.RunSQL.noop),
        migrations.RunSQL(read_sql(__file__, "words"), DROP_WORDS),
        migrations.RunSQL(
            read_sql(__file__, "append_only"), "DROP FUNCTION public.memory_refuse_change()"
        ),
        migrations.RunSQL(read_sql(__file__, "admin_log"), LET_GO),
        migrations.CreateModel(
            name="Tenant",
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
                    "name",
                    models.CharField(
                        help_text="What people call this tenant; unique.",
                        max_length=200,
                        unique=True,
                    ),
                ),
                (
                    "settings",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Overrides of the server's defaults, by name.",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "read_from",
                    models.BigIntegerField(
                        blank=True,
                        editable=False,
                        help_text="Log position of the last erasure: a replica must have reached it.",
                        null=True,
                    ),
                ),
            ],
            options={
                "permissions": [("set_budget", "Can set what a day may cost")],
            },
        ),
        migrations.CreateModel(
            name="StoredSize",
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
                    "row_count",
                    models.BigIntegerField(help_text="Messages, notes and their earlier versions."),
                ),
                (
                    "byte_count",
                    models.BigIntegerField(help_text="Their texts and metadata, in UTF-8."),
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
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="APIKey",
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
                ("name", models.CharField(help_text="Who or what uses the key.", max_length=200)),
                (
                    "prefix",
                    models.CharField(
                        help_text="The first characters of the secret, to tell keys apart.",
                        max_length=12,
                    ),
                ),
                (
                    "hash",
                    models.CharField(
                        help_text="HMAC-SHA256 of the secret under the server's pepper.",
                        max_length=64,
                        unique=True,
                    ),
                ),
                (
                    "previous_hash",
                    models.CharField(
                        blank=True,
                        help_text="Hash of the secret before the last rotation; empty: none.",
                        max_length=64,
                        null=True,
                        unique=True,
                    ),
                ),
                (
                    "previous_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="Time from which the old secret is refused.",
                        null=True,
                    ),
                ),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("ingest", "post messages, write notes and links"),
                                ("read", "retrieve and list"),
                                ("curate", "correct, invalidate and undo"),
                                ("admin", "look after jobs, and erase"),
                            ],
                            max_length=16,
                        ),
                        help_text="What the key may do.",
                        size=None,
                    ),
                ),
                (
                    "user_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Users whose conversations and notes it may access; empty: all of the tenant.",
                        size=None,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "expires_at",
                    models.DateTimeField(blank=True, help_text="Empty: never.", null=True),
                ),
                (
                    "revoked_at",
                    models.DateTimeField(blank=True, help_text="Empty: still valid.", null=True),
                ),
                (
                    "last_used_at",
                    models.DateTimeField(
                        blank=True, help_text="To the minute; empty: never used.", null=True
                    ),
                ),
                (
                    "rate",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Calls a minute; 0: no limit; empty: as the server's settings say.",
                        null=True,
                    ),
                ),
                (
                    "links",
                    models.CharField(
                        choices=[
                            ("defanged", "changed so that nothing follows them"),
                            ("plain", "as they were said"),
                        ],
                        db_default="defanged",
                        default="defanged",
                        help_text="How texts for prompts print links, where a call does not say.",
                        max_length=8,
                    ),
                ),
                (
                    "read_from",
                    models.BigIntegerField(
                        blank=True,
                        editable=False,
                        help_text="Log position of its last write: a replica must have reached it.",
                        null=True,
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
                "verbose_name": "API key",
                "permissions": [("manage_apikey", "Can make and revoke keys")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("previous_hash", None), ("previous_until", None)),
                            models.Q(
                                ("previous_hash__isnull", False), ("previous_until__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="tenancy_apikey_previous_has_its_end",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
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
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="auth.group",
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
                "default_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "person", "role"), name="tenancy_membership_once"
                    )
                ],
            },
            managers=[
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="KeyUsage",
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
                ("day", models.DateField()),
                ("calls", models.BigIntegerField(help_text="Answered calls, whatever the answer.")),
                (
                    "errors",
                    models.BigIntegerField(help_text="Answers from 400 to 499, without 429."),
                ),
                ("refused", models.BigIntegerField(help_text="Answers 429: it called too often.")),
                ("faults", models.BigIntegerField(help_text="Answers from 500 on.")),
                ("bytes_in", models.BigIntegerField(help_text="Bytes of the bodies that it sent.")),
                ("bytes_out", models.BigIntegerField(help_text="Bytes of the answers.")),
                (
                    "latencies",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        help_text="Calls by latency: place n, from 0 on, within 2 ** (n / 2) ms.",
                        size=None,
                    ),
                ),
                (
                    "key",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
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
                "verbose_name": "usage of a key",
                "verbose_name_plural": "usage of keys",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "key", "day"), name="tenancy_keyusage_one_a_day"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("tenancy_apikey"),
        AddTenantPolicy("tenancy_keyusage"),
        AddTenantPolicy("tenancy_membership"),
        AddTenantPolicy("tenancy_storedsize"),
        AddTenantPolicy("tenancy_tenant", column="id"),
        migrations.RunSQL(
            read_sql(__file__, "stored_sizes"),
            "DROP FUNCTION public.memory_add_stored(uuid, bigint, numeric)",
        ),
        migrations.RunSQL(read_sql(__file__, "allowances"), FORGET_ALLOWANCES),
    ]
