"""Extends the lease of a running job, from a thread beside the work.

A lease is short, so that a dead worker's job is soon claimed again; a model may need longer to
answer. A worker that hangs must not hold its job forever, so the thread stops at the job's own time
limit.
"""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import claims
from jobs.claims import Claim
from memoryproject.tenancy.walls import acting_for

logger = logging.getLogger("memory.jobs")

EVERY_S = claims.LEASE.total_seconds() / 4
"""Three renewals may fail before the lease ends."""
AT_MOST_S = settings.JOB_TIMEOUT_S + 15


@contextmanager
def renewing(
    claim: Claim, *, every_s: float = EVERY_S, at_most_s: float = AT_MOST_S
) -> Iterator[None]:
    """Keep renewing the lease until the block ends."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew, args=(claim, ended, every_s, at_most_s), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _renew(claim: Claim, ended: threading.Event, every_s: float, at_most_s: float) -> None:
    until = time.monotonic() + at_most_s
    try:
        while not ended.wait(every_s) and time.monotonic() < until:
            with acting_for(claim.tenant.id):
                if not _try_to_renew(claim):
                    return
    finally:
        connection.close()


def _try_to_renew(claim: Claim) -> bool:
    try:
        return claims.renew(claim)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("lease of job %s not renewed: %s", claim.id, type(error).__name__)
        connection.close()
        return True  # the database may be back in time
