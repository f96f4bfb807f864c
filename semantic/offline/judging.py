"""Judges sentences by the heads: worth keeping, of which kind, understood alone, replaced."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from episodic.engines import Line
from semantic.engines import Category
from semantic.offline import heads
from semantic.offline.own_words import OwnSentence

Embed = Callable[[Sequence[str]], npt.NDArray[np.float32]]
"""Returns the vectors of texts by the built-in embedder, one row each."""
NOT_MEANT = ("pasted", "joke")
FOR_NOW = ("request", "question")
INSTRUCTION = "instruction"
CERTAIN = 0.5
JUST_NOW = timedelta(minutes=15)
LEAST_CORRECTED = 0.1
"""Of `REPLACES`: the words have said already that something is put right."""
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is made of a sentence; `category` is None where it is not kept.

    `is_own`: somebody means what it says, so the next sentence may lean on it.
    """

    category: Category | None
    leans: bool
    is_own: bool
    stands_alone: bool = True
    """Whether it may be kept without the sentence that it leans on."""


@dataclass(frozen=True, slots=True)
class Older:
    """An active fact: its alias, what it quotes, and when that was said."""

    alias: str
    text: str
    at: datetime


class Judge:
    """Scores sentences by the trained heads."""

    def __init__(self, embed: Embed) -> None:
        self._embed = embed
        self._heads = heads.load_heads()
        self._pair_heads = heads.load_pair_heads()

    def judge(
        self, sentences: Sequence[OwnSentence], *, line: Line, has_assistant: bool, is_first: bool
    ) -> list[Verdict]:
        """Return a verdict on each sentence of one message."""
        if not sentences:
            return []
        texts = [item.asked_to_keep or item.text for item in sentences]
        traits = [
            heads.measure_traits(
                heads.Sample(
                    text=item.text,
                    place=item.place,
                    count=item.count,
                    message_length=len(line.content),
                    has_assistant=has_assistant,
                    is_first_message=is_first,
                )
            )
            for item in sentences
        ]
        shares = self._heads.score(np.asarray(self._embed(texts), np.float64), traits)
        return [
            self._decide({name: row[at] for name, row in shares.items()}, item, has_assistant)
            for at, item in enumerate(sentences)
        ]

    def _decide(
        self, shares: dict[str, float], sentence: OwnSentence, has_assistant: bool
    ) -> Verdict:
        def is_sure(name: str) -> bool:
            return shares[name] >= self._heads.threshold(name)

        is_meant = max(shares[name] for name in NOT_MEANT) < CERTAIN
        is_asked = bool(sentence.asked_to_keep)
        is_rule = is_sure(INSTRUCTION) and not is_asked
        is_for_now = sum(shares[name] for name in FOR_NOW) >= CERTAIN
        tells = is_sure(heads.DANGER) or (is_sure(heads.KEEP) and not is_for_now)
        is_kept = is_asked or tells or is_rule
        if not is_kept or not (is_meant or is_asked) or (is_rule and not has_assistant):
            return Verdict(None, False, is_meant)
        kinds = [name for name in heads.CATEGORIES if name != Category.GUIDELINE]
        category = Category.GUIDELINE if is_rule else Category(max(kinds, key=shares.__getitem__))
        leans = is_sure(heads.LEANS) and not is_asked
        return Verdict(category, leans, True, shares[heads.LEANS] < CERTAIN or is_asked)

    def find_replaced(self, text: str, at: datetime, older: Sequence[Older]) -> list[str]:
        """Return the alias of the fact that a new sentence most likely replaces, if any."""
        shares = self._score_pairs(text, at, older)
        least = self._pair_heads.threshold(heads.REPLACES)
        best = int(np.argmax(shares)) if len(shares) else 0
        return [older[best].alias] if len(shares) and shares[best] >= least else []

    def find_corrected(self, text: str, at: datetime, older: Sequence[Older]) -> str | None:
        """Return the alias of the fact just said that a correction is about."""
        recent = [item for item in older if at - JUST_NOW <= item.at <= at]
        shares = self._score_pairs(text, at, recent)
        best = int(np.argmax(shares)) if len(shares) else 0
        is_likely = len(shares) > 0 and shares[best] >= LEAST_CORRECTED
        return recent[best].alias if is_likely else None

    def _score_pairs(
        self, text: str, at: datetime, older: Sequence[Older]
    ) -> npt.NDArray[np.float64]:
        """Return how likely each older sentence is replaced."""
        if not older:
            return np.zeros(0)
        vectors = np.asarray(self._embed([text, *(item.text for item in older)]), np.float64)
        new, old = np.repeat(vectors[:1], len(older), axis=0), vectors[1:]
        pairs = [heads.Pair(item.text, text, (at - item.at) / DAY) for item in older]
        traits = [
            heads.measure_pair_traits(pair, float(vector @ vectors[0]))
            for pair, vector in zip(pairs, old, strict=True)
        ]
        return self._pair_heads.score(heads.compare_vectors(old, new), traits)[heads.REPLACES]
