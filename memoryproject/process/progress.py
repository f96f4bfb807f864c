"""Progress bars for work that reports its total so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tqdm import tqdm


def advance_to(bar: tqdm[Any]) -> Callable[[int], None]:
    """Return a function that moves the bar to a total."""

    def move(total: int) -> None:
        bar.update(total - bar.n)

    return move
