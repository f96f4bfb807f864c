"""Trains the offline engine's heads on the labels of bench/labels, and scores them.

Chats are split by their ids, pairs of sentences by their groups: three fifths train, one fifth
chooses thresholds and then trains, too, one fifth is blind and only scored. Needs no database.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.quality.labels import (
    PairRow,
    SentenceRow,
    read_alone,
    read_mismatched,
    read_pairs,
    read_plain_facts,
    read_sentences,
)
from bench.quality.networks import fit, round_weights
from bench.quality.report import Report
from bench.tables import area_under_curve, render_table
from memoryproject.ai.embeddings import PASSAGE, LocalEmbedder, count_prefix
from memoryproject.ai.token_states import Embedded, load_constants
from semantic.offline import heads
from semantic.offline.heads import (
    ACTS,
    CATEGORIES,
    DANGER,
    KEEP,
    LEANS,
    MATERIAL,
    REPEATS,
    REPLACES,
    Floats,
)

CARD = heads.WEIGHTS.with_suffix(".md")
CARD_TEXT = Path(__file__).with_name("heads_card.txt")
UNITS = {"sentence": 96, "pair": 60}
"""Of the hidden layer of one member; more pairs' would not fit the limit of 500 kB."""
VECTOR_SCALE = 0.5
"""Of standardised vectors beside standardised traits, of which there are fewer."""
RECALL = {KEEP: 0.965, DANGER: 0.85, LEANS: 0.75, "instruction": 0.83}
"""The share of positives of the choice part that must be found, where a miss costs more."""
PRECISION = {REPLACES: 0.75, REPEATS: 0.9, "pasted": 0.95, "joke": 0.85}
"""The least precision on the choice part, where a false alarm costs more."""
TEXT_AT_MOST = 600
"""Characters of a sentence that are embedded."""

Row = SentenceRow | PairRow


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("--write", action="store_true", help="write heads.npz and its card")


def measure(options: Namespace) -> Report:
    """Return the figures of each head on the blind part."""
    sentences = [*read_sentences(), *read_alone(), *read_plain_facts()]
    pairs = [*read_pairs(), *read_mismatched()]
    texts = [text for row in sentences for text in (row.sample.text, row.sample.before) if text]
    texts += [text for row in pairs for text in (row.pair.old, row.pair.new)]
    vectors = _embed(texts)
    single, sentence_figures = _train_sentences(sentences, vectors)
    double, pair_figures = _train_pairs(pairs, vectors)
    figures = {
        "heads": sentence_figures | pair_figures,
        "languages": _by_language(sentences, vectors, single),
        "category_accuracy": _category_accuracy(sentences, vectors, single),
    }
    text = render(figures)
    if options.write:
        _write(single, double)
        card = CARD_TEXT.read_text(encoding="utf-8").format(
            sentences=len(read_sentences()), pairs=len(read_pairs()), figures=text
        )
        CARD.write_text(card, encoding="utf-8")
    return Report(figures, text)


def _embed(texts: Sequence[str]) -> dict[str, Embedded]:
    """Return what the built-in embedder makes of each text."""
    read, keep, prefix = LocalEmbedder().read, load_constants().keep, count_prefix(PASSAGE)
    known: dict[str, Embedded] = {}
    for text in tqdm(dict.fromkeys(texts), unit=" sentences"):
        reading = read(PASSAGE, text[:TEXT_AT_MOST])
        # In half precision another machine's numbers are the same but for few.
        rounded = reading._replace(states=reading.states.astype(np.float16).astype(np.float32))
        known[text] = Embedded(reading.vector, keep(rounded, prefix=prefix))
    return known


def _train_sentences(
    rows: Sequence[SentenceRow], vectors: dict[str, Embedded]
) -> tuple[heads.Heads, dict[str, Any]]:
    inputs = heads.stack_vectors([row.sample for row in rows], vectors)
    traits = [heads.measure_traits(row.sample) for row in rows]
    names = (KEEP, DANGER, LEANS, MATERIAL, *ACTS, *CATEGORIES)
    return train("sentence", names, rows, inputs, traits)


def _train_pairs(
    rows: Sequence[PairRow], vectors: dict[str, Embedded]
) -> tuple[heads.Heads, dict[str, Any]]:
    seen = [heads.compare(row.pair, vectors[row.pair.old], vectors[row.pair.new]) for row in rows]
    inputs, traits = zip(*seen, strict=True)
    return train("pair", (REPLACES, REPEATS), rows, np.stack(inputs), traits)


def train(
    kind: str,
    names: Sequence[str],
    rows: Sequence[Row],
    vectors: Floats,
    traits: Sequence[Sequence[float]],
) -> tuple[heads.Heads, dict[str, Any]]:
    """Return heads with thresholds, and their figures by name."""
    parts = np.array([row.part for row in rows])
    mean, deviation = _measure_columns(
        heads.join_columns(vectors, traits)[parts == "train"], vectors
    )
    inputs = heads.make_rows(vectors, traits, mean=mean, deviation=deviation)
    targets = np.array([[row.targets.get(name, np.nan) for name in names] for row in rows], float)

    def score(part: str, network: heads.Network) -> Iterator[tuple[str, Floats, Floats]]:
        """Yield the name, the shares and the targets of each head, where a label is known."""
        shares = network.score(inputs[parts == part])
        for name, column, known in zip(names, shares.T, targets[parts == part].T, strict=True):
            is_labelled = ~np.isnan(known)
            yield name, column[is_labelled], known[is_labelled]

    first = fit(inputs[parts == "train"], targets[parts == "train"], units=UNITS[kind])
    thresholds = {
        name: round(_choose_threshold(name, *scored), 4) for name, *scored in score("choice", first)
    }
    last = fit(inputs[parts != "blind"], targets[parts != "blind"], units=UNITS[kind])
    figures = {
        name: {"threshold": thresholds[name], **judge(shares, known, threshold=thresholds[name])}
        for name, shares, known in score("blind", last)
    }
    values = np.array(list(thresholds.values()))
    return heads.Heads(tuple(names), values, mean, deviation, last), figures


