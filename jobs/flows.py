"""The functions that run jobs, one a kind, and the chores in between, as the apps register them."""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from jobs.models import Job, Kind
from memoryproject.tenancy.models import Tenant


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


_flows: dict[Kind, Flow] = {}
deaths: list[Callable[[Job], object]] = []
"""What is called when a job has died, in the transaction that says so."""
chores: list[Chore] = []
"""What the reconciler does each time, in this order."""


def register_flow(kind: Kind, flow: Flow) -> None:
    """Say how jobs of a kind run; called once a kind, when the apps are ready."""
    if kind in _flows:
        raise ValueError(f"Jobs of kind {kind} have a flow already.")
    _flows[kind] = flow


def get_flow(kind: str) -> Flow:
    return _flows[Kind(kind)]
