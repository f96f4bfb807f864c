"""Answers to LoCoMo's questions through the retrieve view, in the scorer's format.

Loads the conversations, processes them, and asks every question with default settings: in the
conversation, or with --sessions from a new one. Then each session is a conversation of one user,
as applications have it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bench.quality.memory import Answer, load
from bench.quality.report import Report
from bench.quality.sessions import find_session, find_turns, read_samples
from episodic.models import Message
from wings.transfer.loading import LoadedConversation, to_uuid


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="LoCoMo's JSON")
    parser.add_argument("--out", type=Path, required=True, help="where the run is written")
    parser.add_argument("--max-tokens", type=int, help="a budget for each answer")
    whose = "load each session as a conversation of one user, and ask from a new one"
    parser.add_argument("--sessions", action="store_true", help=whose)
    parser.add_argument("--tenant", default="locomo", help="whose memory is used; made if missing")


def measure(options: Namespace) -> Report:
    """Return a row a question for the scorer, which knows the figures."""
    samples = read_samples(options.path)
    conversations = [conversation for _, conversation in samples]
    if options.sessions:
        conversations = [part for one in conversations for part in split_sessions(one)]
    ask = load(conversations, tenant_name=options.tenant, max_tokens=options.max_tokens)
    questions = [
        (sample, number, conversation.name if options.sessions else conversation.external_id)
        for sample, conversation in samples
        for number in range(len(sample.qa))
    ]
    rows = []
    for sample, number, where in tqdm(questions, unit=" questions", desc="asking"):
        units = [*to_units(ask(where, sample.qa[number].question))]
        rows.append({"sample_id": sample.sample_id, "qid": number, "units": units})
    return Report({"questions": len(rows)}, f"{len(rows)} questions", tuple(rows))


def split_sessions(conversation: LoadedConversation) -> Iterator[LoadedConversation]:
    """Yield each session of a conversation as one of its own, all of one user."""

    def session_of(message: Message) -> int:
        return find_session(find_turns(message)[0])

    for number, messages in groupby(conversation.messages, key=session_of):
        name = f"{conversation.name} session {number}"
        yield LoadedConversation(name, to_uuid(name), tuple(messages), conversation.name)


def to_units(answer: Answer) -> Iterator[dict[str, Any]]:
    """Yield what an answer holds, each with the turns that it comes from.

    With a budget: its blocks, as they enter the prompt. Without: one unit a fact and an
    episode, best first by score; an episode's text is its messages as an agent would
    put them into a prompt.
    """
    if answer["blocks"] is not None:
        units = [(block["text"], block["sources"]) for block in answer["blocks"]]
    else:
        hits = sorted([*answer["semantic"], *answer["episodic"]], key=lambda hit: -hit["score"])
        units = [_to_unit(hit, answer["sources"][hit["id"]]) for hit in hits]
    for text, sources in units:
        yield {"text": text, "dia_ids": [source["metadata"]["dia_id"] for source in sources]}


def _to_unit(hit: dict[str, Any], sources: list[dict[str, Any]]) -> tuple[str, Any]:
    if "fact" in hit:
        return hit["fact"], sources
    lines = [
        f"{source['name']}: {message['content']}"
        for message, source in zip(hit["messages"], sources, strict=True)
    ]
    return "\n".join([hit["start_at"][:10], *lines]), sources
