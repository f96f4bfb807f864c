"""Counters of tokens: by a rule, by the embedded model's tokenizer, by the larger of both.

No network: the tokenizer comes with the embedded model, whichever model embeds.
"""

from __future__ import annotations

from functools import lru_cache

from memoryproject.ai.local_model import load_local_model
from memoryproject.text.tokens import CHARS4, Counter

AROUND = 4
"""Tokens that the model's own count adds to a text: its ends, and the word for a passage."""
REMEMBERED_WORDS = 65_536
REMEMBERED_LETTERS = 32
"""Longer ones are rarely said twice."""


def _count_pieces(word: str) -> int:
    return int(load_local_model().token_count(word)) - AROUND


_remember_pieces = lru_cache(REMEMBERED_WORDS)(_count_pieces)


def count_e5_quarters(text: str) -> int:
    """Return the size by multilingual-e5's tokenizer, which has 250,000 pieces.

    No piece reaches over white space, so its words add up to the text; white space itself
    counts nothing.
    """
    count = 0
    for word in text.split():
        is_short = len(word) <= REMEMBERED_LETTERS
        count += _remember_pieces(word) if is_short else _count_pieces(word)
    return 4 * count


def count_larger_quarters(text: str) -> int:
    """Return the larger of both counts: closest to safe where ids, code or numbers are told."""
    return max(CHARS4.quarters(text), count_e5_quarters(text))


_COUNTERS = {
    counter.name: counter
    for counter in (
        CHARS4,
        Counter("e5", count_e5_quarters),
        Counter("larger", count_larger_quarters),
    )
}


def get_counter(name: str) -> Counter:
    """Return the counter of that name, one of `tokens.COUNTERS`."""
    return _COUNTERS[name]
