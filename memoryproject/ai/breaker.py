"""Stops calls to a model that is down, and notices when it is back.

The state is a row that all processes share. Without a database, or while it is unavailable, models
are called as if there were no breaker.

Five quick failures in a row open the breaker. A timeout has blocked a worker for the longest time
that a call may take, so two of them open it; but those of one conversation count once, since that
conversation may be the cause.
"""

import logging
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import Case, F, Q, QuerySet, When
from django.db.models.functions import Now

from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable, OperatorFault
from memoryproject.ai.models import Breaker
from memoryproject.database.clock import read_database_clock

Result = TypeVar("Result")
logger = logging.getLogger("memory.ai")

FAILURES = 5
TIMEOUT_COUNTS = 3
WITHIN = timedelta(minutes=10)
PAUSE_FIRST = timedelta(seconds=2)
"""First pause after it opens, doubled after each further failure: it may be bad luck."""
PAUSE = timedelta(seconds=30)
"""Pause between two questions to a model that is down."""
PAUSE_AT_MOST = timedelta(minutes=5)
"""The longest pause for which a provider may ask."""
CALM_S = 5.0
"""Seconds for which a process that saw no failure calls the model without reading the row."""

LEARNT_FOR = timedelta(hours=1)
"""Time for which what was learned about a model is used: its operator may change it."""

FREE = Q(probing_until=None) | Q(probing_until__lte=Now())
"""The condition that nobody is testing the provider of a breaker."""


class BreakerOpen(ModelUnavailable):
    """The model has failed recently, and was not asked; `retry_after_s`: until it may be."""


class Name(NamedTuple):
    """A model, with the host and port of its server."""

    provider: str
    model: str


def find_chat_model() -> Name:
    """Return the name of the language model; for a local server's first model, its kind."""
    return _name(settings.OPENAI_BASE_URL, settings.CHAT_MODEL or settings.LLM)


def find_embedding_model(model: str) -> Name:
    return _name(settings.EMBEDDING_BASE_URL, model)


def _name(base_url: str, model: str) -> Name:
    return Name(urlsplit(base_url).netloc.rpartition("@")[2][:200], model[:200])


@contextmanager
def guard(model: Name, *, scope: uuid.UUID | None = None) -> Iterator[None]:
    """Let the block call the model, and update the breaker by the result.

    `scope` is the conversation of the question; without one a timeout counts like any failure. Only
    a plain `ModelUnavailable` and an `OperatorFault` count as failures of the model; other
    subclasses are our own decisions.

    Raises:
        BreakerOpen: it must not be called now.
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
        if type(error) in {ModelUnavailable, OperatorFault}:
            _try(lambda: _count_failure(model, failure, took=took, scope=scope))
        raise
    except ModelMisbehaved:
        if not is_calm:
            _try(lambda: _note_answer(model))
        raise
    if not is_calm:  # else there is no failure to forget
        _try(lambda: _note_answer(model))


def check(model: Name) -> None:
    """Raise BreakerOpen while the model must not be called; does not count as an attempt."""
    _refuse_while_open(_try(lambda: _find(model)))


def is_closed(model: Name) -> bool:
    """Return whether the model answers, as far as known."""
    row = _try(lambda: _find(model))
    return row is None or row.open_until is None


def find_closing(model: Name) -> datetime | None:
    """Return when the model's last outage ended; None if none is known."""
    row = _try(lambda: _find(model))
    return row.closed_at if row else None


def find_models_away() -> QuerySet[Breaker]:
    """Return the open breakers of the configured models, by name."""
    return find_configured().exclude(open_until=None).order_by("model")


def find_configured() -> QuerySet[Breaker]:
    """Return the breakers of the models in the current settings."""
    names = [find_chat_model()] if settings.LLM != "offline" else []
    kinds = [
        (settings.EMBEDDINGS, settings.EMBEDDING_MODEL),
        (settings.OLD_EMBEDDINGS, settings.OLD_EMBEDDING_MODEL),
    ]
    names += [find_embedding_model(model) for kind, model in kinds if kind == "openai"]
    is_named = [Q(provider=name.provider, model=name.model) for name in names]
    return Breaker.objects.filter(reduce(or_, is_named)) if is_named else Breaker.objects.none()


