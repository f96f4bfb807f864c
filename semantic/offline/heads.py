"""Scores sentences with small trained classifiers: keep it or not, category, danger.

The heads share one hidden layer. Their inputs are the built-in embedder's vectors of a sentence and
of the text before it, and a dozen language-independent traits. All are trained on the labelled
chats of `bench/labels` by `python -m bench.quality heads`, which writes `heads.npz` and `heads.md`,
its card.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from memoryproject.ai.e5 import Vectors
from memoryproject.ai.token_states import Embedded, read_directions
from memoryproject.text.words import content_stems
from semantic.engines import Category

Floats = npt.NDArray[np.float64]
Read = Callable[[Sequence[str]], Sequence[Embedded]]
"""Function that returns the built-in embedder's result for texts, in order."""
WEIGHTS = Path(__file__).with_name("heads.npz")
KEEP, DANGER, LEANS, MATERIAL = "keep", "danger", "needs_previous", "material"
"""Names of heads: keep the sentence, it states a danger, it needs the sentence before it, a text to
work on follows it."""
ACTS = (
    "self",
    "other",
    "instruction",
    "request",
    "question",
    "smalltalk",
    "joke",
    "pasted",
)
CATEGORIES = tuple(category.value for category in Category)
REPLACES, REPEATS = "replaces", "repeats"
TRAITS = 14
PAIR_TRAITS = 15
ASKS = ("?", "？", "؟")
_SHOUTS = ("!", "！")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_QUOTES = re.compile(r"[\"“”„«»「」『』]")


@dataclass(frozen=True, slots=True)
class Sample:
    """One sentence and its position: number `place`, from 0, of `count` in the message."""

    text: str
    place: int
    count: int
    message_length: int
    """Length of the message in characters."""
    has_assistant: bool
    """Whether an assistant takes part in the conversation."""
    is_first_message: bool
    before: str = ""
    """The sentence before it in its message, else the end of the message before."""


def measure_traits(sample: Sample) -> list[float]:
    """Return `TRAITS` language-independent numbers about a sentence, each about 0 to 1.5."""
    text = sample.text.strip()
    return [
        float(sample.has_assistant),
        float(np.log1p(len(text)) / 5),
        float(any(map(str.isdigit, text))),
        sum(map(str.isdigit, text)) / max(1, len(text)),
        float(text.endswith(ASKS)),
        float(text.endswith(_SHOUTS)),
        float(sample.place == 0),
        float(sample.place == sample.count - 1),
        float(sample.is_first_message),
        float("\n" in text),
        float(bool(_QUOTES.search(text))),
        float(text.endswith((":", "："))),
        min(sample.count, 12) / 8,
        float(np.log1p(sample.message_length) / 7),
    ]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two sentences of one speaker, the older first, and the days between them."""

    old: str
    new: str
    gap_days: float


def measure_pair_traits(pair: Pair, cosine: float, changed: float) -> list[float]:
    """Return `PAIR_TRAITS` language-independent numbers about two sentences.

    `cosine` compares the sentences, `changed` the parts that differ: Oslo and Rome are alike.
    """
    old, new = set(content_stems(pair.old)), set(content_stems(pair.new))
    old_numbers, new_numbers = (set(_NUMBER.findall(text)) for text in (pair.old, pair.new))
    shared = len(old & new)
    return [
        cosine * 5 - 4,  # cosines of this embedder lie between .75 and 1
        shared / max(1, len(old)),
        shared / max(1, len(new)),
        min(shared, 5) / 5,
        float(bool(old_numbers & new_numbers)),
        float(bool(old_numbers - new_numbers)),
        float(bool(new_numbers - old_numbers)),
        float(bool(old_numbers - new_numbers) and bool(new_numbers - old_numbers)),
        float(np.log1p(len(pair.old)) / 5),
        float(np.log1p(len(pair.new)) / 5),
        float(pair.new.rstrip().endswith(ASKS)),
        float(pair.new.rstrip().endswith(_SHOUTS)),
        float(bool(_QUOTES.search(pair.new))),
        float(np.log1p(max(0.0, pair.gap_days)) / 6),
        changed,
    ]


@dataclass(frozen=True, slots=True)
class Network:
    """One hidden layer, which all heads share, and an output for each head.

    `hidden` has shape (inputs, units), `output` (units + 1, heads): its last row is the bias.
    """

    hidden: Floats
    output: Floats

    def score(self, inputs: Floats) -> Floats:
        """Return the probability, 0..1, of each head (columns) for each row."""
        units = np.maximum(inputs @ self.hidden, 0.0)
        odds = units @ self.output[:-1] + self.output[-1]
        shares: Floats = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        return shares


@dataclass(frozen=True, slots=True)
class Heads:
    """A trained network with the names of its heads.

    `thresholds` has for each the probability from which on it decides; `mean` and `deviation`
    standardise the columns of its inputs.
    """

    names: tuple[str, ...]
    thresholds: Floats
    mean: Floats
    deviation: Floats
    network: Network

    def score(self, vectors: Floats, traits: Sequence[Sequence[float]]) -> dict[str, Floats]:
        """Return the probability, 0..1, of each head for each row of both."""
        inputs = make_rows(vectors, traits, mean=self.mean, deviation=self.deviation)
        return dict(zip(self.names, self.network.score(inputs).T, strict=True))

    def threshold(self, name: str) -> float:
        """Return the probability from which on a head says yes."""
        return float(self.thresholds[self.names.index(name)])


def score_sentences(samples: Sequence[Sample], read: Read) -> dict[str, Floats]:
    """Return the probability, 0..1, of each head for each sentence, in order."""
    texts = list(dict.fromkeys(text for one in samples for text in (one.text, one.before) if text))
    vectors = dict(zip(texts, read(texts), strict=True))
    traits = [measure_traits(sample) for sample in samples]
    return load_heads().score(stack_vectors(samples, vectors), traits)


def stack_vectors(samples: Sequence[Sample], vectors: Mapping[str, Embedded]) -> Floats:
    """Return each sentence's vector beside that of the text before it; zeros if there is none."""
    own = np.stack([vectors[sample.text].vector for sample in samples])
    before = np.zeros_like(own)
    for row, sample in zip(before, samples, strict=True):
        if sample.before:
            row[:] = vectors[sample.before].vector
    return np.hstack([own, before]).astype(np.float64)


