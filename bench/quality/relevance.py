"""How well `relevance` says whether an answer holds what was asked for; data as for `answers`.

Asks each question of its own conversation, and once of another, where nothing answers it.
Prints how well the relevance parts the kinds of questions, and how often an answer of each
relevance holds what was asked for.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from tqdm import tqdm

from bench.quality.chats import UNANSWERABLE, Chat, read_chats, to_conversations
from bench.quality.memory import Ask, load
from bench.quality.report import Report
from bench.tables import area_under_curve, render_table

SHOWN_SHARE = 0.5
"""Of a question's evidence; an answer that shows so much of it holds what was asked for."""
BINS = 10
SEED = 7
KINDS = ("adversarial", "foreign")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as it was asked of one conversation, and what came of it."""

    conversation: str
    kind: str
    """`answerable`, `adversarial` (asks for what was never said), `foreign` (asked elsewhere)."""
    relevance: float
    has_answer: bool


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("path", type=Path, help="LoCoMo's JSON, or another's")
    parser.add_argument("--out", type=Path, required=True, help="where the answers are written")
    parser.add_argument("--max-tokens", type=int, default=1000, help="a budget for each answer")
    parser.add_argument("--tenant", default="answers", help="whose memory is used; made if missing")


def measure(options: Namespace) -> Report:
    """Return how well the relevance parts and how far it is from what is so."""
    chats = list(read_chats(options.path))
    conversations = [part for chat in chats for part in to_conversations(chat)]
    ask = load(conversations, tenant_name=options.tenant)
    places = [one.external_id for one in conversations]
    rows = list(ask_all(chats, places, partial(ask, max_tokens=options.max_tokens)))
    figures = score(rows)
    tables = [
        render_table(["figure", "value"], figures.items()),
        render_table(["relevance", "answers", "hold"], measure_bins(rows)),
    ]
    return Report(figures, "\n\n".join(tables), tuple(map(asdict, rows)))


def ask_all(chats: Sequence[Chat], places: Sequence[UUID], ask: Ask) -> Iterator[Asked]:
    """Yield each question twice: asked of its own conversation, and of another."""
    choice = random.Random(SEED)
    questions = [(number, row) for number, chat in enumerate(chats) for row in chat.questions]
    for number, row in tqdm(questions, unit=" questions", desc="asking"):
        others = [place for place in range(len(chats)) if place != number]
        for place in [number, *([choice.choice(others)] if others else [])]:
            kind = "adversarial" if row.kind in UNANSWERABLE else "answerable"
            kind = kind if place == number else "foreign"
            if kind == "answerable" and not row.gold:
                continue
            answer = ask(places[place], row.q)
            sources = [source for block in answer["blocks"] for source in block["sources"]]
            named = {source["metadata"]["id"] for source in sources} & set(row.gold)
            has_answer = kind == "answerable" and len(named) >= SHOWN_SHARE * len(row.gold)
            yield Asked(str(chats[number].id), kind, answer["relevance"] or 0.0, has_answer)


def score(rows: Sequence[Asked]) -> Mapping[str, Any]:
    """Return AUROC against each kind that nothing answers, and the error of calibration."""
    by_kind = {
        kind: np.array([row.relevance for row in rows if row.kind == kind])
        for kind in ("answerable", *KINDS)
    }
    figures: dict[str, Any] = {kind: len(values) for kind, values in by_kind.items()}
    for kind in KINDS:
        figures[f"AUROC, {kind}"] = area_under_curve(by_kind["answerable"], by_kind[kind])
    bins = measure_bins(rows)
    off = sum(abs(mean - share) * size for mean, size, share in bins)
    return figures | {"calibration error": off / max(len(rows), 1)}


def measure_bins(rows: Sequence[Asked]) -> list[tuple[float, int, float]]:
    """Return of each tenth of the scale its mean relevance, its answers, and how many hold."""
    bins = []
    for number in range(BINS):
        inside = [row for row in rows if min(int(row.relevance * BINS), BINS - 1) == number]
        if inside:
            mean = sum(row.relevance for row in inside) / len(inside)
            bins.append((mean, len(inside), sum(row.has_answer for row in inside) / len(inside)))
    return bins
