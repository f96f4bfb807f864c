"""Reads the queue safely: of a row, nothing but the id of a job.

django-q2 reads its rows with pickle, which can call anything, calls the function named in the row,
and stores the text of errors. Here rows are JSON, each is a wake-up whatever it says, and only its
job records the outcome.
"""

import json
import logging
import uuid
from typing import Any

from django.dispatch import receiver
from django_q import core_signing, signing
from django_q.conf import Conf
from django_q.signals import post_execute_in_worker

from jobs.enqueue import RUN_JOB

logger = logging.getLogger("memory.worker")


class Refused(signing.BadSignature):  # type: ignore[misc]
    """A row of the queue that is not ours; django-q2 then deletes it and continues."""


class WakeUpSerializer:
    """Writes rows as JSON; times, and what else JSON has not, as text."""

    @staticmethod
    def dumps(task: object) -> bytes:
        return json.dumps(task, default=str).encode()

    @staticmethod
    def loads(written: bytes) -> Any:
        return json.loads(written)


def read_wake_up(payload: str) -> dict[str, Any]:
    """Return the wake-up in a row of the queue; raise Refused if we did not write it."""
    try:
        task = core_signing.loads(
            payload, key=Conf.SECRET_KEY, salt=Conf.PREFIX, serializer=WakeUpSerializer
        )
        (job_id,) = task["args"]
        name = str(uuid.UUID(job_id))
    except Exception as error:
        # Any error from a broken row would end the reading process, again and again.
        logger.error("a row of the queue was refused: it is no wake-up of ours")
        raise Refused(type(error).__name__) from None
    return {
        "id": name,
        "name": name,
        "func": RUN_JOB,
        "args": [name],
        "kwargs": {},
        "ack_failure": True,
    }


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
