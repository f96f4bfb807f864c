"""Progress bars, as the callables that long work reports to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tqdm import tqdm


def advance(bar: tqdm[Any]) -> Callable[[int], None]:
    """Return a function that moves the bar on by so many steps."""

    def move(steps: int) -> None:
        bar.update(steps)

    return move


def advance_to(bar: tqdm[Any]) -> Callable[[int], None]:
    """Return a function that moves the bar to a total."""

    def move(total: int) -> None:
        bar.update(total - bar.n)

    return move