class Limits(NamedTuple):
    """Sizes that a model takes, as far as learned recently; None: as much as we ever send."""

    context_tokens: int | None = None
    texts_at_most: int | None = None
    characters_at_most: int | None = None


def find_limits(model: Name | None = None) -> Limits:
    """Return what was learned of a model; without a name, of the language model."""
    rows = _rows(model or find_chat_model()).filter(learnt_at__gt=Now() - LEARNT_FOR)
    row = _try(rows.first)
    return Limits(*(getattr(row, name) for name in Limits._fields)) if row else Limits()


def keep_limits(model: Name | None = None, **limits: int) -> None:
    """Store what was learned of a model for all processes."""
    name = model or find_chat_model()
    fresh = {"learnt_at": Now(), **limits}
    keys = name._asdict()
    _try(lambda: Breaker.objects.update_or_create(defaults=fresh, **keys))


def _take_turn(model: Name) -> None:
    """Pass while the breaker is closed; after its pause, let one caller pass."""
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
    """Raise before the pause is over, and while somebody else is trying after it."""
    if row is None or row.open_until is None:
        return
    until = max(row.open_until, row.probing_until or row.open_until)
    wait_s = (until - read_database_clock()).total_seconds()
    if wait_s > 0:
        raise BreakerOpen("breaker open", retry_after_s=wait_s)


def _name_calm(model: Name) -> str:
    return f"ai:calm:{model.provider}:{model.model}"


def _rows(model: Name) -> QuerySet[Breaker]:
    return Breaker.objects.filter(**model._asdict())


def _find(model: Name) -> Breaker | None:
    return _rows(model).first()


def _note_answer(model: Name) -> None:
    was_open = Case(When(open_until__isnull=False, then=Now()), default=F("closed_at"))
    _rows(model).filter(failures__gt=0).update(
        failures=0,
        counting_since=None,
        closed_at=was_open,
        opened_at=None,
        open_until=None,
        probing_until=None,
        timed_out_scopes=[],
        fault="",
    )


def _count_failure(
    model: Name, error: ModelUnavailable, *, took: timedelta, scope: uuid.UUID | None
) -> None:
    with transaction.atomic():
        Breaker.objects.get_or_create(**model._asdict())
        row = _rows(model).select_for_update().get()
        now = read_database_clock()
        within = max(WITHIN, 3 * timedelta(seconds=settings.MODEL_TIMEOUT_S))
        if row.counting_since is None or row.counting_since < now - within:
            row.failures, row.counting_since, row.timed_out_scopes = 0, now, []
        is_fault = isinstance(error, OperatorFault)
        row.fault = str(error)[:300] if is_fault else ""
        if is_fault:
            row.failures = max(FAILURES, row.failures + 1)
        elif not error.timed_out or scope is None:
            row.failures += 1
        elif scope not in row.timed_out_scopes:
            row.failures += TIMEOUT_COUNTS
            row.timed_out_scopes = [*row.timed_out_scopes, scope]
        if row.open_until is not None or row.failures >= FAILURES:
            row.opened_at = row.opened_at or now
            asked_to_wait = timedelta(seconds=error.retry_after_s or 0.0)
            # The next try may block a worker as long again: so at most half of the time.
            pause = min(PAUSE, PAUSE_FIRST * (1 << min(max(row.failures - FAILURES, 0), 5)))
            row.open_until = now + max(pause, took, min(asked_to_wait, PAUSE_AT_MOST))
        row.probing_until = None
        row.save()
    why = f"{took.total_seconds():.0f} s were too few" if error.timed_out else str(error)
    away = "; work that needs it waits" if row.open_until else ""
    level = logging.ERROR if row.fault else logging.WARNING
    logger.log(level, "the model %s at %s did not answer: %s%s", row.model, row.provider, why, away)


def _try(work: Callable[[], Result]) -> Result | None:
    """Run the function; without a database, do without the breaker."""
    try:
        return work()
    except (DatabaseError, InterfaceError):
        connection.close_if_unusable_or_obsolete()
        return None
