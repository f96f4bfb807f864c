"""The provider, found by Hermes' own loader and called by its memory manager."""

from __future__ import annotations

import json
import os
import re
import threading
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from agent.memory_manager import MemoryManager
from plugins.memory import discover_memory_providers, load_memory_provider

from memory_server_client import Client, integrations
from memory_server_client.integrations.keeping import conversation_of

README = Path(integrations.__file__).parent / "README.md"


@pytest.fixture
def user() -> str:
    return f"u-{uuid.uuid4()}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of Hermes in which the plugin is installed as the README says."""
    folder = tmp_path / "plugins" / "memory_server"
    folder.mkdir(parents=True)
    (plugin,) = re.findall(r"^echo '(.*)'", README.read_text(encoding="utf-8"), re.MULTILINE)
    (folder / "__init__.py").write_text(plugin)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return tmp_path


def start(session_id: str, **kwargs: Any) -> MemoryManager:
    manager = MemoryManager()
    manager.add_provider(load_memory_provider("memory_server"))
    manager.initialize_all(session_id, platform="cli", agent_identity="sailor", **kwargs)
    return manager


def call(manager: MemoryManager, tool: str, **arguments: str) -> str:
    answer = json.loads(manager.handle_tool_call(f"memory_server_{tool}", arguments))
    return str(answer.get("result") or answer["error"])


def test_a_user_is_known_in_the_next_session_and_to_nobody_else(
    client: Client, home: Path, user: str
) -> None:
    assert ("memory_server", "", True) in discover_memory_providers()
    monday = start(f"monday-{user}", user_id=user)
    assert monday.build_system_prompt() == "" == monday.prefetch_all("What is my boat called?")
    monday.sync_all("My boat is called Nautilus.", "A fine name.")
    assert monday.flush_pending(timeout=30)
    talk = conversation_of(f"monday-{user}")
    said = [(one["role"], one["content"]) for one in client.list_messages(talk)]
    assert said == [("user", "My boat is called Nautilus."), ("assistant", "A fine name.")]
    assert client.get_conversation(talk)["agent_id"] == "sailor"
    assert monday.prefetch_all("What is my boat called?") == ""  # it is in the prompt already

    friday = start(f"friday-{user}", user_id=user)
    assert "Nautilus" in friday.prefetch_all("What is my boat called?")
    stranger = start("friday", user_id=f"{user}-other")
    assert stranger.prefetch_all("What is my boat called?") == ""

    monday.on_session_end([])
    client.wait_for(client.flush(talk))
    assert "Nautilus" in friday.build_system_prompt()
    for manager in (monday, friday, stranger):
        manager.shutdown_all()


def test_the_model_recalls_remembers_and_forgets(home: Path, user: str) -> None:
    manager = start("monday", user_id=user)
    word = f"w{uuid.uuid4().hex[:12]}"
    assert call(manager, "recall", query=word) == "Memory holds nothing on this."
    assert "Stored as note" in call(manager, "remember", text=f"The dog is called {word}.")
    assert word in call(manager, "recall", query=f"the dog {word}")
    assert "1 memories are forgotten" in call(manager, "forget", text=f"the dog {word}")
    assert call(manager, "recall", query=f"the dog {word}") == "Memory holds nothing on this."
    assert "400" in call(manager, "remember", text=" ")


class Proxy(BaseHTTPRequestHandler):
    """Hands calls on to the server."""

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        answer = httpx.post(
            f"{os.environ['MEMORY_URL']}{self.path}",
            content=self.rfile.read(size),
            headers={**self.headers, "Host": "localhost"},
        )
        self.send_response(answer.status_code)
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *args: object) -> None:
        pass


def test_what_is_said_while_the_server_is_away_is_sent_later_once(
    client: Client, home: Path, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_server_client.spool.FOLDER", home / "spool")
    server = HTTPServer(("127.0.0.1", 0), Proxy, bind_and_activate=False)
    server.server_bind()  # so that the port is nobody else's, and nobody listens there
    manager = start(session := f"monday-{user}", user_id=user)
    manager.providers[0].client.url = f"http://127.0.0.1:{server.server_port}"
    manager.sync_all("My boat is called Nautilus.", "A fine name.")
    assert manager.flush_pending(timeout=30)
    talk = conversation_of(session)
    assert not list(client.list_messages(talk)) and len(list((home / "spool").glob("*.jsonl"))) == 1
    server.server_activate()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for _ in range(2):
        manager.on_session_end([])
    said = ["My boat is called Nautilus.", "A fine name."]
    assert [one["content"] for one in client.list_messages(talk)] == said
    assert not list((home / "spool").glob("*.jsonl"))
    server.shutdown()
    server.server_close()


def test_another_session_is_another_conversation_and_a_cron_job_is_none(
    client: Client, home: Path, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_USER", user)
    first, second, third = (f"{day}-{user}" for day in ("monday", "tuesday", "cron"))
    manager = start(first, user_id="the channel's name of the user")
    manager.on_session_end([])  # nothing was said
    manager.on_session_switch(second, reset=True)
    manager.sync_all("Hello.", "")
    cron = start(third, agent_context="cron")
    cron.sync_all("Run the backup.", "Done.")
    assert manager.flush_pending(timeout=30) and cron.flush_pending(timeout=30)
    assert client.get_conversation(conversation_of(second))["user_id"] == user
    talks = [conversation_of(one) for one in (first, second, third)]
    assert [len(list(client.list_messages(talk))) for talk in talks] == [0, 1, 0]
