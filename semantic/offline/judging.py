"""Judges sentences by the heads: worth keeping, category, clear by itself, replaces another."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from episodic.engines import Line
from semantic.engines import Category, Why
from semantic.offline import heads
from semantic.offline.own_words import TASK, OwnSentence
from semantic.offline.wishes import Wish, Wishes
from semantic.patterns import translate_pattern

STATEMENTS = ("self", "other")
FOR_NOW = ("request", "question")
INSTRUCTION = "instruction"
CERTAIN = 0.5
WORTH_ALONE = 0.4
"""Probability of being worth keeping from which on a sentence needs no other reason."""
PERHAPS = 0.02
"""Probability below which a sentence is no instruction, whatever other scores say."""
LOST = 0.65
"""Probability of needing the sentence before from which on a sentence is not kept without one."""
PASTED_WEIGHT, MATERIAL_AT_LEAST = 2.5, 0.85
"""Weight of a phrase that announces pasted text, and the probability from which it is one."""
BEFORE_AT_MOST = 300
"""Characters of the previous message's end that are read with the first sentence."""
JUST_NOW = timedelta(minutes=15)
DAY = timedelta(days=1)
DANGERS = translate_pattern("facts.dangers")
DANGLING = translate_pattern("facts.dangling")


@dataclass(frozen=True, slots=True)
class Verdict:
    """The judgement on a sentence.

    `category` is None if it is not worth keeping, and `why` says more; `is_stated`: it is a genuine
    statement.
    """

    category: Category | None
    leans: bool
    """Whether it needs the sentence before it to be understood."""
    stands_alone: bool
    """Whether it is worth keeping without the sentence before it."""
    is_stated: bool
    gives_context: bool
    """Whether a later sentence can be understood by it: a genuine statement, question or request
    that needs no other sentence itself."""
    may_be_news: bool
    """Whether it is worth keeping if it seems to replace a known fact: a genuine statement, no
    question."""
    why: Why = Why.NOT_WORTH_KEEPING


def _pass_over(why: Why) -> Verdict:
    return Verdict(
        None,
        leans=False,
        stands_alone=False,
        is_stated=False,
        gives_context=False,
        may_be_news=False,
        why=why,
    )


@dataclass(frozen=True, slots=True)
class Older:
    """An active fact: its alias, what it quotes, and when that was said."""

    alias: str
    text: str
    at: datetime


