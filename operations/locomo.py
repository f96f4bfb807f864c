"""Asking LoCoMo's questions through the retrieve view, in the scorer's format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from django.test import Client

from episodic.loading import to_uuid

RETRIEVE_RAW = "/api/v0/retrieve_memory/raw"


def write_run(
    samples: list[dict[str, Any]],
    *,
    ask: Callable[[str, str], dict[str, Any]],
    out: TextIO,
    report: Callable[[int], None],
) -> None:
    """Ask every question of every sample and write one line each."""
    for sample in samples:
        conversation_id = str(to_uuid(sample["sample_id"]))
        for number, question in enumerate(sample["qa"]):
            answer = ask(conversation_id, question["question"])
            line = {
                "sample_id": sample["sample_id"],
                "qid": number,
                "units": list(to_units(answer)),
            }
            out.write(json.dumps(line, ensure_ascii=False) + "\n")
            report(1)


def make_asker(*, secret: str, max_tokens: int | None) -> Callable[[str, str], dict[str, Any]]:
    """Return a function that asks the product's own view, with default settings."""
    client = Client(headers={"authorization": f"Bearer {secret}"}, SERVER_NAME="localhost")

    def ask(conversation_id: str, question: str) -> dict[str, Any]:
        body: dict[str, Any] = {"conversation_id": conversation_id, "query": question}
        if max_tokens is not None:
            body["max_tokens"] = max_tokens
        response = client.post(RETRIEVE_RAW, body, content_type="application/json")
        if response.status_code != 200:
            raise RuntimeError(f"retrieve answered {response.status_code}")
        answer: dict[str, Any] = response.json()
        return answer

    return ask


def to_units(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what an answer holds, each with the turns that it comes from.

    With a budget: its blocks, as they enter the prompt. Without: one unit a fact and an
    episode, best first by score; an episode's text is its messages as an agent would
    put them into a prompt.
    """
    if answer["blocks"] is not None:
        for block in answer["blocks"]:
            turns = [row["metadata"]["dia_id"] for row in block["sources"]]
            yield {"text": block["text"], "dia_ids": turns}
        return
    hits = [("fact", hit) for hit in answer["semantic"]]
    hits += [("episode", hit) for hit in answer["episodic"]]
    for kind, hit in sorted(hits, key=lambda pair: -pair[1]["score"]):
        sources = answer["sources"][hit["id"]]
        yield {
            "text": hit["fact"] if kind == "fact" else _transcript(hit, sources),
            "dia_ids": [row["metadata"]["dia_id"] for row in sources],
        }


def _transcript(episode: dict[str, Any], sources: list[dict[str, Any]]) -> str:
    lines = [
        f"{source['name']}: {message['content']}"
        for message, source in zip(episode["messages"], sources, strict=True)
    ]
    return f"{episode['start_at'][:10]}\n" + "\n".join(lines)


def read_samples(path: Path) -> list[dict[str, Any]]:
    """Return LoCoMo's samples, questions included."""
    samples: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return samples
