"""Facts that the offline engine holds after statements that contradict each other.

Consolidates each case's messages and checks that the facts expected are active, or were
closed, and those not expected are not active. Each expectation names words that one fact must
contain, capitals or not. Needs no database.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator
from tqdm import tqdm

from bench.quality.files import Labelled, read_rows
from bench.quality.report import Report
from bench.tables import render_table
from episodic.engines import Line
from episodic.models import Role
from memoryproject.ai.embeddings import read_built_in
from memoryproject.text.words import STOP_WORDS
from semantic.engines import Action, Consolidation, EpisodeText, KnownFact, Proposal, Suggestion
from semantic.offline.consolidator import OfflineConsolidator

WORD = re.compile(r"[^\s.,;:!?\"()。，；：！？]+")
CLOSED = "closed although true"
STALE = "not_held"


def split_words(words: object) -> object:
    """Return the content words of a text; a list stays as it is."""
    if isinstance(words, str):
        return [word for word in WORD.findall(words) if word.lower() not in STOP_WORDS]
    return words


Word = Annotated[str, Field(min_length=1)]
Words = Annotated[list[Word], Field(min_length=1), BeforeValidator(split_words)]


class Utterance(BaseModel):
    """A message of a case; without an offset its time is UTC."""

    model_config = ConfigDict(str_strip_whitespace=True)

    role: Role
    text: str
    at: datetime
    name: str | None = None

    def to_line(self, seq: int) -> Line:
        """Return it as the engines see it."""
        at = self.at if self.at.tzinfo else self.at.replace(tzinfo=UTC)
        return Line(seq, self.role.value, self.name or "", self.text, at)


class Case(Labelled):
    """Messages, and words that some active, no active, and some closed fact must contain."""

    messages: Annotated[list[Utterance], Field(min_length=1)]
    held: list[Words] = []
    not_held: list[Words] = []
    known_before: list[Words] = []

    @model_validator(mode="after")
    def _check_expectations(self) -> Case:
        if not self.held + self.not_held + self.known_before:
            raise ValueError("a case must expect something")
        return self


CASES: TypeAdapter[Case] = TypeAdapter(Case)


Ledger = dict[str, list[str]]
"""Sentences of the facts "held" and "closed", and what is "suggested" of them."""


@dataclass(frozen=True, slots=True)
class ContradictionScore:
    """`wrong` has, by case id, what was expected and is not so; `ledgers` those cases' facts."""

    cases: int
    wrong: dict[str, list[str]]
    ledgers: dict[str, Ledger]

    @property
    def accuracy(self) -> float:
        """The share of cases that are right in every expectation, 0.0..1.0."""
        return 1.0 - len(self.wrong) / self.cases

    @property
    def closed_wrongly(self) -> int:
        """The cases in which something true was closed."""
        return self._count(CLOSED)

    @property
    def left_stale(self) -> int:
        """The cases in which something is still active that should not be."""
        return self._count(STALE)

    def _count(self, kind: str) -> int:
        return sum(any(item.startswith(kind) for item in items) for items in self.wrong.values())


def add_options(parser: ArgumentParser) -> None:
    """Add what this measurement takes."""
    message = '{"role", "text", "at", "name"?}'
    form = f'{{"id", "messages": [{message}], "held", "not_held", "known_before"}}'
    parser.add_argument("path", type=Path, help=f"{form} a line")
    runs = "consolidations of the messages; 1: two episodes of one (default: %(default)s)"
    parser.add_argument("--runs", type=int, choices=[1, 2], default=2, help=runs)


def measure(options: Namespace) -> Report:
    """Return the share of right cases, which way the others went, and what they hold."""
    score = score_contradictions(read_rows(options.path, CASES), runs=options.runs)
    names = ("accuracy", "closed_wrongly", "left_stale")
    figures = asdict(score) | {name: getattr(score, name) for name in names}
    lines = [render_table(["cases", *names], [(score.cases, *(figures[name] for name in names))])]
    for id, items in score.wrong.items():
        lines.append(f"{id}: {'; '.join(items)}")
        for state, texts in score.ledgers[id].items():
            lines += [f"    {state}: {text}" for text in texts]
    return Report(figures, "\n".join(lines))


