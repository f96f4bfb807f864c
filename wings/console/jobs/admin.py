"""Admin of background jobs and model calls."""

import uuid
from datetime import datetime, timedelta

from django.apps import apps
from django.contrib import admin
from django.db.models import F, JSONField, Q, QuerySet, Value
from django.http import HttpRequest
from django.utils import timezone

from episodic.revealing import Reader
from jobs import backlog, claims
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.adminkit import values
from memoryproject.adminkit.base import ReadOnlyAdmin, read_id
from memoryproject.adminkit.filters import recent_filter, words_filter

# A queued wake-up has no information that its job lacks.
for model in apps.get_app_config("django_q").get_models():
    if admin.site.is_registered(model):
        admin.site.unregister(model)


STANDING = {
    "late": "danger", "held": "success", "waits": "info", "loose": "warning", "over": "default",
}  # fmt: skip
OUTCOMES = {"answered": "success", "failed": "danger", "runs": "warning"}
TRIES = {"last": "danger", "some": "warning", "few": "default"}
Coloured = tuple[str, str] | None
"""A word that has a color, and the text."""


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = "what state stands tries error_class created_at conversation tenant".split()
    list_filter = ("state", "kind", recent_filter("made"), "tenant")
    search_fields = ("error_class",)
    id_search = ("id", "scope")
    column_permissions = {"conversation": "episodic.view_conversation"}
    what = values.column("job", lambda job: job.get_kind_display(), "kind")
    conversation = values.column(
        "conversation",
        lambda job: values.link_to_page("episodic_conversation", conversation_of(job)),
    )

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("jobs.operate_job")

    @values.coloured_word("stands", STANDING)
    def stands(self, job: Job) -> Coloured:
        """Return how long the job has waited or been held, or when it ended."""
        return stand_of(job, timezone.now())

    @values.coloured_word("attempts", TRIES, ordering="attempts")
    def tries(self, job: Job) -> Coloured:
        most = claims.attempts_at_most(job.kind)
        word = "last" if job.attempts >= most else "some"
        return ("few" if job.attempts <= 1 else word, f"{job.attempts} of {most}")


def conversation_of(job: Job) -> uuid.UUID | None:
    """Return the id of the conversation that a job works on; None: the whole tenant."""
    if job.kind == Kind.REVIEW:
        return read_id(str(job.input.get("conversation", "")))
    if job.kind in {Kind.ERASE, Kind.ROLLBACK, Kind.DELIVER}:
        return None
    return None if job.scope == job.tenant_id else job.scope


def stand_of(job: Job, now: datetime) -> Coloured:
    if job.state == State.READY:
        wait = job.run_after - now
        if wait > timedelta(0):
            return ("waits", f"waits {values.duration(wait)} more")
        late = -wait > backlog.STANDS_STILL_AFTER
        return ("late" if late else "waits", f"due for {values.duration(-wait)}")
    if job.state == State.RUNNING:
        left = (job.lease_until or now) - now
        if left <= timedelta(0):
            return ("loose", f"lease ended {values.duration(-left)} ago")
        return ("held", f"held {values.duration(left)} more")
    ended = job.finished_at
    return ("over", f"{values.duration(now - ended)} ago") if ended else None


def purposes() -> dict[str, Q]:
    return {word: Q(purpose=word) for word in ("segment", "consolidate", "review")}


def outcome_of(call: LLMCall) -> tuple[str, str]:
    if call.finished_at is None:
        return ("runs", "no answer yet")
    return ("answered", "answered") if call.ok else ("failed", call.error_class or "failed")


def latency_of(call: LLMCall) -> str:
    return f"{call.latency_ms:,}\N{NO-BREAK SPACE}ms" if call.finished_at else "-"


def tokens_of(call: LLMCall) -> str:
    """Return the tokens in and out; with ~ if the provider did not count."""
    arrow = "\N{NO-BREAK SPACE}→\N{NO-BREAK SPACE}"
    return f"{'~' if call.estimated else ''}{call.input_tokens:,}{arrow}{call.output_tokens:,}"


@admin.register(LLMCall)
class LLMCallAdmin(ReadOnlyAdmin):
    list_display = "purpose outcome tokens price latency model job created_at tenant".split()
    list_filter = ("ok", words_filter("purpose", purposes), recent_filter("made"), "tenant")
    search_fields = ("model", "error_class")
    id_search = ("id", "job")
    points_at = {"job": "jobs_job"}
    hidden = ("response",)
    more_lines = ("answer",)
    # It quotes people, so it is only shown to those who may read messages.
    answer = values.column("answer", lambda call: values.pretty_json(call.shown))
    outcome = values.coloured_word("outcome", OUTCOMES)(lambda admin, call: outcome_of(call))
    tokens = values.column("tokens", tokens_of, "input_tokens")
    price = values.column(
        "cost", lambda call: "no price" if call.cost is None else f"{call.cost:.5f}", "cost"
    )
    latency = values.column("latency", latency_of, "latency_ms")

    def get_queryset(self, request: HttpRequest) -> QuerySet[LLMCall]:
        rows: QuerySet[LLMCall] = super().get_queryset(request)
        reads = Reader(request.user).reads_all
        return rows.annotate(shown=F("response") if reads else Value(None, JSONField()))
