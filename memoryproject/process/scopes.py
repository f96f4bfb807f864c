"""Context variables that apply to one thread until the end of a block."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Set a variable until the block ends."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class Work(NamedTuple):
    """The request or job that a thread works on, with its log fields and deadlines.

    `deadline` is for `edge.deadlines`; None: none. `answer_until` is the monotonic time limit for
    the answer of a called server.
    """

    fields: Mapping[str, Any] = {}
    deadline: Any = None
    answer_until: float = float("inf")


_work: ContextVar[Work] = ContextVar("memory_work")


def get_work() -> Work:
    """Return this thread's current work."""
    return _work.get(Work())


def working(**changes: Any) -> AbstractContextManager[None]:
    """Change this thread's current work until the block ends."""
    return holding(_work, get_work()._replace(**changes))
