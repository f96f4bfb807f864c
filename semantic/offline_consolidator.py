"""Distils episodes into facts without a language model: rules, claims and vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from episodic.engines import Vectors
from semantic.candidates import Candidate, find_candidates, make_candidate
from semantic.claims import Slot
from semantic.corrections import mend_fact
from semantic.echoes import Echoes
from semantic.engines import (
    Action,
    Category,
    Consolidation,
    EpisodeText,
    KnownFact,
    Proposal,
    fact_embedding_text,
)
from semantic.merge import is_same_fact, says_no_more
from semantic.relations import Reading, Relation, compare_claims, read_fact
from semantic.speakers import people_in

ENGINE = "offline"
OVERTAKING = frozenset({Relation.REPLACES, Relation.ENDS})
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(slots=True)
class Held:
    """A fact that a new one is compared with: a known one, or a proposal of this run."""

    alias: str
    category: str
    fact: str
    reading: Reading
    vector: Vectors


@dataclass(slots=True)
class Run:
    """What one consolidation has proposed so far, and what is held after that."""

    held: list[Held]
    proposals: list[Proposal] = field(default_factory=list)

    def propose(self, action: Action, candidate: Candidate, *, alias: str | None) -> None:
        """Add one proposal for `candidate`."""
        self.proposals.append(
            Proposal(
                action=action,
                alias=alias,
                category=candidate.category,
                fact=candidate.fact,
                keywords=candidate.keywords,
                valid_at=candidate.line.at,
                episode=candidate.episode,
                seqs=(candidate.line.seq,),
            )
        )

    def hold(self, candidate: Candidate, vector: Vectors) -> None:
        """Make the latest proposal comparable for the sentences that follow."""
        alias = f"P{len(self.proposals) - 1}"
        self.held.append(Held(alias, candidate.category, candidate.fact, candidate.reading, vector))


class OfflineConsolidator:
    """Rule-based consolidator: deterministic, no network, one embedding call a run.

    A proposal may refer to an earlier one of the same run, which has no alias of its
    own yet: its alias is then "P<index>", the 0-based position of the earlier
    proposal in the answer. An update of "P0" closes what proposal 0 opened (a new
    or an updated fact); a reinforcement of "P0" adds evidence to it.

    One sentence may replace several held facts: the first is updated, the others
    are invalidated.
    """

    def __init__(self, *, embed: Embed) -> None:
        """Take `embed`: one unit float32 vector a text, the texts being passages."""
        self._embed = embed

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        """Return what to do, in the order the sentences were said."""
        names = people_in([line for episode in episodes for line in episode.lines])
        echoes = Echoes(served for episode in episodes for served in episode.served)
        candidates = [
            candidate
            for index, episode in enumerate(episodes)
            for candidate in find_candidates(
                episode.lines, names=names, episode=index, echoes=echoes
            )
        ]
        if not candidates:
            return Consolidation(proposals=(), engine=ENGINE)
        run = Run(held=[_hold_known(fact) for fact in known])
        vectors = self._embed([_embedding_text(candidate) for candidate in candidates])
        for candidate, vector in zip(candidates, vectors, strict=True):
            self._settle(run, candidate, vector)
        return Consolidation(proposals=tuple(run.proposals), engine=ENGINE)

    def _settle(self, run: Run, candidate: Candidate, vector: Vectors) -> None:
        """Decide what one candidate does to what is held, and propose it.

        An echo is proposed like anything else, so that the record shows that it was left
        undone, but neither closes a fact nor is one for the sentences that follow.
        """
        if candidate.echo:
            known = _find_repeated(run.held, candidate, vector)
            action = Action.REINFORCE if known else Action.NEW
            run.propose(action, candidate, alias=known.alias if known else None)
            return
        if candidate.correction is not None and self._mend(run, candidate):
            return
        if _only_corrects(candidate):
            return
        repeated = _find_repeated(run.held, candidate, vector)
        if repeated is not None:
            run.propose(Action.REINFORCE, candidate, alias=repeated.alias)
            return
        replaced, ended = _find_overtaken(run.held, candidate)
        gone = replaced + ended
        run.held = [held for held in run.held if held not in gone]
        if replaced or not ended:
            action = Action.UPDATE if replaced else Action.NEW
            run.propose(action, candidate, alias=replaced[0].alias if replaced else None)
            run.hold(candidate, vector)
        for held in replaced[1:] + ended:
            run.propose(Action.INVALIDATE, candidate, alias=held.alias)

    def _mend(self, run: Run, candidate: Candidate) -> bool:
        """Put a corrected value into the newest fact that holds the wrong one."""
        correction = candidate.correction
        if correction is None:
            return False
        for held in reversed(run.held):
            mended = mend_fact(held.fact, correction)
            if mended is None or not _is_about(held, candidate.speaker):
                continue
            fixed = make_candidate(
                mended,
                speaker=candidate.speaker,
                line=candidate.line,
                episode=candidate.episode,
            )
            fixed = replace(fixed, category=Category(held.category))
            run.propose(Action.UPDATE, fixed, alias=held.alias)
            run.held.remove(held)
            run.hold(fixed, self._embed([_embedding_text(fixed)])[0])
            return True
        return False


def _hold_known(fact: KnownFact) -> Held:
    return Held(fact.alias, fact.category, fact.fact, read_fact(fact.fact), fact.vector)


def _embedding_text(candidate: Candidate) -> str:
    return fact_embedding_text(
        category=candidate.category, fact=candidate.fact, keywords=candidate.keywords
    )


def _is_about(held: Held, speaker: str) -> bool:
    """Whether a held fact names the speaker who corrects."""
    return speaker.lower() in held.fact.lower() or held.reading.text.startswith("The ")


def _only_corrects(candidate: Candidate) -> bool:
    """Whether a candidate is no sentence of its own: "Actually it's the 14th"."""
    return candidate.correction is not None and candidate.speaker not in candidate.fact


def _find_repeated(held: Sequence[Held], candidate: Candidate, vector: Vectors) -> Held | None:
    """Return the held fact that says what the candidate says, the closest if several do."""
    if not held:
        return None
    cosines = np.stack([one.vector for one in held]) @ vector
    for at in np.argsort(-cosines, kind="stable"):
        one = held[int(at)]
        same = is_same_fact(
            one.fact,
            candidate.fact,
            category_a=one.category,
            category_b=candidate.category,
            cosine=float(cosines[at]),
        )
        overtakes = compare_claims(candidate.reading, one.reading) in OVERTAKING
        if not overtakes and (same or _adds_nothing(one, candidate)):
            return one
    return None


def _adds_nothing(held: Held, candidate: Candidate) -> bool:
    """Whether a candidate says again, in fewer or the same words, what is held."""
    new, old = candidate.reading, held.reading
    if not new.words or not new.words <= old.words:
        claims = [c for c in new.claims if c.slot is not Slot.STANCE]
        again = len(new.claims) == 1 and claims and compare_claims(new, old) is Relation.REPEATS
        return bool(again) and len(new.words - old.words) <= 1
    return says_no_more(candidate.fact, held.fact)


def _find_overtaken(held: Sequence[Held], candidate: Candidate) -> tuple[list[Held], list[Held]]:
    """Return the held facts that the candidate replaces, and those it merely ends."""
    replaced: list[Held] = []
    ended: list[Held] = []
    for one in held:
        relation = compare_claims(candidate.reading, one.reading)
        if relation is Relation.REPLACES:
            replaced.append(one)
        elif relation is Relation.ENDS:
            ended.append(one)
    return replaced, ended
