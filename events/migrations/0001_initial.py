"""Webhooks, and the events that they are told of."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
import memoryproject.tenancy.fields
from memoryproject.tenancy.migration_operations import AddTenantPolicy, AddTenantReference


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0011_stored_sizes_are_kept"),
    ]

    operations = [
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
                            ],
                            max_length=32,
                        ),
                        blank=True,
                        default=list,
                        help_text="What it is told; empty: everything.",
                        size=None,
                    ),
                ),
                (
                    "secret_version",
                    models.PositiveIntegerField(default=1, help_text="Raised by each rotation."),
                ),
                (
                    "previous_until",
                    models.DateTimeField(
                        help_text="Until then the secret before signs too; NULL: there is none.",
                        null=True,
                    ),
                ),
                (
                    "stopped_at",
                    models.DateTimeField(
                        help_text="When it answered 410 Gone; NULL: it is told.", null=True
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
                        help_text="The last answer's; NULL: there was none.", null=True
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
                    models.PositiveIntegerField(help_text="Of the last attempt.", null=True),
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
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="events_webhook_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="webhook",
            constraint=models.CheckConstraint(
                condition=models.Q(("secret_version__gte", 1)), name="events_webhook_secret_version"
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("state", "pending")),
                fields=["webhook", "created_at", "id"],
                name="events_event_pending",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("state", "pending")),
                fields=["retry_at"],
                name="events_event_due",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["webhook", "id"], name="events_event_of_webhook"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("state", "pending"), _negated=True),
                fields=["created_at"],
                name="events_event_over",
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(
                fields=("tenant", "id"), name="events_event_tenant_id"
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("delivered_at__isnull", False), ("state", "delivered")),
                    models.Q(("delivered_at", None), ("state__in", ["pending", "dead"])),
                    _connector="OR",
                ),
                name="events_event_delivered_at",
            ),
        ),
        AddTenantReference("events_event", "webhook_id", "events_webhook"),
        AddTenantPolicy("events_webhook"),
        AddTenantPolicy("events_event"),
    ]
