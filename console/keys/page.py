"""The pages of an API key and of a tenant: scopes, keys, and what the language model cost."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from console.action_log import list_records
from console.keys import usage as key_usage
from console.keys.usage import draw_sparkline
from jobs import spending, usage
from jobs.models import Job
from memoryproject.adminkit import values
from memoryproject.tenancy import limits, quotas
from memoryproject.tenancy.models import APIKey, Scope, Tenant

MANAGE, SET_BUDGET = "tenancy.manage_apikey", "tenancy.set_budget"
SEES_USAGE = "tenancy.view_keyusage"
KEYS_SHOWN = 50
USAGE_DAYS = 30
DAYS_SHOWN = 7


def get_key_story(request: HttpRequest, key: APIKey) -> Mapping[str, Any]:
    """Return how a key stands, what it may do, and what people did to it."""
    now = timezone.now()
    state, manages = key.state_at(now), request.user.has_perm(MANAGE)
    days = key_usage.list_days(key, days=USAGE_DAYS) if request.user.has_perm(SEES_USAGE) else []
    calls = {str(day.row.day): day.row.calls for day in days}
    since = now.date() - timedelta(days=key_usage.DAYS - 1)
    week = [day.row for day in days if day.row.day >= since]
    failed = [row.errors + row.faults + row.refused >= row.calls for row in week]
    return {
        "days": days,
        "sees_cost": request.user.has_perm("jobs.view_llmcall"),
        "spark": draw_sparkline(key_usage.fill_days(calls, days=USAGE_DAYS)) if days else "",
        "key_state": state,
        "all_fail": state == "active" and bool(failed) and all(failed),
        "key_rate": limits.describe_key_rate(key),
        "old_secret_until": key.previous_until
        if state == "active" and key.previous_until and key.previous_until > now
        else None,
        "scopes": Scope.choices,
        "may_revoke": key.revoked_at is None and manages,
        "may_rotate": state == "active" and manages,
        "records": list_records(APIKey, key.id),
    }


def get_tenant_story(request: HttpRequest, tenant: Tenant) -> Mapping[str, Any]:
    """Return a tenant's keys and what it spends, for those who may see them."""
    shown: dict[str, Any] = {
        "records": list_records(Tenant, tenant.id),
        "stored": quotas.measure_storage(tenant),
        "quota": quotas.describe_quota(tenant),
        "own_quota": {name: tenant.settings.get(name) for name in (quotas.BYTES, quotas.ROWS)},
    }
    if request.user.has_perm("jobs.view_llmcall"):
        now = timezone.now()
        shown["used"] = usage.measure_today(tenant, now=now)
        since = spending.start_of_day(now) - timedelta(days=DAYS_SHOWN - 1)
        shown["spend_days"] = list(reversed(usage.spend_by_day(tenant, since=since)))
    if request.user.has_perm("tenancy.view_apikey"):
        keys = APIKey.objects.of(tenant).order_by("revoked_at", "-id")
        shown["keys"] = list(keys.filter(revoked_at=None)[:KEYS_SHOWN])
        shown["keys_list"] = values.list_address(APIKey, tenant__id=tenant.id)
    if request.user.has_perm("jobs.view_job"):
        shown["jobs_list"] = values.list_address(Job, tenant__id=tenant.id)
    return shown
