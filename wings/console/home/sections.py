"""Sections of the front page: new data, answers, open work, errors, cost."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.timesince import timesince

from episodic.models import Conversation, Episode, Message, Reveal
from episodic.naming import render_name, with_names
from jobs import usage
from jobs.models import Job, LLMCall, State
from memoryproject.adminkit import values
from memoryproject.tenancy.models import Tenant, TenantModel
from retrieval import receipts
from retrieval.models import MemoryTest, Retrieval
from retrieval.receipts import count_served
from semantic.models import Changeset, Fact
from wings.console.charts import Chart, Series
from wings.console.counting import cap_counts, count_capped, render_sum
from wings.console.home import metrics
from wings.console.home.metrics import Span, join_spans, rows_address, span_unit
from wings.console.queue.items import Item
from wings.memory_tests.memory_tests import count_verdicts

REASON_COLOURS = {"superseded": "blue", "wrong": "red", "reverted": "orange", "erased": "grey"}
WRONG_AT_MOST = 1_000
"""Number of latest facts declared wrong that are looked up in answers."""
ROWS_AT_MOST = 6


class Tile(NamedTuple):
    """One number. `tone`: good, warn, bad, or nothing."""

    title: str
    value: str
    href: str = ""
    note: str = ""
    tone: str = ""


Widget = Tile | Chart | dict[str, Any]
"""A number, a chart, or a tenant's use of its budget."""


def find_share(spent: Decimal, budget: Decimal | None) -> int:
    """Return the percentage of a budget that is spent; 0 without a budget."""
    return round(100 * spent / budget) if budget else 0 if budget is None else 100


def draw_spans(
    key: str, title: str, spans: Sequence[Span], series: Sequence[Series], **options: Any
) -> Chart:
    """Return a chart over the spans, small enough for three side by side."""
    options = {"kind": "bar", "height_px": 150, **options}
    labels = [span.label for span in spans]
    return Chart(key=key, title=title, labels=labels, series=series, **options)


def count_rows(
    model: type[TenantModel], title: str, colour: str, tenant: Tenant, spans: Sequence[Span]
) -> Iterator[Widget]:
    """Yield the number of new rows, in total and by span."""
    counts = metrics.count_created(model, tenant, spans)
    yield Tile(title, render_sum(counts), rows_address(model, tenant, join_spans(spans)))
    yield draw_spans(
        title.lower().replace(" ", "-"),
        f"{title} a {span_unit(spans)}",
        spans,
        [Series(title, cap_counts(counts), colour)],
        links=[rows_address(model, tenant, span) for span in spans],
    )


