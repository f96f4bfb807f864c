"""What a process counts and times about itself, for Prometheus.

Under gunicorn the processes write into files of one folder, `PROMETHEUS_MULTIPROC_DIR`, so that
whichever of them is asked answers for all. What the database knows, `operations` adds.
"""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

disable_created_metrics()  # type: ignore[no-untyped-call]  # a second series for each
REGISTRY = CollectorRegistry()
BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10)

requests = Counter(
    "memory_requests",
    "Requests answered, by route and status.",
    ["method", "route", "status"],
    registry=REGISTRY,
)
request_seconds = Histogram(
    "memory_request_seconds",
    "From a request's arrival at Django to its answer.",
    ["route"],
    buckets=BUCKETS_S,
    registry=REGISTRY,
)
stage_seconds = Histogram(
    "memory_answer_stage_seconds",
    "Parts of retrieve_memory, its raw form and context_pre_retrieve.",
    ["stage"],
    buckets=BUCKETS_S,
    registry=REGISTRY,
)
requests_open = Gauge(
    "memory_requests_open",
    "Requests that have arrived and have no answer yet.",
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
answers_running = Gauge(
    "memory_answers_running",
    "Requests of the API that a thread works on.",
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
answer_threads = Gauge(
    "memory_answer_threads",
    "Threads that answer.",
    multiprocess_mode="livesum",
    registry=REGISTRY,
)
