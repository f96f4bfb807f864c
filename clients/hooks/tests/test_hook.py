"""The hook, run as agents run it, beside a live server: see clients/live.py."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from memory_server_client import Client

FOLDER = Path(__file__).parent.parent
HOOK = FOLDER / "memory_hook.py"
SAID = "I moved from Ghent to Rotterdam and work as a data analyst at the harbour authority."


@pytest.fixture
def memory() -> Iterator[Client]:
    with Client(os.environ["MEMORY_URL"], os.environ["MEMORY_KEY"]) as client:
        yield client


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which the hook keeps its files."""
    monkeypatch.setenv("MEMORY_HOOK_DIR", str(tmp_path))
    return tmp_path


def start(event: object, **environment: str) -> subprocess.Popen[str]:
    """Run the hook at an event."""
    hook = subprocess.Popen(
        [sys.executable, str(HOOK)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert hook.stdin is not None
    hook.stdin.write(event if isinstance(event, str) else json.dumps(event))
    hook.stdin.close()
    return hook


def run(event: object, **environment: str) -> str:
    """Return what the hook prints for an event; it always ends well."""
    with start(event, **environment) as hook:
        assert hook.stdout is not None
        answer = hook.stdout.read()
        assert hook.wait(timeout=120) == 0
    return answer


def count_waiting(server: socket.socket) -> int:
    """Return how many have connected that nobody has let in."""
    server.setblocking(False)
    count = 0
    with suppress(BlockingIOError):
        while True:
            server.accept()[0].close()
            count += 1
    return count


def say(name: str, folder: str, **fields: str) -> dict[str, str]:
    return {"hook_event_name": name, "session_id": "s", "cwd": folder, **fields}


def contents(memory: Client, folder: str) -> list[tuple[str, str]]:
    home = uuid.uuid5(uuid.NAMESPACE_URL, folder)
    return [(m["role"], m["content"]) for m in memory.list_messages(conversation_id=home)]


@pytest.mark.parametrize(
    ("asks", "answers", "field"),
    [
        ("UserPromptSubmit", "Stop", "last_assistant_message"),
        ("BeforeAgent", "AfterAgent", "prompt_response"),
    ],
)
def test_a_later_session_recalls_and_what_it_recalled_is_not_kept(
    memory: Client, asks: str, answers: str, field: str
) -> None:
    folder = f"/projects/{uuid.uuid4()}"
    assert run(say(asks, folder, prompt=SAID)) == ""
    assert run(say(answers, folder, **{field: "Congratulations on the new job!"})) == ""
    memory.wait_for(memory.flush(uuid.uuid5(uuid.NAMESPACE_URL, folder)))

    answer = json.loads(run(say(asks, folder, prompt="Where do I work?")))["hookSpecificOutput"]
    known = answer["additionalContext"]
    assert answer["hookEventName"] == asks and "harbour authority" in known
    run(say(answers, folder, **{field: f"You said:\n{known}So at the harbour authority."}))
    assert contents(memory, folder) == [
        ("user", SAID),
        ("assistant", "Congratulations on the new job!"),
        ("user", "Where do I work?"),
        ("assistant", "You said:\nSo at the harbour authority."),
    ]


def test_the_next_session_knows_at_once_what_the_last_one_said(memory: Client) -> None:
    """The messages wait for a full window: no worker has made anything of them."""
    folder, user = f"/projects/{uuid.uuid4()}", f"u-{uuid.uuid4()}"
    said = "We use pnpm, and the staging database listens on port 5544."
    run(say("UserPromptSubmit", folder, prompt=said), MEMORY_USER=user)
    run(say("Stop", folder, last_assistant_message="Noted."), MEMORY_USER=user)
    later = say("UserPromptSubmit", folder, prompt="Write a script that dumps staging.")
    known = run(later, MEMORY_USER=user)
    assert "5544" in known and "pnpm" in known


def test_another_folder_gets_preferences_guidelines_and_dangers_alone(memory: Client) -> None:
    folder, user = f"/projects/{uuid.uuid4()}", f"u-{uuid.uuid4()}"
    for said in (
        "The staging database listens on port 5544.", "I prefer tabs to spaces.",
        "From now on always answer in bullet points.", "I'm allergic to peanuts.",
    ):  # fmt: skip
        run(say("UserPromptSubmit", folder, prompt=said), MEMORY_USER=user)
    run(say("SessionEnd", folder), MEMORY_USER=user)
    home = uuid.uuid5(uuid.NAMESPACE_URL, f"{user} {folder}")
    memory.wait_for(memory.close_conversation(home))

    other = f"/projects/{uuid.uuid4()}"
    asked = "Format the script that dumps the staging database with tabs or spaces."
    known = run(say("UserPromptSubmit", other, prompt=asked), MEMORY_USER=user)
    assert "bullet points" in known and "tabs to spaces" in known and "peanuts" in known
    assert "5544" not in known
    run(say("UserPromptSubmit", other, prompt="Where was I?"), MEMORY_USER=f"{user}-other")
    stranger = say("UserPromptSubmit", f"/projects/{uuid.uuid4()}", prompt=asked)
    assert "bullet points" not in run(stranger, MEMORY_USER=f"{user}-other")


def test_users_who_work_in_the_same_folder_share_nothing_of_it(memory: Client) -> None:
    """As in containers, where it is /workspace for everybody."""
    folder = f"/workspace/{uuid.uuid4()}"
    run(say("UserPromptSubmit", folder, prompt=SAID), MEMORY_USER=f"{folder} ana")
    asked = say("UserPromptSubmit", folder, prompt="Where do I work?")
    assert run(asked, MEMORY_USER=f"{folder} bo") == ""
    assert "harbour" in run(say("SessionStart", folder), MEMORY_USER=f"{folder} ana")


def test_the_end_of_a_session_settles_it(memory: Client) -> None:
    folder = f"/projects/{uuid.uuid4()}"
    run(say("UserPromptSubmit", folder, prompt=SAID))
    assert run(say("SessionEnd", folder)) == ""
    home = uuid.uuid5(uuid.NAMESPACE_URL, folder)
    memory.wait_for(memory.flush(home))
    assert memory.get_conversation(home)["pending"] == 0
    assert run(say("SessionEnd", "/projects/never-used")) == ""


def test_an_event_that_arrives_three_times_is_stored_once(memory: Client) -> None:
    """As where a plugin, the user's settings and another agent's all name the hook."""
    folder = f"/projects/{uuid.uuid4()}"
    for event in (
        say("UserPromptSubmit", folder, prompt="Go on."),
        say("Stop", folder, last_assistant_message="Done."),
        say("UserPromptSubmit", folder, prompt="Go on."),
    ):
        for hook in [start(event) for _ in range(3)]:
            with hook:
                assert hook.wait(timeout=120) == 0
    assert contents(memory, folder) == [
        ("user", "Go on."),
        ("assistant", "Done."),
        ("user", "Go on."),
    ]


def test_what_is_said_while_the_server_is_away_is_sent_later_once(
    memory: Client, files: Path
) -> None:
    folder = f"/projects/{uuid.uuid4()}"
    with Door() as door:
        away = {"MEMORY_URL": door.url}
        run(say("UserPromptSubmit", folder, prompt=SAID), **away)
        run(say("UserPromptSubmit", folder, prompt=SAID), **away)
        run(say("Stop", folder, last_assistant_message="Congratulations!"), **away)
        run(say("SessionEnd", folder), **away)
        (spool,) = files.glob("spool-*")
        assert spool.stat().st_mode & 0o077 == 0
        before = datetime.now(timezone.utc).isoformat()
        run(say("UserPromptSubmit", "/projects/other", prompt="Hello"))  # of another server
        assert spool.exists()

        door.mode = "mute"  # the server takes each call, and nobody hears its answer
        run(say("SessionStart", folder), **away)
        assert spool.exists()
        door.mode = "open"
        known = run(say("SessionStart", folder), **away)
        assert not spool.exists() and "harbour authority" in known
        door.mode = "mute"
        run(say("UserPromptSubmit", folder, prompt="Where do I work?"), **away)
        door.mode = "open"
        run(say("Stop", folder, last_assistant_message="At the harbour."), **away)
        assert not spool.exists()
    assert contents(memory, folder) == [
        ("user", SAID),
        ("assistant", "Congratulations!"),
        ("user", "Where do I work?"),
        ("assistant", "At the harbour."),
    ]
    home = uuid.uuid5(uuid.NAMESPACE_URL, folder)
    times = [one["timestamp"] for one in memory.list_messages(conversation_id=home)]
    assert times[1] < before < times[2]


def test_an_answer_that_was_broken_off_is_kept_before_the_next_prompt(
    memory: Client, tmp_path: Path
) -> None:
    folder, transcript = f"/projects/{uuid.uuid4()}", tmp_path / "transcript.jsonl"
    parts: list[dict[str, Any]] = [{"type": "thinking", "thinking": "Hm."}]
    parts += [{"type": "text", "text": "I have renamed the table."}]
    rows = [
        {"type": "assistant", "message": {"role": "assistant", "content": parts}},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": "x"},
            "isSidechain": True,
        },
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result"}]}},
    ]
    run(say("UserPromptSubmit", folder, prompt="Rename it."))
    transcript.write_text("cut off\n" + "".join(json.dumps(row) + "\n" for row in rows))
    later = {"prompt": "No, leave it.", "transcript_path": str(transcript)}
    run(say("UserPromptSubmit", folder, **later))
    run(say("PreCompact", folder, transcript_path=str(transcript)))
    assert contents(memory, folder) == [
        ("user", "Rename it."),
        ("assistant", "I have renamed the table."),
        ("user", "No, leave it."),
    ]


class Door:
    """A way to the server that is shut at first: `mode` is shut, mute or open."""

    def __init__(self) -> None:
        self.mode = "shut"
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._let_in, daemon=True).start()

    def __enter__(self) -> Door:
        return self

    def __exit__(self, *error: object) -> None:
        self._server.close()

    def _let_in(self) -> None:
        host, port = os.environ["MEMORY_URL"].removeprefix("http://").split(":")
        with suppress(OSError):
            while True:
                caller = self._server.accept()[0]
                with caller, suppress(OSError):
                    if self.mode == "shut":
                        continue
                    with socket.create_connection((host, int(port))) as server:
                        caller.settimeout(0.3)
                        with suppress(TimeoutError):
                            while data := caller.recv(65_536):
                                server.sendall(data)
                        server.shutdown(socket.SHUT_WR)
                        while data := server.recv(65_536):
                            if self.mode == "open":
                                caller.sendall(data)


