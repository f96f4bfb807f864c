"""Fits what is kept of token states for late interaction, on the chats of bench/labels.

Mean and axes of the states, and how rare each piece of a word is. Needs no database. The written
file is the same to the byte each time with OMP_NUM_THREADS=1.
"""

from __future__ import annotations

import io
import os
import zipfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from bench.quality.labels import read_chats
from bench.quality.report import Report, render_figures
from episodic.engines import Line
from memoryproject.ai.e5 import Reading
from memoryproject.ai.embeddings import PASSAGE, LocalEmbedder, count_prefix
from memoryproject.ai.token_states import AXES, CONSTANTS, Constants, pack, unpack

Floats = npt.NDArray[np.float64]
CARD = CONSTANTS.with_suffix(".md")
COMMONEST = 50
"""Pieces of each language that say nothing: half of all tokens."""
LABELS = {
    "messages": "messages",
    "languages": "languages",
    "tokens": "tokens",
    "kept": "tokens that count",
    "bytes": "bytes a message",
    "variance": f"variance that {AXES} axes hold",
    "cosine": "cosine of a kept state with itself before it was packed",
    "pieces": "pieces listed",
    "common": "of these, pieces that say nothing",
}


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    parser.add_argument("--write", action="store_true", help="write e5_states.npz and its card")


def measure(options: Namespace) -> Report:
    """Return figures of the fit."""
    languages, readings = _read()
    prefix = count_prefix(PASSAGE)
    pieces, rarities, unseen = _weigh_pieces(
        languages, [reading.tokens[prefix:] for reading in readings]
    )
    blank = np.zeros(0, np.float32)
    weights = Constants(blank, blank, pieces, rarities, unseen)
    states = np.concatenate(
        [
            reading.states[prefix:][weights.weigh(reading.tokens[prefix:]) > 0]
            for reading in readings
        ]
    ).astype(np.float64)
    mean, axes, variance = _find_axes(states)
    fitted = Constants(mean, axes, pieces, rarities, unseen)
    figures = {
        "messages": len(readings),
        "languages": len(set(languages)),
        "tokens": sum(len(reading.tokens) - prefix for reading in readings),
        "kept": len(states),
        "variance": variance,
        "pieces": len(pieces),
        "common": int((rarities == 0).sum()),
        **_measure_packing(fitted, readings, prefix),
    }
    text = render_figures(figures, LABELS)
    if options.write:
        _write(fitted)
        CARD.write_text(_render_card(text), encoding="utf-8")
    return Report(figures, text)


def _read() -> tuple[list[str], list[Reading]]:
    """Return the language of each message, and what the model makes of it as it is indexed."""
    languages, lines = [], []
    for chat in read_chats():
        for said in chat["messages"]:
            at = datetime.fromisoformat(said["at"])
            languages.append(chat["language"])
            lines.append(Line(0, said["role"], said["name"] or "", said["content"], at))
    read = LocalEmbedder().read
    return languages, [read(PASSAGE, line.text) for line in tqdm(lines, unit=" messages")]


def _weigh_pieces(
    languages: Sequence[str], texts: Sequence[Sequence[int]]
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32], float]:
    """Return the pieces that occur, in rising order, how rare each is, and one that does not.

    A piece is as rare as in the language where it is commonest. What a language's few messages
    say of it is joined with what all say, which counts as many messages as a language has on
    average. The commonest of each language have 0.
    """
    sizes = Counter(languages)
    usual = len(texts) / len(sizes)
    everywhere = _count(texts)
    shares: dict[int, float] = {}
    common: set[int] = set()
    for language, size in sorted(sizes.items()):
        own = _count(
            text for spoken, text in zip(languages, texts, strict=True) if spoken == language
        )
        for piece, count in own.items():
            share = (count + usual * everywhere[piece] / len(texts)) / (size + usual)
            shares[piece] = max(shares.get(piece, 0.0), share)
        common.update(sorted(own, key=lambda piece: (-own[piece], piece))[:COMMONEST])
    pieces = sorted(shares)
    rarities = [0.0 if piece in common else -np.log(shares[piece]) for piece in pieces]
    unseen = float(np.log(2 * len(texts)))
    return np.array(pieces, np.int32), np.array(rarities, np.float16).astype(np.float32), unseen


def _count(texts: Iterable[Sequence[int]]) -> Counter[int]:
    """Return in how many texts each piece occurs."""
    return Counter(piece for text in texts for piece in set(text))


def _find_axes(states: Floats) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], float]:
    """Return the mean, the axes along which directions from it differ most, and their share."""
    mean = states.mean(axis=0)
    directions = states - mean
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(directions.T @ directions)
    axes = vectors[:, ::-1][:, :AXES]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(AXES)])
    share = float(values[::-1][:AXES].sum() / values.sum())
    return (
        mean.astype(np.float16).astype(np.float32),
        axes.astype(np.float16).astype(np.float32),
        share,
    )


def _measure_packing(
    fitted: Constants, readings: Sequence[Reading], prefix: int
) -> Mapping[str, float]:
    """Return what a message's states take, and how near they are to what was packed."""
    sizes, cosines = [], []
    for reading in readings:
        sizes.append(len(fitted.keep(reading, prefix=prefix)))
        before = fitted.ask(reading, prefix=prefix).states
        after = unpack(pack(before))
        if len(before):
            after /= np.linalg.norm(after, axis=1, keepdims=True)
            cosines.append(float((before * after).sum(axis=1).mean()))
    return {"bytes": float(np.mean(sizes)), "cosine": float(np.mean(cosines))}


def _write(fitted: Constants) -> None:
    """Write the constants; the file is whole or as it was, and bears no date."""
    arrays: dict[str, Any] = {
        "mean": fitted.mean.astype(np.float16),
        "axes": fitted.axes.astype(np.float16),
        "pieces": fitted.pieces,
        "rarities": fitted.rarities.astype(np.float16),
        "unseen": np.float64(fitted.unseen),
    }
    fresh = CONSTANTS.with_suffix(".new.npz")
    with zipfile.ZipFile(fresh, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            data = io.BytesIO()
            np.save(data, array)
            file.writestr(zipfile.ZipInfo(f"{name}.npy"), data.getvalue())
    os.replace(fresh, CONSTANTS)


def _render_card(figures: str) -> str:
    return f"""# What is kept of token states

The constants in `e5_states.npz`, by which `token_states.py` keeps the states of a message's tokens
and compares them with a question's. Written by `OMP_NUM_THREADS=1 python -m bench.quality states
--write`, from the invented chats in fourteen languages of `bench/labels`, each message with its
speaker in front; the file is the same to the byte each time.

- **mean, axes**: of the states of all tokens that count, and the {AXES} directions along which
  these differ most from it.
- **rarities**: minus the logarithm of the share of messages that hold a piece, in the language
  where it is commonest. The {COMMONEST} commonest pieces of each language have 0: they say nothing,
  and are not kept.

```text
{figures}
```
"""
