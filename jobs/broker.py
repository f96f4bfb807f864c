"""The queue of wake-ups, looked at less often while nothing comes."""

import time
from typing import Any

from django_q.brokers.orm import ORM
from django_q.conf import Conf

BUSY_LOOKS = 50
"""After so many looks in vain, ten seconds, nobody is about to post more."""
IDLE_POLL_S = 1.0


class PatientBroker(ORM):  # type: ignore[misc]
    """django-q2's queue in the database, that lets an idle server rest.

    After ten seconds without work the next wake-up may wait a second, not a fifth of one.
    """

    _looks_in_vain = 0

    def dequeue(self) -> Any:
        """Return what to do next, or None after a while without any."""
        wake_ups = super().dequeue()
        self._looks_in_vain = 0 if wake_ups else self._looks_in_vain + 1
        if self._looks_in_vain > BUSY_LOOKS:
            time.sleep(IDLE_POLL_S - Conf.POLL)
        return wake_ups
