"""The admin's front page: a table of all tenants, or one tenant's activity, open work and cost.

Each section is built only for people who may see its rows.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from episodic.models import Message
from episodic.revealing import REVEAL
from jobs import backlog, spending
from jobs.models import Job, LLMCall, State
from memoryproject.adminkit import values
from memoryproject.ai.breaker import find_models_away
from memoryproject.tenancy import key_usage, quotas
from memoryproject.tenancy.key_usage import FailureCount
from memoryproject.tenancy.models import KeyUsage, StoredSize, Tenant
from semantic.models import Fact, Suggestion
from wings.console.charts import Chart
from wings.console.facts.forms import CURATE
from wings.console.home import metrics, sections
from wings.console.home.metrics import DAYS_A_SPAN, Span
from wings.console.home.sections import Tile, Widget
from wings.console.keys.page import SEES_USAGE
from wings.console.pages import Answer, admin_page, choose_tenant, read_choice
from wings.console.queue.items import list_items
from wings.console.texts import TOUR
from wings.suggestions import automatic, suggestions, triage

COUNTS = ("open_jobs", "dead_jobs", "spent", "bytes", "suggested", "pending")
DAYS = 30
QUEUE_AT_MOST, STEPS_AT_MOST, FAILING_AT_MOST = 5, 5, 5
SEES_QUEUE = ("semantic.view_fact", "semantic.view_suggestion")
SEES_AUDIT = ("episodic.view_reveal", "semantic.view_changeset", REVEAL)
SEES_OVERVIEW = ("tenancy.view_tenant", "jobs.view_job", "tenancy.view_apikey")
Section = Callable[[Tenant, Sequence[Span], datetime], Iterator[Widget]]


def list_rows(tenants: Sequence[Tenant], *, now: datetime) -> list[dict[str, Any]]:
    """Return a row per tenant, those with problems first, by a handful of queries.

    `oldest`: since when its oldest open job has waited or run; `share`: percent of today's budget.
    """
    rows: dict[UUID, dict[str, Any]] = {
        tenant.id: {"tenant": tenant, **dict.fromkeys(COUNTS, 0)} for tenant in tenants
    }

    def add(found: QuerySet[Any], **sums: Any) -> None:
        of_these = found.filter(tenant_id__in=list(rows)).order_by()
        for row in of_these.values("tenant_id").annotate(**sums):
            rows[row["tenant_id"]] |= row

    midnight, jobs = spending.start_of_day(now), Job.across_tenants
    is_open = Q(state__in=[State.READY, State.RUNNING])
    add(jobs.filter(is_open), open_jobs=Count("id"), oldest=Min("run_after"))
    add(jobs.filter(state=State.DEAD), dead_jobs=Count("id"))
    calls = LLMCall.across_tenants.filter(created_at__gte=midnight)
    add(calls, spent=Sum("cost", default=Decimal(0)))
    add(StoredSize.across_tenants.all(), bytes=Sum("byte_count"))
    add(Suggestion.across_tenants.filter(suggestions.OPEN), suggested=Count("id"))
    waiting = Fact.across_tenants.filter(invalidated_because=Fact.Because.WAITING)
    add(waiting, pending=Count("id"))
    used = key_usage.sum_by_tenant(list(rows), since=midnight.date())
    newest = Message.across_tenants.filter(tenant_id=OuterRef("pk")).order_by("-id")
    last = Tenant.objects.annotate(at=Subquery(newest.values("received_at")[:1]))
    last_messages = dict(last.filter(id__in=list(rows)).values_list("id", "at"))
    for tenant_id, row in rows.items():
        budget = spending.find_budget(row["tenant"])
        row |= {
            "last_message": last_messages.get(tenant_id),
            "dead_list": values.list_address(Job, state="dead", tenant__id=tenant_id),
            "budget": budget,
            "share": sections.find_share(row["spent"], budget),
            "bytes_limit": quotas.limits_of(row["tenant"])[0],
            "to_decide": row["suggested"] + row["pending"],
        }
        row |= {"calls": 0, "refused": 0, "errors": 0, **used.get(tenant_id, {})}
        fails = row["refused"] or 2 * row["errors"] > row["calls"]
        row["is_fine"] = not (row["dead_jobs"] or fails or row["share"] >= 80)
    return sorted(rows.values(), key=lambda row: row["is_fine"])


def get_story(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the front page, with what the person may see of a tenant."""
    now = timezone.now()
    tenant = choose_tenant(request)
    asked = request.GET.get("days", "")
    days = int(asked) if asked in map(str, DAYS_A_SPAN) else DAYS
    shown: dict[str, Any] = {
        "title": "Home",
        "subtitle": tenant.name if tenant else "All tenants",
        "tenant": tenant,
        "days": days,
        "ranges": list(DAYS_A_SPAN),
        "counted_at_most": settings.COUNTED_AT_MOST,
    }
    if request.user.has_perm("jobs.view_job"):
        shown["stuck"] = backlog.explain_standstill()
        shown["restart"] = backlog.list_restarts().first()
        shown["models_away"] = list(find_models_away())
    if request.user.has_perm(SEES_USAGE):
        shown["failing"] = list_failing([tenant] if tenant else read_choice(request).offered, now)
    if tenant is not None:
        widgets = list_widgets(request, tenant, metrics.spans_of(days, now=now), now)
        if request.user.has_perms(SEES_QUEUE):
            rates = triage.measure_rules(tenant)
            items = list_items(tenant, now=now, rates=rates)
            widgets.insert(0, sections.render_queue(tenant, items, now))
            shown["queue"] = items[:QUEUE_AT_MOST] if request.user.has_perm(CURATE) else []
            shown["rules_stopped"] = automatic.has_stopped(tenant, now=now, rates=rates)
        if request.user.has_perms(SEES_AUDIT):
            shown["audit"] = sections.list_audit(tenant, now)
        if request.user.has_perm("jobs.operate_job"):
            shown["dead_jobs"] = sections.list_dead_jobs(tenant)
        tiles = [widget for widget in widgets if isinstance(widget, Tile)]
        charts = [widget for widget in widgets if isinstance(widget, Chart) and widget.has_values]
        shown |= {"tiles": tiles, "charts": charts}
        shown["spend"] = next((widget for widget in widgets if isinstance(widget, dict)), None)
        shown["is_new"] = not Message.objects.of(tenant).exists()
    elif tenants := read_choice(request).offered:
        if request.user.has_perms(SEES_OVERVIEW):
            shown["rows"] = list_rows(tenants, now=now)
        else:
            shown["others"] = tenants
    return {**context, **shown}