def _measure_columns(known: Floats, vectors: Floats) -> tuple[Floats, Floats]:
    """Return the mean of each input and what to divide it by, as the file of weights keeps them."""
    deviation = known.std(axis=0) + 1e-6
    deviation[: vectors.shape[1]] /= VECTOR_SCALE
    mean, deviation = (
        array.astype(np.float32).astype(np.float64) for array in (known.mean(axis=0), deviation)
    )
    return mean, deviation


def _choose_threshold(name: str, shares: Floats, targets: Floats) -> float:
    """Return the threshold that fits what a mistake of this head costs."""
    order = np.sort(shares)
    if name in RECALL:
        positives = np.sort(shares[targets == 1])
        return float(positives[int(len(positives) * (1 - RECALL[name]))]) if len(positives) else 0.5
    if name in PRECISION:
        enough = (share for share in order if targets[shares >= share].mean() >= PRECISION[name])
        return float(next(enough, 1.0))
    return 0.5


def judge(shares: Floats, targets: Floats, *, threshold: float) -> dict[str, float]:
    """Return what a head finds, 0..1; 0 where nothing is there."""
    chosen, positives = shares >= threshold, int(targets.sum())
    hits = float(targets[chosen].sum())
    return {
        "positives": positives,
        "precision": hits / max(1, int(chosen.sum())),
        "recall": hits / max(1, positives),
        "auc": area_under_curve(shares[targets == 1], shares[targets == 0]),
    }


def _blind_scores(
    rows: Sequence[SentenceRow], vectors: dict[str, Embedded], trained: heads.Heads
) -> tuple[list[SentenceRow], dict[str, Floats]]:
    blind = [row for row in rows if row.part == "blind"]
    inputs = heads.stack_vectors([row.sample for row in blind], vectors)
    return blind, trained.score(inputs, [heads.measure_traits(row.sample) for row in blind])


def _by_language(
    rows: Sequence[SentenceRow], vectors: dict[str, Embedded], trained: heads.Heads
) -> dict[str, dict[str, float]]:
    """Return how well `KEEP` does in each language of the blind part."""
    blind, shares = _blind_scores(rows, vectors, trained)
    figures = {}
    for language in sorted({row.language for row in blind}):
        places = [at for at, row in enumerate(blind) if row.language == language]
        targets = np.array([blind[at].targets[KEEP] for at in places], dtype=np.float64)
        threshold = trained.threshold(KEEP)
        figures[language] = judge(shares[KEEP][places], targets, threshold=threshold)
    return figures


def _category_accuracy(
    rows: Sequence[SentenceRow], vectors: dict[str, Embedded], trained: heads.Heads
) -> float:
    """Return the share of kept sentences of the blind part that get their category."""
    blind, shares = _blind_scores(rows, vectors, trained)
    table = np.stack([shares[name] for name in CATEGORIES], axis=1)
    guesses = [CATEGORIES[at] for at in table.argmax(axis=1)]
    hits = [
        row.targets[guess]
        for row, guess in zip(blind, guesses, strict=True)
        if guess in row.targets
    ]
    return sum(hits) / max(1, len(hits))


def render(figures: dict[str, Any]) -> str:
    """Return the tables of the figures."""
    columns = ("positives", "precision", "recall", "auc")
    by_head = [
        (name, row["threshold"], *(row[key] for key in columns))
        for name, row in figures["heads"].items()
    ]
    by_language = [
        (name, *(row[key] for key in columns)) for name, row in figures["languages"].items()
    ]
    return "\n\n".join(
        (
            render_table(["head", "threshold", *columns], by_head),
            render_table([f"language ({KEEP})", *columns], by_language),
            f"category right: {figures['category_accuracy']:.3f}",
        )
    )


def _write(single: heads.Heads, double: heads.Heads) -> None:
    """Write the weights; the file is whole or as it was."""
    arrays: dict[str, Any] = {
        f"{kind}_{name}": array
        for kind, trained in (("sentence", single), ("pair", double))
        for name, array in (
            ("names", np.array(trained.names)),
            ("thresholds", trained.thresholds),
            ("mean", trained.mean.astype(np.float32)),
            ("deviation", trained.deviation.astype(np.float32)),
            *zip(("hidden", "scale"), round_weights(trained.network.hidden), strict=True),
            ("output", trained.network.output.astype(np.float16)),
        )
    }
    fresh = heads.WEIGHTS.with_suffix(".new.npz")
    np.savez(fresh, **arrays)
    os.replace(fresh, heads.WEIGHTS)