def render_memory(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    yield from count_rows(Message, "Messages", "primary", tenant, spans)
    yield from count_rows(Episode, "Episodes", "primary", tenant, spans)


def render_facts(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    yield from count_rows(Fact, "New facts", "green", tenant, spans)
    retired = metrics.count_retired(tenant, spans)
    total = sum(map(sum, retired.values()))
    is_cut = total >= settings.COUNTED_AT_MOST
    yield Tile(
        "Retired facts",
        f"{total:,}{'+' if is_cut else ''}",
        list_retired(tenant, join_spans(spans)),
    )
    latest = f" (the latest {settings.COUNTED_AT_MOST:,})" if is_cut else ""
    yield draw_spans(
        "retired",
        f"Retired facts by reason, a {span_unit(spans)}{latest}",
        spans,
        [Series(reason, retired[reason], REASON_COLOURS[reason]) for reason in sorted(retired)],
        stacked=True,
        links=[list_retired(tenant, span) for span in spans],
    )


def list_retired(tenant: Tenant, span: Span) -> str:
    """Return the address of the list of facts retired in a span of time."""
    return values.list_address(Fact, tenant__id=tenant.id) + (
        f"&invalid_at__gte={span.start:%Y-%m-%dT%H:%M:%SZ}"
        f"&invalid_at__lt={span.end:%Y-%m-%dT%H:%M:%SZ}"
    )


def render_answers(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    yield from count_rows(Retrieval, "Answers", "blue", tenant, spans)
    whole, at_most = join_spans(spans), settings.COUNTED_AT_MOST
    (total,) = receipts.measure_pace(tenant, spans=[whole], at_most=at_most)
    paces = receipts.measure_pace(tenant, spans=spans, at_most=at_most)
    yield Tile(
        "p95 latency",
        "–" if total.p95_ms is None else f"{total.p95_ms:,} ms",
        rows_address(Retrieval, tenant, whole),
        note="" if total.p50_ms is None else f"p50 {total.p50_ms:,} ms",
    )
    yield draw_spans(
        "latency",
        "Latency of answers",
        spans,
        [
            Series("p95", [pace.p95_ms for pace in paces], "orange"),
            Series("p50", [pace.p50_ms for pace in paces], "grey"),
        ],
        kind="line",
        links=[rows_address(Retrieval, tenant, span) for span in spans],
        unit="ms",
    )


def render_jobs(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    """Yield the number of open jobs, and of dead ones.

    Uses indexes: jobs_job_one_ready, jobs_job_one_running, jobs_job_dead.
    """
    jobs = Job.objects.of(tenant)
    states = (State.READY, State.RUNNING, State.DEAD)
    ready, running, dead = (count_capped(jobs.filter(state=state)) for state in states)
    yield Tile(
        "Open jobs",
        render_sum([ready, running]),
        f"{values.list_address(Job, tenant__id=tenant.id)}&state__in=ready,running",
        note=f"{render_sum([running])} running",
    )
    yield Tile(
        "Dead jobs",
        render_sum([dead]),
        values.list_address(Job, state=State.DEAD.value, tenant__id=tenant.id),
        tone="bad" if dead else "good",
    )


def render_tests(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    verdicts = count_verdicts(MemoryTest.objects.of(tenant))
    if verdicts:
        failed, address = verdicts["failed"], values.list_address(MemoryTest, tenant__id=tenant.id)
        yield Tile(
            "Failing memory tests",
            f"{failed:,}",
            f"{address}&state=fails" if failed else address,
            note=f"of {verdicts.total():,}",
            tone="bad" if failed else "good",
        )


def render_fallbacks(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    """Yield how often the offline engine replaced a failing model."""
    counts = {model: metrics.count_degraded(model, tenant, spans) for model in (Episode, Changeset)}
    most = max(counts, key=lambda model: counts[model])
    total = sum(counts.values())
    plurals = (
        f"{count:,} {model._meta.verbose_name_plural}" for model, count in counts.items() if count
    )
    yield Tile(
        "Fallback runs",
        f"{total:,}",
        rows_address(most, tenant, join_spans(spans), degraded__exact=1),
        note=", ".join(plurals) or "the model did not fail",
        tone="warn" if total else "good",
    )


def render_spend(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    days = usage.spend_by_day(tenant, since=spans[0].start)
    costs = [
        float(sum(day.cost for day in days if span.start.date() <= day.day < span.end.date()))
        for span in spans
    ]
    today = usage.measure_today(tenant, now=now)
    yield {
        "today": today,
        "share": min(100, find_share(today.spent_today, today.budget)),
        "total": sum((day.cost for day in days), Decimal(0)),
        "calls": sum(day.calls for day in days),
        "calls_list": rows_address(LLMCall, tenant, join_spans(spans)),
    }
    yield draw_spans(
        "spend",
        f"Cost of the language model a {span_unit(spans)}",
        spans,
        [Series("Cost", costs, "orange")],
        links=[rows_address(LLMCall, tenant, span) for span in spans],
    )


def render_queue(tenant: Tenant, items: Sequence[Item], now: datetime) -> Tile:
    oldest = min((item.row.created_at for item in items), default=now)
    return Tile(
        "Review queue",
        f"{len(items):,}",
        f"{reverse('console:review_queue')}?{urlencode({'tenant': tenant.name})}",
        note=f"to decide on, the oldest for {timesince(oldest, now)}" if items else "",
        tone="warn" if items else "good",
    )


def render_quality(tenant: Tenant, spans: Sequence[Span], now: datetime) -> Iterator[Widget]:
    """Yield how many facts people declared wrong and corrected, and how many had been served."""
    wrong = metrics.find_retired(tenant, spans).filter(invalidated_because=Fact.Because.WRONG)
    rows = list(wrong.values_list("id", "invalid_at", "superseded_by")[:WRONG_AT_MOST])
    served = count_served(tenant, [row_id for row_id, _, _ in rows])
    before, never = [0] * len(spans), [0] * len(spans)
    for row_id, at, _ in rows:
        (before if row_id in served else never)[metrics.find_place(at, spans)] += 1
    corrected = sum(newer is not None for _, _, newer in rows)
    address = list_retired(tenant, join_spans(spans)) + "&invalidated_because=wrong"
    yield Tile("Declared wrong", f"{len(rows):,}", address, note=f"{corrected:,} corrected")
    yield Tile(
        "Served, then wrong",
        f"{sum(before):,}",
        address,
        note=f"{round(100 * sum(before) / len(rows))} % of them" if rows else "",
        tone="bad" if sum(before) else "good",
    )
    yield draw_spans(
        "wrong",
        f"Facts declared wrong, a {span_unit(spans)}",
        spans,
        [Series("served before", before, "red"), Series("never served", never, "grey")],
        stacked=True,
        links=[list_retired(tenant, span) for span in spans],
    )


def list_dead_jobs(tenant: Tenant) -> list[Job]:
    """Return the newest dead jobs. Uses index: jobs_job_dead."""
    return list(Job.objects.of(tenant).filter(state=State.DEAD).order_by("-id")[:ROWS_AT_MOST])


def list_audit(tenant: Tenant, now: datetime) -> dict[str, Any]:
    """Return the last answers, who unmasked messages, and what was changed because of a case."""
    reveals = list(Reveal.objects.of(tenant).order_by("-id")[:ROWS_AT_MOST])
    ids = {row.conversation_id for row in reveals}
    homes = with_names(Conversation.objects.of(tenant).filter(id__in=ids)).in_bulk()
    cases = Changeset.objects.of(tenant).filter(case_id__isnull=False).order_by("-id")
    return {
        "answers": list(Retrieval.objects.of(tenant).order_by("-id")[:ROWS_AT_MOST]),
        "reveals": [
            (row, render_name(homes[row.conversation_id], may_read=False), row.until > now)
            for row in reveals
        ],
        "cases": list(cases[:ROWS_AT_MOST]),
    }
