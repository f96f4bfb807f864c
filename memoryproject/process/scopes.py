"""Values that hold in one thread until the end of a block, and the work that it does there."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a variable a value until the block ends."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


class Work(NamedTuple):
    """A request or job that a thread is at: what log lines say of it, and until when it may take.

    `deadline` is for `edge.deadlines`; None: none. `answer_until` is when the answer of a server
    that is being asked must be there, by the monotonic clock.
    """

    fields: Mapping[str, Any] = {}
    deadline: Any = None
    answer_until: float = float("inf")


_work: ContextVar[Work] = ContextVar("memory_work")


def get_work() -> Work:
    """Return what this thread is at."""
    return _work.get(Work())


def working(**changes: Any) -> AbstractContextManager[None]:
    """Change what this thread is at until the block ends."""
    return holding(_work, get_work()._replace(**changes))
