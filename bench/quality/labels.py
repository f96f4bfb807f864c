"""Reads the labelled sentences and pairs of sentences of bench/labels."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from semantic.offline.heads import (
    ACTS,
    CATEGORIES,
    DANGER,
    KEEP,
    LEANS,
    MATERIAL,
    REPEATS,
    REPLACES,
    Pair,
    Sample,
)
from semantic.offline.judging import BEFORE_AT_MOST
from wings.transfer.loading import UnreadableFile

FOLDER = Path(__file__).parents[1] / "labels"
PARTS = ("train", "train", "train", "choice", "blind")
"""The part of a chat or a group of pairs, by the remainder of a hash of its id."""


PLAIN = "pairs-[12].jsonl"
"""Pairs whose older sentences train the heads of sentences, too: with more of them, these take
the sentences of somebody's text for facts."""
PARTS_MADE = {"train": "train", "choice": "later"}
"""The part of a row that is made of a labelled one: `later` only trains, and chooses nothing."""


@dataclass(frozen=True, slots=True)
class SentenceRow:
    """One labelled sentence of a person.

    `targets` by head; a category, and whether it needs the sentence before, is known only of what
    is to be kept, whether somebody's text comes after it only where anything does, and of some
    chats neither act nor category.
    """

    sample: Sample
    language: str
    part: str
    targets: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class PairRow:
    """Two sentences of one speaker; `targets` by head."""

    pair: Pair
    language: str
    part: str
    targets: Mapping[str, bool]


def read_chats() -> list[dict[str, Any]]:
    """Return the labelled chats in the order of the files.

    Raises:
        UnreadableFile: there are none.
    """
    chats = [chat for path in sorted(FOLDER.glob("chats-*.jsonl")) for chat in _read_lines(path)]
    if not chats:
        raise UnreadableFile(f"No labelled chats are in {FOLDER}.")
    return chats


def read_sentences() -> list[SentenceRow]:
    """Return the labelled sentences of people in order."""
    return [row for chat in read_chats() for row in _read_chat(chat)]


def read_plain_facts() -> list[SentenceRow]:
    """Return older sentences of the pairs to train with: each states something about a life.

    Without them the heads have hardly seen a plain short statement ("I live in Oslo."): those of
    the chats are longer.
    """
    rows = {row.pair.old: row for row in read_pairs(PLAIN) if row.part == "train"}
    targets = {name: name in (KEEP, "self") for name in (KEEP, *ACTS)}
    return [
        SentenceRow(
            Sample(
                text, 0, 1, len(text), has_assistant=bool(at & 1), is_first_message=bool(at & 2)
            ),
            row.language,
            "train",
            targets,
        )
        for at, (text, row) in enumerate(sorted(rows.items()))
    ]


def read_alone() -> list[SentenceRow]:
    """Return sentences to train with once more, each as a message of its own.

    Without them a lone short sentence looks like a fact, since those of `read_plain_facts` are.
    What leans on others, or is known by them for a paste, is left out.
    """
    rows = [
        row
        for row in read_sentences()
        if row.part != "blind" and not row.targets.get(LEANS) and not row.targets.get("pasted")
    ]
    return [
        replace(
            row,
            sample=replace(
                row.sample, place=0, count=1, message_length=len(row.sample.text), before=""
            ),
            part=PARTS_MADE[row.part],
        )
        for row in rows
        if row.sample.count > 1
    ]


def read_pairs(files: str = "pairs*.jsonl") -> list[PairRow]:
    """Return the labelled pairs of sentences in order."""
    return [
        PairRow(
            Pair(row["old"], row["new"], row["gap_days"]),
            row["language"],
            part_of(row["group"]),
            {name: row["relation"] == name for name in (REPLACES, REPEATS)},
        )
        for path in sorted(FOLDER.glob(files))
        for row in _read_lines(path)
    ]


def read_mismatched() -> list[PairRow]:
    """Return pairs to train with of sentences that have nothing to do with each other.

    The labelled pairs share a subject each; of two sentences of a life hardly any do.
    """
    rows = [row for row in read_pairs() if row.part != "blind"]
    nothing = {REPLACES: False, REPEATS: False}
    mismatched = []
    for language in sorted({row.language for row in rows}):
        own = [row for row in rows if row.language == language]
        for row, other in zip(own, own[len(own) // 2 :] + own[: len(own) // 2], strict=True):
            pair = replace(row.pair, new=other.pair.new)
            mismatched.append(replace(row, pair=pair, part=PARTS_MADE[row.part], targets=nothing))
    return mismatched


def part_of(name: str) -> str:
    """Return the part of the data that a chat, or a group of pairs, belongs to."""
    return PARTS[int(hashlib.sha256(name.encode()).hexdigest(), 16) % len(PARTS)]


def _read_lines(path: Path) -> Iterator[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def _read_chat(chat: Mapping[str, Any]) -> Iterator[SentenceRow]:
    earlier = ["", *(message["content"][-BEFORE_AT_MOST:] for message in chat["messages"])]
    for number, message in enumerate(chat["messages"]):
        labels = message["labels"]
        befores = [earlier[number], *(label["s"] for label in labels)]
        for place, label in enumerate(labels):
            if label["act"] == "assistant" or message["role"] != "user":
                continue
            if chat["kind"] == MATERIAL and label["act"] == "pasted":
                continue  # by itself it looks like its sender's own words
            sample = Sample(
                text=label["s"],
                place=place,
                count=len(labels),
                message_length=len(message["content"]),
                has_assistant=chat["assistant"],
                is_first_message=number == 0,
                before=befores[place],
            )
            targets = {KEEP: bool(label["keep"]), DANGER: bool(label["danger"])}
            if label["keep"]:
                targets[LEANS] = bool(label.get("needs_previous"))
            if label["act"]:
                targets |= {act: label["act"] == act for act in ACTS}
                if (after := labels[place + 1 : place + 2]) and not targets["pasted"]:
                    targets[MATERIAL] = after[0]["act"] == "pasted"
                if label["keep"]:
                    targets |= {name: label["category"] == name for name in CATEGORIES}
            part = part_of(chat.get("plan", chat["id"]))
            yield SentenceRow(sample, chat["language"], part, targets)
