"""Distils episodes into facts without a language model: rules, claims and vectors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from episodic.engines import Vectors
from semantic.candidates import Candidate, find_candidates, make_candidate
from semantic.claims import Slot, stems
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
from semantic.gist import join_sentences
from semantic.merge import is_same_fact, says_no_more
from semantic.readings import Reading, read_fact
from semantic.relations import Relation, compare_claims, compare_facts
from semantic.remainders import drop_listed, split_parts
from semantic.speakers import people_in

ENGINE = "offline"
OVERTAKING = frozenset({Relation.REPLACES, Relation.ENDS})
# Without what was said before, nobody knows what they stand for.
POINTING = re.compile(r"\b(?:it|this|those|these|them|him|her|she|he|there)\b|[这那它他她]", re.I)
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(slots=True)
class Held:
    """A fact that a new one is compared with: a known one, or a proposal of this run."""

    alias: str
    category: str
    fact: str
    reading: Reading
    vector: Vectors


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A held fact of which something no longer holds, and the sentences that still do.

    `replaced` is False where it merely ends: then nothing is told in its place.
    """

    held: Held
    replaced: bool
    rest: str


@dataclass(slots=True)
class Run:
    """What one consolidation has proposed so far, and what is held after that.

    `told` are the sentences that have changed something.
    """

    held: list[Held]
    proposals: list[Proposal] = field(default_factory=list)
    names: frozenset[str] = frozenset()
    told: set[str] = field(default_factory=set)

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
        oldest_first = sorted(known, key=lambda fact: fact.valid_at)
        run = Run(held=[_hold_known(fact) for fact in oldest_first], names=names)
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
            run.told.add(candidate.fact)
            return
        if not run.told.isdisjoint(candidate.sentences):
            self._settle_rest(run, candidate)
            return
        if _only_corrects(candidate):
            return
        repeated = None if candidate.minor else _find_repeated(run.held, candidate, vector)
        if repeated is not None:
            run.propose(Action.REINFORCE, candidate, alias=repeated.alias)
            return
        overtaken = [found for held in run.held if (found := _overtake(held, candidate))]
        if candidate.minor and not overtaken:
            return
        run.told.add(candidate.fact)
        candidate = _name_subject(candidate, overtaken)
        run.held = [held for held in run.held if all(held is not one.held for one in overtaken)]
        replaced = [one.held for one in overtaken if one.replaced and not one.rest]
        news = any(one.replaced for one in overtaken) or not (overtaken or candidate.minor)
        if news:
            run.propose(
                Action.UPDATE if replaced else Action.NEW,
                candidate,
                alias=replaced[0].alias if replaced else None,
            )
            run.hold(candidate, vector)
        for one in overtaken:
            if one.rest:
                self._keep_rest(run, one, candidate)
            elif not (news and replaced and one.held is replaced[0]):
                run.propose(Action.INVALIDATE, candidate, alias=one.held.alias)

    def _settle_rest(self, run: Run, candidate: Candidate) -> None:
        """Settle what is left of a message when a sentence of it has been settled by itself."""
        left = [sentence for sentence in candidate.sentences if sentence not in run.told]
        if not left:
            return
        rest = make_candidate(
            join_sentences(left),
            speaker=candidate.speaker,
            line=candidate.line,
            episode=candidate.episode,
        )
        self._settle(run, rest, self._embed([_embedding_text(rest)])[0])

    def _keep_rest(self, run: Run, overtaken: Overtaken, candidate: Candidate) -> None:
        """Put what still holds of a fact of several sentences into its place."""
        rest = make_candidate(
            overtaken.rest,
            speaker=candidate.speaker,
            line=candidate.line,
            episode=candidate.episode,
        )
        rest = replace(rest, category=Category(overtaken.held.category))
        run.propose(Action.UPDATE, rest, alias=overtaken.held.alias)
        run.hold(rest, self._embed([_embedding_text(rest)])[0])

    def _mend(self, run: Run, candidate: Candidate) -> bool:
        """Put a corrected value into the newest fact that holds the wrong one."""
        correction = candidate.correction
        if correction is None:
            return False
        newest_first = list(reversed(run.held))
        words = candidate.reading.words | stems(candidate.topic)
        for held in sorted(newest_first, key=lambda one: -len(words & one.reading.words)):
            latest = held is newest_first[0]
            mended = mend_fact(held.fact, correction, latest=latest)
            if mended is None or not _is_about(held, candidate.speaker, run.names):
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


def _is_about(held: Held, speaker: str, names: frozenset[str]) -> bool:
    """Whether a held fact may be the speaker's: it names them, or nobody else who speaks."""
    fact = held.fact.lower()
    others = {name.lower() for name in names} - {speaker.lower()}
    return speaker.lower() in fact or not any(fact.startswith(name) for name in others)


def _name_subject(candidate: Candidate, overtaken: Sequence[Overtaken]) -> Candidate:
    """Return a candidate about "she" as one about the kin whose fact it replaces."""
    opening = re.match(r"(?:She|He)(?= )", candidate.fact)
    whose = next((one.held.reading.subject for one in overtaken), "")
    if opening is None or "'s " not in whose:
        return candidate
    kin = whose.split("'s ", 1)[1]
    fact = f"{candidate.speaker}'s {kin}{candidate.fact[opening.end() :]}"
    return replace(candidate, fact=fact, reading=read_fact(fact))


def _only_corrects(candidate: Candidate) -> bool:
    """Whether a candidate is no sentence of its own: "Actually it's the 14th"."""
    return candidate.correction is not None and (
        candidate.speaker not in candidate.fact or f"{candidate.speaker} meant" in candidate.fact
    )


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
        overtakes = not OVERTAKING.isdisjoint(compare_facts(candidate.reading, one.reading))
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


def _overtake(held: Held, candidate: Candidate) -> Overtaken | None:
    """Return what the candidate leaves of a held fact, None where that is all of it."""
    relations = compare_facts(candidate.reading, held.reading)
    if OVERTAKING.isdisjoint(relations):
        return None
    parts = split_parts(held.fact)
    gone = frozenset(stem for c in candidate.reading.claims if not c.holds for stem in c.value)
    left = [
        part if told not in OVERTAKING else drop_listed(part, gone)
        for part, told in zip(parts, relations, strict=True)
    ]
    replaced = Relation.REPLACES in relations or _says_end(candidate)
    return Overtaken(held, replaced, " ".join(filter(None, left)))


def _says_end(candidate: Candidate) -> bool:
    """Whether a sentence names what is over, and so is worth a fact: "Bo no longer smokes"."""
    if candidate.speaker not in candidate.fact or POINTING.search(candidate.fact):
        return False
    own = candidate.reading.words - stems(candidate.speaker)
    return any(
        not claim.holds and claim.value and claim.value <= own for claim in candidate.reading.claims
    )
