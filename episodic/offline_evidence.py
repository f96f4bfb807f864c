"""Evidence for a boundary at each gap between two lines: topic, surprise and words.

Gap g lies between line g and line g + 1. Every measure is plain numpy over the
window alone, so the same window always gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from episodic import discourse_cues as cues
from episodic.engines import Line, Vectors

Floats = npt.NDArray[np.float64]

MEMORY_DECAY = 0.7
"""How much of the event model outlives one more line; a plain mean drifts."""

WEIGHTS = {
    "likeness of 2 lines before and after": -0.89,
    "likeness of 3": -1.29,
    "likeness of 4": -0.52,
    "likeness of 2, uncentred": -0.38,
    "depth of the valley": 0.36,
    "divergence from the event model, standardised": 0.36,
    "divergence, uncentred": -0.46,
    "closest of the next 5 lines": -0.56,
    "words shared by 3 before and 1 after": -0.69,
    "words shared by 5 and 5": -0.14,
    "a question waits for its answer": -1.07,
    "the next line asks": 0.65,
    "the next line changes the subject": 0.59,
    "the next line greets": 0.80,
    "the next line opens with a request": 0.96,
    "the last line says farewell": 0.64,
    "the next line thanks": -1.08,
    "the next line says farewell": -1.11,
    "the next line starts like a reply": -0.21,
    "the next line points back": -0.46,
    "the last line was a request": -1.53,
    "the last line thanks": -0.36,
    "content words of the next line": 0.70,
    "constant": -1.98,
}
"""Log-odds per unit of evidence: ridge-regularised (2.0) logistic regression.

Fitted on the development parts of TIAGE, DialSeg711, SuperDialseg, DialogSum and
TopiOCQA with total weights 1.6 : 0.8 : 0.2 : 0.4 : 0.2. Vectors of another embedder
than multilingual-e5-small need the fit again.
"""
_E5_TYPICAL_LIKENESS = 0.85
_E5_TYPICAL_DIVERGENCE = 0.13
_E5_SCALE = 10.0
"""Typical cosines of e5 between neighbouring lines, spread to a range of about one."""


def center(vectors: Vectors) -> Floats:
    """Return unit vectors without the part that all lines share.

    The cosines of multilingual-e5 lie between .75 and 1; what all lines of a window
    have in common (language, register, the speaker prefix) says nothing of topics.
    """
    spread = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    return unit(spread)


def unit(vectors: Floats) -> Floats:
    """Scale the last axis to length 1; zero stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    scaled: Floats = vectors / np.maximum(length, 1e-9)
    return scaled


def block_similarity(vectors: Floats, width: int) -> Floats:
    """Cosine of the mean of `width` lines before each gap with that of those after."""
    count = len(vectors)
    left = np.stack([vectors[max(0, g + 1 - width) : g + 1].mean(0) for g in range(count - 1)])
    right = np.stack([vectors[g + 1 : g + 1 + width].mean(0) for g in range(count - 1)])
    return np.asarray((unit(left) * unit(right)).sum(axis=1), dtype=np.float64)


def chance_similarity(count: int, width: int) -> Floats:
    """What `block_similarity` gives for `count` unrelated centred lines, one a gap.

    Centring makes any two halves of a window opposites (−1 where the blocks cover it
    whole), so that in a short window every cut would look like a change of subject.
    """
    gaps = np.arange(count - 1)
    left = 1.0 / np.minimum(gaps + 1, width) - 1.0 / count
    right = 1.0 / np.minimum(count - 1 - gaps, width) - 1.0 / count
    return np.asarray(-1.0 / count / np.sqrt(np.maximum(left * right, 1e-12)), dtype=np.float64)


def depth(similarity: Floats) -> Floats:
    """How deep each gap lies under the nearest hills on both sides (TextTiling, Hearst 1997)."""
    out = np.zeros_like(similarity)
    for gap in range(len(similarity)):
        left = right = gap
        while left > 0 and similarity[left - 1] >= similarity[left]:
            left -= 1
        while right < len(similarity) - 1 and similarity[right + 1] >= similarity[right]:
            right += 1
        out[gap] = similarity[left] + similarity[right] - 2 * similarity[gap]
    return out


