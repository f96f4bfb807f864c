"""The case of one answer: facts with their state then and now, episodes, and messages around it.

A fact's sentence never changes; its state at the time comes from the states in changesets.
"""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from console.cases import fact_history
from console.cases.fact_history import LaterChange
from console.highlights import count_forms, list_words
from console.transcript import ShownMessage, read_transcript
from episodic.models import Episode, Message, Review, Role
from episodic.revealing import Reader
from retrieval.models import Retrieval, RetrievalHit
from semantic.models import Evidence, Fact

BEFORE, AFTER = 2, 8
"""Messages shown around the moment of the answer."""
MESSAGES_AT_MOST = 600
HELD = "held"
COMMON_IN = 4
"""A word that more than a quarter of the served facts have tells nothing."""


@dataclass(frozen=True, slots=True)
class CaseSource:
    """An episode that supported a fact, and those of its messages that are the evidence."""

    episode: Episode
    messages: Sequence[ShownMessage]
    state: str
    """Empty: it counted when the answer was given."""


@dataclass(slots=True)
class ServedFact:
    """A fact as it was when it was served, and what has happened since."""

    hit: RetrievalHit
    fact: Fact | None = None
    """None: it was erased."""
    state_then: str = HELD
    valid_until_then: datetime | None = None
    sources: Sequence[CaseSource] = ()
    later: Sequence[LaterChange] = ()
    used: Sequence[str] = ()
    """Its words that the agent used next and that few of the other facts have."""

    @property
    def is_likely(self) -> bool:
        """Whether its sources are worth showing at once."""
        return self.has_changed or bool(self.used) or self.hit.rank == 1

    @property
    def state_now(self) -> str:
        """`held`, or why not."""
        return (self.fact.invalidated_because or HELD) if self.fact else "erased"

    @property
    def has_changed(self) -> bool:
        """Whether its state is another one now."""
        return self.state_now != self.state_then


@dataclass(frozen=True, slots=True)
class ServedEpisode:
    """An episode that was served, with its messages."""

    hit: RetrievalHit
    episode: Episode | None
    messages: Sequence[ShownMessage]
    reviews: Sequence[Review]


@dataclass(frozen=True, slots=True)
class Case:
    """Everything about one answer."""

    retrieval: Retrieval
    facts: Sequence[ServedFact]
    episodes: Sequence[ServedEpisode]
    before: Sequence[ShownMessage]
    """The last messages when the question was asked."""
    after: Sequence[ShownMessage]
    """The messages after it, with what the agent made of the answer."""
    reply: ShownMessage | None
    """The next message of the assistant; None: none is on record."""

    @property
    def changed(self) -> list[ServedFact]:
        """The facts of the answer whose state is another one now."""
        return [fact for fact in self.facts if fact.has_changed]


def build_case(retrieval: Retrieval, *, reader: Reader) -> Case:
    """Return the case of an answer, in a dozen queries however much was served."""
    hits = RetrievalHit.objects.of(retrieval.tenant).filter(retrieval=retrieval)
    served = list(hits.order_by("rank", "id"))
    of_facts = [hit for hit in served if hit.memory_kind == "fact"]
    of_episodes = [hit for hit in served if hit.memory_kind == "episode"]
    evidence = _evidence_of(retrieval, [hit.memory_id for hit in of_facts])
    messages = _read_messages(retrieval, of_episodes, evidence.values(), reader)
    through = retrieval.through_seq
    after = [message for message in messages if through < message.seq <= through + AFTER]
    facts = _list_facts(retrieval, of_facts, evidence, messages)
    _mark_used_words(facts, after, retrieval)
    return Case(
        retrieval=retrieval,
        facts=facts,
        episodes=_list_episodes(retrieval, of_episodes, messages),
        before=[message for message in messages if through - BEFORE < message.seq <= through],
        after=after,
        reply=_find_reply(retrieval, reader),
    )


def _find_reply(retrieval: Retrieval, reader: Reader) -> ShownMessage | None:
    """Return the first message of the assistant that came after the question, in one query."""
    home = retrieval.conversation_id
    if home is None:
        return None
    messages = Message.across_tenants.filter(tenant=retrieval.tenant_id)
    rows = messages.filter(conversation=home, role=Role.ASSISTANT, seq__gt=retrieval.through_seq)
    first = messages.filter(id__in=rows.order_by("seq").values("id")[:1])
    return next(iter(read_transcript(first, conversation_id=home, reader=reader)), None)


