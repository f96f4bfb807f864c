"""Tables of background jobs, and of calls to language models."""

from datetime import timedelta

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce, Now

from memoryproject.database.constraints import check, index, unique
from memoryproject.tenancy.models import TenantModel


class Kind(models.TextChoices):
    """The task of a job; its scope is a conversation, or for vectors and pages the tenant."""

    SEGMENT = "segment", "segment a window"
    FLUSH = "flush", "segment and consolidate everything now"
    CONSOLIDATE = "consolidate", "distil episodes into facts"
    REVIEW = "review", "rate served episodes"
    EMBED = "embed", "make the vectors that are missing"
    MIRROR = "mirror", "write what has changed to the mirror"
    ERASE = "erase", "erase what somebody wants erased"
    ROLLBACK = "rollback", "roll back a source, or lift the quarantine of it"
    FORGET = "forget", "forget what a message asks to forget"
    MOVE = "move", "move a conversation to its user"
    TEST = "test", "run the memory tests of a conversation"
    DELIVER = "deliver", "tell a webhook what has happened"
    MAIL = "mail", "tell people by mail what has happened"


INTERACTIVE = (Kind.FLUSH, Kind.ERASE, Kind.ROLLBACK, Kind.FORGET)
"""Kinds that somebody waits for: they come before the others."""


class State(models.TextChoices):
    """The state of a job."""

    READY = "ready", "ready"
    RUNNING = "running", "running"
    DONE = "done", "done"
    DEAD = "dead", "dead"
    CANCELLED = "cancelled", "cancelled"


OPEN = Q(state__in=[State.READY, State.RUNNING])
URGENT = Q(kind__in=INTERACTIVE) & OPEN
AT_WORK = Q(state=State.RUNNING, error_class="", lease_until__gt=Now())
"""Jobs with a living worker; one that waits after a failure is also running, with its error."""
DUE = Coalesce("lease_until", "run_after")
"""Time from which an open job may be claimed; for a running one, the end of its lease."""
WAITS_UNTIL = {State.READY: "run_after", State.RUNNING: "lease_until"}
"""A failed job waits as running if another one like it is ready, see `claims`."""


class Job(TenantModel):
    """A unit of background work that survives any crash.

    A django-q2 task is only a wake-up that names a job; this table has the work, its holder and its
    attempts. At most one job of a kind and scope is ready, and at most one runs: two partial unique
    indexes ensure that. Work that comes in while a job runs makes another job ready.
    """

    kind = models.CharField(max_length=16, choices=Kind.choices)
    scope = models.UUIDField(
        help_text="What the job works on: the id of a conversation; for reviews the job's own id; "
        "for erasures, rollbacks and webhooks theirs; "
        "for mails, and vectors of what belongs to no conversation, the tenant's."
    )
    lane = models.UUIDField(
        null=True, blank=True, help_text="Jobs of one lane run one after another; empty: of none."
    )
    input = models.JSONField(default=dict, help_text="Only ids and flags, never text.")
    state = models.CharField(max_length=16, choices=State.choices, default=State.READY)
    attempts = models.PositiveIntegerField(
        default=0, help_text="Incremented when a run starts, so that crashes count."
    )
    transient_failures = models.PositiveIntegerField(
        default=0, help_text="Runs that failed because an outside service was unavailable."
    )
    run_after = models.DateTimeField(
        db_default=Now(), help_text="Not before this, by the database's clock."
    )
    lease_token = models.UUIDField(
        null=True, blank=True, help_text="Token of the run that may write; empty: none."
    )
    holder = models.UUIDField(
        null=True, blank=True, help_text="The cluster of workers that last took it."
    )
    lease_until = models.DateTimeField(
        null=True, blank=True, help_text="After this, by the database's clock, anyone may take it."
    )
    busy_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Of a running job: what it does now, as a call of a model, may take until then; "
        "after this it counts as stuck.",
    )
    error_class = models.CharField(
        max_length=200, blank=True, help_text="The class of the last failure, never its message."
    )
    result = models.JSONField(
        default=dict, blank=True, help_text="Results of the last run, in numbers, never text."
    )
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    waited: timedelta
    """Time between its creation and its claim."""
    lines_at_most: int | None
    """Messages that a claimed job may put into one question; None: as many as fit."""
    run_until: float
    """Time at which a claimed job is to be given back, on its process's monotonic clock."""

    class Meta(TenantModel.Meta):
        permissions = [("operate_job", "Can retry and cancel")]
        constraints = [
            unique("jobs_job_one_ready", "tenant kind scope", Q(state=State.READY)),
            unique("jobs_job_one_running", "tenant kind scope", Q(state=State.RUNNING)),
            check(
                "jobs_job_running_has_lease",
                Q(state=State.RUNNING, lease_token__isnull=False)
                | (~Q(state=State.RUNNING) & Q(lease_token=None)),
            ),
            check("jobs_job_state_known", Q(state__in=State.values)),
        ]
        indexes = [
            index("jobs_job_open", "run_after", OPEN),
            models.Index("tenant", DUE, "id", condition=OPEN, name="jobs_job_turn"),
            models.Index("tenant", DUE, "id", condition=URGENT, name="jobs_job_interactive"),
            index("jobs_job_by_start", "started_at", Q(started_at__isnull=False)),
            index("jobs_job_by_scope", "tenant scope created_at"),
            index("jobs_job_by_finish", "finished_at"),
            index("jobs_job_by_holder", "holder", Q(state=State.RUNNING)),
            index("jobs_job_dead", "id", Q(state=State.DEAD)),
        ]


class WorkerRestart(models.Model):
    """Record that a supervisor restarted its workers, as they did not take claimable work."""

    at = models.DateTimeField(db_default=Now())
    cluster = models.UUIDField(help_text="The cluster whose workers were ended.")
    reason = models.CharField(max_length=200)

    class Meta:
        indexes = [index("jobs_workerrestart_by_time", "at")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S}"


class LLMCall(TenantModel):
    """One question to a language model, stored so that a repeated one costs nothing.

    It is written before the question is asked, with the highest possible cost, so that failed and
    interrupted calls count too.
    """

    job = models.UUIDField(null=True, blank=True, help_text="The job that asked.")
    request_sha256 = models.CharField(max_length=64, help_text="Of model, prompt and schema.")
    purpose = models.CharField(max_length=40, help_text="Hash of the question.")
    model = models.CharField(max_length=200)
    ok = models.BooleanField(help_text="Whether an answer in the requested form came.")
    error_class = models.CharField(max_length=200, blank=True)
    response = models.JSONField(null=True, blank=True, help_text="The parsed answer.")
    prompt_version = models.CharField(
        max_length=80, blank=True, help_text="File and hash of the instructions."
    )
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    estimated = models.BooleanField(
        default=False,
        help_text="The provider named no tokens, or more than were reserved: we counted them.",
    )
    left_out = models.PositiveIntegerField(
        default=0, help_text="Characters of what people said that did not fit into the question."
    )
    prompt_cut = models.BooleanField(
        default=False,
        help_text="The server seems to have cut the prompt: its context may be too small.",
    )
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        null=True,
        blank=True,
        help_text="While it runs, the most it can cost; empty: the model has no price.",
    )
    latency_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty: it runs, or its worker died."
    )

    class Meta(TenantModel.Meta):
        verbose_name = "model call"
        constraints = [unique("jobs_llmcall_one_answer", "tenant request_sha256", Q(ok=True))]
        indexes = [
            models.Index(
                fields=["tenant", "created_at"], include=["cost"], name="jobs_llmcall_by_time"
            ),
            index("jobs_llmcall_by_job", "job"),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}"
