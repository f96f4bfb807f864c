"""The declaration of job kinds by the wings, and of chores."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from jobs.models import Job, Kind
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings


def _do_nothing(tenant: Tenant, scope: uuid.UUID) -> None:
    """Leave the job's data unchanged."""


@dataclass(frozen=True, slots=True)
class Flow:
    """The declaration of a job kind."""

    run: Callable[[Job], object]
    asks_model: bool = True
    """While the language model counts as down, such jobs wait without asking it."""
    gives_up_by_halves: bool = False
    """The job sets aside what it fails on and continues, instead of dying."""
    waits_for: tuple[Kind, ...] = ()
    """Kinds that do the same work in the same scope, so that no model is asked about it twice at
    once. Jobs that wait after a failure, or whose lease has ended, do not count."""
    on_death: Callable[[Tenant, uuid.UUID], object] = _do_nothing
    """Function that puts the scope into a state that people can see and retry."""
    on_retry: Callable[[Tenant, uuid.UUID], object] = _do_nothing
    """Function that makes ready what `on_death` left, in the transaction of the retry."""


class Chore(Protocol):
    """Function that queues or deletes what is due by time, up to `at_most` rows at once."""

    def __call__(self, *, at_most: int) -> object:
        """Run the chore, every four seconds, for all tenants, in the reconciler's transaction."""


@cache
def _list_flows() -> dict[str, Flow]:
    return {kind: flow for wing in list_wings() for kind, flow in wing.flows.items()}


def get_flow(kind: str) -> Flow:
    return _list_flows()[kind]
