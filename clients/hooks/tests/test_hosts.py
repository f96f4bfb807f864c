"""Plays each coding agent: installs the hook, and runs what its configuration names at its events.

What the agents write to the hook is as their documentation has it; README.md says where and when
that was read.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from memory_server_client import Client

FOLDER = Path(__file__).parent.parent
SAID = "I prefer tabs to spaces. The staging database listens on port 5544."
ANSWER = "Noted: tabs, and port 5544 for staging."
UNFINISHED = "The migration of the orders table is half done; the index is still missing."
ASKED = "Which port has the staging database?"
EVENTS: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "claude-code": {
        "start": ("SessionStart", {"source": "startup", "model": "m"}),
        "prompt": ("UserPromptSubmit", {"prompt": "{text}", "permission_mode": "default"}),
        "answer": ("Stop", {"last_assistant_message": "{text}", "stop_hook_active": False}),
        "compact": ("PreCompact", {"trigger": "auto", "custom_instructions": ""}),
        "end": ("SessionEnd", {"reason": "other"}),
    },
    "codex": {
        "start": ("SessionStart", {"source": "startup", "model": "m"}),
        "prompt": ("UserPromptSubmit", {"prompt": "{text}", "turn_id": "t"}),
        "answer": (
            "Stop",
            {"last_assistant_message": "{text}", "turn_id": "t", "stop_hook_active": False},
        ),
        "compact": ("PreCompact", {"trigger": "auto", "turn_id": "t"}),
    },
    "gemini": {
        "start": ("SessionStart", {"source": "startup"}),
        "prompt": ("BeforeAgent", {"prompt": "{text}"}),
        "answer": ("AfterAgent", {"prompt": "p", "prompt_response": "{text}"}),
        "compact": ("PreCompress", {"trigger": "auto"}),
        "end": ("SessionEnd", {"reason": "exit"}),
    },
    "cursor": {
        "start": ("sessionStart", {"is_background_agent": False, "composer_mode": "agent"}),
        "prompt": ("beforeSubmitPrompt", {"prompt": "{text}", "attachments": []}),
        "answer": ("afterAgentResponse", {"text": "{text}"}),
        "compact": ("preCompact", {"trigger": "auto", "message_count": 45}),
        "end": ("sessionEnd", {"reason": "completed", "duration_ms": 45000}),
    },
    "copilot": {
        "start": ("SessionStart", {"source": "new"}),
        "prompt": ("UserPromptSubmit", {"prompt": "{text}"}),
        "answer": ("Stop", {"stop_reason": "end_turn"}),
        "compact": ("PreCompact", {"trigger": "auto", "custom_instructions": ""}),
        "end": ("SessionEnd", {"reason": "user_exit"}),
    },
}
CONFIGS = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
    "copilot": ".copilot/hooks/memory.json",
}


@pytest.fixture
def memory() -> Iterator[Client]:
    with Client(os.environ["MEMORY_URL"], os.environ["MEMORY_KEY"]) as client:
        yield client


class Host:
    """A coding agent of somebody with a home and a project."""

    def __init__(self, agent: str, home: Path) -> None:
        self.agent, self.home = agent, home
        self.folder = f"/projects/{uuid.uuid4()}"
        self.transcript = home / "transcript.jsonl"
        self.session = str(uuid.uuid4())
        kept = {"PATH", "MEMORY_URL", "MEMORY_KEY"}
        self.environment = {name: os.environ[name] for name in kept}
        user = f"u-{uuid.uuid4()}"
        self.environment |= {"HOME": str(home), "MEMORY_USER": user}
        self.talk = uuid.uuid5(uuid.NAMESPACE_URL, f"{user} {self.folder}")

    def install(self, *options: str) -> str:
        done = subprocess.run(
            [sys.executable, str(FOLDER / "install.py"), self.agent, *options],
            env=self.environment, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        # From now on only the files know: an agent hands its own environment on, or none.
        self.environment = {name: self.environment[name] for name in ("PATH", "HOME")}
        return done.stdout

    def read_config(self) -> dict[str, Any]:
        config: dict[str, Any] = json.loads((self.home / CONFIGS[self.agent]).read_text("utf-8"))
        return config

    def write_transcript(self, text: str) -> None:
        """Write an answer as the agent's transcript has it."""
        rows = {
            "codex": {"type": "response_item", "payload": {"type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": text}]}},
            "gemini": {"type": "gemini", "content": text},
            "copilot": {"type": "assistant.message", "data": {"content": text}},
        }  # fmt: skip
        parts = {"role": "assistant", "content": [{"type": "text", "text": text}]}
        row = rows.get(self.agent, {"type": "assistant", "message": parts})
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    def fire(self, kind: str, text: str = "") -> str:
        """Run what is configured for an event; return what the agent would tell its model."""
        if kind not in EVENTS[self.agent]:
            return ""
        name, fields = EVENTS[self.agent][kind]
        event = {key: text if value == "{text}" else value for key, value in fields.items()}
        event |= {"hook_event_name": name, "transcript_path": str(self.transcript)}
        if self.agent == "cursor":
            event |= {"conversation_id": self.session, "workspace_roots": [self.folder]}
        else:
            event |= {"session_id": self.session, "cwd": self.folder}
        if self.agent == "copilot" and kind == "answer":
            self.write_transcript(text)
        (entry,) = self.read_config()["hooks"][name]
        (hook,) = entry.get("hooks", [entry])
        assert {hook.get("timeout"), hook.get("timeoutSec")} & {10, 10_000}
        done = subprocess.run(
            ["sh", "-c", hook.get("command") or hook["bash"]], input=json.dumps(event),
            env=self.environment, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stderr == ""
        answer = json.loads(done.stdout or "{}")
        if self.agent == "cursor":
            assert kind != "prompt" or answer == {"continue": True}
            return str(answer.get("additional_context", ""))
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    def list_said(self, memory: Client) -> list[tuple[str, str]]:
        rows = memory.list_messages(conversation_id=self.talk)
        return [(one["role"], one["content"]) for one in rows]

    def settle(self, memory: Client) -> None:
        memory.wait_for(memory.flush(self.talk))


@pytest.mark.parametrize("agent", EVENTS)
def test_the_second_session_of_an_agent_knows_the_first(
    agent: str, memory: Client, tmp_path: Path
) -> None:
    host = Host(agent, tmp_path)
    host.install()
    assert host.fire("start") == ""
    assert host.fire("prompt", SAID) == ""
    host.fire("answer", ANSWER)
    host.fire("prompt", "Go on.")
    host.write_transcript(UNFINISHED)
    host.fire("compact")
    host.fire("end")
    said = [("user", SAID), ("assistant", ANSWER), ("user", "Go on."), ("assistant", UNFINISHED)]
    assert host.list_said(memory) == said
    host.settle(memory)

    host.session = str(uuid.uuid4())
    host.transcript.unlink()
    known = host.fire("start")
    assert "tabs to spaces" in known and "index is still missing" in known
    known = host.fire("prompt", ASKED)
    assert agent == "cursor" or "5544" in known
    elsewhere = Host(agent, tmp_path)
    elsewhere.environment = host.environment
    known = elsewhere.fire("start")
    assert "tabs to spaces" in known and "index" not in known


@pytest.mark.parametrize("agent", EVENTS)
def test_an_installation_changes_nothing_else_and_can_be_removed(
    agent: str, tmp_path: Path
) -> None:
    host = Host(agent, tmp_path)
    path = tmp_path / CONFIGS[agent]
    path.parent.mkdir(parents=True)
    first = EVENTS[agent]["start"][0]
    mine = {"theme": "dark", "hooks": {first: [{"command": "mine"}]}}
    path.write_text(json.dumps(mine))
    assert str(path) in host.install()
    hooks = host.read_config()["hooks"]
    assert {*hooks} == {name for name, _ in EVENTS[agent].values()}
    assert hooks[first][0] == {"command": "mine"} and len(hooks[first]) == 2
    host.install()
    assert host.read_config()["hooks"] == hooks
    folder = tmp_path / ".memory-hook"
    assert (folder / "settings.json").stat().st_mode & 0o077 == 0
    assert "mem_" not in path.read_text()
    host.install("--remove")
    left = host.read_config()
    assert {**left, "version": None} == {**mine, "version": None}


def test_the_plugin_of_claude_code_knows_the_same_events() -> None:
    hooks = json.loads((FOLDER / "hooks" / "hooks.json").read_text("utf-8"))["hooks"]
    assert {*hooks} == {name for name, _ in EVENTS["claude-code"].values()}
    command = 'python3 "${CLAUDE_PLUGIN_ROOT}/memory_hook.py"'
    for (entry,) in hooks.values():
        assert entry["hooks"] == [{"type": "command", "command": command, "timeout": 10}]


def test_an_installation_refuses_what_it_cannot_use(tmp_path: Path) -> None:
    host = Host("claude-code", tmp_path)
    path = tmp_path / CONFIGS["claude-code"]
    path.parent.mkdir(parents=True)
    path.write_text("{} // a comment")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        host.install()
    assert "not plain JSON" in refused.value.stderr and path.read_text() == "{} // a comment"
    host = Host("codex", tmp_path / "other")
    del host.environment["MEMORY_KEY"]
    with pytest.raises(subprocess.CalledProcessError) as refused:
        host.install()
    assert refused.value.stderr == "error: set MEMORY_KEY\n"


@pytest.mark.skipif(not shutil.which("node"), reason="no node here")
def test_opencode_has_a_plugin(memory: Client, tmp_path: Path) -> None:
    """A script plays OpenCode: it loads the plugin, and calls its hooks."""
    host = Host("opencode", tmp_path)
    host.install()
    plugin = tmp_path / ".config/opencode/plugins/memory.js"
    shutil.copy(plugin, tmp_path / "memory.mjs")
    script = tmp_path / "opencode.mjs"
    script.write_text((Path(__file__).parent / "opencode_host.mjs").read_text("utf-8"))

    def run(session: str, *said: str) -> list[list[str]]:
        done = subprocess.run(
            ["node", str(script), host.folder, session, *said],
            env=host.environment, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        answer: list[list[str]] = json.loads(done.stdout)
        return answer

    assert run("first", SAID, ANSWER, "Go on.", UNFINISHED)[0] == []
    said = [("user", SAID), ("assistant", ANSWER), ("user", "Go on."), ("assistant", UNFINISHED)]
    assert host.list_said(memory) == said
    host.settle(memory)
    ((start, prompt),) = run("second", ASKED, "5544.")
    assert "tabs to spaces" in start and "5544" in prompt
    host.install("--remove")
    assert not plugin.exists()
