"""Calls of the server, and the spool of those that did not reach it; also of Hermes' provider."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, where two events at once are left to chance
    fcntl = None  # type: ignore[assignment]

FOLDER = Path(os.environ.get("MEMORY_HOOK_DIR") or Path.home() / ".memory-hook")
TIMEOUT_S = 3.0
EVENT_S = 8.0
"""Agents wait ten seconds for an event."""
SEND_S = 2.0
"""Seconds that an event spends at most on sending what earlier ones could not."""
SPOOL_AT_MOST = 50_000_000
REFUSED = (400, 409, 410, 413, 415, 422)
"""Statuses after which the same call never succeeds; 409: it was stored before, or never can be."""


class Server:
    """The server as one event sees it, with what waits for it on behalf of a user."""

    def __init__(self, url: str, key: str, user: str) -> None:
        self.url, self.key = url.rstrip("/"), key
        self.spool = FOLDER / f"spool-{digest(url, user)}.jsonl"
        self.until = time.monotonic() + EVENT_S
        self.is_away = False

    def post(self, path: str, body: dict[str, Any] | None, key: str = "") -> None:
        """Call the server, or spool the call while it is away or earlier ones wait there."""
        call = {"path": path, "body": body, "key": key}
        if self.is_away or self.spool.exists() or not self.try_call(call):
            self.keep(call)

    def try_call(self, call: dict[str, Any]) -> bool:
        """Return whether a call is done with: answered, or refused for good."""
        try:
            self.ask(call["path"], call["body"], call["key"])
        except urllib.error.HTTPError as error:
            is_nothing_to_close = error.code == 404 and call["body"] is None
            self.is_away = error.code not in REFUSED and not is_nothing_to_close
            if error.code in REFUSED:
                print(f"memory: refused with {error.code}", file=sys.stderr)
        except OSError:
            self.is_away = True
        return not self.is_away

    def ask(
        self, path: str, body: dict[str, Any] | None, key: str = "", method: str = "POST"
    ) -> str:
        """Return the text of an answer.

        Raises:
            OSError: nobody answers in time, or with an error or a redirect.
        """
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.url}/api/v0/{path}",
            data=b"" if body is None else json.dumps(body).encode(),
            headers={**headers, "Idempotency-Key": key} if key else headers,
            method=method,
        )
        timeout_s = min(TIMEOUT_S, max(0.1, self.until - time.monotonic()))
        with OPENER.open(request, timeout=timeout_s) as answer:
            text: str = answer.read().decode()
            return text

    def keep(self, call: dict[str, Any]) -> None:
        """Append a call to the spool, with the time at which it was said."""
        if call["body"] and "message" in call["body"]:
            now = datetime.now(timezone.utc).isoformat()
            message = {**call["body"]["message"], "timestamp": now}
            call = {**call, "body": {**call["body"], "message": message}}
        with locked():
            there = self.spool.read_text("utf-8") if self.spool.exists() else ""
            if call["key"] and call["key"] in there:
                return
            if len(there) > SPOOL_AT_MOST:
                print("memory: the spool is full", file=sys.stderr)
                return
            write_private(self.spool, f"{there}{json.dumps(call)}\n")

    def send_spooled(self) -> None:
        """Send what waits in the spool, oldest first, for as long as an event may take."""
        if self.is_away or not self.spool.exists():
            return
        until = time.monotonic() + SEND_S
        with locked():
            there = self.spool.read_text("utf-8") if self.spool.exists() else ""
            calls = list(parse_lines(there))
            while calls and time.monotonic() < until and self.try_call(calls[0]):
                del calls[0]
            if calls:
                write_private(self.spool, "".join(f"{json.dumps(call)}\n" for call in calls))
            else:
                self.spool.unlink(missing_ok=True)


def parse_lines(text: str) -> Iterator[dict[str, Any]]:
    """Yield the objects of JSON lines; the first may be cut."""
    for line in text.split("\n"):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict):
            yield row


def read_setting(name: str) -> str:
    """Return a setting: the environment's, else that of the installation; empty: none."""
    try:
        settings = json.loads((FOLDER / "settings.json").read_text("utf-8"))
    except (OSError, ValueError):
        settings = {}
    return str(os.environ.get(name) or settings.get(name) or "")


def write_private(path: Path, text: str) -> None:
    """Replace a file that nobody else may read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    draft.replace(path)


def digest(*parts: str) -> str:
    """Return what tells texts from others."""
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


@contextmanager
def locked() -> Iterator[None]:
    """Let one process at a time change the spool."""
    FOLDER.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (FOLDER / "lock").open("w") as file:
        if fcntl:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Takes a redirect for an error: urllib would send the key to whatever host it names."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


OPENER = urllib.request.build_opener(NoRedirects)
