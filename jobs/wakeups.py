"""Reads the queue safely: only our own wake-ups are accepted.

django-q2 reads its rows with pickle, which can call anything, calls the function named in the row,
and stores the text of errors. Here a reader accepts only four kinds of values, the row must be a
wake-up, and only its job records the outcome.
"""

import datetime
import io
import logging
import pickle
import uuid
from typing import Any

from django.dispatch import receiver
from django_q import core_signing, signing
from django_q.conf import Conf
from django_q.signals import post_execute_in_worker

from jobs.enqueue import RUN_JOB

logger = logging.getLogger("memory.worker")

MAKEABLE = {
    (made.__module__, made.__qualname__): made
    for made in (datetime.datetime, datetime.timedelta, datetime.timezone)
}
"""Classes in a wake-up beside texts, tuples and dicts: the time of its creation."""
KEYS = {"id", "name", "func", "args", "kwargs", "started", "ack_failure"}


class Refused(signing.BadSignature):  # type: ignore[misc]
    """A row of the queue that is not ours; django-q2 then deletes it and continues."""


class WakeUpReader(pickle.Unpickler):
    """Reads a pickle that contains nothing but the values of a wake-up."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class of MAKEABLE; raise Refused for any other."""
        if (module, name) not in MAKEABLE:
            raise Refused("a row of the queue asks for what no wake-up holds")
        return MAKEABLE[module, name]


class WakeUpSerializer(signing.PickleSerializer):  # type: ignore[misc]
    """Serializes as django-q2 does, but checks what it reads."""

    @staticmethod
    def loads(written: bytes) -> Any:
        return WakeUpReader(io.BytesIO(written)).load()


def read_wake_up(payload: str) -> dict[str, Any]:
    """Return the contents of a row of the queue; raise Refused if we did not write it."""
    try:
        task = core_signing.loads(
            payload, key=Conf.SECRET_KEY, salt=Conf.PREFIX, serializer=WakeUpSerializer
        )
    except Exception as error:
        # Any error from a broken row would end the reading process, again and again.
        logger.error("a row of the queue was refused: it is not ours")
        raise Refused(type(error).__name__) from None
    if not is_wake_up(task):
        logger.error("a row of the queue was refused: it is no wake-up")
        raise Refused("no wake-up")
    return dict(task)


def is_wake_up(task: object) -> bool:
    """Return whether this is the call of `run_job` with one id, and nothing else."""
    if type(task) is not dict or not set(task) <= KEYS:
        return False
    args = task.get("args")
    return (
        task.get("func") == RUN_JOB
        and type(args) is tuple
        and len(args) == 1
        and _is_id(args[0])
        and task.get("kwargs") == {}
        and all(type(task.get(name)) is str for name in ("id", "name"))
    )


def _is_id(text: object) -> bool:
    try:
        return type(text) is str and str(uuid.UUID(text)) == text
    except ValueError:
        return False


def install() -> None:
    """Make django-q2 read its rows with `read_wake_up`, in this process and its children."""
    signing.PickleSerializer = WakeUpSerializer
    signing.SignedPackage.loads = staticmethod(read_wake_up)


@receiver(post_execute_in_worker, dispatch_uid="jobs.wakeups")
def forget_outcome(task: dict[str, Any], **options: Any) -> None:
    """Keep django-q2 from storing the result of a wake-up.

    It would store the text of an exception, which may quote people, in a table that is read by
    pickle. The job's own row records the outcome.
    """
    if not task.get("success"):
        logger.error("a wake-up ended before its job was settled")
    task.update(success=True, result=None)
