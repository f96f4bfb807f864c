"""A model server that fails: OpenAI's chat/completions and embeddings, over real HTTP.

A process of its own. It prints its port; `GET /counts` tells what it did, and
`POST /calm` ends the faults.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import socket
import struct
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.storm import answers

DIM = 64
CHARACTERS_A_TOKEN = 3
LINGER_NOT = struct.pack("ii", 1, 0)
"""Of SO_LINGER: closing then resets the connection."""
STATUSES = {"429": 429, "429_retry_after": 429, "500": 500, "503": 503, "401": 401}
SILENT = ("hang", "hang_in_body", "empty", "reset")
CHAT_FAULTS = (*STATUSES, *SILENT, *answers.BENT)
EMBEDDING_FAULTS = (*STATUSES, *SILENT, "truncated", "nan", "short")
SLOW_S = 15.0
"""What an answer takes where the question has the slow word."""
HARMLESS = frozenset({"prose"})
"""Faults whose answer can be used as it is."""


class Model(ThreadingHTTPServer):
    """Decides and counts; safe in any number of threads."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *, seed: int, faults: float, hang_s: float, slow_word: str = "") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.hang_s = hang_s
        self.slow_word = slow_word.encode()
        self.random = random.Random(seed)
        self._faults = faults
        self._lock = threading.Lock()
        self._asked = 0
        self._committed: Counter[str] = Counter()
        self._good: dict[str, Counter[str]] = defaultdict(Counter)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: the clients are being killed."""

    def draw_fault(self, purpose: str) -> str | None:
        """Return the fault to commit, or None."""
        with self._lock:
            self._asked += 1
            if self.random.random() >= self._faults:
                return None
            fault = self.random.choice(EMBEDDING_FAULTS if purpose == "embed" else CHAT_FAULTS)
            self._committed[fault] += 1
            return fault

    def note_good(self, purpose: str, question: str) -> None:
        """Count an answer of the asked-for form that went out whole: one to pay for."""
        with self._lock:
            self._good[purpose][question] += 1

    def calm(self) -> None:
        """Commit no more faults, and be slow at nothing."""
        self._faults, self.slow_word = 0.0, b""

    def count(self) -> dict[str, Any]:
        """Return what happened so far."""
        with self._lock:
            return {
                "asked": self._asked,
                "faults": dict(sorted(self._committed.items())),
                "good": {purpose: good.total() for purpose, good in self._good.items()},
                "distinct": {purpose: len(good) for purpose, good in self._good.items()},
            }


class Handler(BaseHTTPRequestHandler):
    """Answers the calls of OpenAI's API that the product makes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Model

    def do_GET(self) -> None:
        """Tell the counts."""
        self._send(json.dumps(self.server.count()).encode())

    def do_POST(self) -> None:
        """Answer a question, or commit a fault."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.endswith("/calm"):
            self.server.calm()
            self._send(b"{}")
            return
        body = json.loads(content)
        purpose = "embed" if self.path.endswith("/embeddings") else name_purpose(body)
        fault = self.server.draw_fault(purpose)
        slow_word = self.server.slow_word
        if slow_word and slow_word in content and purpose != "embed":
            time.sleep(SLOW_S)
        if fault in STATUSES:
            self._refuse(fault)
        elif fault == "hang":
            time.sleep(self.server.hang_s)
            self.close_connection = True
        elif fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
            self.connection.close()
            self.close_connection = True
        elif purpose == "embed":
            self._send(cut(json.dumps(embed(body["input"], fault)).encode(), fault), fault=fault)
        else:
            self._answer(purpose, body, fault)

    def _answer(self, purpose: str, body: dict[str, Any], fault: str | None) -> None:
        material = str(body["messages"][-1]["content"])
        right = answers.answer(purpose, material)
        text = answers.bend(fault, purpose, right) if fault in answers.BENT else json.dumps(right)
        sent = sum(len(str(message["content"])) for message in body["messages"])
        reply = json.dumps(complete(text, sent=sent)).encode()
        self._send(b"" if fault == "empty" else reply, fault=fault)
        if fault is None or fault in HARMLESS:
            # What tells one question from another, in whatever form it is put.
            self.server.note_good(purpose, hashlib.sha256(material.encode()).hexdigest())

    def _refuse(self, fault: str) -> None:
        wait_s = self.server.random.randint(1, 3)
        headers = {"Retry-After": str(wait_s)} if fault == "429_retry_after" else {}
        body = {"error": {"message": "The storm says no.", "type": "storm"}}
        self._send(json.dumps(body).encode(), status=STATUSES[fault], headers=headers)

    def _send(
        self,
        body: bytes,
        *,
        status: int = 200,
        headers: Mapping[str, str] = MappingProxyType({}),
        fault: str | None = None,
    ) -> None:
        self.send_response(status)
        kinds = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in (kinds | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()
        if fault == "hang_in_body":
            self.wfile.write(body[: len(body) // 2])
            self.wfile.flush()
            time.sleep(self.server.hang_s)
            self.close_connection = True
        else:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal shows progress."""


def name_purpose(body: dict[str, Any]) -> str:
    """Return which question it is, by the name of the form that is asked for."""
    name = str(body.get("response_format", {}).get("json_schema", {}).get("name", ""))
    if name in answers.RULES:
        return name
    # The product has been told no by a fault, and asks in a plainer form.
    material = str(body["messages"][-1]["content"])
    if "Facts held:" in material:
        return "consolidate"
    return "review" if "Afterwards:" in material else "segment"


def complete(text: str, *, sent: int) -> dict[str, Any]:
    """Return a chat completion that says `text`, to a prompt of `sent` characters."""
    asked, said = sent // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN
    message = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    about = {"id": "chat-storm", "object": "chat.completion", "model": "storm"}
    return {**about, "choices": [choice], "usage": usage}


def embed(texts: list[str], fault: str | None) -> dict[str, Any]:
    """Return a vector a text: texts with the same words lie near each other."""
    rows = [
        np.sum([direct(word) for word in text.lower().split() or [""]], axis=0) for text in texts
    ]
    vectors: list[list[float]] = [row.round(4).tolist() for row in rows]
    if fault == "nan":
        vectors[0][0] = float("nan")
    if fault == "short":
        vectors.pop()
    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
    return {"object": "list", "model": "storm", "data": data}


@lru_cache(maxsize=50_000)
def direct(word: str) -> npt.NDArray[np.float64]:
    """Return a direction that depends on the word alone."""
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
    return np.random.default_rng(seed).standard_normal(DIM)


def cut(body: bytes, fault: str | None) -> bytes:
    """Return what goes out of a body."""
    if fault == "empty":
        return b""
    return body[: len(body) // 2] if fault == "truncated" else body


def main() -> None:
    """Serve until killed."""
    parser = argparse.ArgumentParser(prog="python -m bench.storm.model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=float, default=0.0)
    parser.add_argument("--hang-s", type=float, default=4.0)
    parser.add_argument("--slow-word", default="")
    given = parser.parse_args()
    server = Model(**vars(given))
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
