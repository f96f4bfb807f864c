"""The examples of the API's description are true: a session comes to the same."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

from memoryproject.edge.reference import EXAMPLES_FILE
from tests.api.example_story import tell_all

pytestmark = pytest.mark.django_db

NUMBERS_DIFFER = 0.1
"""Share: scores hang on the clock and the processor, counts of tokens on the ids in a text."""


def assert_alike(shown: Any, answered: Any, place: str) -> None:
    """Check that two values are the same, numbers nearly so."""
    if isinstance(shown, dict) and isinstance(answered, dict):
        assert list(shown) == list(answered), place
        for name, value in shown.items():
            assert_alike(value, answered[name], f"{place}.{name}")
    elif isinstance(shown, list) and isinstance(answered, list):
        assert len(shown) == len(answered), place
        for index, value in enumerate(shown):
            assert_alike(value, answered[index], f"{place}.{index}")
    elif isinstance(shown, int | float) and isinstance(answered, int | float):
        assert shown == pytest.approx(answered, rel=NUMBERS_DIFFER), place
    else:
        assert shown == answered, place


def test_the_examples_are_what_the_server_answers(db: None) -> None:
    described = SchemaGenerator().get_schema(request=None, public=True)
    answered = tell_all(described).written()
    if os.environ.get("RECORD_EXAMPLES"):
        text = json.dumps(answered, ensure_ascii=False, indent=1)
        EXAMPLES_FILE.write_text(f"{text}\n", encoding="utf-8")
    shown = json.loads(EXAMPLES_FILE.read_text(encoding="utf-8"))
    assert_alike(shown, answered, "examples")
