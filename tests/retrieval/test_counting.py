"""Tokens are counted by the counter that is configured, and budgets may be added up."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid

import pytest
from django.conf import settings
from hypothesis import given
from hypothesis import strategies as st

from memoryproject.ai.counting import COUNTERS, count_e5_quarters
from memoryproject.ai.local_model import load_local_model
from tests.conftest import Agent
from tests.retrieval.counting import counted_by

TEXT = st.text(max_size=200)
MIXED = "Ana, 42, moved (id 7c1b5f3e-2d53). 我们搬到了波尔图。 😀 नमस्ते\n\tdef f(x): return x"


@pytest.mark.parametrize("name", COUNTERS)
@given(first=TEXT, second=TEXT, space=st.sampled_from([" ", "\n", "\n\n", "\t"]))
def test_two_texts_together_never_count_more_than_apart(
    name: str, first: str, second: str, space: str
) -> None:
    count = COUNTERS[name].count
    assert count(first + space + second) <= count(first) + count(space) + count(second)


@pytest.mark.parametrize("name", COUNTERS)
def test_nothing_counts_nothing(name: str) -> None:
    assert COUNTERS[name].count("") == 0 < COUNTERS[name].count("a")


def test_the_tokenizer_counts_as_the_model_reads() -> None:
    """Its own count of the whole text, less what stands around any text."""
    for text in (MIXED, "a", "supercalifragilistic", "1234567890 " * 50):
        whole = load_local_model().token_count(text.strip()) - 4
        assert count_e5_quarters(text) == 4 * whole


def test_the_largest_is_never_below_the_others() -> None:
    for text in (MIXED, "a b c", "0b8f7c52-6f0e-4a57-9d0b", "波尔图", " " * 40):
        small = max(COUNTERS["chars4"].quarters(text), count_e5_quarters(text))
        assert COUNTERS["max"].quarters(text) >= small


@pytest.mark.gate
@pytest.mark.parametrize("name", COUNTERS)
def test_a_process_counts_by_its_setting(name: str) -> None:
    code = "import django; django.setup(); from memoryproject.text import tokens; " \
        "print(tokens.in_use().name)"  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env={**os.environ, "MEMORY_TOKEN_COUNTER": name},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == name


def test_another_word_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import memoryproject.settings"],
        cwd=settings.BASE_DIR,
        env={**os.environ, "MEMORY_TOKEN_COUNTER": "gpt-4"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode and "MEMORY_TOKEN_COUNTER must be one of chars4, max" in done.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("budget", [1, 40, 150, 400])
def test_an_answer_keeps_its_budget_under_each_counter(
    ana: Agent, told: uuid.UUID, name: str, budget: int
) -> None:
    body = {"conversation_id": str(told), "query": "moving to Rotterdam", "max_tokens": budget}
    with counted_by(name):
        text = ana.post("retrieve_memory", body)
        raw = ana.post("retrieve_memory/raw", body).json()
    assert text["Memory-Token-Counter"] == raw["counter"] == name
    assert COUNTERS[name].count(text.content.decode()) <= budget
    assert text.content or budget < 150
