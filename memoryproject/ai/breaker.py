"""Keeps everybody from asking a model that is down, and notices when it is back.

State is a row that all processes share. Without a database, as where engines are measured,
and while it is away, models are asked as if there were no breaker.

A quick failure counts 1, and five in a row open the breaker. A question that gets no answer
in time has held a worker for as long as a call may take, so two of them open it; but those
of one conversation count once: it may be its fault, and others get their answers.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.models import Breaker
from memoryproject.database.clock import read_database_clock

Result = TypeVar("Result")
logger = logging.getLogger("memory.ai")

FAILURES = 5
TIMEOUT_COUNTS = 3
WITHIN = timedelta(minutes=10)
PAUSE_FIRST = timedelta(seconds=2)
"""After it opens; twice as long after each failure from then on: it may have been bad luck."""
PAUSE = timedelta(seconds=30)
"""Between two questions to a model that is down."""
PAUSE_AT_MOST = timedelta(minutes=5)
"""Where the provider itself asks for a longer one."""
CALM_S = 5.0
"""So long a process that saw no failure asks the model without a look at the row."""

FREE = Q(probing_until=None) | Q(probing_until__lte=Now())
"""Of a breaker: nobody tries."""


class BreakerOpen(ModelUnavailable):
    """The model has failed of late, and was not asked; `retry_after_s` is until it may be."""


@contextmanager
def guard(model: str, *, scope: uuid.UUID | None = None) -> Iterator[None]:
    """Let the block ask the model, and learn from how that goes.

    `scope` is the conversation that the question is about; without one a timeout counts like
    any failure. Only a plain `ModelUnavailable` is a failure of the model; what a subclass says
    was decided by us.

    Raises:
        BreakerOpen: it must not be asked now.
    """
    is_calm = bool(cache.get(_name_calm(model)))
    if not is_calm:
        _take_turn(model)
    started = time.monotonic()
    try:
        yield
    except ModelUnavailable as error:
        failure = error
        cache.delete(_name_calm(model))
        took = timedelta(seconds=time.monotonic() - started)
        if type(error) is ModelUnavailable:
            _try(lambda: _count_failure(model, failure, took=took, scope=scope))
        raise
    except ModelMisbehaved:
        if not is_calm:
            _try(lambda: _note_answer(model))
        raise
    if not is_calm:  # else there is no failure to forget
        _try(lambda: _note_answer(model))


def check(model: str) -> None:
    """Raise BreakerOpen while nobody may ask; takes no turn."""
    _refuse_while_open(_try(lambda: _find(model)))


def is_closed(model: str) -> bool:
    """Return whether the model answers, as far as is known."""
    row = _try(lambda: _find(model))
    return row is None or row.open_until is None


def find_provider() -> str:
    return urlsplit(settings.OPENAI_BASE_URL).netloc.rpartition("@")[2][:200]


def find_models_away() -> QuerySet[Breaker]:
    """Return the breakers of the configured endpoint that are open, by the models' names."""
    away = Breaker.objects.filter(provider=find_provider()).exclude(open_until=None)
    return away.order_by("model")


def _take_turn(model: str) -> None:
    """Pass while the breaker is closed; of those who come after its pause, let one pass."""
    row = _try(lambda: _find(model))
    _refuse_while_open(row)
    if row is None or row.open_until is None:
        if row is None or not row.failures:
            cache.set(_name_calm(model), True, CALM_S)
        return
    tries = PAUSE + timedelta(seconds=settings.MODEL_TIMEOUT_S)
    free = _rows(model).filter(FREE, open_until__lte=Now())
    if _try(lambda: free.update(probing_until=Now() + tries)) == 0:
        raise BreakerOpen("another tries", retry_after_s=PAUSE.total_seconds())


def _refuse_while_open(row: Breaker | None) -> None:
    """Let nobody ask before the pause is over, nor while somebody tries after it."""
    if row is None or row.open_until is None:
        return
    until = max(row.open_until, row.probing_until or row.open_until)
    wait_s = (until - read_database_clock()).total_seconds()
    if wait_s > 0:
        raise BreakerOpen("breaker open", retry_after_s=wait_s)


def _name_calm(model: str) -> str:
    return f"ai:calm:{find_provider()}:{model}"


def _rows(model: str) -> QuerySet[Breaker]:
    return Breaker.objects.filter(provider=find_provider(), model=model)


def _find(model: str) -> Breaker | None:
    return _rows(model).first()


def _note_answer(model: str) -> None:
    was_open = Case(When(open_until__isnull=False, then=Now()), default=F("closed_at"))
    _rows(model).filter(failures__gt=0).update(
        failures=0,
        counting_since=None,
        closed_at=was_open,
        opened_at=None,
        open_until=None,
        probing_until=None,
        timed_out_scopes=[],
    )


def _count_failure(
    model: str, error: ModelUnavailable, *, took: timedelta, scope: uuid.UUID | None
) -> None:
    with transaction.atomic():
        Breaker.objects.get_or_create(provider=find_provider(), model=model)
        row = _rows(model).select_for_update().get()
        now = read_database_clock()
        within = max(WITHIN, 3 * timedelta(seconds=settings.MODEL_TIMEOUT_S))
        if row.counting_since is None or row.counting_since < now - within:
            row.failures, row.counting_since, row.timed_out_scopes = 0, now, []
        if not error.timed_out or scope is None:
            row.failures += 1
        elif scope not in row.timed_out_scopes:
            row.failures += TIMEOUT_COUNTS
            row.timed_out_scopes = [*row.timed_out_scopes, scope]
        if row.open_until is not None or row.failures >= FAILURES:
            row.opened_at = row.opened_at or now
            asked_to_wait = timedelta(seconds=error.retry_after_s or 0.0)
            # Whoever tries next may hold a worker for as long again: half of the time at most.
            pause = min(PAUSE, PAUSE_FIRST * (1 << min(max(row.failures - FAILURES, 0), 5)))
            row.open_until = now + max(pause, took, min(asked_to_wait, PAUSE_AT_MOST))
        row.probing_until = None
        row.save()
    why = f"{took.total_seconds():.0f} s were too few" if error.timed_out else str(error)
    away = "; work that needs it waits" if row.open_until else ""
    logger.warning("the model %s at %s did not answer: %s%s", model, row.provider, why, away)


def _try(work: Callable[[], Result]) -> Result | None:
    """Do without the breaker while there is no database."""
    try:
        return work()
    except (DatabaseError, InterfaceError):
        connection.close_if_unusable_or_obsolete()
        return None
