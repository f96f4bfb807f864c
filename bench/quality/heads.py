"""Trains the offline engine's heads on the labels of bench/labels, and scores them.

Chats are split by their ids, pairs of sentences by their groups: three fifths train, one fifth
chooses penalties and thresholds, one fifth is blind and only scored. Needs no database.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from bench.quality.heads_card import render, render_card
from bench.quality.labels import (
    PairRow,
    SentenceRow,
    measure_agreement,
    read_pairs,
    read_plain_facts,
    read_sentences,
)
from bench.quality.report import Report
from memoryproject.ai.e5 import load_e5
from semantic.offline import heads
from semantic.offline.heads import ACTS, CATEGORIES, DANGER, KEEP, LEANS, REPEATS, REPLACES, Floats

CARD = heads.WEIGHTS.with_suffix(".md")
PENALTIES = (3.0, 10.0, 30.0, 90.0)
STEPS = 150
"""Of the bound optimisation; twice as many change no figure of the pair heads."""
RECALL = {KEEP: 0.9, DANGER: 0.85, LEANS: 0.3, "instruction": 0.85}
"""The share of positives of the choice part that must be found, where a miss costs more."""
PRECISION = {REPLACES: 0.8, REPEATS: 0.9}
"""The least precision on the choice part, where a false alarm costs more."""
TEXT_AT_MOST = 600
"""Characters of a sentence that are embedded."""

Row = SentenceRow | PairRow


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("--write", action="store_true", help="write heads.npz and its card")
    parser.add_argument("--vectors", type=Path, help="a file that keeps vectors between runs")


def measure(options: Namespace) -> Report:
    """Return the figures of each head on the blind part."""
    sentences, pairs = [*read_sentences(), *read_plain_facts()], read_pairs()
    texts = [row.sample.text for row in sentences]
    texts += [text for row in pairs for text in (row.pair.old, row.pair.new)]
    vectors = _embed(texts, kept=options.vectors)
    single, sentence_figures = _train_sentences(sentences, vectors)
    double, pair_figures = _train_pairs(pairs, vectors)
    figures = {
        "heads": sentence_figures | pair_figures,
        "languages": _by_language(sentences, vectors, single),
        "category_accuracy": _category_accuracy(sentences, vectors, single),
        "agreement": measure_agreement(),
        "data": {"sentences": len(read_sentences()), "pairs": len(pairs)},
    }
    text = render(figures)
    if options.write:
        _write(single, double)
        CARD.write_text(render_card(figures, text), encoding="utf-8")
    return Report(figures, text)


def _embed(texts: Sequence[str], *, kept: Path | None) -> dict[str, Floats]:
    """Return the vector of each text by the built-in embedder."""
    known: dict[str, Floats] = {}
    if kept is not None and kept.exists():
        with np.load(kept) as file:
            known = dict(zip(map(str, file["texts"]), file["vectors"], strict=True))
    missing = [text for text in dict.fromkeys(texts) if text not in known]
    model = load_e5()
    for text in tqdm(missing, unit=" sentences"):
        known[text] = model.embed(f"passage: {text[:TEXT_AT_MOST]}").astype(np.float64)
    if kept is not None and missing:
        np.savez(kept, texts=np.array(list(known)), vectors=np.stack(list(known.values())))
    return known


def _train_sentences(
    rows: Sequence[SentenceRow], vectors: dict[str, Floats]
) -> tuple[heads.Heads, dict[str, Any]]:
    inputs = np.stack([vectors[row.sample.text] for row in rows])
    traits = [heads.measure_traits(row.sample) for row in rows]
    return train((KEEP, DANGER, LEANS, *ACTS, *CATEGORIES), rows, inputs, traits)


def _train_pairs(
    rows: Sequence[PairRow], vectors: dict[str, Floats]
) -> tuple[heads.Heads, dict[str, Any]]:
    old, new = (
        np.stack([vectors[text] for text in texts])
        for texts in ([row.pair.old for row in rows], [row.pair.new for row in rows])
    )
    cosines = np.einsum("ij,ij->i", old, new)
    traits = [
        heads.measure_pair_traits(row.pair, float(cosine))
        for row, cosine in zip(rows, cosines, strict=True)
    ]
    return train((REPLACES, REPEATS), rows, heads.compare_vectors(old, new), traits)


def train(
    names: Sequence[str], rows: Sequence[Row], vectors: Floats, traits: Sequence[Sequence[float]]
) -> tuple[heads.Heads, dict[str, Any]]:
    """Return heads, each with its best penalty and threshold, and their figures by name."""
    known = vectors[[row.part == "train" for row in rows]]
    mean, deviation = (
        np.asarray(array, np.float32).astype(np.float64)
        for array in (known.mean(axis=0), known.std(axis=0))
    )
    inputs = heads.make_rows(vectors, traits, mean=mean, deviation=deviation)
    columns, thresholds, figures = [], [], {}
    for name, fits in zip(names, _fit_all(names, rows, inputs), strict=True):
        choice, blind = (_pick(rows, inputs, name, part) for part in ("choice", "blind"))
        areas = [rank_share(choice[0] @ weights, choice[1]) for weights in fits]
        best = areas.index(max(areas))
        column = fits[best].astype(np.float32).astype(np.float64)
        threshold = round(_choose_threshold(name, _share(choice[0] @ column), choice[1]), 4)
        columns.append(column)
        thresholds.append(threshold)
        shares = _share(blind[0] @ column)
        figures[name] = {
            "threshold": threshold,
            "penalty": PENALTIES[best],
            "positives": int(blind[1].sum()),
            **precision_and_recall(shares >= threshold, blind[1]),
            "auc": rank_share(shares, blind[1]),
        }
    trained = heads.Heads(tuple(names), np.stack(columns), np.array(thresholds), mean, deviation)
    return trained, figures


def _fit_all(names: Sequence[str], rows: Sequence[Row], inputs: Floats) -> list[list[Floats]]:
    """Return for each head its weights by each penalty; those of the same rows at once."""
    fits: dict[str, list[Floats]] = {}
    places = {
        name: tuple(at for at, row in enumerate(rows) if name in row.targets) for name in names
    }
    for known_at in dict.fromkeys(places.values()):
        group = [name for name in names if places[name] == known_at]
        known, _ = _pick(rows, inputs, group[0], "train")
        targets = np.stack([_pick(rows, inputs, name, "train")[1] for name in group], axis=1)
        for penalty in tqdm(PENALTIES, unit=" penalties"):
            for name, weights in zip(group, fit(known, targets, penalty=penalty).T, strict=True):
                fits.setdefault(name, []).append(weights)
    return [fits[name] for name in names]


def _pick(rows: Sequence[Row], inputs: Floats, name: str, part: str) -> tuple[Floats, Floats]:
    """Return the inputs and targets of those rows of a part whose label is known."""
    places = [at for at, row in enumerate(rows) if row.part == part and name in row.targets]
    return inputs[places], np.array([rows[at].targets[name] for at in places], dtype=np.float64)


def fit(inputs: Floats, targets: Floats, *, penalty: float) -> Floats:
    """Return the weights of logistic regressions with a ridge, a column for each of `targets`.

    The last input, the bias, has no ridge. Each step solves with the same bound of the
    curvature, 1/4, which never overshoots. Source: Böhning and Lindsay, 1988.
    """
    ridge = np.full((inputs.shape[1], 1), penalty)
    ridge[-1] = 1e-3
    step = np.linalg.inv(inputs.T @ inputs / 4 + np.diag(ridge[:, 0]))
    weights = np.zeros((inputs.shape[1], targets.shape[1]))
    for _ in range(STEPS):
        slope = inputs.T @ (_share(inputs @ weights) - targets) + ridge * weights
        weights = weights - step @ slope
    return weights


def _share(odds: Floats) -> Floats:
    shares: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return shares


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


def rank_share(scores: Floats, targets: Floats) -> float:
    """Return how often a positive stands before a negative (the area under the ROC curve)."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    positives = targets.sum()
    if not 0 < positives < len(targets):
        return 0.5
    excess = ranks[targets == 1].sum() - positives * (positives - 1) / 2
    return float(excess / (positives * (len(targets) - positives)))


