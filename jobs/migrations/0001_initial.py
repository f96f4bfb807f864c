"""Jobs, and what was asked of language models."""

import django.db.models.deletion
import django.db.models.functions.comparison
import django.db.models.functions.datetime
import django.db.models.manager
from django.db import migrations, models

import memoryproject.database.ids
from memoryproject.tenancy.migration_operations import AddTenantPolicy


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
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
                            ("segment", "segment a window"),
                            ("flush", "segment and consolidate everything now"),
                            ("consolidate", "distil episodes into facts"),
                            ("review", "rate served episodes"),
                            ("embed", "make the vectors that are missing"),
                            ("mirror", "write what has changed to the mirror"),
                            ("erase", "erase what somebody wants erased"),
                            ("rollback", "roll back a source, or lift the quarantine of it"),
                            ("test", "run the memory tests of a conversation"),
                            ("deliver", "tell a webhook what has happened"),
                            ("mail", "tell people by mail what has happened"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "scope",
                    models.UUIDField(
                        help_text="What the job works on: the id of a conversation; for reviews the job's own id; for erasures, rollbacks and webhooks theirs; for mails, and vectors of what belongs to no conversation, the tenant's."
                    ),
                ),
                (
                    "input",
                    models.JSONField(default=dict, help_text="Only ids and flags, never text."),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ready", "ready"),
                            ("running", "running"),
                            ("done", "done"),
                            ("dead", "dead"),
                            ("cancelled", "cancelled"),
                        ],
                        default="ready",
                        max_length=16,
                    ),
                ),
                (
                    "attempts",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Incremented when a run starts, so that crashes count.",
                    ),
                ),
                (
                    "transient_failures",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Runs that failed because an outside service was unavailable.",
                    ),
                ),
                (
                    "run_after",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="Not before this, by the database's clock.",
                    ),
                ),
                (
                    "lease_token",
                    models.UUIDField(
                        blank=True,
                        help_text="Token of the run that may write; empty: none.",
                        null=True,
                    ),
                ),
                (
                    "holder",
                    models.UUIDField(
                        blank=True, help_text="The cluster of workers that last took it.", null=True
                    ),
                ),
                (
                    "lease_until",
                    models.DateTimeField(
                        blank=True,
                        help_text="After this, by the database's clock, anyone may take it.",
                        null=True,
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
                    "result",
                    models.JSONField(
                        blank=True,
                        default=dict,
                        help_text="Results of the last run, in numbers, never text.",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
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
                "permissions": [("operate_job", "Can retry and cancel")],
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["ready", "running"])),
                        fields=["run_after"],
                        name="jobs_job_open",
                    ),
                    models.Index(
                        models.F("tenant"),
                        django.db.models.functions.comparison.Coalesce("lease_until", "run_after"),
                        models.F("id"),
                        condition=models.Q(("state__in", ["ready", "running"])),
                        name="jobs_job_turn",
                    ),
                    models.Index(
                        models.F("tenant"),
                        django.db.models.functions.comparison.Coalesce("lease_until", "run_after"),
                        models.F("id"),
                        condition=models.Q(
                            ("kind__in", ("flush", "erase", "rollback")),
                            ("state__in", ["ready", "running"]),
                        ),
                        name="jobs_job_interactive",
                    ),
                    models.Index(
                        condition=models.Q(("started_at__isnull", False)),
                        fields=["started_at"],
                        name="jobs_job_by_start",
                    ),
                    models.Index(
                        fields=["tenant", "scope", "created_at"], name="jobs_job_by_scope"
                    ),
                    models.Index(fields=["finished_at"], name="jobs_job_by_finish"),
                    models.Index(
                        condition=models.Q(("state", "running")),
                        fields=["holder"],
                        name="jobs_job_by_holder",
                    ),
                    models.Index(
                        condition=models.Q(("state", "dead")), fields=["id"], name="jobs_job_dead"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "ready")),
                        fields=("tenant", "kind", "scope"),
                        name="jobs_job_one_ready",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "running")),
                        fields=("tenant", "kind", "scope"),
                        name="jobs_job_one_running",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lease_token__isnull", False), ("state", "running")),
                            models.Q(
                                models.Q(("state", "running"), _negated=True), ("lease_token", None)
                            ),
                            _connector="OR",
                        ),
                        name="jobs_job_running_has_lease",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["ready", "running", "done", "dead", "cancelled"])
                        ),
                        name="jobs_job_state_known",
                    ),
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        migrations.CreateModel(
            name="LLMCall",
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
                ("job", models.UUIDField(blank=True, help_text="The job that asked.", null=True)),
                (
                    "request_sha256",
                    models.CharField(help_text="Of model, prompt and schema.", max_length=64),
                ),
                ("purpose", models.CharField(help_text="Hash of the question.", max_length=40)),
                ("model", models.CharField(max_length=200)),
                (
                    "ok",
                    models.BooleanField(help_text="Whether an answer in the requested form came."),
                ),
                ("error_class", models.CharField(blank=True, max_length=200)),
                (
                    "response",
                    models.JSONField(blank=True, help_text="The parsed answer.", null=True),
                ),
                (
                    "prompt_version",
                    models.CharField(
                        blank=True, help_text="File and hash of the instructions.", max_length=80
                    ),
                ),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                (
                    "estimated",
                    models.BooleanField(
                        default=False,
                        help_text="The provider named no tokens, or more than were reserved: we counted them.",
                    ),
                ),
                (
                    "left_out",
                    models.PositiveIntegerField(
                        default=0,
                        help_text="Characters of what people said that did not fit into the question.",
                    ),
                ),
                (
                    "prompt_cut",
                    models.BooleanField(
                        default=False,
                        help_text="The server seems to have cut the prompt: its context may be too small.",
                    ),
                ),
                (
                    "cost",
                    models.DecimalField(
                        blank=True,
                        decimal_places=8,
                        help_text="While it runs, the most it can cost; empty: the model has no price.",
                        max_digits=14,
                        null=True,
                    ),
                ),
                ("latency_ms", models.PositiveIntegerField(default=0)),
                (
                    "created_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "finished_at",
                    models.DateTimeField(
                        blank=True, help_text="Empty: it runs, or its worker died.", null=True
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
                "verbose_name": "model call",
                "abstract": False,
                "base_manager_name": "across_tenants",
                "indexes": [
                    models.Index(
                        fields=["tenant", "created_at"],
                        include=("cost",),
                        name="jobs_llmcall_by_time",
                    ),
                    models.Index(fields=["job"], name="jobs_llmcall_by_job"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ok", True)),
                        fields=("tenant", "request_sha256"),
                        name="jobs_llmcall_one_answer",
                    )
                ],
            },
            managers=[
                ("objects", django.db.models.manager.Manager()),
                ("across_tenants", django.db.models.manager.Manager()),
            ],
        ),
        AddTenantPolicy("jobs_job"),
        AddTenantPolicy("jobs_llmcall"),
    ]
