"""An operator is told in words what is wrong with the configured models, and nothing else."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest
from pytest_django import Settings

from memoryproject.ai import llm, reachability
from tests.dialects import openai_error
from tests.llm.conftest import settings_for
from tests.model_server import ModelServer, Reply, fails, run_model_server, says

pytestmark = pytest.mark.django_db


@pytest.fixture
def model(settings: Settings) -> Iterator[ModelServer]:
    llm.forget()
    with run_model_server() as server:
        for name, value in settings_for(server).items():
            setattr(settings, name, value)
        yield server
        llm.forget()


NAMES = ["llama3.2", "models/gemini-2.5-flash", "my-deployment", "claude-haiku-4-5"]


@pytest.mark.parametrize("name", NAMES)
def test_what_answers_is_right_whatever_is_listed(
    name: str, model: ModelServer, settings: Settings
) -> None:
    settings.CHAT_MODEL = name
    model.get["/v1/models"] = {"data": [{"id": "llama3.2:latest"}, {"id": "gpt-4o-mini-2024"}]}
    model.script("plain", says("Hi"))
    assert reachability.find_problem() == ""
    assert model.asked[0].body["max_tokens"] == 1 and model.asked[0].body["model"] == name


def test_a_refused_parameter_is_an_answer(model: ModelServer) -> None:
    model.script("plain", openai_error("Use 'max_completion_tokens'", param="max_tokens", code=""))
    assert reachability.find_problem() == ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (fails(401), "401: the key was refused, see OPENAI_API_KEY"),
        (fails(404), "404: nothing is found there, see OPENAI_BASE_URL"),
        (fails(503), "it cannot be reached"),
        (Reply(b"<html>Welcome</html>"), "it fails"),
    ],
    ids=["key", "address", "away", "a page"],
)
def test_what_is_wrong_is_said(answer: Reply, words: str, model: ModelServer) -> None:
    model.script("plain", answer)
    said = reachability.find_problem()
    assert words in said and "what needs it waits" in said
    assert "key-of-the-provider" not in said and "Welcome" not in said


def test_a_model_that_is_being_loaded_is_not_called_away(model: ModelServer) -> None:
    model.script("plain", says("Hi", hang_s=20))
    assert "may still be loading" in reachability.find_problem(patience_s=0.5)


def test_nobody_there_is_said_and_offline_nobody_is_asked(settings: Settings) -> None:
    settings.LLM, settings.OPENAI_BASE_URL = "openai", "http://127.0.0.1:1/v1"
    assert "cannot be reached" in reachability.find_problem()
    settings.LLM = "offline"
    assert reachability.find_problem() == ""


def test_servers_on_this_machine_are_found_and_not_asked(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        presets: dict[str, Any] = {
            "ollama": {"url": f"http://127.0.0.1:{port}/v1", "local": True},
            "lmstudio": {"url": "http://127.0.0.1:1/v1", "local": True},
            "openai": {"url": "https://api.openai.com/v1"},
        }
        settings.PRESETS = presets
        assert reachability.find_local_servers() == ["ollama"]
        connection, _ = listening.accept()
        with connection:
            assert connection.recv(10) == b""