def divergence(vectors: Vectors | Floats) -> Floats:
    """1 − cosine of the line after each gap with a decayed mean of the lines before."""
    model = vectors[0].astype(np.float64)
    out = np.zeros(len(vectors) - 1)
    for gap in range(len(vectors) - 1):
        new = vectors[gap + 1].astype(np.float64)
        out[gap] = 1.0 - float(unit(model) @ new)
        model = MEMORY_DECAY * model + new
    return out


def closest_pair(vectors: Floats, before: int, after: int) -> Floats:
    """The largest cosine of one of `before` lines before with one of `after` behind a gap."""
    products = vectors @ vectors.T
    return np.array(
        [
            products[max(0, g + 1 - before) : g + 1, g + 1 : g + 1 + after].max()
            for g in range(len(vectors) - 1)
        ]
    )


def standardise(values: Floats) -> Floats:
    """Subtract the window's mean and divide by its spread."""
    scaled: Floats = (values - values.mean()) / max(float(values.std()), 1e-6)
    return scaled


def shared_words(words: Sequence[frozenset[str]], before: int, after: int) -> Floats:
    """How many content words lie on both sides of each gap, as log(1 + count)."""
    counts = []
    for gap in range(len(words) - 1):
        left = frozenset().union(*words[max(0, gap + 1 - before) : gap + 1])
        right = frozenset().union(*words[gap + 1 : gap + 1 + after])
        counts.append(len(left & right))
    return np.log1p(np.array(counts, dtype=np.float64))


def boundary_log_odds(lines: Sequence[Line], vectors: Vectors) -> Floats:
    """Return the log-odds, one a gap, that a new topic starts there; time plays no part.

    `lines` has at least two members.
    """
    columns = [
        *_vector_evidence(vectors),
        *_word_evidence([cues.content_words(line.content) for line in lines]),
        *_cue_evidence([line.content for line in lines]),
        _flags([True] * (len(lines) - 1)),
    ]
    weights = np.array(list(WEIGHTS.values()))
    log_odds: Floats = np.stack(columns, axis=1) @ weights
    return log_odds


def _vector_evidence(vectors: Vectors) -> list[Floats]:
    centred = center(vectors)
    raw = vectors.astype(np.float64)
    likeness = {
        width: block_similarity(centred, width) - chance_similarity(len(vectors), width)
        for width in (2, 3, 4)
    }
    return [
        likeness[2],
        likeness[3],
        likeness[4],
        (block_similarity(raw, 2) - _E5_TYPICAL_LIKENESS) * _E5_SCALE,
        depth(likeness[2]),
        standardise(divergence(centred)),
        (divergence(raw) - _E5_TYPICAL_DIVERGENCE) * _E5_SCALE,
        closest_pair(centred, 1, 5),
    ]


def _word_evidence(words: Sequence[frozenset[str]]) -> list[Floats]:
    return [shared_words(words, 3, 1), shared_words(words, 5, 5)]


def _cue_evidence(contents: Sequence[str]) -> list[Floats]:
    before, after = contents[:-1], contents[1:]
    sizes = np.array([len(cues.content_words(content)) for content in after], dtype=np.float64)
    return [
        _flags(map(cues.is_question, before)),
        _flags(map(cues.is_question, after)),
        _flags(map(cues.is_new_topic, after)),
        _flags(map(cues.is_greeting, after)),
        _flags(map(cues.is_request, after)),
        _flags(map(cues.is_farewell, before)),
        _flags(map(cues.is_thanks, after)),
        _flags(map(cues.is_farewell, after)),
        _flags(map(cues.is_reply, after)),
        _flags(map(cues.points_back, after)),
        _flags(map(cues.is_request, before)),
        _flags(map(cues.is_thanks, before)),
        np.log1p(sizes),
    ]


def _flags(answers: Iterable[bool]) -> Floats:
    return np.array(list(answers), dtype=np.float64)