def precision_and_recall(chosen: Any, targets: Floats) -> dict[str, float]:
    """Return both, 0..1; 0 where nothing is there."""
    hits = float(targets[chosen].sum())
    return {
        "precision": hits / max(1, int(chosen.sum())),
        "recall": hits / max(1.0, float(targets.sum())),
    }


def _blind_scores(
    rows: Sequence[SentenceRow], vectors: dict[str, Floats], trained: heads.Heads
) -> tuple[list[SentenceRow], dict[str, Floats]]:
    blind = [row for row in rows if row.part == "blind"]
    inputs = np.stack([vectors[row.sample.text] for row in blind])
    return blind, trained.score(inputs, [heads.measure_traits(row.sample) for row in blind])


def _by_language(
    rows: Sequence[SentenceRow], vectors: dict[str, Floats], trained: heads.Heads
) -> dict[str, dict[str, float]]:
    """Return how well `KEEP` does in each language of the blind part."""
    blind, shares = _blind_scores(rows, vectors, trained)
    figures = {}
    for language in sorted({row.language for row in blind}):
        places = [at for at, row in enumerate(blind) if row.language == language]
        targets = np.array([blind[at].targets[KEEP] for at in places], dtype=np.float64)
        scores = shares[KEEP][places]
        figures[language] = {
            "positives": int(targets.sum()),
            **precision_and_recall(scores >= trained.threshold(KEEP), targets),
            "auc": rank_share(scores, targets),
        }
    return figures


def _category_accuracy(
    rows: Sequence[SentenceRow], vectors: dict[str, Floats], trained: heads.Heads
) -> float:
    """Return the share of kept sentences of the blind part that get their category."""
    blind, shares = _blind_scores(rows, vectors, trained)
    table = np.stack([shares[name] for name in CATEGORIES], axis=1)
    guesses = [CATEGORIES[at] for at in table.argmax(axis=1)]
    pairs = [(row, guess) for row, guess in zip(blind, guesses, strict=True) if row.targets[KEEP]]
    return sum(row.targets[guess] for row, guess in pairs) / max(1, len(pairs))


def _write(single: heads.Heads, double: heads.Heads) -> None:
    """Write the weights; the file is whole or as it was."""
    arrays: dict[str, Any] = {
        f"{kind}_{name}": array
        for kind, trained in (("sentence", single), ("pair", double))
        for name, array in (
            ("names", np.array(trained.names)),
            ("matrix", trained.matrix.astype(np.float32)),
            ("thresholds", trained.thresholds),
            ("mean", trained.mean.astype(np.float32)),
            ("deviation", trained.deviation.astype(np.float32)),
        )
    }
    fresh = heads.WEIGHTS.with_suffix(".new.npz")
    np.savez(fresh, **arrays)
    os.replace(fresh, heads.WEIGHTS)
