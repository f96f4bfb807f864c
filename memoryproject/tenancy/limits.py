"""Rate limits of calls, for a key and for its tenant, and of bytes sent by a tenant.

An allowance refills at its rate, up to a burst (a token bucket). It is stored in the database, and
so is the same for all processes; one statement takes calls from both, or from neither. From a large
allowance a process takes a hundredth of a burst in advance, to query less often.
"""

import math
import threading
import uuid
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import NOT_PROVIDED

from memoryproject.database.clock import execute
from memoryproject.edge.errors import Problem, TooFast
from memoryproject.tenancy.models import APIKey, Tenant

CALLS, BYTES, QUESTIONS = "calls", "bytes", "questions"
"""Units of limits. A question is a call of `ask`, for which a language model works."""
SETTINGS = {CALLS: "rate", BYTES: "byte_rate", QUESTIONS: "ask_rate"}
"""Keys of a tenant's settings: how many per minute, or 0 for no limit."""
VERBS = {CALLS: "make", BYTES: "send", QUESTIONS: "ask"}
RATES_AT_MOST = {CALLS: 10**6, BYTES: 10**10, QUESTIONS: 10**6}
BURST_SHARE = 10
BURST_AT_LEAST = 10
BYTES_AT_LEAST = settings.MAX_BODY_BYTES
"""Smallest burst in bytes, whatever the rate: the largest body."""
AHEAD_SHARE = 100
NONE = 0
"""The rate that means no limit."""
REMEMBERED_AT_MOST = 10_000
LAGS = """
SELECT DISTINCT ON (owner) owner, extract(epoch FROM due_at - clock_timestamp())::float
FROM public.tenancy_allowance WHERE owner = ANY(%s::uuid[]) ORDER BY owner, turn DESC
"""
TAKE = "SELECT wait_s, short FROM public.memory_take_call(%s::uuid[], %s, %s)"


class Allowance(NamedTuple):
    """A limit: `rate` per minute, `burst` of them at once."""

    owner: uuid.UUID
    whose: str
    rate: int
    burst: int
    unit: str = CALLS

    @property
    def step_s(self) -> float:
        return 60.0 / self.rate


_ahead: dict[tuple[Allowance, ...], int] = {}
"""Calls or bytes that this process has taken in advance, by their owner."""
_lock = threading.Lock()


