"""Detects the text search language of a conversation."""

import os
from collections.abc import Sequence
from functools import cache
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from indexing.languages import LANGUAGES, SIMPLE
from memoryproject.process.file_rows import FileRows

SURE_ENOUGH = 0.95
LEAST_LETTERS = 80
"""Letters below which a guess is useless; `simple` is right for every language."""
SAMPLE_LETTERS = 4000
LEAST_BYTES_OF_A_SENTENCE = 30
"""Size of ten Chinese characters."""
LIKELY = 0.8
SUSPECTED = 0.005
"""Probability below which a language is ruled out."""
STOPPED_BY = "english"
"""Language whose stop words apply to a question that is too short to detect its language."""

ISO_CODES = dict(
    zip(
        "ar hy eu ca da nl en fi fr de el hi hu id ga it lt ne no pt ro ru sr es sv ta tr".split(),
        (name for name in LANGUAGES if name not in {SIMPLE, "yiddish"}),
        strict=True,
    )
)


@cache
def _identifier() -> LanguageIdentifier:
    """Return py3langid's classifier. Of its 70 MB only the rows that texts use are in memory."""
    loaded = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    return LanguageIdentifier(
        _keep_rows(loaded.nb_ptc),
        loaded.nb_pc,
        loaded.nb_classes,
        _map(loaded.tk_nextmove).data,
        loaded.tk_output,
        norm_probs=True,
        tk_row=loaded.tk_row,
    )


def _keep_rows(table: npt.NDArray[Any]) -> FileRows:
    """Write a table to an unnamed file: each text needs only some hundred rows of it."""
    with TemporaryFile() as file:
        table.tofile(file)
        file.flush()
        return FileRows(os.dup(file.fileno()), dtype=table.dtype, width=table.shape[1])


def _map(values: Any) -> npt.NDArray[Any]:
    """Write numbers to an unnamed file, and return it memory-mapped, shared by processes."""
    numbers = np.asarray(values)
    with TemporaryFile() as file:
        numbers.tofile(file)
        return np.memmap(file, numbers.dtype, mode="r", shape=numbers.shape)


def preload() -> None:
    """Load the classifier here, so that processes forked from this one share it."""
    _identifier()


def detect_language(texts: Sequence[str]) -> str:
    """Return the text search language that fits `texts`, `simple` when in doubt."""
    sample = "\n".join(texts)[:SAMPLE_LETTERS]
    if sum(letter.isalpha() for letter in sample) < LEAST_LETTERS:
        return SIMPLE
    code, probability = _identifier().classify(sample)
    return ISO_CODES.get(code, SIMPLE) if probability >= SURE_ENOUGH else SIMPLE


def detect_question_language(question: str) -> str:
    """Return the text search language of a question about texts of any language.

    English if it is too short to tell.
    """
    language = detect_language([question])
    return STOPPED_BY if language == SIMPLE else language


def find_languages(text: str) -> list[str]:
    """Return the codes of the languages that a text may be in, most likely first.

    Empty when in doubt: the text is too short, or no language is likely.
    """
    sample = text[:SAMPLE_LETTERS]
    letters = "".join(filter(str.isalpha, sample))
    if len(letters.encode(errors="replace")) < LEAST_BYTES_OF_A_SENTENCE:
        return []
    ranked = [(code, float(share)) for code, share in _identifier().rank(sample)]
    likely = [code for code, share in ranked if share >= SUSPECTED]
    return likely if ranked[0][1] >= LIKELY else []
