"""Metrics for Prometheus: counters of all web processes, and figures from the database."""

import hmac
import math
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from ipaddress import ip_address
from itertools import chain
from threading import Lock
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError
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
from jobs.backlog import find_claimable, list_restarts
from jobs.models import DUE, INTERACTIVE, Job, LLMCall, State
from jobs.spending import start_of_day
from memoryproject.ai.breaker import find_configured
from memoryproject.database.clock import execute
from memoryproject.database.ids import first_id_at
from memoryproject.edge import replicas
from memoryproject.edge.callers import client_address
from memoryproject.process import metrics
from memoryproject.tenancy.models import StoredSize
from memoryproject.tenancy.walls import across_tenants
from semantic.models import Fact, Suggestion
from wings.events.models import Event
from wings.notes.models import Note

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"
COUNTED_BELOW = 100_000
"""Estimated rows of a table below which they are counted exactly."""
USELESS = (
    "ModelMisbehaved",
    "AnswerCut",
    "OnlyThoughts",
    "AnswerRefused",
    "ContentRefused",
    "RequestRefused",
)
"""Error classes of calls that got no useful answer."""
KEPT_S = 10.0
"""Seconds for which figures from the database are cached for other scrapes."""
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
    """Return whether a client may read the metrics.

    Requests through a proxy on this machine have a local address, too, and are refused.
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
    """Reads figures of all tenants together from the database; no label names one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[Metric] = []
        self._read_at = float("-inf")

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics; if the database is unavailable, the metric that says so."""
        with self._lock:
            if time.monotonic() - self._read_at > KEPT_S:
                self._kept = self._read()
                self._read_at = time.monotonic()
            yield from self._kept

    def forget(self) -> None:
        self._read_at = float("-inf")

    def _read(self) -> list[Metric]:
        started = time.monotonic()
        try:
            with across_tenants():
                read = [*read_jobs(), *read_models(), *read_stored(), *read_replicas()]
        except (DatabaseError, InterfaceError):
            read = []
        took_s = time.monotonic() - started
        up = gauge("memory_database_up", "Whether the database answers: 1 or 0.", bool(read))
        text = "What asking the database for these metrics took."
        return [up, gauge("memory_scrape_seconds", text, took_s), *read]


_database = CollectorRegistry()
collector = DatabaseCollector()
_database.register(collector)


def gauge(name: str, text: str, rows: Iterable[Sequence[Any]] | float, *labels: str) -> Metric:
    """Return a metric: one number, or rows of label values and a number."""
    family = GaugeMetricFamily(name, text, labels=labels)
    lines: Iterable[Sequence[Any]] = rows if isinstance(rows, Iterable) else [[rows]]
    for *values, number in lines:
        family.add_metric(values, number)
    return family


def read_jobs() -> Iterator[Metric]:
    """Yield the number of open and dead jobs, the longest wait, and the same for events.

    Uses indexes: jobs_job_open, jobs_job_dead, events_event_due.
    """
    rows = Job.across_tenants.filter(state__in=[State.READY, State.RUNNING])
    counts = [
        some.order_by().values_list("kind", "state").annotate(count=Count("id"))
        for some in (rows, Job.across_tenants.filter(state=State.DEAD))
    ]
    text = "Jobs that are ready, running or dead."
    yield gauge("memory_jobs", text, chain(*counts), "kind", "state")
    turn = Case(When(kind__in=INTERACTIVE, then=Value("interactive")), default=Value("background"))
    due = find_claimable().order_by().values_list(turn)
    ages = {"interactive": 0.0, "background": 0.0}
    ages |= {name: age.total_seconds() for name, age in due.annotate(age=Max(Now() - DUE))}
    text = "How long the oldest job has been due: one that somebody waits for, or another."
    yield gauge("memory_oldest_due_job_seconds", text, ages.items(), "turn")
    text = "Times in the last day that a supervisor ended its workers, since nobody took work."
    yield gauge("memory_worker_restarts", text, list_restarts().count())
    waiting = Event.across_tenants.filter(state=Event.State.PENDING, webhook__isnull=False)
    yield gauge("memory_events_pending", "Events that wait for a webhook.", waiting.count())
    late = waiting.aggregate(age=Max(Now() - F("queued_at")))["age"]
    text = "How long the oldest of them has waited."
    yield gauge("memory_oldest_event_seconds", text, late.total_seconds() if late else 0.0)


def read_models() -> Iterator[Metric]:
    """Yield which models are down, and today's (UTC) questions by purpose."""
    rows = find_configured().values_list("model", "opened_at", "fault", "context_tokens")
    breakers = {model: rest for model, *rest in rows}
    away = ((model, opened_at is not None) for model, (opened_at, *_) in breakers.items())
    text = "Whether the breaker of a model is open: 1 or 0."
    yield gauge("memory_model_away", text, away, "model")
    faults = ((model, bool(fault)) for model, (_, fault, _) in breakers.items())
    text = "Whether an operator must mend key, account, name or address: 1 or 0."
    yield gauge("memory_model_fault", text, faults, "model")
    read = ((model, tokens) for model, (*_, tokens) in breakers.items() if tokens)
    yield gauge("memory_model_context_tokens", "How much it was found to read.", read, "model")
    # By id, which begins with the time: an index of it serves all tenants together.
    today = LLMCall.across_tenants.filter(id__gte=first_id_at(start_of_day(timezone.now())))
    useless = today.filter(ok=False, error_class__in=USELESS).order_by()
    whys = useless.values_list("purpose", "error_class").annotate(count=Count("id"))
    text = "Answers of the language model that were of no use."
    yield gauge("memory_model_useless_today", text, whys, "purpose", "why")
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
    calls: list[Sequence[Any]] = []
    used: list[Sequence[Any]] = []
    cost: list[Sequence[Any]] = []
    for purpose, made, failed, tokens_in, tokens_out, spent in sums:
        calls += [(purpose, "failed", failed), (purpose, "other", made - failed)]
        used += [(purpose, "in", tokens_in), (purpose, "out", tokens_out)]
        cost.append((purpose, float(spent)))
    text = "Calls of the language model."
    yield gauge("memory_model_calls_today", text, calls, "purpose", "outcome")
    yield gauge("memory_model_tokens_today", "Tokens in and out.", used, "purpose", "direction")
    yield gauge("memory_model_cost_today", "In the currency of the prices.", cost, "purpose")