def find_burst(rate: int) -> int:
    """Return how many calls may come at once: a tenth of a minute's, at least ten.

    At most a minute's, which matters for rates below ten.
    """
    return min(rate, max(rate // BURST_SHARE, BURST_AT_LEAST))


def allowances_of(key: APIKey) -> list[Allowance]:
    """Return the allowances for a call with `key`, the key's first; empty without limits."""
    return [
        Allowance(owner.id, whose, rate, find_burst(rate))
        for owner, whose in ((key, "This key"), (key.tenant, "This tenant"))
        if (rate := find_rate(owner)) != NONE
    ]


def byte_allowances_of(tenant: Tenant) -> list[Allowance]:
    """Return the allowances for the body of a call; empty without a limit."""
    rate = find_rate(tenant, BYTES)
    burst = max(rate // BURST_SHARE, BYTES_AT_LEAST)
    owner = uuid.uuid5(tenant.id, BYTES)
    return [] if rate == NONE else [Allowance(owner, "This tenant", rate, burst, BYTES)]


def question_allowances_of(tenant: Tenant) -> list[Allowance]:
    """Return the allowances for a question; empty without a limit."""
    rate = find_rate(tenant, QUESTIONS)
    owner = uuid.uuid5(tenant.id, QUESTIONS)
    row = Allowance(owner, "This tenant", rate, find_burst(rate), QUESTIONS)
    return [] if rate == NONE else [row]


def find_rate(owner: APIKey | Tenant, unit: str = CALLS) -> int:
    """Return the rate of a key or a tenant: its own, or the server's."""
    own, usual = _rates_of(owner, unit)
    return usual if own is None else own


def _rates_of(owner: APIKey | Tenant, unit: str) -> tuple[int | None, int]:
    """Return the own rate of a key or a tenant, or None, and the server's."""
    if isinstance(owner, APIKey):
        return owner.rate, settings.KEY_RATE
    usual = {
        CALLS: settings.TENANT_RATE,
        BYTES: settings.TENANT_BYTE_RATE,
        QUESTIONS: settings.ASK_RATE,
    }
    return owner.settings.get(SETTINGS[unit]), usual[unit]


def take_call(key: APIKey, *, body_bytes: int = 0) -> None:
    """Take one call, and the bytes of its body, from the allowances of a key and its tenant.

    Commits by itself, if no transaction is open: a lock on a tenant's allowance for the whole call
    would make its calls wait for each other.

    Raises:
        TooFast: one of them is used up. Of the bytes nothing was taken then.
        OperationalError: the database is away.
    """
    _take_some(allowances_of(key), 1)
    if body_bytes:
        _take_some(byte_allowances_of(key.tenant), min(body_bytes, settings.MAX_BODY_BYTES))


def _take_some(allowances: list[Allowance], count: int) -> None:
    """Take this many from each, or none from any, and if possible some more in advance."""
    owners = tuple(allowances)
    with _lock:
        if (left := _ahead.get(owners, 0)) >= count:
            _ahead[owners] = left - count
            return
    some = min((row.burst // AHEAD_SHARE for row in allowances), default=0)
    try:
        take(allowances, count=max(some, count))
    except TooFast:
        if some <= count:
            raise
        take(allowances, count=count)
        return
    if some > count:
        with _lock:
            if len(_ahead) >= REMEMBERED_AT_MOST:
                _ahead.clear()
            _ahead[owners] = _ahead.get(owners, 0) + some - count


def take(allowances: list[Allowance], *, count: int = 1) -> None:
    """Take this many calls or bytes from each of the allowances, or none from any.

    Raises:
        TooFast: one of them is used up.
    """
    if not allowances:
        return
    rows = ((row.owner, count * row.step_s, row.burst // count) for row in allowances)
    ((wait_s, short),) = execute(TAKE, [list(column) for column in zip(*rows, strict=True)])
    if wait_s > 0:
        row = allowances[short - 1]
        raise TooFast(
            f"{row.whose} may {VERBS[row.unit]} {row.rate} {row.unit} a minute,"
            f" {row.burst} of them at once.",
            retry_after_s=math.ceil(wait_s),
        )


def list_remaining(key: APIKey) -> list[dict[str, Any]]:
    """Return the limits of a key and its tenant as {of, unit, rate, burst, left}."""
    allowances = [*allowances_of(key), *byte_allowances_of(key.tenant)]
    rows = execute(LAGS, [[row.owner for row in allowances]])
    lags = {owner: max(lag_s, 0.0) for owner, lag_s in rows}
    return [
        {
            "of": "key" if row.owner == key.id else "tenant",
            "unit": row.unit,
            "rate": row.rate,
            "burst": row.burst,
            "left": max(0, math.floor(row.burst - lags.get(row.owner, 0.0) / row.step_s)),
        }
        for row in allowances
    ]


def set_rate(owner: APIKey | Tenant, rate: int | None, unit: str = CALLS) -> None:
    """Set the rate of a key or a tenant; 0: no limit, None: the server's.

    Processes that have just found a key use its old rate for half a second. Only a tenant has rates
    of bytes and of questions.

    Raises:
        Problem: it is not a valid rate.
    """
    if rate is not None and not 0 <= rate <= RATES_AT_MOST[unit]:
        raise Problem(f"A rate is from 0 to {RATES_AT_MOST[unit]} {unit} a minute; 0: no limit.")
    if isinstance(owner, Tenant):
        owner.change_setting(SETTINGS[unit], NOT_PROVIDED if rate is None else rate)
    else:
        APIKey.objects.of(owner.tenant).filter(id=owner.id).update(rate=rate)
        owner.rate = rate


def describe_rate(owner: APIKey | Tenant, unit: str = CALLS) -> str:
    own, rate = _rates_of(owner, unit)[0], find_rate(owner, unit)
    words = "no limit" if rate == NONE else f"{rate} a minute"
    return f"{words} (the server's)" if own is None else words
