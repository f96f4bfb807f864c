"""How large a text is for a language model: one counter, used wherever there is a budget."""

from __future__ import annotations

import math
import re

COUNTER = "chars4"
"""The counter's name, as answers state it."""

_WIDE = re.compile(r"[\u0e00-\u0e7f\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")


def count_tokens(text: str) -> int:
    """Return an estimate that errs to the high side for chat models' tokenizers.

    Four characters a token, and one token for each Chinese, Japanese, Korean or Thai
    character.
    """
    return math.ceil(count_quarters(text) / 4)


def count_quarters(text: str) -> int:
    """Return the same estimate in quarters of a token, which add up over the parts of a text."""
    wide = len(_WIDE.findall(text)) if not text.isascii() else 0
    return len(text) + 3 * wide
