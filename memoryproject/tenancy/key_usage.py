"""Counts the calls of each key, in memory first, then in one row per key and day.

A request costs only an addition in memory. A killed process loses its counts since the last write;
one that ends normally writes them.
"""

import atexit
import json
import logging
import math
import os
import re
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, NamedTuple

from django.db import Error, connection
from django.db.models import F, IntegerField, QuerySet, Sum
from django.db.models.expressions import RawSQL
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone

from memoryproject.database.clock import execute, read_sql
from memoryproject.database.ids import make_id
from memoryproject.edge.callers import client_address
from memoryproject.tenancy import walls
from memoryproject.tenancy.models import APIKey, KeyUsage

logger = logging.getLogger("memory.usage")

AN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}")
FIELD = re.compile(r"[a-z0-9_.]{1,40}")
FAILURE_AT_MOST = 300
"""Characters."""
WRITE_EVERY_S = 20.0
BUCKETS = 32
"""Buckets of latencies: number n, from 0 on, holds answers within 2 ** (n / 2) ms."""
ADD = read_sql(__file__, "write_key_usage.sql")
P95 = read_sql(__file__, "key_p95.sql")


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that was refused or failed, in words, and the address that it came from."""

    what: str
    caller: str = field(default="", compare=False)


class FailureCount(NamedTuple):
    """Calls that failed for one reason, and an address that a recent one came from."""

    what: str
    calls: int
    caller: str


Counts = Counter[str | int | Failure]
_lock = threading.Lock()
_counts: dict[tuple[uuid.UUID, uuid.UUID, date], Counts] = defaultdict(Counter)
"""Increments of columns and buckets, by tenant, key and day."""


def describe_failure(request: HttpRequest, response: HttpResponseBase) -> Failure | None:
    """Return status, method, route and message of an answer from 400 on, else None.

    Neither a message nor this text quotes anybody; ids are removed.
    """
    if response.status_code < 400:
        return None
    route = request.resolver_match.route if request.resolver_match else ""
    body = getattr(response, "data", None) or {}
    fields = ", ".join(name for name in sorted(body.get("fields", ())) if FIELD.fullmatch(name))
    message = AN_ID.sub("…", body.get("message", "")) + (f" ({fields})" if fields else "")
    what = f"{response.status_code} {request.method} {route}: {message}"[:FAILURE_AT_MOST]
    return Failure(what, client_address(request) or "")


def count_answer(
    key: APIKey,
    *,
    status: int,
    ms: float,
    bytes_in: int,
    bytes_out: int,
    failure: Failure | None = None,
) -> None:
    counts: Counts = Counter()
    if failure is not None:
        counts[failure] = 1
    counts["calls"] = 1
    counts["bytes_in"], counts["bytes_out"] = bytes_in, bytes_out
    counts["refused"] = int(status == 429)
    counts["errors"] = int(400 <= status < 500 and status != 429)
    counts["faults"] = int(status >= 500)
    counts[find_bucket(ms)] = 1
    with _lock:
        _counts[key.tenant_id, key.id, timezone.now().date()].update(counts)
        if _writing["wanted"] and _writing["process"] != os.getpid():
            _begin_to_write()


def find_bucket(ms: float) -> int:
    return min(max(math.ceil(2 * math.log2(max(ms, 1))), 0), BUCKETS - 1)


def bucket_ms(place: int) -> int:
    """Return the upper limit of a bucket in milliseconds."""
    return round(2 ** (place / 2))


def write_counts() -> None:
    """Add this process's counts to the rows of the keys, by one statement.

    Raises:
        Error: the database is unavailable; nothing is lost.
    """
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    if not counts:
        return
    rows = [
        {
            "id": str(make_id()),
            "tenant_id": str(tenant_id),
            "key_id": str(key_id),
            "day": str(day),
            "latencies": [count[place] for place in range(BUCKETS)],
            "failures": {
                name.what: [number, name.caller]
                for name, number in count.items()
                if isinstance(name, Failure)
            },
            **{name: number for name, number in count.items() if isinstance(name, str)},
        }
        for (tenant_id, key_id, day), count in counts.items()
    ]
    try:
        with walls.across_tenants():
            execute(ADD, {"rows": json.dumps(rows)})
    except Error:
        with _lock:
            for place, count in counts.items():
                _counts[place].update(count)
        raise


_writing = {"wanted": False, "process": 0}
"""Whether counts are to be written, and the process whose thread does so."""


def keep_writing() -> None:
    """Make each process write its counts: every few seconds, and when it ends.

    The thread starts with the first counted call, since threads do not survive a fork.
    """
    _writing["wanted"] = True


def _begin_to_write() -> None:
    _writing["process"] = os.getpid()

    def write() -> None:
        try:
            write_counts()
        except Error as error:
            logger.warning("usage of keys not written", extra={"error": type(error).__name__})
        finally:
            connection.close()

    def run() -> None:
        while True:
            time.sleep(WRITE_EVERY_S)
            write()

    threading.Thread(target=run, name="key-usage", daemon=True).start()
    atexit.register(write)


def sum_by_tenant(ids: Sequence[uuid.UUID], *, since: date) -> dict[uuid.UUID, dict[str, int]]:
    """Return the keys' `calls` by tenant since a day, with `refused` and `errors` among them.

    Errors are all answers from 400 on, except those refused as too many.
    """
    rows = KeyUsage.across_tenants.filter(tenant_id__in=ids, day__gte=since)
    failed = Sum(F("errors") + F("faults"))
    sums = rows.values_list("tenant_id").annotate(Sum("calls"), Sum("refused"), failed=failed)
    names = ("calls", "refused", "errors")
    return {tenant_id: dict(zip(names, counts, strict=True)) for tenant_id, *counts in sums}


def sum_failures(days: Iterable[Mapping[str, Any] | None]) -> list[FailureCount]:
    """Return why calls of some days failed, the most frequent reason first.

    The days are the `failures` of `KeyUsage`, the latest first. An earlier version stored a number
    in place of the pair of number and address.
    """
    sums: dict[str, FailureCount] = {}
    for failures in days:
        for what, value in (failures or {}).items():
            calls, caller = value if isinstance(value, list) else (value, "")
            known = sums.get(what, FailureCount(what, 0, caller or ""))
            sums[what] = known._replace(calls=known.calls + calls)
    return sorted(sums.values(), key=lambda failure: (-failure.calls, failure.what))


def find_failing(ids: Sequence[uuid.UUID], *, day: date) -> QuerySet[KeyUsage]:
    """Return the usage of tenants' keys with more than half of a day's calls failed.

    `failed` counts those calls; the key with most of them comes first.
    """
    failed = F("errors") + F("faults") + F("refused")
    rows = KeyUsage.across_tenants.filter(tenant_id__in=ids, day=day).annotate(failed=failed)
    return rows.filter(calls__lt=2 * F("failed")).select_related("key").order_by("-failed", "-id")


def p95_of_key(*, since: date) -> RawSQL:
    """Return the expression for the bucket of a key's p95 latency."""
    return RawSQL(P95, [since], IntegerField())  # noqa: S611 - words of ours alone


def find_p95(latencies: Sequence[int]) -> int | None:
    """Return the p95 latency in milliseconds, None if there are no answers."""
    left = math.ceil(0.95 * sum(latencies))
    for place, count in enumerate(latencies):
        left -= count
        if left <= 0 and count:
            return bucket_ms(place)
    return None
