"""Spans for OpenTelemetry: of requests, of memory operations and of jobs; off unless asked for.

Names and attributes are those of the conventions for HTTP and for generative AI. No span holds
what somebody said, nor the text of an exception. Where spans go the `OTEL_…` variables say.
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
    """Return the process's tracer; one that another has set up is joined."""
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
    """Put a span around the block, below the one that `carrier`, headers of W3C, tells of.

    `kind` is internal, server or consumer. An exception that leaves the block marks it by its
    class alone.
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
    """Give the span around the caller attributes, those that are not None, or another name."""
    if settings.TRACES:
        current = trace.get_current_span()
        current.set_attributes({key: one for key, one in attributes.items() if one is not None})
        if name is not None:
            current.update_name(name)


def mark_failed() -> None:
    """Say that what the span around the caller is about has failed."""
    if settings.TRACES:
        trace.get_current_span().set_status(trace.StatusCode.ERROR)


def inject(headers: MutableMapping[str, str]) -> None:
    """Tell another server, by W3C headers, which span its work belongs to."""
    if settings.TRACES:
        propagate.inject(headers)
