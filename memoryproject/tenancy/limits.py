"""How often a key, and all keys of a tenant together, may call.

An allowance fills evenly, by its rate, up to a burst. It is kept in the database, and so
is the same for all processes; one statement takes calls from both, or from neither. Of a large
allowance a process takes some calls ahead, a hundredth of a burst, and asks less often.
"""

import math
import threading
import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import NOT_PROVIDED

from memoryproject.database.clock import execute
from memoryproject.edge.errors import Problem, TooFast
from memoryproject.tenancy.models import APIKey, Tenant

SETTING = "rate"
"""The name in a tenant's settings: calls a minute, or 0 for no limit."""
BURST_SHARE = 10
BURST_AT_LEAST = 10
RATE_AT_MOST = 10**6
AHEAD_SHARE = 100
NONE = 0
"""The rate that stands for no limit."""
REMEMBERED_AT_MOST = 10_000
LAGS = """
SELECT DISTINCT ON (owner) owner, extract(epoch FROM due_at - clock_timestamp())::float
FROM public.tenancy_allowance WHERE owner = ANY(%s::uuid[]) ORDER BY owner, turn DESC
"""
TAKE = "SELECT wait_s, short FROM public.memory_take_call(%s::uuid[], %s, %s)"


@dataclass(frozen=True, slots=True)
class Allowance:
    """How fast somebody may call: `rate` calls a minute, `burst` of them at once."""

    owner: uuid.UUID
    whose: str
    rate: int
    burst: int

    @property
    def step_s(self) -> float:
        return 60.0 / self.rate


_ahead: dict[tuple[Allowance, ...], int] = {}
"""Calls that this process has taken and not used, by whose they are."""
_lock = threading.Lock()


def find_burst(rate: int) -> int:
    """Return how many calls may come at once: a tenth of a minute's, and not less than ten.

    Never more than a minute's, which counts where the rate is below ten.
    """
    return min(rate, max(rate // BURST_SHARE, BURST_AT_LEAST))


def allowances_of(key: APIKey) -> list[Allowance]:
    """Return what a call with `key` is taken from, the key's first; without limits: nothing."""
    tenant = key.tenant
    rates = [
        (key.id, "This key", key.rate, settings.KEY_RATE),
        (tenant.id, "This tenant", tenant.settings.get(SETTING), settings.TENANT_RATE),
    ]
    return [
        Allowance(owner, whose, rate, find_burst(rate))
        for owner, whose, own, usual in rates
        if (rate := usual if own is None else own) != NONE
    ]


def take_call(key: APIKey) -> None:
    """Take one call from the allowances of a key and of its tenant.

    Commits by itself, where no transaction is open: a lock on a tenant's allowance that
    lasted as long as a call would make all its calls wait for each other.

    Raises:
        TooFast: one of them is used up; nothing was taken.
        OperationalError: the database is away.
    """
    allowances = allowances_of(key)
    owners = tuple(allowances)
    with _lock:
        if (left := _ahead.pop(owners, 0)) > 1:
            _ahead[owners] = left - 1
    if left:
        return
    some = min((row.burst // AHEAD_SHARE for row in allowances), default=0)
    try:
        take(allowances, calls=max(some, 1))
    except TooFast:
        if some <= 1:
            raise
        take(allowances)
        some = 1
    if some > 1:
        with _lock:
            if len(_ahead) >= REMEMBERED_AT_MOST:
                _ahead.clear()
            _ahead[owners] = _ahead.get(owners, 0) + some - 1


def take(allowances: list[Allowance], *, calls: int = 1) -> None:
    """Take so many calls from each of the allowances, or none from any.

    Raises:
        TooFast: one of them is used up.
    """
    if not allowances:
        return
    rows = ((row.owner, calls * row.step_s, row.burst // calls) for row in allowances)
    ((wait_s, short),) = execute(TAKE, [list(column) for column in zip(*rows, strict=True)])
    if wait_s > 0:
        row = allowances[short - 1]
        raise TooFast(
            f"{row.whose} may make {row.rate} calls a minute, {row.burst} of them at once.",
            retry_after_s=math.ceil(wait_s),
        )


def list_remaining(key: APIKey) -> list[dict[str, Any]]:
    """Return the limits of a key and its tenant as {of, rate, burst, left}; none: no limit."""
    allowances = allowances_of(key)
    rows = execute(LAGS, [[row.owner for row in allowances]])
    lags = {owner: max(lag_s, 0.0) for owner, lag_s in rows}
    return [
        {
            "of": "key" if row.owner == key.id else "tenant",
            "rate": row.rate,
            "burst": row.burst,
            "left": max(0, math.floor(row.burst - lags.get(row.owner, 0.0) / row.step_s)),
        }
        for row in allowances
    ]


def _check_rate(rate: int | None) -> None:
    if rate is not None and not 0 <= rate <= RATE_AT_MOST:
        raise Problem(f"A rate is from 0 to {RATE_AT_MOST} calls a minute; 0: no limit.")


def set_key_rate(key: APIKey, rate: int | None) -> None:
    """Give a key a rate of its own, 0 for no limit, None for the server's.

    Processes that have just found the key go by the old one for half a second.

    Raises:
        Problem: it is no rate.
    """
    _check_rate(rate)
    APIKey.objects.of(key.tenant).filter(id=key.id).update(rate=rate)
    key.rate = rate


def set_tenant_rate(tenant: Tenant, rate: int | None) -> None:
    _check_rate(rate)
    tenant.change_setting(SETTING, NOT_PROVIDED if rate is None else rate)


def describe_rate(own: int | None, usual: int) -> str:
    rate = usual if own is None else own
    words = "no limit" if rate == NONE else f"{rate} a minute"
    return f"{words} (the server's)" if own is None else words


def describe_key_rate(key: APIKey) -> str:
    return describe_rate(key.rate, settings.KEY_RATE)


def describe_tenant_rate(tenant: Tenant) -> str:
    return describe_rate(tenant.settings.get(SETTING), settings.TENANT_RATE)
