"""Requests, memory operations, jobs and calls of others are spans of one trace, without a word."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from jobs.draining import drain_jobs
from memoryproject.process import traces
from semantic.models import Fact
from tests.conftest import Agent
from tests.events.receiver import receiving

pytestmark = pytest.mark.django_db
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """Take the place of the collector; a process has one provider for good."""
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    trace.set_tracer_provider(provider)
    return kept


@pytest.fixture
def spans(exporter: InMemorySpanExporter, settings: Any) -> Iterator[InMemorySpanExporter]:
    exporter.clear()
    settings.TRACES = True
    yield exporter


def find(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    return next(span for span in spans.get_finished_spans() if span.name == name)


def test_a_call_belongs_to_the_callers_trace_and_says_what_it_does_to_the_memory(
    ana: Agent, told: uuid.UUID, spans: InMemorySpanExporter
) -> None:
    secret = "Where did the heron nest?"
    asked = {"conversation_id": str(told), "query": secret}
    served = ana.post("retrieve_memory/raw", asked, **PARENT).json()
    request, operation = (
        find(spans, "POST api/v0/retrieve_memory/raw"),
        find(spans, "search_memory"),
    )
    assert request.context is not None and operation.context is not None
    assert f"{request.context.trace_id:032x}" == f"{operation.context.trace_id:032x}" == TRACE
    assert operation.parent is not None and operation.parent.span_id == request.context.span_id
    assert operation.attributes == {
        "gen_ai.operation.name": "search_memory",
        "gen_ai.memory.store.id": str(ana.tenant.id),
        "gen_ai.conversation.id": str(told),
        "gen_ai.memory.record.count": len(served["semantic"]) + len(served["episodic"]),
    }
    assert request.attributes is not None and request.attributes["http.response.status_code"] == 200
    assert "heron" not in "".join(span.to_json() for span in spans.get_finished_spans())


def test_writing_changing_and_deleting_have_their_names(
    ana: Agent, conversation: uuid.UUID, spans: InMemorySpanExporter
) -> None:
    ana.say(conversation, "A heron.")
    note = ana.post("notes", {"content": "A heron."}).json()["id"]
    change = {"version": 1, "label": "Bird"}
    ana.client.patch(f"/api/v0/notes/{note}", change, content_type="application/json")
    ana.client.delete(f"/api/v0/notes/{note}")
    names = [span.name for span in spans.get_finished_spans() if span.name.endswith("_memory")]
    assert names == ["create_memory", "create_memory", "update_memory", "delete_memory"]
    assert "heron" not in "".join(span.to_json() for span in spans.get_finished_spans())


def test_a_job_is_a_trace_of_its_own_and_tells_it_to_whom_it_calls(
    ana: Agent, told: uuid.UUID, spans: InMemorySpanExporter, settings: Any
) -> None:
    settings.WEBHOOK_NETWORKS = [ip_network("127.0.0.0/8")]
    with receiving() as receiver:
        ana.post("webhooks", {"url": receiver.url, "types": ["fact.retired"]})
        fact = Fact.objects.of(ana.tenant).filter(invalid_at=None)[0]
        ana.post(f"facts/{fact.id}/invalidate", {"because": "wrong", "reason": "So."}, **PARENT)
        drain_jobs()
    job = find(spans, "job deliver")
    assert job.parent is None and job.context is not None
    (delivery,) = receiver.deliveries
    assert delivery.headers["traceparent"].split("-")[1] == f"{job.context.trace_id:032x}"


def test_what_fails_is_marked_by_the_class_of_its_error_alone(spans: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="heron"), traces.span("a job"):
        raise ValueError("The heron said so.")
    failed = find(spans, "a job")
    assert failed.status.status_code is trace.StatusCode.ERROR
    assert failed.attributes == {"error.type": "ValueError"} and not failed.events
    assert failed.status.description is None
