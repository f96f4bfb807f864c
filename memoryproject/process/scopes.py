"""Values that hold in one thread until the end of a block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a variable a value until the block ends."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
