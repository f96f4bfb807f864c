"""A tenant that is a burden to the others, and one that waits beside it: who holds the workers?

The first has webhooks whose receiver drips, imports much, has a model that is slow at its
questions, and erases what it imported. The second asks for one small flush after the other; how
long each took, the table of jobs says afterwards.
"""

from __future__ import annotations

import random
import socket
import threading
import time
import uuid
from contextlib import suppress
from typing import Any

from bench.storm.client import HOST, Client
from bench.storm.parts import Part

SLOW_WORD = "burden"
"""In all that the first says: the model server takes its time where it reads this."""
KEY = "heavy-{}"
"""Idempotency keys of both; the clients' ledger does not know them."""
BATCHES, MESSAGES, NOTES, NOTE_WORDS = 3, 400, 100, 900
WEBHOOKS = 4
DRIP_EVERY_S = 5.0
KEPT_ROUNDS = 2
"""Of conversations, before they are erased."""
REST_S = 1.0
"""Between two flushes."""
AGAIN_S = 0.2
WORDS = "harbour nurse sailing wine dog house river moon bakery ladder violin orchard".split()


class Dripper:
    """Receives webhooks and never finishes an answer; a byte every five seconds."""

    def __init__(self) -> None:
        self._server = socket.create_server((HOST, 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                threading.Thread(target=self._drip, args=(connection,), daemon=True).start()

    def _drip(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\nX-Drip: ")
            while True:
                connection.sendall(b"a")
                time.sleep(DRIP_EVERY_S)

    def close(self) -> None:
        self._server.close()


class Visitor(Part):
    """Somebody with a key, who goes on until told to stop."""

    def __init__(self, *, port: int, key: str, seed: int) -> None:
        super().__init__(type(self).__name__)
        self._client = Client(port=port, key=key)
        self._random = random.Random(seed)

    def ask(self, call: str, body: dict[str, Any], *, until: float = float("inf")) -> Any:
        """Return the body of an answer, asked for until there is one of 2xx, or it is late."""
        headers = {"Idempotency_Key": KEY.format(uuid.uuid4())} if "message" in call else {}
        while time.monotonic() < until:
            answer = self._client.post(call, body, **headers)
            if 200 <= answer.status < 300:
                return answer.body
            time.sleep(AGAIN_S)
        return {}

    def leave(self) -> None:
        """Take along what would never end."""
        self._client.close()

    def say(self, words: int) -> str:
        """Return a sentence that nobody has said yet."""
        return f"The {SLOW_WORD} {uuid.uuid4()}: {' '.join(self._random.choices(WORDS, k=words))}."


class Burden(Visitor):
    """Imports, flushes and erases as much as it can, and has webhooks that drip."""

    def __init__(self, *, port: int, key: str, seed: int) -> None:
        super().__init__(port=port, key=key, seed=seed)
        self._dripper = Dripper()
        self._webhooks: list[str] = []
        self._talks: list[str] = []

    def work(self) -> None:
        """Go round."""
        for number in range(WEBHOOKS):
            url = f"http://{HOST}:{self._dripper.port}/{number}"
            self._webhooks.append(self.ask("webhooks", {"url": url})["id"])
        while not self.enough.is_set():
            self._import()
            if len(self._talks) > KEPT_ROUNDS:
                self._erase(self._talks.pop(0))

    def _import(self) -> None:
        talk = str(uuid.uuid4())
        self._talks.append(talk)
        for _ in range(BATCHES):
            messages = [{"role": "user", "content": self.say(30)} for _ in range(MESSAGES)]
            self.ask("add_messages", {"conversation_id": talk, "messages": messages})
        self.ask("flush", {"conversation_id": talk})
        notes = [{"content": self.say(NOTE_WORDS), "user_id": talk} for _ in range(NOTES)]
        self.ask("notes/batch", {"notes": notes}, until=time.monotonic() + 30)

    def _erase(self, talk: str) -> None:
        wish = {"scope": "conversation", "id": talk, "reason": "storm"}
        self.ask("erasures", wish, until=time.monotonic() + 60)

    def leave(self) -> None:
        """Erase all that is left: what is open afterwards would never end."""
        self._dripper.close()
        for webhook in self._webhooks:
            self._client.delete(f"webhooks/{webhook}")
        for talk in self._talks:
            self._erase(talk)
        super().leave()


class Waiter(Visitor):
    """Asks for a flush of two sentences, and for the next when it is done."""

    def work(self) -> None:
        while not self.enough.wait(REST_S):
            talk = str(uuid.uuid4())
            said = [f"I live in {self._random.choice(WORDS)}ville {talk}.", f"How nice, {talk}."]
            roles = ("user", "assistant")
            messages = [
                {"role": role, "content": text} for role, text in zip(roles, said, strict=True)
            ]
            self.ask("add_messages", {"conversation_id": talk, "messages": messages})
            job = self.ask("flush", {"conversation_id": talk})["job_id"]
            while not self.enough.wait(AGAIN_S):
                if self._client.get(f"jobs/{job}").body.get("state") == "done":
                    break