def test_an_agent_goes_on_when_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        assert run(say("UserPromptSubmit", "/projects", prompt="Hello"), MEMORY_URL=url) == ""
        # Agents wait ten seconds. It has tried once, for as long as it says.
        (timeout_s,) = re.findall(
            r"^TIMEOUT_S = ([\d.]+)$", (FOLDER / "memory_calls.py").read_text(), re.MULTILINE
        )
        assert 0 < count_waiting(silent) * float(timeout_s) < 9
    assert run(say("Stop", "/projects", last_assistant_message="Hi"), MEMORY_URL=url) == ""
    assert run(say("Stop", "/projects", last_assistant_message="Hi"), MEMORY_KEY="mem_wrong") == ""


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_takes_the_key_nowhere(status: int) -> None:
    """As the sign-in page of a network does it, which answers for every host."""
    with socket.create_server(("127.0.0.1", 0)) as portal, elsewhere() as (other, heard):
        url = f"http://127.0.0.1:{portal.getsockname()[1]}"
        answer = f"HTTP/1.1 {status} X\r\nLocation: {other}\r\nContent-Length: 0\r\n\r\n"
        thread = threading.Thread(target=answer_all, args=(portal, answer.encode()), daemon=True)
        thread.start()
        assert run(say("UserPromptSubmit", "/projects", prompt="Hello"), MEMORY_URL=url) == ""
        assert run(say("Stop", "/projects", last_assistant_message="Hi"), MEMORY_URL=url) == ""
        assert count_waiting(heard) == 0


@contextmanager
def elsewhere() -> Iterator[tuple[str, socket.socket]]:
    """Yield the address of another host, and where it listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/", server


def answer_all(server: socket.socket, answer: bytes) -> None:
    """Answer each call alike until the socket is closed."""
    with suppress(OSError):
        while True:
            caller = server.accept()[0]
            with caller:
                caller.recv(65_536)
                caller.sendall(answer)


@pytest.mark.parametrize("event", ["", "[]", "{}", {"hook_event_name": "PreToolUse"}])
def test_what_is_no_event_of_ours_is_passed_over(event: Any) -> None:
    assert run(event) == ""
