"""The state of background work."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import retrying, usage
from jobs.models import Job, Kind, State
from memoryproject.edge.errors import NotFound
from memoryproject.edge.fields import Strict, say_moment
from memoryproject.edge.pages import QueryNumberField
from memoryproject.edge.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView


class JobOutput(serializers.Serializer[Any]):
    """A job, without what it works on."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=Kind.choices)
    state = serializers.ChoiceField(choices=State.choices)
    attempts = serializers.IntegerField()
    error = serializers.CharField(allow_null=True, help_text="Class of the last failure.")
    run_after = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)


class JobState(KeyedView):
    """One job."""

    scope = Scope.READ

    @extend_schema(operation_id="get_job", responses=JobOutput)
    def get(self, request: Request, job_id: uuid.UUID) -> Response:
        return Response(render_job(find_job(self, job_id)))


class JobRetry(KeyedView):
    """Makes a dead job ready again."""

    scope = Scope.ADMIN

    @extend_schema(
        operation_id="retry_job",
        request=None,
        responses={200: JobOutput, 409: Error},
        description="Only a dead or cancelled job can be retried; another answers 409.",
    )
    def post(self, request: Request, job_id: uuid.UUID) -> Response:
        job = find_job(self, job_id)
        return Response(render_job(retrying.retry_job(job=job)))


class UsageQuery(Strict):
    """Which days."""

    days = QueryNumberField(
        default=7, min_value=1, max_value=90, help_text="How many, today (UTC) included."
    )


class UsageRow(serializers.Serializer[Any]):
    """The calls of one day, purpose and model."""

    day = serializers.DateField()
    purpose = serializers.CharField()
    model = serializers.CharField()
    calls = serializers.IntegerField()
    failed = serializers.IntegerField()
    without_price = serializers.IntegerField(help_text="Calls that `cost` does not hold.")
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cost = serializers.FloatField(help_text="In the currency of the prices.")


class UsageOutput(serializers.Serializer[Any]):
    """What the language model cost."""

    spent_today = serializers.FloatField()
    daily_budget = serializers.FloatField(allow_null=True, help_text="null: no limit.")
    parked_jobs = serializers.IntegerField(help_text="Jobs paused by budget, or with no price.")
    rows = UsageRow(many=True)


class Usage(KeyedView):
    """What the tenant's model calls came to."""

    scope = Scope.ADMIN

    @extend_schema(
        operation_id="get_usage",
        parameters=[UsageQuery],
        responses=UsageOutput,
        description="Calls, tokens and cost of the language model by day, purpose and model, the "
        "newest day first. A call that still runs counts with the most that it can cost. When the "
        "day's budget is spent, episodes and facts wait; messages are stored and answers given.",
    )
    def get(self, request: Request) -> Response:
        query = self.read(UsageQuery, request.query_params.dict())
        used = usage.measure_usage(self.tenant(), days=query["days"], now=timezone.now())
        return Response(
            {
                "spent_today": float(used.spent_today),
                "daily_budget": None if used.budget is None else float(used.budget),
                "parked_jobs": used.parked_jobs,
                "rows": [{**asdict(row), "cost": float(row.cost)} for row in used.rows],
            }
        )


def find_job(view: KeyedView, job_id: uuid.UUID) -> Job:
    """Return the caller's job of that id.

    Raises:
        NotFound: his tenant has none.
    """
    job = Job.objects.of(view.tenant()).filter(id=job_id).first()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def render_job(job: Job) -> dict[str, Any]:
    """Return a job as the API shows it."""
    return {
        "id": str(job.id),
        "kind": job.kind,
        "state": job.state,
        "attempts": job.attempts,
        "error": job.error_class or None,
        "run_after": say_moment(job.run_after),
        "created_at": say_moment(job.created_at),
        "started_at": say_moment(job.started_at) if job.started_at else None,
        "finished_at": say_moment(job.finished_at) if job.finished_at else None,
    }