def score_contradictions(cases: Sequence[Case], *, runs: int = 2) -> ContradictionScore:
    """Return how many cases end with the right facts active and closed.

    `runs` is 1 or more: how many consolidations the messages are spread over; 1 tests one
    run with two episodes.
    """
    wrong: dict[str, list[str]] = {}
    ledgers: dict[str, Ledger] = {}
    for case in tqdm(cases, unit=" cases"):
        ledger = consolidate(case, runs=runs)
        if items := find_unmet(case, ledger):
            wrong[str(case.id)], ledgers[str(case.id)] = items, ledger
    return ContradictionScore(len(cases), wrong, ledgers)


def consolidate(case: Case, *, runs: int) -> Ledger:
    """Return the facts after consolidating the case's messages in `runs` steps."""
    lines = [message.to_line(seq) for seq, message in enumerate(case.messages)]
    known: list[KnownFact] = []
    ledger: Ledger = {"held": [], "closed": [], "suggested": []}
    size = -(-len(lines) // runs)
    for start in range(0, len(lines), size):
        part = tuple(lines[start : start + size])
        middle = (len(part) + 1) // 2
        chunks = (part,) if runs > 1 else (part[:middle], part[middle:])
        episodes = [EpisodeText(title="", summary="", lines=chunk) for chunk in chunks if chunk]
        answer = OfflineConsolidator(read_built_in).consolidate(episodes=episodes, known=known)
        for item in read_suggestions(known, answer):
            ledger["suggested"].append(f"{item.reason}: {item.old} / {item.new or '-'}")
        known, closed = apply_proposals(known, answer.proposals)
        ledger["closed"] += closed
    return ledger | {"held": [fact.fact for fact in known]}


def read_suggestions(known: Sequence[KnownFact], answer: Consolidation) -> list[Suggestion]:
    """Return what an answer suggests of facts that are there, sentences in place of aliases."""
    texts = {fact.alias: fact.fact for fact in known}
    texts |= {f"P{index}": proposal.fact for index, proposal in enumerate(answer.proposals)}
    return [
        replace(item, old=texts[item.old], new=texts[item.new] if item.new else None)
        for item in answer.suggestions
        if item.old in texts and (item.new is None or item.new in texts)
    ]


def apply_proposals(
    known: Sequence[KnownFact], proposals: Sequence[Proposal]
) -> tuple[list[KnownFact], list[str]]:
    """Return the facts active after `proposals`, with new aliases, and the texts closed.

    "P<index>" names an earlier proposal; an unknown alias closes nothing.
    """
    active = {fact.alias: fact for fact in reversed(known)}
    closed: list[str] = []
    for index, proposal in enumerate(proposals):
        if proposal.action in {Action.UPDATE, Action.INVALIDATE}:
            old = active.pop(proposal.alias or "", None)
            closed += [old.fact] if old else []
        if proposal.action in {Action.NEW, Action.UPDATE}:
            assert proposal.valid_at is not None, "the offline engine dates every fact"
            active[f"P{index}"] = KnownFact(
                "", proposal.category, proposal.fact, proposal.keywords, proposal.valid_at
            )
    newest_first = reversed(active.values())
    renamed = [replace(fact, alias=f"F{n}") for n, fact in enumerate(newest_first, start=1)]
    return renamed, closed


def find_unmet(case: Case, ledger: Ledger) -> list[str]:
    """Return the expectations of a case that the ledger does not meet."""
    held, closed = ledger["held"], ledger["closed"]
    lost = [words for words in case.held if not _any_has(held, words)]
    unmet = [f"{CLOSED if _any_has(closed, words) else 'held'} {words}" for words in lost]
    unmet += [f"{STALE} {words}" for words in case.not_held if _any_has(held, words)]
    unmet += [f"known_before {w}" for w in case.known_before if not _any_has(closed, w)]
    return unmet


def _any_has(facts: Sequence[str], words: Sequence[str]) -> bool:
    return any(all(word.lower() in fact.lower() for word in words) for fact in facts)
