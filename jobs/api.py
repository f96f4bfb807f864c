"""The state of background work."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import retrying
from jobs.models import Job, Kind, State
from memoryproject.errors import NotFound
from memoryproject.fields import say_moment
from memoryproject.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView


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
