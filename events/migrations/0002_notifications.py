"""Notifications of people, which come of events for no webhook, and when they get mail."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.conf import settings
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("events", "0001_initial"),
        ("tenancy", "0015_key_usage"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="MailChoice",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="mail_choice",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "when",
                    models.CharField(
                        choices=[
                            ("daily", "Once a day"),
                            ("at_once", "At once"),
                            ("never", "Never"),
                        ],
                        default="daily",
                        max_length=8,
                    ),
                ),
                (
                    "refused_at",
                    models.DateTimeField(
                        help_text="When the mail server last refused the address; NULL: it did not.",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.AlterField(
            model_name="event",
            name="type",
            field=models.CharField(
                choices=[
                    ("episode.created", "an episode was made"),
                    ("fact.added", "a fact became active"),
                    ("fact.retired", "a fact is not active any more"),
                    ("fact.restored", "a retired fact is active again"),
                    ("fact.corrected", "a fact that answers had served was taken back"),
                    ("review.requested", "something waits in the review queue"),
                    ("budget.spent", "work waits because the day's budget is spent"),
                    ("erasure.done", "an erasure is complete"),
                    ("job.dead", "a job failed so often that it is not tried again"),
                    ("budget.near", "80 % of the day's budget is spent"),
                    ("test.failed", "a memory test that passed fails"),
                ],
                max_length=32,
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="webhook",
            field=memoryproject.tenancy.fields.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                help_text="NULL: people are told of it, in the admin.",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="events.webhook",
            ),
        ),
        migrations.RunSQL(  # taken back before the column is required again
            migrations.RunSQL.noop,
            "SET LOCAL memory.tenant = '*'; DELETE FROM events_event WHERE webhook_id IS NULL",
        ),
        migrations.AlterField(
            model_name="webhook",
            name="types",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("episode.created", "an episode was made"),
                        ("fact.added", "a fact became active"),
                        ("fact.retired", "a fact is not active any more"),
                        ("fact.restored", "a retired fact is active again"),
                        ("fact.corrected", "a fact that answers had served was taken back"),
                        ("review.requested", "something waits in the review queue"),
                        ("budget.spent", "work waits because the day's budget is spent"),
                        ("erasure.done", "an erasure is complete"),
                        ("job.dead", "a job failed so often that it is not tried again"),
                        ("budget.near", "80 % of the day's budget is spent"),
                        ("test.failed", "a memory test that passed fails"),
                    ],
                    max_length=32,
                ),
                blank=True,
                default=list,
                help_text="What it is told; empty: everything.",
                size=None,
            ),
        ),
        migrations.CreateModel(
            name="Notification",
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
                    "type",
                    models.CharField(
                        choices=[
                            ("episode.created", "an episode was made"),
                            ("fact.added", "a fact became active"),
                            ("fact.retired", "a fact is not active any more"),
                            ("fact.restored", "a retired fact is active again"),
                            ("fact.corrected", "a fact that answers had served was taken back"),
                            ("review.requested", "something waits in the review queue"),
                            ("budget.spent", "work waits because the day's budget is spent"),
                            ("erasure.done", "an erasure is complete"),
                            ("job.dead", "a job failed so often that it is not tried again"),
                            ("budget.near", "80 % of the day's budget is spent"),
                            ("test.failed", "a memory test that passed fails"),
                        ],
                        max_length=32,
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(
                        help_text="The id of what to look at: its table hangs on the type."
                    ),
                ),
                (
                    "count",
                    models.PositiveIntegerField(
                        default=1, help_text="How many such things happened."
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "read_at",
                    models.DateTimeField(help_text="NULL: the person has not seen it.", null=True),
                ),
                (
                    "mail",
                    models.UUIDField(
                        help_text="The mail that names it; NULL: none does so far.", null=True
                    ),
                ),
                (
                    "mailed_at",
                    models.DateTimeField(
                        help_text="When the mail server took that mail.", null=True
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
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
                        condition=models.Q(("read_at", None)),
                        fields=["person", "tenant"],
                        name="events_notification_unread",
                    ),
                    models.Index(
                        condition=models.Q(("mailed_at", None)),
                        fields=["tenant", "created_at"],
                        name="events_notification_unmailed",
                    ),
                    models.Index(fields=["created_at"], name="events_notification_by_time"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("tenant", "id"), name="events_notification_tenant_id"
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("events_notification"),
    ]
