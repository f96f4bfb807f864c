"""Trains networks of one hidden layer, the same each time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from semantic.offline.heads import Floats, Network

MEMBERS = 3
"""Networks that differ in their first weights alone; their mean decides, as one network."""
EPOCHS, BATCH, RATE, DROPPED, DECAY = 40, 256, 3e-3, 0.4, 1.0
"""How the networks learn: Adam whose rate falls along a cosine, dropout, decay of weights."""

Weights = npt.NDArray[Any]
"""Numbers of single precision, which halve the time."""


def fit(inputs: Floats, targets: Floats, *, units: int) -> Network:
    """Return a network that predicts `targets` (0, 1, or NaN: unknown), the same each time.

    The members stand side by side in its hidden layer.
    """
    inputs, targets = inputs.astype(np.float32), targets.astype(np.float32)
    members = [_fit_member(inputs, targets, units, seed=seed) for seed in range(MEMBERS)]
    hidden = np.hstack([hidden for hidden, _ in members])
    outputs = [output[:-1] / MEMBERS for _, output in members]
    bias = sum(output[-1:] for _, output in members) / MEMBERS
    output = np.vstack([*outputs, bias]).astype(np.float16).astype(np.float64)
    steps, scale = round_weights(hidden)
    return Network(steps.astype(np.float64) * scale, output)


def round_weights(hidden: Weights) -> tuple[Weights, Weights]:
    """Return weights in steps of a scale for each unit (columns), which fit eight bits."""
    scale = (np.abs(hidden).max(axis=0) / 127).astype(np.float32)
    return np.round(hidden / scale).astype(np.int8), scale


def _fit_member(
    inputs: Weights, targets: Weights, units: int, *, seed: int
) -> tuple[Weights, Weights]:
    """Return the weights of both layers."""
    dice = np.random.default_rng(seed)
    width, names = inputs.shape[1], targets.shape[1]
    hidden = dice.normal(0, width**-0.5, (width, units)).astype(np.float32)
    output = dice.normal(0, units**-0.5, (units + 1, names)).astype(np.float32)
    steps = [_Adam(hidden), _Adam(output)]
    order = np.arange(len(inputs))
    for epoch in tqdm(range(EPOCHS), unit=" epochs"):
        dice.shuffle(order)
        rate = RATE * (1 + np.cos(np.pi * epoch / EPOCHS)) / 2
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            kept = (dice.random((len(batch), units)) > DROPPED).astype(np.float32) / (1 - DROPPED)
            slopes = _find_slopes(hidden, output, inputs[batch], targets[batch], kept)
            for step, slope in zip(steps, slopes, strict=True):
                step.take(slope, rate)
    return hidden, output


def _find_slopes(
    hidden: Weights, output: Weights, inputs: Weights, targets: Weights, kept: Weights
) -> tuple[Weights, Weights]:
    """Return the slopes of the mean cross entropy by both layers; `kept` scales hidden units."""
    active = np.maximum(inputs @ hidden, 0.0)
    units = np.hstack([active * kept, np.ones((len(inputs), 1), np.float32)])
    errors = np.nan_to_num(1 / (1 + np.exp(-(units @ output))) - targets) / len(inputs)
    back = (errors @ output[:-1].T) * kept * (active > 0)
    return inputs.T @ back, units.T @ errors


class _Adam:
    """Changes one array of weights in place. Source: Kingma and Ba, 2015, with decoupled decay."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._mean, self._square = np.zeros_like(weights), np.zeros_like(weights)
        self._count = 0

    def take(self, slope: Weights, rate: float) -> None:
        """Go one step down the slope."""
        self._count += 1
        self._mean += 0.1 * (slope - self._mean)
        self._square += 0.001 * (slope**2 - self._square)
        mean = self._mean / (1 - 0.9**self._count)
        square = self._square / (1 - 0.999**self._count)
        self._weights -= rate * (mean / (np.sqrt(square) + 1e-8) + DECAY * self._weights)
