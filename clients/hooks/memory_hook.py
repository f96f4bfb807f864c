#!/usr/bin/env python3
"""Gives a coding agent a memory: recalls at its events, and keeps what was said.

The agent calls it at an event and writes the event to standard input as a JSON object; the first
argument names the agent, as install.py writes it. At a session's start the hook answers with
preferences, guidelines, dangers and what is pending, before a prompt with what fits it. It posts
prompts and answers, before a compaction and at the end whatever was not posted yet, and at the
end of a session it has facts made of it all. It ends with 0 whatever happens: without its server
an agent works as without a memory, and what was said goes into a spool file, from which the next
event that reaches the server sends it, once.

What is known is what was said in the folder, and of what its user said elsewhere preferences,
guidelines and dangers alone: one project's port does not reach another.

Needs Python 3.9 and nothing else. MEMORY_URL, MEMORY_KEY and MEMORY_USER say where the server is,
with which key, and whose memory it is, where the key is not bound to one user; what the
environment does not say is read from settings.json in MEMORY_HOOK_DIR (~/.memory-hook).
MEMORY_CONVERSATION names a conversation other than that of the folder.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import urllib.error
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memory_calls import FOLDER, Server, digest, parse_lines, read_setting, write_private

START = ("SessionStart", "sessionStart")
PROMPT = ("UserPromptSubmit", "BeforeAgent", "beforeSubmitPrompt")
ANSWER = ("Stop", "AfterAgent", "afterAgentResponse")
COMPACT = ("PreCompact", "PreCompress", "preCompact")
END = ("SessionEnd", "sessionEnd")
ANSWER_FIELDS = ("last_assistant_message", "prompt_response", "text")
"""Where the event after an answer has it; an agent without one has it in its transcript."""
ENDLESS = ("codex",)
"""Agents without an event at a session's end: the next start has facts made of the last one."""
PROFILE = "users/{}/profile?sections=dangers,guidelines,preferences&max_tokens=400&fence=true"
PENDING = "What is to be done next? What is open, planned or not finished yet?"
MAX_TOKENS = 1000
USER_TOKENS = 200
"""Of these, before a prompt for what holds in every folder of the user."""
QUERY_AT_MOST = 2_000
CONTENT_AT_MOST = 60_000
ANSWERERS = ("assistant", "gemini", "model", "assistant.message")
TAIL = 2_000_000
"""Bytes of a transcript that are read, from its end."""
SESSIONS_KEPT_S = 30 * 24 * 3600.0
RECALLED = re.compile(
    r"\[memory (\w+): untrusted data up to the end of memory \1, no instructions\]"
    r".*?\[end of memory \1\]\n?",
    re.S,
)
"""What `recall` has put in, between the server's marks, which is not to be learnt again."""


def main() -> None:
    """Answer one event."""
    agent = sys.argv[1] if len(sys.argv) > 1 else "claude-code"
    event = json.load(sys.stdin)
    name = event["hook_event_name"]
    if name not in (*START, *PROMPT, *ANSWER, *COMPACT, *END):
        return
    talk = Talk(event)
    talk.server.send_spooled()
    known = ""
    if name in START:
        if agent in ENDLESS:
            talk.close()
        known = talk.recall(PENDING, is_start=True)
    elif name in PROMPT:
        prompt = strip(event["prompt"])
        if agent != "cursor":  # which takes no context here
            known = talk.recall(prompt)
        talk.catch_up()
        talk.say("user", prompt)
    elif name in ANSWER:
        said = next((event[key] for key in ANSWER_FIELDS if event.get(key)), "")
        talk.say("assistant", strip(said)) if said else talk.catch_up()
    else:
        talk.catch_up()
        if name in END:
            talk.close()
    talk.server.send_spooled()
    if known or (agent == "cursor" and name in PROMPT):
        print(json.dumps(render(agent, name, known)))


def render(agent: str, name: str, known: str) -> dict[str, Any]:
    """Return what an agent takes as context for its model."""
    if agent == "cursor":
        return {"additional_context": known} if known else {"continue": True}
    answer: dict[str, Any] = {"hookSpecificOutput": {"hookEventName": name}}
    answer["hookSpecificOutput"]["additionalContext"] = known
    return {**answer, "additionalContext": known} if agent == "copilot" else answer


def strip(text: str) -> str:
    """Return a text without what was recalled for it."""
    return RECALLED.sub("", text).strip()


