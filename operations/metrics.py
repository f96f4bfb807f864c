"""What Prometheus scrapes: counts of all web processes, and what the database knows."""

from __future__ import annotations

import hmac
import math
import os
import time
from collections.abc import Iterator
from ipaddress import ip_address
from threading import Lock

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.models import Case, Count, F, Max, Model, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Now
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from episodic.models import Episode, Message
from events.models import Event
from jobs.models import DUE, INTERACTIVE, Job, LLMCall, State
from jobs.spending import start_of_day
from jobs.turns import is_due
from memoryproject.ai.models import Breaker
from memoryproject.database.ids import first_id_at
from memoryproject.edge import replicas
from memoryproject.edge.callers import client_address
from memoryproject.process import metrics
from memoryproject.tenancy.models import StoredSize
from memoryproject.tenancy.walls import across_tenants
from notes.models import Note
from semantic.models import Fact, Suggestion

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
COUNTED_BELOW = 100_000
"""Rows, by PostgreSQL's own estimate, of a table that is counted; of a larger one it is taken."""
KEPT_S = 10.0
"""So long what the database said is said again: a scrape more costs it nothing."""
FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_REAL_IP", "HTTP_VIA")


@require_safe
def show_metrics(request: HttpRequest) -> HttpResponse:
    """Answer a scrape that comes from this machine or with the scrape key; others get 403."""
    if not may_scrape(request):
        return HttpResponse("The scrape key is missing, or wrong.\n", "text/plain", status=403)
    registry = metrics.REGISTRY
    if MULTIPROCESS in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    text = generate_latest(registry) + generate_latest(_database)
    return HttpResponse(text, content_type=CONTENT_TYPE_LATEST)


def may_scrape(request: HttpRequest) -> bool:
    """Return whether somebody may see the metrics.

    What a proxy on this machine passes on comes from this machine, too, and is somebody else's.
    """
    key: str = settings.METRICS_KEY
    if key:
        sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if hmac.compare_digest(sent.encode(), key.encode()):
            return True
    address = client_address(request)
    is_passed_on = any(name in request.META for name in FORWARDED)
    return address is not None and ip_address(address).is_loopback and not is_passed_on


class DatabaseCollector:
    """Reads what the database knows, of all tenants together; no label names one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[Metric] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; where the database is away, that it is."""
        with self._lock:
            if time.monotonic() - self._read_at > KEPT_S:
                self._kept = self._read()
                self._read_at = time.monotonic()
            yield from self._kept

    def forget(self) -> None:
        """Read anew at the next scrape."""
        self._read_at = float("-inf")

    def _read(self) -> list[Metric]:
        up = GaugeMetricFamily("memory_database_up", "Whether the database answers: 1 or 0.")
        seconds = GaugeMetricFamily(
            "memory_scrape_seconds", "What asking the database for these metrics took."
        )
        started = time.monotonic()
        try:
            with across_tenants():
                read = [*read_jobs(), *read_models(), *read_stored(), *read_replicas()]
        except (DatabaseError, InterfaceError):
            read = []
        up.add_metric([], bool(read))
        seconds.add_metric([], time.monotonic() - started)
        return [up, seconds, *read]


_database = CollectorRegistry()
collector = DatabaseCollector()
_database.register(collector)


def read_jobs() -> Iterator[Metric]:
    """Yield how many jobs are open or dead, how long due ones have waited, and events alike.

    Uses indexes: jobs_job_open, jobs_job_dead, events_event_due.
    """
    jobs = GaugeMetricFamily(
        "memory_jobs", "Jobs that are ready, running or dead.", labels=["kind", "state"]
    )
    rows = Job.across_tenants.filter(state__in=[State.READY, State.RUNNING])
    for found in (rows, Job.across_tenants.filter(state=State.DEAD)):
        counts = found.order_by().values_list("kind", "state").annotate(count=Count("id"))
        for kind, state, count in counts:
            jobs.add_metric([kind, state], count)
    yield jobs
    oldest = GaugeMetricFamily(
        "memory_oldest_due_job_seconds",
        "How long the oldest job has been due: one that somebody waits for, or another.",
        labels=["turn"],
    )
    turn = Case(When(kind__in=INTERACTIVE, then=Value("interactive")), default=Value("background"))
    due = Job.across_tenants.filter(is_due()).order_by().values_list(turn)
    ages = {"interactive": 0.0, "background": 0.0}
    ages |= {name: age.total_seconds() for name, age in due.annotate(age=Max(Now() - DUE))}
    for name, age in ages.items():
        oldest.add_metric([name], age)
    yield oldest
    waiting = Event.across_tenants.filter(state=Event.State.PENDING, webhook__isnull=False)
    yield GaugeMetricFamily(
        "memory_events_pending", "Events that wait for a webhook.", value=waiting.count()
    )
    late = waiting.aggregate(age=Max(Now() - F("queued_at")))["age"]
    yield GaugeMetricFamily(
        "memory_oldest_event_seconds",
        "How long the oldest of them has waited.",
        value=late.total_seconds() if late else 0.0,
    )


