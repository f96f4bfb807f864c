"""Keeps everybody from asking a model that is down, and notices when it is back.

State is a row that all processes share. Without a database, as in evaluation commands,
and while it is away, models are asked as if there were no breaker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.ai.models import Breaker
from memoryproject.clock import read_database_clock

Result = TypeVar("Result")

FAILURES = 5
WITHIN = timedelta(minutes=10)
PAUSE = timedelta(seconds=30)
"""Between two questions to a model that is down."""
PAUSE_AT_MOST = timedelta(minutes=5)
"""Where the provider itself asks for a longer one."""


class BreakerOpen(ModelUnavailable):
    """The model has failed of late, and was not asked; `retry_after_s` is until it may be."""


@contextmanager
def guard(model: str) -> Iterator[None]:
    """Let the block ask the model, and learn from how that goes.

    Only a plain `ModelUnavailable` is a failure of the model; what a subclass says was
    decided by us.

    Raises:
        BreakerOpen: it must not be asked now.
    """
    _take_turn(model)
    try:
        yield
    except ModelUnavailable as error:
        if type(error) is ModelUnavailable:
            wait = error.retry_after_s or 0.0
            _try(lambda: _count_failure(model, asked_to_wait=timedelta(seconds=wait)))
        raise
    except ModelMisbehaved:
        _try(lambda: _note_answer(model))
        raise
    _try(lambda: _note_answer(model))


def check(model: str) -> None:
    """Raise BreakerOpen while nobody may ask; takes no turn."""
    held = _try(lambda: _find(model))
    wait = _time_left(held) if held else timedelta(0)
    if wait > timedelta(0):
        raise BreakerOpen("breaker open", retry_after_s=wait.total_seconds())


def is_closed(model: str) -> bool:
    """Return whether the model answers, as far as is known."""
    held = _try(lambda: _find(model))
    return held is None or held.open_until is None


def find_provider() -> str:
    """Return host and port of the configured endpoint."""
    return urlsplit(settings.OPENAI_BASE_URL).netloc.rpartition("@")[2][:200]


def _take_turn(model: str) -> None:
    """Pass while the breaker is closed; of those who come after its pause, let one pass."""
    check(model)
    if is_closed(model):
        return
    free = Q(open_until__lte=Now()) & (Q(probing_until=None) | Q(probing_until__lte=Now()))
    if _try(lambda: _rows(model).filter(free).update(probing_until=Now() + PAUSE)) == 0:
        raise BreakerOpen("another tries", retry_after_s=PAUSE.total_seconds())


def _rows(model: str) -> QuerySet[Breaker]:
    return Breaker.objects.filter(provider=find_provider(), model=model)


def _find(model: str) -> Breaker | None:
    return _rows(model).first()


def _time_left(held: Breaker) -> timedelta:
    return held.open_until - read_database_clock() if held.open_until else timedelta(0)


def _note_answer(model: str) -> None:
    was_open = Case(When(open_until__isnull=False, then=Now()), default=F("closed_at"))
    _rows(model).filter(failures__gt=0).update(
        failures=0,
        counting_since=None,
        closed_at=was_open,
        opened_at=None,
        open_until=None,
        probing_until=None,
    )


def _count_failure(model: str, *, asked_to_wait: timedelta) -> None:
    with transaction.atomic():
        Breaker.objects.get_or_create(provider=find_provider(), model=model)
        held = _rows(model).select_for_update().get()
        now = read_database_clock()
        if held.counting_since is None or held.counting_since < now - WITHIN:
            held.failures, held.counting_since = 0, now
        held.failures += 1
        if held.open_until is not None or held.failures >= FAILURES:
            held.opened_at = held.opened_at or now
            held.open_until = now + min(max(PAUSE, asked_to_wait), PAUSE_AT_MOST)
        held.probing_until = None
        held.save()


def _try(work: Callable[[], Result]) -> Result | None:
    """Do without the breaker while there is no database."""
    try:
        return work()
    except (DatabaseError, InterfaceError):
        connection.close_if_unusable_or_obsolete()
        return None