def list_failing(
    tenants: Sequence[Tenant], now: datetime
) -> list[tuple[KeyUsage, list[FailureCount]]]:
    """Return the keys most of whose calls fail today (UTC), each with the most frequent cause."""
    ids, today = [tenant.id for tenant in tenants], spending.start_of_day(now).date()
    rows = key_usage.find_failing(ids, day=today)[:FAILING_AT_MOST]
    return [(row, key_usage.sum_failures([row.failures])[:1]) for row in rows]


def list_widgets(
    request: HttpRequest, tenant: Tenant, spans: Sequence[Span], now: datetime
) -> list[Widget]:
    parts: tuple[tuple[tuple[str, ...], Section], ...] = (
        (("episodic.view_message", "episodic.view_episode"), sections.render_memory),
        (("semantic.view_fact", "semantic.view_changeset"), sections.render_facts),
        (("semantic.view_fact", "retrieval.view_retrieval"), sections.render_quality),
        (("retrieval.view_retrieval",), sections.render_answers),
        (("retrieval.view_memorytest",), sections.render_tests),
        (("jobs.view_job",), sections.render_jobs),
        (("episodic.view_episode", "semantic.view_changeset"), sections.render_fallbacks),
        (("jobs.view_llmcall",), sections.render_spend),
    )
    return [
        widget
        for permissions, render in parts
        if request.user.has_perms(permissions)
        for widget in render(tenant, spans, now)
    ]


@admin_page("console/tour.html", "Tour")
def show_tour(request: HttpRequest) -> Answer:
    """Show the first five steps that the person may do, each with a link to its page."""
    steps = [step for step in TOUR if request.user.has_perm(step["permission"])][:STEPS_AT_MOST]
    return {"steps": [(step, reverse(step["page"])) for step in steps]}