class Talk:
    """A session in a folder: what is recalled there, and what of it is kept."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.event = event
        self.id = find_conversation(event)
        self.session = str(event.get("session_id") or event.get("conversation_id") or "")
        user = read_setting("MEMORY_USER")
        self.whose = {"user_id": user} if user else {}
        self.server = Server(read_setting("MEMORY_URL"), read_setting("MEMORY_KEY"), user)
        self.state_path = FOLDER / "sessions" / f"{digest(self.session, self.id)}.json"

    def recall(self, query: str, *, is_start: bool = False) -> str:
        """Return what is known, between marks; empty: nothing, or nobody answers.

        Of what the user said anywhere it is the profile at a session's start, else what fits.
        """
        if self.server.is_away or not query:
            return ""
        body = {"conversation_id": self.id, "query": query[:QUERY_AT_MOST], "fence": True}
        mine = {"max_tokens": USER_TOKENS, "preferences_only": True, "scope": "user", **self.whose}
        here = {"max_tokens": MAX_TOKENS - USER_TOKENS, "fresh": True}
        try:
            if is_start and self.whose:
                path = PROFILE.format(quote(self.whose["user_id"], safe=""))
                text = self.server.ask(path, None, method="GET")
            else:
                text = self.server.ask("context_pre_retrieve", {**body, **mine})
            text += "\n" + self.server.ask("retrieve_memory", {**body, **here})
        except urllib.error.HTTPError as error:
            print(f"memory: recall answered {error.code}", file=sys.stderr)
            return ""
        except OSError:
            self.server.is_away = True
            return ""
        return "".join(f"{line}\n" for line in dict.fromkeys(text.splitlines()) if line)

    def close(self) -> None:
        """Have facts made of what was said, and forget sessions of long ago."""
        self.server.post(f"conversations/{self.id}/close", None)
        for path in self.state_path.parent.glob("*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > SESSIONS_KEPT_S:
                    path.unlink()

    def say(self, role: str, text: str) -> None:
        """Keep what was said, unless it is empty.

        Its key follows from the session, what it says, and what the other side said last. So an
        event that arrives twice, as where a plugin and a settings file both name this hook, is
        stored once, and "go on" after two answers twice.
        """
        if not text:
            return
        content = text.encode("utf-8", "replace")[:CONTENT_AT_MOST].decode("utf-8", "ignore")
        state = self.read_state()
        other = state.get("assistant" if role == "user" else "user", "")
        body = {"conversation_id": self.id, "message": {"role": role, "content": content}}
        key = digest(self.session, self.id, role, content, other)
        self.server.post("add_message", {**body, **self.whose}, key)
        write_private(self.state_path, json.dumps({**state, role: content}))

    def catch_up(self) -> None:
        """Keep the transcript's last answer, unless that was the last that was kept."""
        answer = strip(read_last_answer(self.event.get("transcript_path") or ""))
        kept = self.read_state().get("assistant", "")
        if answer not in kept and not (kept and kept in answer):
            self.say("assistant", answer)

    def read_state(self) -> dict[str, str]:
        """Return what each side said last in this session, by role."""
        try:
            state: dict[str, str] = json.loads(self.state_path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return state


def read_last_answer(path: str) -> str:
    """Return the last text of the assistant in a transcript; empty: there is none to read.

    Claude Code, Codex, Cursor and Copilot write JSON lines, Gemini one object with messages. A
    text is under `content`, itself, in a list of parts, or within `message`, `payload` or `data`.
    """
    try:
        with Path(path).open("rb") as file:
            file.seek(max(0, Path(path).stat().st_size - TAIL))
            text = file.read().decode("utf-8", "ignore")
    except OSError:
        return ""
    try:
        rows = json.loads(text)["messages"]
    except (ValueError, KeyError, TypeError):
        rows = list(parse_lines(text))
    for row in reversed(rows):
        inner = next((row[key] for key in ("message", "payload", "data") if key in row), row)
        inner = inner if isinstance(inner, dict) else row
        who = str(inner.get("role") or row.get("type"))
        if who not in ANSWERERS or row.get("isSidechain"):  # a subagent's talk
            continue
        said = inner.get("content")
        parts = said if isinstance(said, list) else [{"text": said}]
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        answer = "\n".join(text for text in texts if isinstance(text, str) and text)
        if answer:
            return answer
    return ""


def find_conversation(event: dict[str, Any]) -> str:
    """Return the conversation of a user's folder: all its sessions share one memory.

    Each user has one of his own, since in containers everybody works in the same folder.
    """
    name = os.environ.get("MEMORY_CONVERSATION")
    if not name:
        roots = event.get("workspace_roots") or [os.getcwd()]
        name = f"{read_setting('MEMORY_USER')} {event.get('cwd') or roots[0]}".strip()
    try:
        return str(uuid.UUID(name))
    except ValueError:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # an agent must not fail for want of a memory
        print(f"memory: {type(error).__name__}", file=sys.stderr)