def read_stored() -> Iterator[Metric]:
    rows = [
        (kind, count_rows(model.across_tenants.all(), model._meta.db_table))
        for kind, model in {"message": Message, "episode": Episode, "note": Note}.items()
    ]
    active = Fact.across_tenants.filter(invalid_at=None)
    rows.append(("active_fact", count_rows(active, "semantic_fact_active")))
    text = "Rows of a kind; of large tables PostgreSQL's estimate."
    yield gauge("memory_rows", text, rows, "kind")
    stored: int = StoredSize.across_tenants.aggregate(sum=Sum("byte_count", default=0))["sum"]
    yield gauge("memory_stored_bytes", "Of messages and notes, with metadata.", stored)
    undecided = Suggestion.across_tenants.filter(
        Q(decision="") | Q(is_reopened=True), is_withdrawn=False
    )
    pending = Fact.across_tenants.filter(
        invalidated_because=Fact.Because.WAITING, invalid_at__isnull=False
    )
    waiting = [("suggestion", undecided.count()), ("pending_fact", pending.count())]
    yield gauge("memory_review_queue", "What waits for curators.", waiting, "kind")


def read_replicas() -> Iterator[Metric]:
    """Yield which replicas may be read, and how old their data may be."""
    ages: dict[str, float] = {}
    for replica in settings.READ_DATABASES:
        try:
            ages[replica] = replicas.measure_age(replica)
        except (DatabaseError, InterfaceError):
            ages[replica] = math.inf
    text = "Whether it answers and follows the primary."
    follows = [(name, age_s != math.inf) for name, age_s in ages.items()]
    yield gauge("memory_replica_up", text, follows, "replica")
    text = "How old what it shows may be."
    yield gauge("memory_replica_lag_seconds", text, ages.items(), "replica")


def count_rows(rows: QuerySet[Model], relation: str) -> float:
    """Return the number of rows; for a large table or index, the catalog's estimate."""
    look = "SELECT reltuples FROM pg_class WHERE oid = to_regclass(%s)"
    ((estimate,),) = execute(look, [f"public.{relation}"])
    return float(estimate) if estimate >= COUNTED_BELOW else rows.order_by().count()
