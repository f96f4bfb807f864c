"""How well `relevance` says whether an answer holds what was asked for, on LoCoMo.

Asks each question of its own conversation, and once of another, where nothing answers it.
Prints how well the relevance parts the kinds of questions, and how often an answer of each
relevance holds what was asked for.
"""

from __future__ import annotations

import random
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.quality.locomo import to_units
from bench.quality.memory import Ask, load
from bench.quality.report import Report
from bench.quality.sessions import Sample, parse_turns, read_samples
from bench.tables import area_under_curve, render_table
from wings.transfer.loading import LoadedConversation

ADVERSARIAL = 5
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
    parser.add_argument("path", type=Path, help="LoCoMo's JSON")
    parser.add_argument("--out", type=Path, required=True, help="where the answers are written")
    parser.add_argument("--max-tokens", type=int, help="a budget for each answer")
    parser.add_argument("--tenant", default="locomo", help="whose memory is used; made if missing")


def measure(options: Namespace) -> Report:
    """Return how well the relevance parts and how far it is from what is so."""
    samples = read_samples(options.path)
    conversations = [conversation for _, conversation in samples]
    ask = load(conversations, tenant_name=options.tenant, max_tokens=options.max_tokens)
    rows = list(ask_all(samples, ask))
    figures = score(rows)
    tables = [
        render_table(["figure", "value"], figures.items()),
        render_table(["relevance", "answers", "hold"], measure_bins(rows)),
    ]
    return Report(figures, "\n\n".join(tables), tuple(map(asdict, rows)))


def ask_all(samples: Sequence[tuple[Sample, LoadedConversation]], ask: Ask) -> Iterator[Asked]:
    """Yield each question twice: asked of its own conversation, and of another."""
    choice = random.Random(SEED)
    questions = [(number, row) for number, (sample, _) in enumerate(samples) for row in sample.qa]
    for number, row in tqdm(questions, unit=" questions", desc="asking"):
        others = [place for place in range(len(samples)) if place != number]
        for place in [number, *([choice.choice(others)] if others else [])]:
            sample, conversation = samples[place]
            answer = ask(conversation.external_id, row.question)
            kind = "adversarial" if row.category == ADVERSARIAL else "answerable"
            kind = kind if place == number else "foreign"
            evidence = set(parse_turns(row.evidence))
            if kind == "answerable" and not evidence:
                continue
            shown = {dia for unit in to_units(answer) for dia in unit["dia_ids"]}
            share = len(shown & evidence) / len(evidence) if evidence else 0.0
            has_answer = kind == "answerable" and share >= SHOWN_SHARE
            yield Asked(str(sample.sample_id), kind, answer["relevance"] or 0.0, has_answer)


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