class Judge:
    """Scores sentences by the trained heads."""

    def __init__(self, read: heads.Read, wishes: Wishes | None = None) -> None:
        self._read = read
        self._wishes = wishes
        self._heads = heads.load_heads()
        self._pair_heads = heads.load_pair_heads()

    def judge(
        self,
        sentences: Sequence[OwnSentence],
        *,
        line: Line,
        before: str,
        has_assistant: bool,
        takes_rules: bool,
    ) -> list[Verdict]:
        """Return a verdict on each sentence of a message; `before`: the message before it."""
        length = len(line.content)
        rows = self._score(sentences, before, length=length, has_assistant=has_assistant)
        has_material = has_assistant and _has_material(sentences, rows)
        texts = [item.text for item in sentences]
        wishes = self._wishes.judge(texts) if self._wishes else [Wish.NONE] * len(texts)
        return [
            _pass_over(Why.PASTED)
            if has_material and item.is_below_opening
            else self._decide(shares, item, wish, takes_rules)
            for item, shares, wish in zip(sentences, rows, wishes, strict=True)
        ]

    def may_be_rule(self, sentences: Sequence[OwnSentence]) -> bool:
        """Return whether one of a message's sentences may be a standing instruction.

        Of the blind test's instructions in `heads.md` .98 pass, of its one-time requests .40.
        """
        length = sum(len(item.text) for item in sentences)
        rows = self._score(sentences, "", length=length, has_assistant=True)
        return any(row[INSTRUCTION] >= PERHAPS for row in rows)

    def _score(
        self, sentences: Sequence[OwnSentence], before: str, *, length: int, has_assistant: bool
    ) -> list[dict[str, float]]:
        """Return for each sentence of a message of this `length` the probability of each head."""
        if not sentences:
            return []
        befores = [before[-BEFORE_AT_MOST:], *(item.text for item in sentences[:-1])]
        samples = [
            heads.Sample(
                text=item.text,
                place=item.place,
                count=item.count,
                message_length=length,
                has_assistant=has_assistant,
                is_first_message=not before,
                before=above,
            )
            for item, above in zip(sentences, befores, strict=True)
        ]
        columns = heads.score_sentences(samples, self._read)
        return [
            {name: float(column[at]) for name, column in columns.items()}
            for at in range(len(sentences))
        ]

    def _decide(
        self, shares: dict[str, float], sentence: OwnSentence, wish: Wish, takes_rules: bool
    ) -> Verdict:
        def is_sure(name: str) -> bool:
            return shares[name] >= self._heads.threshold(name)

        asked, told = _weigh(shares, FOR_NOW), _weigh(shares, STATEMENTS)
        endangers = is_sure(heads.DANGER) or DANGERS.search(sentence.text) is not None
        # A danger is left out for its words alone: meanings are compared too roughly.
        may_differ = shares[heads.DANGER] >= CERTAIN or DANGERS.search(sentence.text) is not None
        if wish is Wish.NEVER or (wish is Wish.LIKE_NEVER and not may_differ):
            return _pass_over(Why.NEVER)
        looks_pasted = is_sure("pasted") and shares["pasted"] > told
        is_pasted = looks_pasted and not sentence.is_beside_paste
        is_joke = is_sure("joke") and not endangers  # who jokes about it loses little
        is_meant = not (is_pasted or is_joke)
        # "Check the commas, please:" before a letter is about the letter.
        is_task = sentence.is_beside_paste and TASK.search(sentence.text) is not None
        is_rule = is_sure(INSTRUCTION) and not is_task and shares[INSTRUCTION] >= max(told, asked)
        # "As a diabetic, can I eat mangos?" is worth keeping, too.
        tells_most = told > max(asked, shares["smalltalk"])
        reasons = (tells_most, endangers, is_sure(heads.KEEP) or wish is Wish.KEEP)
        tells = sum(reasons) > 1 or (shares[heads.KEEP] >= WORTH_ALONE and asked < CERTAIN)
        category = None
        if is_meant and (takes_rules if is_rule else tells):
            kinds = [name for name in heads.CATEGORIES if name != Category.GUIDELINE]
            likeliest = Category(max(kinds, key=shares.__getitem__))
            category = Category.GUIDELINE if is_rule else likeliest
        is_dangling = DANGLING.match(sentence.text) is not None
        leans = is_dangling or is_sure(heads.LEANS)
        is_lost = leans and (is_dangling or shares[heads.LEANS] >= LOST)
        return Verdict(
            category,
            leans=leans,
            stands_alone=endangers or not is_lost or wish is Wish.KEEP,
            is_stated=is_meant and told >= CERTAIN,
            gives_context=is_meant and max(asked, told) >= CERTAIN and not leans,
            may_be_news=is_meant and shares["question"] < CERTAIN,
            why=Why.PASTED if is_pasted and shares["pasted"] > asked else Why.NOT_WORTH_KEEPING,
        )

    def find_replaced(
        self, text: str, at: datetime, older: Sequence[Older]
    ) -> tuple[str, float] | None:
        """Return the alias of the fact that a new sentence most likely replaces, and how likely."""
        shares = self._score_pairs(text, at, older)
        if not len(shares) or shares.max() < self._pair_heads.threshold(heads.REPLACES):
            return None
        return older[int(shares.argmax())].alias, float(shares.max())

    def _score_pairs(
        self, text: str, at: datetime, older: Sequence[Older]
    ) -> npt.NDArray[np.float64]:
        """Return how likely each older sentence is replaced."""
        if not older:
            return np.zeros(0)
        new, *olds = self._read([text, *(item.text for item in older)])
        pairs = [heads.Pair(item.text, text, (at - item.at) / DAY) for item in older]
        seen = [heads.compare(pair, old, new) for pair, old in zip(pairs, olds, strict=True)]
        rows, traits = zip(*seen, strict=True)
        return self._pair_heads.score(np.stack(rows), traits)[heads.REPLACES]


def _has_material(sentences: Sequence[OwnSentence], rows: Sequence[dict[str, float]]) -> bool:
    """Return whether a text to work on follows the question: "Is this a good first paragraph?"."""
    both = list(zip(sentences, rows, strict=True))
    above = [row for item, row in both if not item.is_below_opening]
    below = [row for item, row in both if item.is_below_opening]
    if not below or not any(_weigh(row, FOR_NOW) > _weigh(row, STATEMENTS) for row in above):
        return False
    looks_pasted = sum(row["pasted"] for row in below) / len(below)
    if len(below) == 1 and looks_pasted < CERTAIN:
        return False  # a text to work on has more than one sentence
    announced = max(row[heads.MATERIAL] for row in above)
    return announced + PASTED_WEIGHT * looks_pasted >= MATERIAL_AT_LEAST


def _weigh(shares: dict[str, float], acts: Sequence[str]) -> float:
    """Return how likely a sentence performs one of some acts."""
    return max(shares[name] for name in acts)
