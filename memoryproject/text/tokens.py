"""Counts the tokens of texts for every budget of the server.

The counter is set once, when the process starts (`memoryproject.ai.apps`).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

_WIDE = re.compile(r"[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


@dataclass(frozen=True, slots=True)
class Counter:
    """A way of counting tokens, under the name that answers report.

    `quarters` counts in quarters of a token. Two texts joined by white space must never count more
    than the sum of the three: so budgets can add up sizes.
    """

    name: str
    quarters: Callable[[str], int]

    def count(self, text: str) -> int:
        """Return the size of a text in whole tokens, rounded up; 0 for an empty one."""
        return math.ceil(self.quarters(text) / 4)


def estimate_quarters(text: str) -> int:
    """Return the size by characters: four per token, but one per token for wide ones.

    Wide are Chinese, Japanese, Korean and Thai. Slightly high for prose; too low for numbers, ids,
    and scripts that a vocabulary spells out.
    """
    wide = len(_WIDE.findall(text)) if not text.isascii() else 0
    return len(text) + 3 * wide


CHARS4 = Counter("chars4", estimate_quarters)
_in_use = CHARS4


def use(counter: Counter) -> None:
    global _in_use
    _in_use = counter


def in_use() -> Counter:
    return _in_use


def measure(text: str) -> dict[str, int]:
    """Return the size that is stored beside a text, by the configured counter."""
    return {_in_use.name: _in_use.quarters(text)}


def count_tokens(text: str) -> int:
    return _in_use.count(text)


def count_quarters(text: str) -> int:
    """Return the size in quarters of a token, which add up over the parts of a text."""
    return _in_use.quarters(text)
