"""Who has a model's server on their machine sets one variable, and gets facts."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from pytest_django import Settings

from episodic.models import Episode
from jobs.models import LLMCall
from jobs.spending import find_price
from semantic.models import Fact
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments
from tests.model_server import Asked, ModelServer, Reply, says

WORDS = ["ollama", "llama.cpp", "lmstudio", "openai", "anthropic", "gemini", "openrouter"]
SHOWN = "OPENAI_BASE_URL", "CHAT_MODEL", "MODEL_TIMEOUT_S", "CHAT_CONTEXT_TOKENS", "LLM_IS_LOCAL"
PROGRAM = "from memoryproject import settings as s; print(*(repr(getattr(s, n)) for n in {}))"


def read_settings(tmp_path: Path, **variables: str) -> str:
    """Return what a new process makes of some variables: the settings that matter, or an error."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(SHOWN)],
        env=clean | {"MEMORY_DATA_DIR": str(tmp_path)} | variables,
        cwd=django_settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_one_word_stands_for_all_that_ollama_needs(tmp_path: Path) -> None:
    shown = read_settings(tmp_path, MEMORY_LLM="ollama")
    assert shown == "'http://127.0.0.1:11434/v1' '' 300 32768 True"


def test_each_value_of_a_word_may_be_set_by_itself(tmp_path: Path) -> None:
    shown = read_settings(
        tmp_path, MEMORY_LLM="gemini", MEMORY_CHAT_MODEL="gemini-3", MEMORY_MODEL_TIMEOUT_S="9"
    )
    assert shown.startswith(
        "'https://generativelanguage.googleapis.com/v1beta/openai' 'gemini-3' 9"
    )


def test_azure_is_told_what_it_lacks(tmp_path: Path) -> None:
    assert "OPENAI_BASE_URL must name the address" in read_settings(tmp_path, MEMORY_LLM="azure")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("{", "must be written as JSON"),
        ('{"temperature": 1}', "goes into body"),
        ('{"headers": 7}', "must be a JSON object"),
    ],
)
def test_what_is_sent_along_is_checked(extra: str, words: str, tmp_path: Path) -> None:
    assert words in read_settings(tmp_path, MEMORY_CHAT_EXTRA=extra)


@pytest.mark.django_db
def test_a_newcomer_with_ollama_gets_facts(
    model: ModelServer, ana: Agent, talk: uuid.UUID, settings: Settings
) -> None:
    """Of the models that the server lists the first that answers questions is loaded and asked."""
    settings.LLM, settings.LLM_IS_LOCAL, settings.CHAT_MODEL = "ollama", True, ""
    listed = [{"id": name, "object": "model"} for name in ("nomic-embed-text:latest", "qwen3:8b")]
    model.get["/v1/models"] = {"object": "list", "data": listed}
    model.get["/api/ps"] = {"models": []}

    def load(asked: Asked) -> Reply:
        loaded = {"name": "qwen3:8b", "model": "qwen3:8b", "context_length": 8_192}
        model.get["/api/ps"] = {"models": [loaded]}
        return says("Hello")

    model.always("plain", load)
    model.always("segment", says(segments(segment(7, "Mira's new job"))))
    model.always("consolidate", says(changes(change("new", "Mira moves to Rotterdam."))))
    ana.flush(talk)
    assert Episode.objects.of(ana.tenant).get().engine == "llm"
    assert Fact.objects.of(ana.tenant).get().fact == "Mira moves to Rotterdam."
    bodies: list[dict[str, Any]] = [asked.body for asked in model.asked]
    assert {body["model"] for body in bodies} == {"qwen3:8b"}
    assert model.requests("consolidate")[0].body["max_tokens"] == 2_048
    calls = LLMCall.objects.of(ana.tenant)
    assert {call.model for call in calls} == {"qwen3:8b"}
    assert {call.cost for call in calls} == {Decimal(0)} and find_price("any") is not None
