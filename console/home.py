"""The admin's front page: what a tenant's memory did of late, what waits, what it cost.

Each part is made only for those who may see what it tells of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils import timezone

from console import figures, home_parts
from console.figures import DAYS_A_SPAN, Span
from console.home_shapes import Part
from episodic.models import Message
from jobs import backlog
from memoryproject.ai.models import Breaker
from memoryproject.tenancy.models import Tenant

DAYS = 30
TENANTS_OFFERED = 200


@dataclass(frozen=True, slots=True)
class Shortcut:
    """A way to start."""

    title: str
    hint: str
    href: str
    icon: str


SHORTCUTS = (
    ("Why did it say that?", "From a receipt, a phrase or a day to the exact messages",
     "console:case_file", "retrieval.view_retrieval", "quiz"),
    ("Playground", "Ask as an agent would, and see why each memory was found",
     "console:playground", "retrieval.run_playground", "experiment"),
    ("Waiting", "What would steer the assistant: approve or reject",
     "console:inbox", "semantic.curate_fact", "inbox"),
    ("Facts", "What is held true, and what was",
     "admin:semantic_fact_changelist", "semantic.view_fact", "lightbulb"),
    ("Changesets", "Who changed what, and undoing it",
     "admin:semantic_changeset_changelist", "semantic.view_changeset", "difference"),
    ("Dead jobs", "Look, and try again",
     "admin:jobs_job_changelist", "jobs.view_job", "work_history"),
    ("API keys", "Who may call the server",
     "admin:tenancy_apikey_changelist", "tenancy.view_apikey", "key"),
)  # fmt: skip


def tell(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the context of the front page: with what the person may see of a tenant."""
    now = timezone.now()
    tenant, unknown = choose_tenant(request)
    days = read_days(request.GET.get("days", ""))
    shown: dict[str, Any] = {
        "title": "Home",
        "subtitle": tenant.name if tenant else None,
        "tenant": tenant,
        "unknown_tenant": unknown,
        "tenants": list(Tenant.objects.order_by("name")[:TENANTS_OFFERED]),
        "days": days,
        "ranges": list(DAYS_A_SPAN),
        "shortcuts": offer_shortcuts(request),
        "search": find_address("console:search") if may_search(request) else "",
        "counted_at_most": figures.COUNTED_AT_MOST,
    }
    if request.user.has_perm("jobs.view_job"):
        shown["standstill"] = backlog.explain_standstill()
        shown["models_away"] = list(Breaker.objects.exclude(open_until=None).order_by("model"))
    if tenant is not None:
        parts = tell_parts(request, tenant, figures.spans_of(days, now=now), now)
        shown["tiles"] = [tile for part in parts for tile in part.tiles]
        shown["charts"] = [chart for part in parts for chart in part.charts_with_news]
        shown["lists"] = [entry for part in parts for entry in part.lists]
        shown["spend"] = next((part.spend for part in parts if part.spend), None)
        shown["is_new"] = not any(part.has_news for part in parts)
    return {**context, **shown}


def tell_parts(
    request: HttpRequest, tenant: Tenant, spans: Sequence[Span], now: datetime
) -> list[Part]:
    """Return the parts that the person may see, in the order of the page."""
    parts = (
        (("episodic.view_message", "episodic.view_episode"), home_parts.tell_memory),
        (("semantic.view_fact", "semantic.view_changeset"), home_parts.tell_facts),
        (("retrieval.view_retrieval",), home_parts.tell_answers),
        (("jobs.view_job",), home_parts.tell_jobs),
        (("episodic.view_episode", "semantic.view_changeset"), home_parts.tell_degraded),
        (("jobs.view_llmcall",), home_parts.tell_spend),
    )
    return [
        tell(tenant, spans, now)
        for permissions, tell in parts
        if request.user.has_perms(permissions)
    ]


def choose_tenant(request: HttpRequest) -> tuple[Tenant | None, str]:
    """Return the tenant to show, and the name in the address if there is no such tenant.

    Without a name it is the one with the newest message: its id is the newest.
    """
    asked = request.GET.get("tenant", "").strip()
    if asked:
        named = Tenant.objects.filter(name=asked.replace("\x00", "")).first()
        if named is not None:
            return named, ""
    newest = Message.across_tenants.select_related("tenant").order_by("-id").only("tenant").first()
    if newest is not None:
        return newest.tenant, asked
    return Tenant.objects.order_by("created_at", "id").first(), asked


def read_days(text: str) -> int:
    """Return the range that the address names, else the usual one."""
    return int(text) if text in {str(days) for days in DAYS_A_SPAN} else DAYS


def offer_shortcuts(request: HttpRequest) -> list[Shortcut]:
    """Return the ways to start that the person may go."""
    offered = []
    for title, hint, name, permission, icon in SHORTCUTS:
        address = find_address(name)
        if address and request.user.has_perm(permission):
            query = "?state__exact=dead" if title == "Dead jobs" else ""
            offered.append(Shortcut(title, hint, address + query, icon))
    return offered


def may_search(request: HttpRequest) -> bool:
    """Return whether the person sees what a search would find."""
    return request.user.has_perms(("semantic.view_fact", "episodic.view_episode"))


def find_address(name: str) -> str:
    """Return the address of a page, or nothing where there is no such page."""
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
