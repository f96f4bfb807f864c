"""OpenTelemetry spans of requests, memory operations and jobs; off by default.

Names and attributes follow the conventions for HTTP and for generative AI. No span has text of
users or of exceptions. The `OTEL_…` variables say where spans are sent.
"""

from __future__ import annotations  # evaluated, they would need what is optional

from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from django.conf import settings

try:
    from opentelemetry import propagate, trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
except ModuleNotFoundError:
    if TYPE_CHECKING:
        raise

NAME = "memory-server"
OPERATION = "gen_ai.operation.name"
STORE = "gen_ai.memory.store.id"
CONVERSATION = "gen_ai.conversation.id"
RECORDS = "gen_ai.memory.record.count"


@cache
def _get_tracer() -> trace.Tracer:
    """Return the process's tracer, or one that was set up before."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        provider = TracerProvider(resource=Resource.create({"service.name": NAME}))
        provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        trace.set_tracer_provider(provider)
    return trace.get_tracer(NAME)


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, Any] | None = None,
    *,
    kind: str = "internal",
    carrier: Mapping[str, str] | None = None,
) -> Iterator[None]:
    """Put a span around the block, as a child of the one in `carrier` (W3C headers).

    `kind` is internal, server or consumer. An exception that leaves the block marks it with its
    class only.
    """
    if not settings.TRACES:
        yield
        return
    context = propagate.extract(carrier) if carrier is not None else None
    with _get_tracer().start_as_current_span(
        name,
        context,
        trace.SpanKind[kind.upper()],
        record_exception=False,
        set_status_on_exception=False,
    ):
        describe(attributes or {})
        try:
            yield
        except BaseException as error:
            describe({"error.type": type(error).__name__})
            mark_failed()
            raise


def describe(attributes: Mapping[str, Any], *, name: str | None = None) -> None:
    """Set the current span's name, if given, and its attributes that are not None."""
    if settings.TRACES:
        current = trace.get_current_span()
        current.set_attributes({key: one for key, one in attributes.items() if one is not None})
        if name is not None:
            current.update_name(name)


def mark_failed() -> None:
    """Mark the operation of the current span as failed."""
    if settings.TRACES:
        trace.get_current_span().set_status(trace.StatusCode.ERROR)


def inject(headers: MutableMapping[str, str]) -> None:
    """Put the current span into W3C headers for another server."""
    if settings.TRACES:
        propagate.inject(headers)
