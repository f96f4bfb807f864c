"""One answer, explained: what was asked, what was served as it then was, and what came of it.

A fact's sentence never changes; what was believed of it at the time comes from the
states that changesets have written down.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.utils.safestring import SafeString

from console.highlights import count_forms, list_words, show_difference
from console.transcript import Said, read_transcript
from episodic.models import Episode, Message, Review, Role
from episodic.revealing import Reader
from retrieval.models import Retrieval, RetrievalHit
from semantic import states
from semantic.models import Change, Changeset, Evidence, Fact

BEFORE, AFTER = 2, 8
"""Messages shown around the moment of the answer."""
MESSAGES_AT_MOST = 600
CHANGES_AT_MOST = 1_000
HELD = "held"
COMMON_IN = 4
"""A word that more than a quarter of the served facts have tells nothing."""


@dataclass(frozen=True, slots=True)
class Later:
    """Something that was done to a fact after the answer."""

    at: datetime
    change: Change
    changeset: Changeset
    what: str
    newer: Fact | None
    """The sentence that took its place."""
    difference: SafeString | str = ""
    """The newer sentence, with what went and what came marked."""


@dataclass(frozen=True, slots=True)
class Source:
    """An episode that supported a fact, and those of its messages that say it."""

    evidence: Evidence
    episode: Episode
    said: Sequence[Said]
    state: str
    """Empty: it counted when the answer was given."""


@dataclass(frozen=True, slots=True)
class ServedFact:
    """A fact as it was when it was served, and what has happened since."""

    hit: RetrievalHit
    fact: Fact | None
    """None: it was erased."""
    state_then: str
    valid_until_then: datetime | None
    sources: Sequence[Source]
    later: Sequence[Later]
    used: Sequence[str] = ()
    """Its words that the agent said next and that few of the other facts have."""

    @property
    def is_likely(self) -> bool:
        """Whether its sources are worth showing at once."""
        return self.has_changed or bool(self.used) or self.hit.rank == 1

    @property
    def state_now(self) -> str:
        """Held, or why not."""
        return (self.fact.invalidated_because or HELD) if self.fact else "erased"

    @property
    def has_changed(self) -> bool:
        """Whether somebody who asks now would not be told the same."""
        return self.state_now != self.state_then


@dataclass(frozen=True, slots=True)
class ServedEpisode:
    """An episode that was served, with what was said in it."""

    hit: RetrievalHit
    episode: Episode | None
    said: Sequence[Said]
    reviews: Sequence[Review]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything about one answer."""

    retrieval: Retrieval
    facts: Sequence[ServedFact]
    episodes: Sequence[ServedEpisode]
    before: Sequence[Said]
    """The last messages when the question was asked."""
    after: Sequence[Said]
    """What was said next: what the agent made of the answer."""

    @property
    def changed(self) -> list[ServedFact]:
        """The facts of the answer of which something else is believed by now."""
        return [one for one in self.facts if one.has_changed]


def build_case(retrieval: Retrieval, *, reader: Reader) -> Case:
    """Return the case of an answer, in a dozen queries however much was served."""
    hits = list(RetrievalHit.across_tenants.filter(retrieval=retrieval, tenant=retrieval.tenant_id))
    hits.sort(key=lambda hit: (hit.rank, hit.id))
    of_facts = [hit for hit in hits if hit.memory_kind == "fact"]
    of_episodes = [hit for hit in hits if hit.memory_kind == "episode"]
    evidence = _evidence_of(retrieval, [hit.memory_id for hit in of_facts])
    said = _read_said(retrieval, of_episodes, evidence.values(), reader)
    by_seq = {one.seq: one for one in said}
    through = retrieval.through_seq
    after = [one for one in said if through < one.seq <= through + AFTER]
    facts = _serve_facts(retrieval, of_facts, evidence, by_seq)
    return Case(
        retrieval=retrieval,
        facts=_find_used(facts, after, retrieval),
        episodes=_serve_episodes(retrieval, of_episodes, said),
        before=[one for one in said if through - BEFORE < one.seq <= through],
        after=after,
    )


