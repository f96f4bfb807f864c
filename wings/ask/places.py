"""Limits the questions that wait for the model at once, as each occupies a thread."""

import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from memoryproject.edge import deadlines
from memoryproject.edge.errors import TooMany
from memoryproject.tenancy import limits
from memoryproject.tenancy.models import Tenant

SHARE = 4
"""Threads of a process per waiting question; a tenant may take half of the places."""
_asking: Counter[uuid.UUID] = Counter()
_lock = threading.Lock()


@contextmanager
def taking_place(tenant: Tenant) -> Iterator[None]:
    """Count a question as waiting during the block, and allow time for the model.

    Raises:
        TooMany: the tenant's rate or the limit of this process is reached.
    """
    limits.take(limits.question_allowances_of(tenant))
    deadlines.extend(settings.MODEL_TIMEOUT_S)
    at_most = max(1, settings.WEB_THREADS // SHARE)
    with _lock:
        is_full = _asking.total() >= at_most or _asking[tenant.id] >= max(1, at_most // 2)
        if not is_full:
            _asking[tenant.id] += 1
    if is_full:
        raise TooMany("Too many questions are being asked; try again soon.", retry_after_s=1)
    try:
        yield
    finally:
        with _lock:
            _asking.subtract([tenant.id])
            if not _asking[tenant.id]:
                del _asking[tenant.id]
