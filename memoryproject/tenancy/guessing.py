"""Who tries wrong keys is slowed down, by address, in the memory of this process.

Nothing here asks the database, and that is the point: without a limit everybody could
have it look for a key as fast as they can write.
"""

import math
import threading
import time
from collections import OrderedDict

from django.conf import settings

_lock = threading.Lock()
_forgiven_at: OrderedDict[str, float] = OrderedDict()
"""Time on the monotonic clock at which wrong keys count no longer, by the place they came from."""


def is_slowed(place: str) -> int:
    """Return the whole seconds until the place may be wrong again; 0: it may be now."""
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
    """Return the seconds for which one wrong key counts."""
    return 60.0 / float(settings.KEY_FAILURES)
