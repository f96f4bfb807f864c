"""Counters and timers of a process for Prometheus.

Under gunicorn the processes write to files in one folder, `PROMETHEUS_MULTIPROC_DIR`, so that each
can answer for all of them. `operations` adds metrics from the database.
"""

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each
REGISTRY = CollectorRegistry()
BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)


def _make_histogram(name: str, help: str, label: str) -> Histogram:
    return Histogram(name, help, [label], buckets=BUCKETS_S, registry=REGISTRY)


def _make_gauge(name: str, help: str) -> Gauge:
    """Return a gauge that is the sum over living processes."""
    return Gauge(name, help, multiprocess_mode="livesum", registry=REGISTRY)


requests = Counter(
    "memory_requests",
    "Requests answered, by route and status.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
request_seconds = _make_histogram(
    "memory_request_seconds", "From a request's arrival at Django to its answer.", "route"
)
stage_seconds = _make_histogram(
    "memory_answer_stage_seconds",
    "Parts of retrieve_memory, its raw form and context_pre_retrieve.",
    "stage",
)
requests_open = _make_gauge(
    "memory_requests_open", "Requests that have arrived and have no answer yet."
)
answers_running = _make_gauge(
    "memory_answers_running", "Requests of the API that a thread works on."
)
answer_threads = _make_gauge("memory_answer_threads", "Threads that answer.")