def _mark_used_words(
    facts: Sequence[ServedFact], after: Sequence[ShownMessage], retrieval: Retrieval
) -> None:
    """Set on each fact those of its words that the agent used next, if readable."""
    if retrieval.conversation is None:
        return
    language = retrieval.conversation.language
    replies = [row.text for row in after if row.role == Role.ASSISTANT and not row.is_masked]
    counts = count_forms([row.fact.fact for row in facts if row.fact], language)
    most = max(1, len(facts) // COMMON_IN)
    rare = {form for form in count_forms(replies, language) if 0 < counts[form] <= most}
    for row in facts:
        if row.fact is not None:
            row.used = list_words(row.fact.fact, rare, language)


def _evidence_of(
    retrieval: Retrieval, fact_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, list[Evidence]]:
    rows = Evidence.objects.of(retrieval.tenant).filter(fact__in=fact_ids)
    rows = rows.select_related("episode", "withdrawn_by")
    evidence: dict[uuid.UUID, list[Evidence]] = defaultdict(list)
    for row in rows.order_by("id")[: fact_history.CHANGES_AT_MOST]:
        evidence[row.fact_id].append(row)
    return evidence


def _read_messages(
    retrieval: Retrieval,
    of_episodes: Sequence[RetrievalHit],
    evidence: Iterable[Sequence[Evidence]],
    reader: Reader,
) -> list[ShownMessage]:
    """Return all messages that the case needs, in order, in one query."""
    if retrieval.conversation_id is None:
        return []
    seqs = {seq for rows in evidence for row in rows for seq in row.message_seqs}
    through = retrieval.through_seq
    shown = (
        Q(seq__in=seqs)
        | Q(episode__in=[hit.memory_id for hit in of_episodes])
        | Q(seq__gt=through - BEFORE, seq__lte=through + AFTER)
    )
    messages = Message.across_tenants.filter(tenant=retrieval.tenant_id)
    ids = messages.filter(shown, conversation=retrieval.conversation_id)
    rows = messages.filter(id__in=ids.order_by("seq").values("id")[:MESSAGES_AT_MOST])
    return read_transcript(rows, conversation_id=retrieval.conversation_id, reader=reader)


def _list_facts(
    retrieval: Retrieval,
    hits: Sequence[RetrievalHit],
    evidence: Mapping[uuid.UUID, Sequence[Evidence]],
    messages: Sequence[ShownMessage],
) -> list[ServedFact]:
    facts = Fact.objects.of(retrieval.tenant).in_bulk([hit.memory_id for hit in hits])
    changes = fact_history.changes_of(retrieval, list(facts))
    newer = fact_history.find_newer(retrieval, changes)
    by_seq = {message.seq: message for message in messages}
    served: list[ServedFact] = []
    for hit in hits:
        fact, steps = facts.get(hit.memory_id), changes.get(hit.memory_id, [])
        if fact is None:
            served.append(ServedFact(hit))
            continue
        then = fact_history.state_at(fact, steps, retrieval)
        sources = [_source(row, retrieval, by_seq) for row in evidence.get(fact.id, [])]
        later = [
            fact_history.render_later(change, fact, newer)
            for change in steps
            if change.changeset.started_at > retrieval.created_at
        ]
        served.append(ServedFact(hit, fact, then.because or HELD, then.valid_until, sources, later))
    return served


def _source(row: Evidence, retrieval: Retrieval, by_seq: Mapping[int, ShownMessage]) -> CaseSource:
    state = ""
    if (row.created_at, row.id) > (retrieval.created_at, retrieval.id):
        state = "added later"
    elif row.withdrawn_by is not None:
        later = fact_history.comes_after(row.withdrawn_by, retrieval)
        state = "withdrawn later" if later else "withdrawn before"
    messages = [by_seq[seq] for seq in row.message_seqs if seq in by_seq]
    return CaseSource(row.episode, messages, state)


def _list_episodes(
    retrieval: Retrieval, hits: Sequence[RetrievalHit], messages: Sequence[ShownMessage]
) -> list[ServedEpisode]:
    episodes = Episode.objects.of(retrieval.tenant).in_bulk([hit.memory_id for hit in hits])
    rows = Review.objects.of(retrieval.tenant).filter(episode__in=list(episodes))
    reviews = list(rows.filter(retrieval_id=retrieval.id).order_by("id"))
    return [
        ServedEpisode(
            hit=hit,
            episode=episodes.get(hit.memory_id),
            messages=[row for row in messages if row.episode_id == hit.memory_id],
            reviews=[review for review in reviews if review.episode_id == hit.memory_id],
        )
        for hit in hits
    ]
