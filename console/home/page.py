"""The admin's front page: all tenants in a table, or one's latest activity, open work and cost.

Each section is made only for those who may see its rows.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from console.charts import Chart
from console.facts.forms import CURATE
from console.home import metrics, overview, quality, sections
from console.home.metrics import DAYS_A_SPAN, Span
from console.home.sections import Spend, Tile, Widget
from console.pages import choose_tenant, page_for, read_choice, show_page
from console.queue.items import list_items
from console.texts import TOUR
from episodic.revealing import REVEAL
from jobs import backlog
from memoryproject.ai.breaker import find_models_away
from memoryproject.tenancy.models import Tenant
from semantic import automatic, triage

DAYS = 30
QUEUE_AT_MOST, STEPS_AT_MOST = 5, 5
SEES_QUEUE = ("semantic.view_fact", "semantic.view_suggestion")
SEES_AUDIT = ("episodic.view_reveal", "semantic.view_changeset", REVEAL)
SEES_OVERVIEW = ("tenancy.view_tenant", "jobs.view_job", "tenancy.view_apikey")
Section = Callable[[Tenant, Sequence[Span], datetime], Iterator[Widget]]


def get_story(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the front page: with what the person may see of a tenant."""
    now = timezone.now()
    tenant = choose_tenant(request)
    days = read_days(request.GET.get("days", ""))
    shown: dict[str, Any] = {
        "title": "Home",
        "subtitle": tenant.name if tenant else "All tenants",
        "tenant": tenant,
        "days": days,
        "ranges": list(DAYS_A_SPAN),
        "may_search": request.user.has_perms(("semantic.view_fact", "episodic.view_episode")),
        "counted_at_most": settings.COUNTED_AT_MOST,
    }
    if request.user.has_perm("jobs.view_job"):
        shown["stuck"] = backlog.explain_standstill()
        shown["models_away"] = list(find_models_away())
    if tenant is not None:
        widgets = list_widgets(request, tenant, metrics.spans_of(days, now=now), now)
        if request.user.has_perms(SEES_QUEUE):
            rates = triage.measure_rules(tenant)
            items = list_items(tenant, now=now, rates=rates)
            widgets.insert(0, quality.render_queue(tenant, items, now))
            shown["queue"] = items[:QUEUE_AT_MOST] if request.user.has_perm(CURATE) else []
            shown["rules_stopped"] = automatic.has_stopped(tenant, now=now, rates=rates)
        if request.user.has_perms(SEES_AUDIT):
            shown["audit"] = quality.list_audit(tenant, now)
        tiles = [widget for widget in widgets if isinstance(widget, Tile)]
        charts = [widget for widget in widgets if isinstance(widget, Chart) and widget.has_values]
        shown |= {"tiles": tiles, "charts": charts}
        shown["spend"] = next((widget for widget in widgets if isinstance(widget, Spend)), None)
        shown["is_new"] = not metrics.has_messages(tenant)
    elif tenants := read_choice(request).offered:
        if request.user.has_perms(SEES_OVERVIEW):
            shown["rows"] = overview.list_rows(tenants, now=now)
        else:
            shown["others"] = tenants
    return {**context, **shown}


def list_widgets(
    request: HttpRequest, tenant: Tenant, spans: Sequence[Span], now: datetime
) -> list[Widget]:
    """Return what the person may see, in the order of the page."""
    parts: tuple[tuple[tuple[str, ...], Section], ...] = (
        (("episodic.view_message", "episodic.view_episode"), sections.render_memory),
        (("semantic.view_fact", "semantic.view_changeset"), sections.render_facts),
        (("semantic.view_fact", "retrieval.view_retrieval"), quality.render_quality),
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


def read_days(text: str) -> int:
    """Return the range that the address names, else the usual one."""
    return int(text) if text in {str(days) for days in DAYS_A_SPAN} else DAYS


@page_for()
def show_tour(request: HttpRequest) -> HttpResponse:
    """Show the first five steps that the person may take, each with a link to its page."""
    steps = [step for step in TOUR if request.user.has_perm(step["permission"])][:STEPS_AT_MOST]
    return show_page(
        request,
        "console/tour.html",
        title="Tour",
        steps=[(step, reverse(step["page"])) for step in steps],
    )