def read_models() -> Iterator[Metric]:
    """Yield which models are away, and what they were asked today (UTC), by purpose."""
    away = GaugeMetricFamily(
        "memory_model_away", "Whether the breaker of a model is open: 1 or 0.", labels=["model"]
    )
    for model, opened_at in Breaker.objects.values_list("model", "opened_at"):
        away.add_metric([model], opened_at is not None)
    yield away
    # By id, which begins with the time: an index of it serves all tenants together.
    today = LLMCall.across_tenants.filter(id__gte=first_id_at(start_of_day(timezone.now())))
    sums = (
        today.order_by()
        .values_list("purpose")
        .annotate(
            made=Count("id"),
            failed=Count("id", filter=Q(ok=False, finished_at__isnull=False)),
            taken=Sum("input_tokens"),
            given=Sum("output_tokens"),
            spent=Sum("cost", default=0),
        )
    )
    calls = GaugeMetricFamily(
        "memory_model_calls_today", "Calls of the language model.", labels=["purpose", "outcome"]
    )
    used = GaugeMetricFamily(
        "memory_model_tokens_today", "Tokens in and out.", labels=["purpose", "direction"]
    )
    cost = GaugeMetricFamily(
        "memory_model_cost_today", "In the currency of the prices.", labels=["purpose"]
    )
    for purpose, made, failed, tokens_in, tokens_out, spent in sums:
        calls.add_metric([purpose, "failed"], failed)
        calls.add_metric([purpose, "other"], made - failed)
        used.add_metric([purpose, "in"], tokens_in)
        used.add_metric([purpose, "out"], tokens_out)
        cost.add_metric([purpose], float(spent))
    yield from (calls, used, cost)


def read_stored() -> Iterator[Metric]:
    """Yield what is stored, and what waits for a curator."""
    rows = GaugeMetricFamily(
        "memory_rows", "Rows of a kind; of large tables PostgreSQL's estimate.", labels=["kind"]
    )
    for kind, model in {"message": Message, "episode": Episode, "note": Note}.items():
        rows.add_metric([kind], count_rows(model.across_tenants.all(), model._meta.db_table))
    active = Fact.across_tenants.filter(invalid_at=None)
    rows.add_metric(["active_fact"], count_rows(active, "semantic_fact_active"))
    yield rows
    stored: int = StoredSize.across_tenants.aggregate(sum=Sum("byte_count", default=0))["sum"]
    yield GaugeMetricFamily(
        "memory_stored_bytes", "Of messages and notes, with metadata.", value=stored
    )
    waiting = GaugeMetricFamily("memory_review_queue", "What waits for curators.", labels=["kind"])
    undecided = Suggestion.across_tenants.filter(
        Q(decision="") | Q(is_reopened=True), is_withdrawn=False
    )
    waiting.add_metric(["suggestion"], undecided.count())
    pending = Fact.across_tenants.filter(
        invalidated_because=Fact.Because.WAITING, invalid_at__isnull=False
    )
    waiting.add_metric(["pending_fact"], pending.count())
    yield waiting


def read_replicas() -> Iterator[Metric]:
    """Yield which replicas may be read from, and how old what they show may be."""
    up = GaugeMetricFamily(
        "memory_replica_up",
        "Whether it answers and follows the primary.",
        labels=["replica"],
    )
    lag = GaugeMetricFamily(
        "memory_replica_lag_seconds", "How old what it shows may be.", labels=["replica"]
    )
    for replica in settings.READ_DATABASES:
        try:
            age_s = replicas.measure_age(replica)
        except (DatabaseError, InterfaceError):
            age_s = math.inf
        up.add_metric([replica], age_s != math.inf)
        lag.add_metric([replica], age_s)
    yield from (up, lag)


def count_rows(rows: QuerySet[Model], relation: str) -> float:
    """Return how many rows there are; of many, what the catalogue says of a table or index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)", [f"public.{relation}"]
        )
        (estimate,) = cursor.fetchone()
    return float(estimate) if estimate >= COUNTED_BELOW else rows.order_by().count()
