"""The state of background work."""

import uuid
from dataclasses import asdict
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import retrying, usage
from jobs.models import Job
from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import Output, Strict
from memoryproject.edge.pages import QueryNumberField
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.quotas import Storage, measure_storage
from memoryproject.tenancy.views import KeyedView, ReadView


class JobOutput(Output):
    """A job, without its input."""

    table = Job
    columns = (
        "id kind state attempts error=error_class? run_after created_at started_at finished_at"
    )


class JobState(ReadView):
    """The state of a job. Ask again, a second later or more, until it is done or dead."""

    @describe("get_job", answers=JobOutput)
    def get(self, request: Request, job_id: uuid.UUID) -> Response:
        job = get_row(Job.objects.of(self.tenant()), "job", id=job_id)
        return Response(JobOutput(job).data)


class JobRetry(KeyedView):
    """Makes a dead job ready again."""

    scope = Scope.ADMIN

    @describe("retry_job", None, {200: JobOutput, 409: Error})
    def post(self, request: Request, job_id: uuid.UUID) -> Response:
        job = get_row(Job.objects.of(self.tenant()), "job", id=job_id)
        return Response(JobOutput(retrying.retry_job(job=job)).data)


class UsageQuery(Strict):
    days = QueryNumberField(default=7, min_value=1, max_value=90)


class UsageRow(serializers.Serializer[Any]):
    """The model calls of one day, purpose and model."""

    day = serializers.DateField()
    purpose = serializers.CharField()
    model = serializers.CharField()
    calls = serializers.IntegerField()
    failed = serializers.IntegerField()
    without_price = serializers.IntegerField()
    input_tokens = serializers.IntegerField(source="input_sum")
    output_tokens = serializers.IntegerField(source="output_sum")
    cost = serializers.FloatField(source="cost_sum")


class StorageOutput(Output):
    """What the tenant stores, and its limits."""

    table, columns = Storage, "bytes bytes_limit rows rows_limit"


class UsageOutput(serializers.Serializer[Any]):
    """The cost of the language model, and what is stored."""

    spent_today = serializers.FloatField()
    daily_budget = serializers.FloatField(source="budget", allow_null=True)
    parked_jobs = serializers.IntegerField()
    rows = UsageRow(many=True)
    stored = StorageOutput()


class Usage(KeyedView):
    """The cost of the tenant's model calls, and what it stores."""

    scope = Scope.ADMIN

    @describe("get_usage", answers=UsageOutput, parameters=[UsageQuery])
    def get(self, request: Request) -> Response:
        query = self.read_query(UsageQuery)
        tenant, now = self.tenant(), timezone.now()
        rows = usage.count_calls(tenant, days=query["days"], now=now)
        today = usage.measure_today(tenant, now=now)
        stored = measure_storage(tenant)
        return Response(UsageOutput({**asdict(today), "rows": rows, "stored": stored}).data)
