"""The clients of the storm: they post, repeat themselves, flush and ask."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

from bench import english
from bench.storm.client import Client
from bench.storm.field import Place, Storm
from bench.storm.ledger import Posting
from bench.storm.parts import Part

BATCH_SHARE, BATCH_AT_MOST = 0.08, 8
TWIN_SHARE = 0.04
"""Of requests that are sent twice at the same moment."""
AGAIN_SHARE = 0.06
"""Of requests that are sent again after their answer."""
FLUSH_SHARE, RETRIEVE_SHARE = 0.006, 0.04
WAIT_FIRST_S, WAIT_LAST_S = 0.05, 1.0


class Writer(Part):
    """Posts its share of the messages to conversations that others write to as well."""

    def __init__(self, number: int, storm: Storm, *, messages: int, give_up_at: float) -> None:
        super().__init__(f"writer {number}")
        self._number = number
        self._places, self._ledger = storm.places, storm.ledger
        self._messages = messages
        self._pause_s = storm.options.seconds / messages
        self._give_up_at = give_up_at
        seed = storm.options.seed * 1_000 + number
        self._random = random.Random(seed)
        self._clients: dict[tuple[int, int], Client] = {}
        talk = english.make_talk(seed=seed, messages=max(2, messages))
        self._talk = [row["content"] for row in talk]

    def work(self) -> None:
        """Post until all is accepted, or until it is time to give up."""
        started, done = time.monotonic(), 0
        while done < self._messages and time.monotonic() < self._give_up_at:
            posting, place = self._compose(done)
            self._post(posting, place)
            done += len(posting.contents)
            if self._random.random() < FLUSH_SHARE:
                self._ask("flush", place)
            if self._random.random() < RETRIEVE_SHARE:
                query = self._random.choice(self._talk)
                self._ask("retrieve_memory/raw", place, query=query, detail="low")
            ahead_s = started + done * self._pause_s - time.monotonic()
            if ahead_s > 0:
                time.sleep(ahead_s * self._random.uniform(0.5, 1.5))
        for client in self._clients.values():
            client.close()

    def _compose(self, first: int) -> tuple[Posting, Place]:
        count = 1
        if self._random.random() < BATCH_SHARE:
            count = min(self._random.randint(2, BATCH_AT_MOST), self._messages - first)
        contents = tuple(
            f"{self._talk[number]} Note N{self._number}-{number}."
            for number in range(first, first + count)
        )
        place = self._random.choice(self._places)
        key = f"storm-{self._number}-{first}"
        return Posting(key, place.tenant, place.conversation, contents), place

    def _post(self, posting: Posting, place: Place) -> None:
        """Send a request until it is answered with 2xx; some of them more often."""
        self._ledger.note_sent(posting)
        twin = None
        if self._random.random() < TWIN_SHARE:
            self._ledger.note_duplicate()
            twin = threading.Thread(target=self._send, args=(posting, place, 1), daemon=True)
            twin.start()
        wait_s = WAIT_FIRST_S
        while not self._send(posting, place) and time.monotonic() < self._give_up_at:
            time.sleep(self._random.uniform(0.5, 1.0) * wait_s)
            wait_s = min(WAIT_LAST_S, 2 * wait_s)
        if twin is not None:
            twin.join()
        if self._random.random() < AGAIN_SHARE:
            self._ledger.note_duplicate()
            self._send(posting, place)

    def _send(self, posting: Posting, place: Place, line: int = 0) -> bool:
        """Send a request once; return whether it was accepted."""
        messages = [{"role": "user", "content": content} for content in posting.contents]
        body: dict[str, Any] = {"conversation_id": str(posting.conversation)}
        if len(messages) == 1:
            call, body = "add_message", body | {"message": messages[0]}
        else:
            call, body = "add_messages", body | {"messages": messages}
        client = self._client(place, line)
        answer = client.post(call, body, Idempotency_Key=posting.key)
        self._ledger.note_status(call, answer.status)
        if answer.status not in (200, 201):
            return False
        self._ledger.note_accepted(posting, answer.body)
        return True

    def _ask(self, call: str, place: Place, **fields: Any) -> None:
        """Make a call once, whatever becomes of it."""
        body = {"conversation_id": str(place.conversation), **fields}
        answer = self._client(place, 0).post(call, body)
        self._ledger.note_status(call, answer.status)

    def _client(self, place: Place, line: int) -> Client:
        """Return this writer's connection for a tenant; twins take a line of their own."""
        if (place.tenant, line) not in self._clients:
            self._clients[place.tenant, line] = Client(port=place.port, key=place.key)
        return self._clients[place.tenant, line]
