"""What webhooks and people are told."""

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
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("tenancy", "0001_initial"),
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
        migrations.CreateModel(
            name="Webhook",
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
                ("url", models.CharField(max_length=2000)),
                (
                    "types",
                    django.contrib.postgres.fields.ArrayField(
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
                                (
                                    "rule.stopped",
                                    "a rule of the review queue stopped deciding by itself",
                                ),
                            ],
                            max_length=32,
                        ),
                        blank=True,
                        default=list,
                        help_text="Event types that it receives; empty: all.",
                        size=None,
                    ),
                ),
                (
                    "secret_version",
                    models.PositiveIntegerField(
                        default=1, help_text="Incremented by each rotation."
                    ),
                ),
                (
                    "previous_until",
                    models.DateTimeField(
                        help_text="Time until which the old secret signs, too; NULL: none.",
                        null=True,
                    ),
                ),
                (
                    "stopped_at",
                    models.DateTimeField(
                        help_text="When it answered 410 Gone; NULL: it is active.", null=True
                    ),
                ),
                ("actor", models.CharField(help_text="Who made it: a key.", max_length=200)),
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
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("secret_version__gte", 1)),
                        name="events_webhook_secret_version",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="Event",
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
                            (
                                "rule.stopped",
                                "a rule of the review queue stopped deciding by itself",
                            ),
                        ],
                        max_length=32,
                    ),
                ),
                (
                    "scope",
                    models.UUIDField(
                        help_text="Of which one is delivered after the other: the id of a conversation, or the tenant's."
                    ),
                ),
                ("data", models.JSONField(help_text="Ids, numbers and words of ours; never text.")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "pending"),
                            ("delivered", "delivered"),
                            ("dead", "dead"),
                        ],
                        default="pending",
                        max_length=16,
                    ),
                ),
                (
                    "attempts",
                    models.PositiveIntegerField(
                        default=0, help_text="Failed ones since `queued_at`."
                    ),
                ),
                (
                    "queued_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When it was made, or somebody asked for it again.",
                    ),
                ),
                (
                    "retry_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="Not before this, by the database's clock.",
                    ),
                ),
                (
                    "status",
                    models.PositiveSmallIntegerField(
                        help_text="Status of the last answer; NULL: none came.", null=True
                    ),
                ),
                (
                    "error_class",
                    models.CharField(
                        blank=True,
                        help_text="The class of the last failure, never its message.",
                        max_length=200,
                    ),
                ),
                (
                    "latency_ms",
                    models.PositiveIntegerField(help_text="Time of the last attempt.", null=True),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("delivered_at", models.DateTimeField(null=True)),
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
                    "webhook",
                    memoryproject.tenancy.fields.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        help_text="NULL: for people, in the admin.",
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="events.webhook",
                    ),
                ),
            ],
            options={
                "permissions": [("redeliver_event", "Can have events delivered again")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["webhook", "created_at", "id"],
                        name="events_event_pending",
                    ),
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["retry_at"],
                        name="events_event_due",
                    ),
                    models.Index(fields=["webhook", "id"], name="events_event_of_webhook"),
                    models.Index(
                        condition=models.Q(("state", "pending"), _negated=True),
                        fields=["created_at"],
                        name="events_event_over",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("delivered_at__isnull", False), ("state", "delivered")),
                            models.Q(("delivered_at", None), ("state__in", ["pending", "dead"])),
                            _connector="OR",
                        ),
                        name="events_event_delivered_at",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
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
                            (
                                "rule.stopped",
                                "a rule of the review queue stopped deciding by itself",
                            ),
                        ],
                        max_length=32,
                    ),
                ),
                (
                    "subject",
                    models.UUIDField(
                        help_text="Id of the row to look at; the type tells its table."
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
                        help_text="The mail that lists it; NULL: none yet.", null=True
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
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("events_event"),
        AddTenantPolicy("events_notification"),
        AddTenantPolicy("events_webhook"),
    ]
