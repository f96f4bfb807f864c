"""Slows down clients that try wrong keys, by address, in this process's memory.

It needs no query on purpose: without a limit anybody could make the database look up keys as fast
as they send them.
"""

import math
import threading
import time
from collections import OrderedDict

from django.conf import settings

_lock = threading.Lock()
_forgiven_at: OrderedDict[str, float] = OrderedDict()
"""Monotonic time at which an address's wrong keys no longer count."""


def is_slowed(place: str) -> int:
    """Return the seconds until the address may try again; 0: it may now."""
    with _lock:
        lag_s = _forgiven_at.get(place, 0.0) - time.monotonic()
    return math.ceil(max(round(lag_s - 60.0 + _step_s(), 6), 0.0))  # sums of floats stray


def note_wrong_key(place: str) -> None:
    now = time.monotonic()
    with _lock:
        lag_s = max(_forgiven_at.pop(place, 0.0) - now, 0.0)
        _forgiven_at[place] = now + min(lag_s + _step_s(), 60.0)
        if len(_forgiven_at) > settings.GUESSERS_REMEMBERED:
            _forgiven_at.popitem(last=False)


def _step_s() -> float:
    """Return for how many seconds one wrong key counts."""
    return 60.0 / float(settings.KEY_FAILURES)
