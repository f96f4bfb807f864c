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
from memoryproject.edge.fields import Column, Output, Strict
from memoryproject.edge.pages import QueryNumberField
from memoryproject.edge.schema import Error, describe
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.quotas import Storage, measure_storage
from memoryproject.tenancy.views import KeyedView, ReadView


class JobOutput(Output):
    """A job, without its input."""

    table = Job
    id = Column("The id of the job.")
    kind = Column("What the job does.")
    state = Column(
        "`ready` and `running` are open; `done`, `dead` (given up after failures) and `cancelled` "
        "are not."
    )
    attempts = Column("How many runs were begun since it was created, or retried.")
    error = Column("Class of the last failure.", "error_class", allow_null=True)
    run_after = Column("No run begins before this.")
    created_at = Column("When the job was created.")
    started_at = Column("When its last run began; null: none has begun.")
    finished_at = Column("When it ended; null: it is open.")


class JobState(ReadView):
    @describe("get_job", answers=JobOutput)
    def get(self, request: Request, job_id: uuid.UUID) -> Response:
        """See how far a job is.

        The state of a job. Ask again, a second later or more, until it is done or dead.
        200: The job as it is now.
        """
        job = get_row(Job.objects.of(self.tenant()), "job", id=job_id)
        return Response(JobOutput(job).data)


class JobRetry(KeyedView):
    scope = Scope.ADMIN

    @describe("retry_job", None, {200: JobOutput, 409: Error})
    def post(self, request: Request, job_id: uuid.UUID) -> Response:
        """Run a dead job again.

        200: The job is ready again; a worker takes it soon.
        409: The job is neither dead nor cancelled, or another of its kind is ready in its place.
        """
        job = get_row(Job.objects.of(self.tenant()), "job", id=job_id)
        return Response(JobOutput(retrying.retry_job(job=job)).data)


class UsageQuery(Strict):
    days = QueryNumberField("How many, today (UTC) included.", default=7, min_value=1, max_value=90)


class UsageRow(serializers.Serializer[Any]):
    """The model calls of one day, purpose and model."""

    day = serializers.DateField(help_text="The day, in UTC.")
    purpose = serializers.CharField(
        help_text="What was asked for: `segment`, `consolidate` or `review`."
    )
    model = serializers.CharField(help_text="The language model.")
    calls = serializers.IntegerField(help_text="How many calls were made.")
    failed = serializers.IntegerField(
        help_text="How many of them brought no answer of the form asked for."
    )
    without_price = serializers.IntegerField(help_text="Calls that `cost` does not hold.")
    input_tokens = serializers.IntegerField(source="input_sum", help_text="Tokens that went in.")
    output_tokens = serializers.IntegerField(source="output_sum", help_text="Tokens that came out.")
    cost = serializers.FloatField(source="cost_sum", help_text="In the currency of the prices.")


class StorageOutput(Output):
    """What the tenant stores, and its limits."""

    table = Storage
    bytes = Column("Of texts and metadata, in UTF-8.")
    bytes_limit = Column("null: no limit.")
    rows = Column("Messages, notes and their earlier versions.")
    rows_limit = Column("null: no limit.")


class UsageOutput(serializers.Serializer[Any]):
    """The cost of the language model, and what is stored."""

    spent_today = serializers.FloatField(
        help_text="What today's (UTC) calls of the language model cost."
    )
    daily_budget = serializers.FloatField(
        source="budget", allow_null=True, help_text="null: no limit."
    )
    parked_jobs = serializers.IntegerField(help_text="Jobs paused by budget, or with no price.")
    rows = UsageRow(
        many=True, help_text="The calls by day, purpose and model, the newest day first."
    )
    stored = StorageOutput(help_text="What the tenant stores, and may store.")


class Usage(KeyedView):
    scope = Scope.ADMIN

    @describe("get_usage", answers=UsageOutput, parameters=[UsageQuery])
    def get(self, request: Request) -> Response:
        """See what the language model cost and what is stored.

        Calls, tokens and cost of the language model by day, purpose and model, the newest day
        first. A call that still runs counts with the most that it can cost. When the day's budget
        is spent, episodes and facts wait; messages are stored and answers given. `stored` is what
        messages and notes take; beyond its limits writing answers 413.
        200: Calls and cost by day, the day's budget, and the tenant's storage.
        """
        query = self.read_query(UsageQuery)
        tenant, now = self.tenant(), timezone.now()
        rows = usage.count_calls(tenant, days=query["days"], now=now)
        today = usage.measure_today(tenant, now=now)
        stored = measure_storage(tenant)
        return Response(UsageOutput({**asdict(today), "rows": rows, "stored": stored}).data)