def _find_used(
    facts: Sequence[ServedFact], after: Sequence[Said], retrieval: Retrieval
) -> list[ServedFact]:
    """Return the facts with those of their words that the agent said next, where it is readable."""
    if retrieval.conversation is None:
        return list(facts)
    language = retrieval.conversation.language
    replies = [one.text for one in after if one.role == Role.ASSISTANT and not one.is_masked]
    said = count_forms(replies, language)
    held = count_forms([one.fact.fact for one in facts if one.fact], language)
    telling = {form for form in said if 0 < held[form] <= max(1, len(facts) // COMMON_IN)}
    return [
        replace(one, used=list_words(one.fact.fact, telling, language)) if one.fact else one
        for one in facts
    ]


def _evidence_of(
    retrieval: Retrieval, fact_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Evidence]]:
    rows = Evidence.objects.of(retrieval.tenant).filter(fact__in=fact_ids)
    rows = rows.select_related("episode", "withdrawn_by")
    found: dict[uuid.UUID, list[Evidence]] = defaultdict(list)
    for row in rows.order_by("id")[:CHANGES_AT_MOST]:
        found[row.fact_id].append(row)
    return found


def _read_said(
    retrieval: Retrieval,
    of_episodes: Sequence[RetrievalHit],
    evidence: Iterable[Sequence[Evidence]],
    reader: Reader,
) -> list[Said]:
    """Return all messages that the case needs, in order, in one query."""
    if retrieval.conversation_id is None:
        return []
    seqs = {seq for rows in evidence for row in rows for seq in row.message_seqs}
    through = retrieval.through_seq
    wanted = (
        Q(seq__in=seqs)
        | Q(episode__in=[hit.memory_id for hit in of_episodes])
        | Q(seq__gt=through - BEFORE, seq__lte=through + AFTER)
    )
    ids = Message.across_tenants.filter(wanted, conversation=retrieval.conversation_id)
    rows = Message.across_tenants.filter(id__in=ids.order_by("seq").values("id")[:MESSAGES_AT_MOST])
    return read_transcript(rows, conversation_id=retrieval.conversation_id, reader=reader)


def _serve_facts(
    retrieval: Retrieval,
    hits: Sequence[RetrievalHit],
    evidence: Mapping[uuid.UUID, Sequence[Evidence]],
    by_seq: Mapping[int, Said],
) -> list[ServedFact]:
    owned = Fact.objects.of(retrieval.tenant)
    facts = owned.in_bulk([hit.memory_id for hit in hits])
    changes = _changes_of(retrieval, list(facts))
    newer = owned.in_bulk(
        {
            after["superseded_by"]
            for steps in changes.values()
            for change in steps
            for _, after in change.states.values()
            if after and after["superseded_by"]
        }
    )
    served = []
    for hit in hits:
        fact = facts.get(hit.memory_id)
        steps = changes.get(hit.memory_id, [])
        then = state_at(fact, steps, retrieval) if fact else None
        served.append(
            ServedFact(
                hit=hit,
                fact=fact,
                state_then=(then.because or HELD) if then else HELD,
                valid_until_then=then.valid_until if then else None,
                sources=[
                    _source(row, retrieval, by_seq) for row in evidence.get(hit.memory_id, [])
                ],
                later=[
                    _later(change, fact, newer)
                    for change in steps
                    if fact is not None and change.changeset.started_at > retrieval.created_at
                ],
            )
        )
    return served


def _changes_of(
    retrieval: Retrieval, fact_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Change]]:
    """Return the steps that touched each fact, in the order in which they were made."""
    touching = Q(memory_id__in=fact_ids) | Q(other_memory_id__in=fact_ids)
    rows = Change.objects.of(retrieval.tenant).filter(touching).select_related("changeset")
    wanted, found = set(fact_ids), defaultdict(list)
    for change in rows.order_by("changeset__started_at", "changeset_id", "position")[
        :CHANGES_AT_MOST
    ]:
        for fact_id in {change.memory_id, change.other_memory_id} & wanted:
            if fact_id is not None:
                found[fact_id].append(change)
    return found


def _comes_after(changeset: Changeset, retrieval: Retrieval) -> bool:
    """Return whether a changeset is later than an answer; of one moment their ids tell."""
    begun, asked = (changeset.started_at, changeset.id), (retrieval.created_at, retrieval.id)
    return begun > asked


def state_at(fact: Fact, steps: Sequence[Change], retrieval: Retrieval) -> states.State:
    """Return what was believed of a fact at an answer: as the last step before it left it.

    Where no step before it says so, the step after it says how it found the fact; where
    there is none at all the fact is as its row has it.
    """
    known = [change for change in steps if str(fact.id) in change.states]
    past = [change for change in known if not _comes_after(change.changeset, retrieval)]
    if past:
        left = states.from_json(past[-1].states[str(fact.id)][1])
    elif known:
        left = states.from_json(known[0].states[str(fact.id)][0])
    else:
        left = states.read_state(fact)
    return left or states.State()


def _later(change: Change, fact: Fact, newer: Mapping[Any, Fact]) -> Later:
    _before, after = change.states.get(str(fact.id), (None, None))
    left = states.from_json(after)
    heir = newer.get(left.superseded_by) if left and left.superseded_by else None
    return Later(
        at=change.changeset.started_at,
        change=change,
        changeset=change.changeset,
        what=_say_change(change, left, heir),
        newer=heir,
        difference=show_difference(fact.fact, heir.fact) if heir else "",
    )


def _say_change(change: Change, left: states.State | None, heir: Fact | None) -> str:
    if left is None:
        return str(change.get_action_display())
    if left.is_active:
        return "held again"
    said = {
        Fact.Because.SUPERSEDED.value: "no longer true",
        Fact.Because.WRONG.value: "declared wrong",
        Fact.Because.ERASED.value: "erased",
        Fact.Because.REVERTED.value: "taken back by a revert",
        Fact.Because.WAITING.value: "waiting for a curator",
    }.get(left.because, str(left.because))
    return f"{said}, replaced by another fact" if heir else said


def _source(row: Evidence, retrieval: Retrieval, by_seq: Mapping[int, Said]) -> Source:
    state = ""
    if (row.created_at, row.id) > (retrieval.created_at, retrieval.id):
        state = "came later"
    elif row.withdrawn_by is not None:
        later = _comes_after(row.withdrawn_by, retrieval)
        state = "taken back later" if later else "taken back before"
    said = [by_seq[seq] for seq in row.message_seqs if seq in by_seq]
    return Source(row, row.episode, said, state)


def _serve_episodes(
    retrieval: Retrieval, hits: Sequence[RetrievalHit], said: Sequence[Said]
) -> list[ServedEpisode]:
    episodes = Episode.objects.of(retrieval.tenant).in_bulk([hit.memory_id for hit in hits])
    reviews = defaultdict(list)
    given = Review.objects.of(retrieval.tenant).filter(
        episode__in=list(episodes), retrieval_id=retrieval.id
    )
    for review in given.order_by("id"):
        reviews[review.episode_id].append(review)
    told = defaultdict(list)
    for one in said:
        told[one.episode_id].append(one)
    return [
        ServedEpisode(
            hit=hit,
            episode=episodes.get(hit.memory_id),
            said=told[hit.memory_id],
            reviews=reviews[hit.memory_id],
        )
        for hit in hits
    ]
