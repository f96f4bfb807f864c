"""How jobs of each kind run, as the wings declare it, and what a chore is."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from jobs.models import Job, Kind
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings


def _do_nothing(tenant: Tenant, scope: uuid.UUID) -> None:
    """Leave what the job works on as it is."""


@dataclass(frozen=True, slots=True)
class Flow:
    """How jobs of one kind run."""

    run: Callable[[Job], object]
    asks_model: bool = True
    """While the language model counts as down, such jobs wait without asking."""
    gives_up_by_halves: bool = False
    """It sets aside what it fails at, and goes on: it does not die of it."""
    waits_for: tuple[Kind, ...] = ()
    """Kinds that do the same work in the same scope: a model is not asked about it twice at once.
    What only keeps its place after a failure, or has outlived its lease, asks nothing."""
    on_death: Callable[[Tenant, uuid.UUID], object] = _do_nothing
    """Leaves the scope in a state that people can see and retry."""
    on_retry: Callable[[Tenant, uuid.UUID], object] = _do_nothing
    """Makes ready what `on_death` left, in the transaction that takes the job up again."""


class Chore(Protocol):
    """Queues or deletes what time has made due, `at_most` so many rows at once."""

    def __call__(self, *, at_most: int) -> object:
        """Do it; called every four seconds, for all tenants, in the reconciler's transaction."""


@cache
def _list_flows() -> dict[str, Flow]:
    return {kind: flow for wing in list_wings() for kind, flow in wing.flows.items()}


def get_flow(kind: str) -> Flow:
    return _list_flows()[kind]
