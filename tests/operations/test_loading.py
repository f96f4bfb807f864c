"""A process loads without collecting garbage, and collects it from then on."""

from __future__ import annotations

import gc

import pytest

from memoryproject.process.loading import without_collecting


def test_what_was_loaded_is_not_looked_through_again() -> None:
    before = gc.get_freeze_count()
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled() and gc.get_freeze_count() > before
    assert all(type(one) is not type(gc) for one in gc.get_objects()), "a module"


def test_a_process_that_fails_to_load_collects_again() -> None:
    with pytest.raises(ValueError, match="no"), without_collecting():
        raise ValueError("no")
    assert gc.isenabled()
