"""Labelled cases for contradictions and merges, as files give them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from episodic.engines import Vectors
from episodic.loading import UnreadableFile
from episodic.models import Role
from memoryproject.ai.embeddings import embed_passages
from operations.labelled_files import Case, check_cases, read_objects
from semantic.evaluation import (
    ContradictionScore,
    Ledger,
    MergeScore,
    read_line,
    run_in_memory,
    score_contradictions,
    score_merges,
)
from semantic.informative import STOP_WORDS
from semantic.offline_consolidator import OfflineConsolidator

EXPECTATIONS = ("held", "not_held", "known_before")
WORD = re.compile(r"[^\s.,;:!?\"()。，；：！？]+")
PREFIX = re.compile(r"[^\W\d_]+")
TEXTS_AT_ONCE = 32


def read_contradictions(path: Path) -> list[Case]:
    """Return the cases in the form that `score_contradictions` takes.

    An expectation is a list of words, or a text whose content words are taken.

    Raises:
        UnreadableFile: the file does not hold such cases; the message says where.
    """
    cases: list[Case] = []
    for where, given in read_objects(path):
        try:
            cases.append(_to_contradiction(given))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(
                f'{where} must be {{"id", "messages": [{{"role", "text", "at", "name"?}}], "held", '
                '"not_held", "known_before"}.'
            ) from error
    check_cases(path, cases)
    return cases


def _to_contradiction(given: Mapping[str, Any]) -> Case:
    expected: dict[str, list[list[str]]] = {}
    for key in EXPECTATIONS:
        listed = given.get(key, [])
        if not isinstance(listed, list):
            raise ValueError(f"{key} must be a list")
        expected[key] = [read_words(words) for words in listed]
    if not any(expected.values()):
        raise ValueError("a case must expect something")
    messages = [_to_message(message) for message in given["messages"]]
    if not messages:
        raise ValueError("a case must have messages")
    return {"id": str(given["id"]), "messages": messages, **expected}


def _to_message(given: Mapping[str, Any]) -> dict[str, str]:
    at = datetime.fromisoformat(given["at"])
    return {
        "role": Role(given["role"]).value,
        "name": (given.get("name") or "").strip(),
        "text": given["text"].strip(),
        "at": (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat(),
    }


def read_words(given: str | Sequence[str]) -> list[str]:
    """Return the words that a fact must contain.

    Raises:
        ValueError: there are none.
    """
    if isinstance(given, str):
        found = [word for word in WORD.findall(given) if word.lower() not in STOP_WORDS]
    else:
        found = [word.strip() for word in given]
    if not all(found) or not found:
        raise ValueError("an expectation must name words")
    return found


def judge_contradictions(
    cases: Sequence[Case], *, runs: int, report: Callable[[int], None]
) -> ContradictionScore:
    """Consolidate every case with the offline engine and return what came out wrong."""

    def reported() -> Iterator[Case]:
        for case in cases:
            yield case
            report(1)

    return score_contradictions(
        reported(), consolidator=_make_consolidator(), embed=embed_passages, runs=runs
    )


def consolidate_case(case: Case, *, runs: int) -> Ledger:
    """Return the facts held and closed after one case."""
    lines = [read_line(seq, message) for seq, message in enumerate(case["messages"])]
    return run_in_memory(lines, consolidator=_make_consolidator(), embed=embed_passages, runs=runs)


def _make_consolidator() -> OfflineConsolidator:
    return OfflineConsolidator(embed=embed_passages)


def accuracy_by_prefix(ids: Sequence[str], *, wrong: Collection[str]) -> dict[str, float]:
    """Return the share of right cases by the letters that their ids begin with.

    Groups of one are left out, and so is a single group of all.
    """
    counts = Counter(map(prefix_of, ids))
    failed = Counter(map(prefix_of, wrong))
    return {
        prefix: 1 - failed[prefix] / count
        for prefix, count in sorted(counts.items())
        if prefix and 1 < count < len(ids)
    }


def prefix_of(id: str) -> str:
    """Return the letters that an id begins with."""
    match = PREFIX.match(id)
    return match[0] if match else ""


def read_merges(path: Path) -> list[Case]:
    """Return the labelled pairs of facts.

    Raises:
        UnreadableFile: the file does not hold such pairs; the message says where.
    """
    pairs: list[Case] = []
    for where, given in read_objects(path):
        try:
            pairs.append(_to_pair(given))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise UnreadableFile(
                f'{where} must be {{"id", "a", "b", "category", "same"}}, with two texts, a known '
                "category, and true or false."
            ) from error
    check_cases(path, pairs)
    return pairs


def _to_pair(given: Mapping[str, Any]) -> Case:
    texts = {side: given[side].strip() for side in ("a", "b")}
    if not all(texts.values()) or not isinstance(given["same"], bool):
        raise ValueError("a, b or same")
    categories = {key: given[key].strip() for key in ("category", "category_b") if key in given}
    if not categories.get("category") or not all(categories.values()):
        raise ValueError("category")
    return {"id": str(given["id"]), **texts, **categories, "same": given["same"]}


def judge_merges(pairs: Sequence[Case], *, report: Callable[[int], None]) -> MergeScore:
    """Ask the merge rule about every pair; `report` gets how many texts were embedded."""

    def embed(texts: Sequence[str]) -> Vectors:
        made: list[Vectors] = []
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            made.append(embed_passages(texts[start : start + TEXTS_AT_ONCE]))
            report(len(made[-1]))
        return np.concatenate(made)

    return score_merges(pairs, embed=embed)
