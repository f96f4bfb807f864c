#!/usr/bin/env python3
"""Installs the memory hook into a coding agent, for all folders of whoever runs it.

    MEMORY_URL=http://127.0.0.1:8000 MEMORY_KEY=mem_… MEMORY_USER=ana python3 install.py claude-code

Copies the hook to MEMORY_HOOK_DIR (~/.memory-hook), writes what the environment says of the
server into settings.json there, which nobody else may read, and names the hook in the agent's own
configuration, whose other entries stay as they are. A second run changes nothing; `--remove`
takes the hook out of the configuration again. Needs Python 3.9 and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

from memory_calls import FOLDER, write_private

HERE = Path(__file__).resolve().parent
HOOK = "memory_hook.py"
TIMEOUT_S = 10
CLAUDE_EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
EVENTS = {
    "claude-code": CLAUDE_EVENTS,
    "codex": CLAUDE_EVENTS[:-1],
    "gemini": ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"),
    "cursor": (
        "sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "preCompact", "sessionEnd",
    ),
    "copilot": CLAUDE_EVENTS,
}  # fmt: skip
"""The events of each agent that the hook is called at, in the agent's own spelling.

Copilot takes Claude Code's names, too, and then writes its events as that does.
"""
SETTINGS = ("MEMORY_URL", "MEMORY_KEY", "MEMORY_USER")


def main() -> None:
    """Install the hook into the agent that the command line names, or remove it there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("agent", choices=[*EVENTS, "opencode"])
    parser.add_argument("--remove", action="store_true", help="take the hook out again")
    options = parser.parse_args()
    if not options.remove:
        copy_hook()
    path = find_config(options.agent)
    if options.agent == "opencode":
        write_plugin(path, remove=options.remove)
    else:
        write_config(path, options.agent, remove=options.remove)
    print(f"{'Removed from' if options.remove else 'Installed into'} {path}")


def copy_hook() -> None:
    """Copy the hook and the settings, of which the server and its key must be known."""
    path = FOLDER / "settings.json"
    old = read_object(path)
    settings = {name: os.environ.get(name) or old.get(name, "") for name in SETTINGS}
    missing = [name for name in SETTINGS[:2] if not settings[name]]
    if missing:
        sys.exit(f"error: set {' and '.join(missing)}")
    write_private(path, json.dumps(settings, indent=2))
    for name in (HOOK, "memory_calls.py"):
        write_private(FOLDER / name, (HERE / name).read_text("utf-8"))


def find_config(agent: str) -> Path:
    """Return the file in which an agent looks for its user's hooks."""

    def under(variable: str, default: str) -> Path:
        return Path(os.environ.get(variable) or Path.home() / default)

    return {
        "claude-code": under("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        "codex": under("CODEX_HOME", ".codex") / "hooks.json",
        "gemini": Path.home() / ".gemini" / "settings.json",
        "cursor": Path.home() / ".cursor" / "hooks.json",
        "copilot": under("COPILOT_HOME", ".copilot") / "hooks" / "memory.json",
        "opencode": under("XDG_CONFIG_HOME", ".config") / "opencode" / "plugins" / "memory.js",
    }[agent]


def write_config(path: Path, agent: str, *, remove: bool) -> None:
    """Add the hook to an agent's configuration, or only remove it; all else stays."""
    config = read_object(path)
    hooks: dict[str, list[Any]] = config.setdefault("hooks", {})
    for event in list(hooks):
        hooks[event] = [entry for entry in hooks[event] if HOOK not in json.dumps(entry)]
        if not hooks[event]:
            del hooks[event]
    if not remove:
        if agent in ("cursor", "copilot"):
            config.setdefault("version", 1)
        for event in EVENTS[agent]:
            hooks.setdefault(event, []).append(make_entry(agent))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n", "utf-8")


def make_entry(agent: str) -> dict[str, Any]:
    """Return what an agent's configuration says of one event; Gemini counts in milliseconds."""
    command = shlex.join([sys.executable, str(FOLDER / HOOK), agent])
    if agent == "cursor":
        return {"command": command, "timeout": TIMEOUT_S}
    if agent == "copilot":
        return {"type": "command", "bash": command, "timeoutSec": TIMEOUT_S}
    timeout = TIMEOUT_S * 1000 if agent == "gemini" else TIMEOUT_S
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def write_plugin(path: Path, *, remove: bool) -> None:
    """Write the plugin that calls the hook at OpenCode's events, or remove it."""
    if remove:
        path.unlink(missing_ok=True)
        return
    text = (HERE / "opencode.js").read_text("utf-8")
    command = json.dumps([sys.executable, str(FOLDER / HOOK), "opencode"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("[/* install.py writes the command here */]", command), "utf-8")


def read_object(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file; an empty one where there is no file."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        sys.exit(f"error: {path} is not plain JSON; nothing was changed there")
    return found if isinstance(found, dict) else {}


if __name__ == "__main__":
    main()