def join_columns(vectors: Floats, traits: Sequence[Sequence[float]]) -> Floats:
    """Return the measurements of each row: its vector, then its traits."""
    return np.hstack([np.asarray(vectors, np.float64), np.asarray(traits, np.float64)])


def make_rows(
    vectors: Floats, traits: Sequence[Sequence[float]], *, mean: Floats, deviation: Floats
) -> Floats:
    """Return the inputs of a network: standardised columns, and a last one of ones."""
    scaled = (join_columns(vectors, traits) - mean) / deviation
    return np.hstack([scaled, np.ones((len(scaled), 1))])


def compare(pair: Pair, old: Embedded, new: Embedded) -> tuple[Floats, list[float]]:
    """Return the inputs of the pair heads for two sentences: a row of vectors, and traits.

    The vectors are the new sentence's, the old one's, and for each the mean of what only it says: a
    token counts by its distance to the nearest token of the other sentence. So "in Rome now" is
    compared without the "I live" that both share.
    """
    ours, theirs = read_directions(new), read_directions(old)
    cosines = ours @ theirs.T
    news = _average(ours, 1 - cosines.max(axis=1, initial=-1))
    olds = _average(theirs, 1 - cosines.max(axis=0, initial=-1))
    lengths = float(np.linalg.norm(news) * np.linalg.norm(olds))
    changed = float(news @ olds / max(1e-6, lengths))
    row = np.concatenate([new.vector, old.vector, news, olds]).astype(np.float64)
    return row, measure_pair_traits(pair, float(old.vector @ new.vector), changed)


def _average(states: Vectors, weights: Vectors) -> Vectors:
    """Return the mean of states (n, AXES) by weights (n,); zeros where there are none."""
    mean: Vectors = weights @ states / max(1e-6, float(weights.sum()))
    return mean


def load_heads() -> Heads:
    """Return the trained heads for one sentence."""
    return _load("sentence")


def load_pair_heads() -> Heads:
    """Return the trained heads for two sentences: `REPLACES` and `REPEATS`."""
    return _load("pair")


@cache
def _load(kind: str) -> Heads:
    with np.load(WEIGHTS) as file:
        names = tuple(str(name) for name in file[f"{kind}_names"])
        parts = ("thresholds", "mean", "deviation", "hidden", "scale", "output")
        thresholds, mean, deviation, hidden, scale, output = (
            file[f"{kind}_{part}"].astype(np.float64) for part in parts
        )
        return Heads(names, thresholds, mean, deviation, Network(hidden * scale, output))
