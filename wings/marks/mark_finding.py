"""Finds places that still state a retired fact, and stores them as marks.

Existing places are searched when a person retires a fact, which may take a second; later messages,
when facts are extracted from them.
"""

import re
import uuid
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice

from django.db.models import Q, QuerySet, TextField, Value
from django.db.models.functions import Concat

from episodic.models import Conversation, Episode, Message, Role
from indexing import queries as index
from indexing.model_change import choose_embedder
from indexing.models import SearchUnit, UnitKind
from retrieval.corrections import HELD
from semantic import queries
from semantic.contradictions import Claim
from semantic.models import Changeset, CorrectionMark, Evidence, Fact

Place, FoundBy, State = CorrectionMark.Place, CorrectionMark.FoundBy, CorrectionMark.State
READ_AT_MOST = 1_000
"""Number of newest texts of a kind, with one of the words, that are read."""
NEAR_AT_MOST = 5
"""Number of places proposed only because their meaning is similar."""
NEAR_COSINE = 0.89
ALL_TIME = datetime.max.replace(tzinfo=UTC)
PlaceKey = tuple[CorrectionMark.Place, uuid.UUID]
CORRECTIONS_AT_MOST = 200
"""Number of a conversation's newest corrections that later messages are compared with."""


def mark_places(
    fact: Fact, changeset: Changeset, new: str = "", *, heir: Fact | None = None
) -> None:
    """Find and store the places that still state a fact that a person has just retired.

    `new` is the sentence that replaced it. Marks on evidence and on the same words are active at
    once; places with only similar meaning, and evidence in other words, are proposed. With `heir`,
    an existing fact, only what is certain and was said before the heir is marked.
    """
    claim, conversation = Claim(fact.fact, new), fact.conversation
    if claim.is_empty:
        return
    if not conversation.has_corrections:
        conversation.has_corrections = True
        conversation.save(update_fields=["has_corrections"])
    if conversation.user_id:
        others = Evidence.objects.of(fact.tenant).filter(fact=fact).exclude(conversation=None)
        homes = Conversation.objects.of(fact.tenant).filter(id__in=others.values("conversation"))
        homes.filter(has_corrections=False).update(has_corrections=True)
    marks: dict[PlaceKey, CorrectionMark] = {}
    found = _find_said(fact, claim, heir) if heir else _find_places(fact, claim)
    for place, found_by, is_certain in found:
        if heir is not None and not is_certain:
            continue
        mark = _make_mark(fact, changeset, place, found_by, is_certain=is_certain)
        marks.setdefault(place, mark)
    known = CorrectionMark.objects.of(fact.tenant).filter(fact=fact)
    known_ids = set(known.values_list("place_id", flat=True))
    new_marks = [mark for mark in marks.values() if mark.place_id not in known_ids]
    CorrectionMark.objects.bulk_create(new_marks)


def mark_later_places(changeset: Changeset, episodes: Sequence[Episode]) -> None:
    """Mark text of a run that states what a person had retired before.

    Nothing from where a user says it anew: it may have become true. Six queries; none without
    corrections.
    """
    conversation = changeset.conversation
    if not conversation.has_corrections:
        return
    said = list(Message.objects.of(changeset.tenant).filter(episode__in=list(episodes)))
    texts = list(_texts_of_run(changeset, episodes, said))
    users = {row.id: row.seq for row in said if row.role == Role.USER}
    active = CorrectionMark.objects.of(changeset.tenant).filter(
        place_id__in=users, state=State.ACTIVE
    )
    known = set(active.values_list("fact_id", "place_id"))
    marks: list[CorrectionMark] = []
    for fact in _corrected_facts(conversation):
        claim = Claim(fact.fact, fact.superseded_by.fact if fact.superseded_by else "")
        words = claim.pattern.replace(r"\m", r"\b").replace(r"\M", r"\b")
        pattern = re.compile(words, re.IGNORECASE)
        places = {
            place: seq
            for place, text, seq in texts
            if not claim.is_empty and pattern.search(text) and claim.is_said_in(text)
        }
        anew = [users[key] for _, key in places if key in users and (fact.id, key) not in known]
        for place, seq in places.items():
            if seq < min(anew, default=seq + 1):
                marks.append(_make_mark(fact, changeset, place, FoundBy.WORDS, is_certain=True))
    CorrectionMark.objects.bulk_create(marks, ignore_conflicts=True)


def _texts_of_run(
    changeset: Changeset, episodes: Sequence[Episode], said: Sequence[Message]
) -> Iterator[tuple[PlaceKey, str, int]]:
    """Yield the places that a run has read or created, with text and last seq."""
    for message in said:
        yield (Place.MESSAGE, message.id), message.content, message.seq
    for episode in episodes:
        text = f"{episode.title}\n{episode.summary}"
        yield (Place.EPISODE, episode.id), text, episode.last_seq
    opened = Fact.objects.of(changeset.tenant).filter(changeset=changeset, invalid_at=None)
    evidence = queries.evidence_of(tenant=changeset.tenant, fact_ids=[fact.id for fact in opened])
    for fact in opened:
        seqs = [seq for row in evidence[fact.id] for seq in row.message_seqs]
        yield (Place.FACT, fact.id), fact.fact, max(seqs, default=0)


def _make_mark(
    fact: Fact, changeset: Changeset, place: PlaceKey, found_by: str, *, is_certain: bool
) -> CorrectionMark:
    return CorrectionMark(
        tenant_id=fact.tenant_id,
        conversation_id=fact.conversation_id,
        fact=fact,
        changeset=changeset,
        place=place[0],
        place_id=place[1],
        found_by=found_by,
        state=State.ACTIVE if is_certain else State.PROPOSED,
    )


def _corrected_facts(conversation: Conversation) -> QuerySet[Fact]:
    """Return the facts that people retired as wrong or over, newest first."""
    marks = CorrectionMark.objects.within(conversation)
    by_hand = Q(id__in=marks.values("fact")) | Q(invalidated_because=Fact.Because.WRONG)
    facts = Fact.objects.within(conversation).filter(by_hand, invalidated_because__in=HELD)
    newest = facts.select_related("superseded_by").order_by("-invalid_at", "-id")
    return newest[:CORRECTIONS_AT_MOST]


def find_messages_saying(fact: Fact) -> list[uuid.UUID]:
    """Return the messages that support a fact or state it, each once."""
    places = (place for place, _, _ in _find_said(fact, Claim(fact.fact, "")))
    ids = (place_id for kind, place_id in places if kind == Place.MESSAGE)
    return list(dict.fromkeys(ids))


def _find_places(
    fact: Fact, claim: Claim
) -> Iterator[tuple[PlaceKey, CorrectionMark.FoundBy, bool]]:
    """Yield places, how each was found and whether it is certain; the first per place counts."""
    yield from _find_said(fact, claim)
    for place in islice(_near(fact, claim), NEAR_AT_MOST):
        yield place, FoundBy.MEANING, False


def _find_said(
    fact: Fact, claim: Claim, heir: Fact | None = None
) -> Iterator[tuple[PlaceKey, CorrectionMark.FoundBy, bool]]:
    """Yield the places of the evidence, and those with the same words, said before the heir."""
    sources = list(_list_sources(fact))
    before = _find_end(sources, heir) if heir else ALL_TIME
    for message in sources:
        if message.occurred_at < before and not claim.is_taken_back_in(message.content):
            is_certain = claim.is_said_in(message.content, is_source=True)
            yield (Place.MESSAGE, message.id), FoundBy.EVIDENCE, is_certain
    for place, text in _texts_with(fact, claim.pattern, before):
        if claim.is_said_in(text):
            yield place, FoundBy.WORDS, True


def _find_end(sources: Sequence[Message], heir: Fact) -> datetime:
    """Return when a fact's heir was first said; ALL_TIME if no source of the fact is earlier."""
    said = min((message.occurred_at for message in _list_sources(heir)), default=heir.created_at)
    return said if any(message.occurred_at < said for message in sources) else ALL_TIME


def _list_sources(fact: Fact) -> Iterator[Message]:
    """Yield the messages that support a fact, its own conversation's first."""
    evidence = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    seqs: defaultdict[uuid.UUID, set[int]] = defaultdict(set)
    for home, several in evidence.values_list("conversation_id", "message_seqs").order_by("id"):
        seqs[home or fact.conversation_id].update(several)
    rows = Message.objects.of(fact.tenant).filter(withheld_by=None)
    for home in sorted(seqs, key=lambda home: home != fact.conversation_id):
        yield from rows.filter(conversation=home, seq__in=seqs[home]).order_by("seq")


def _messages_of(fact: Fact) -> QuerySet[Message]:
    return Message.objects.of(fact.tenant).filter(
        conversation=fact.conversation_id, withheld_by=None
    )


def _texts_with(fact: Fact, pattern: str, before: datetime) -> Iterator[tuple[PlaceKey, str]]:
    """Yield matching texts of the conversation, the newest of each kind."""
    tenant, home = fact.tenant, fact.conversation_id
    messages = _messages_of(fact).filter(content__iregex=pattern, occurred_at__lt=before)
    episodes = Episode.objects.of(tenant).filter(
        conversation=home, withheld_by=None, start_at__lt=before
    )
    worded = episodes.filter(Q(title__iregex=pattern) | Q(summary__iregex=pattern))
    headlines = Concat("title", Value("\n", TextField()), "summary")
    facts = Fact.objects.of(tenant).filter(conversation=home, invalid_at=None).exclude(id=fact.id)
    alike = facts.filter(fact__iregex=pattern, valid_at__lt=before).order_by("-id")
    # Of notes the index has the words; this app does not know their table.
    notes = SearchUnit.objects.of(tenant).filter(
        conversation=home,
        kind=UnitKind.NOTE,
        invalid_at=None,
        lexical_text__iregex=pattern,
        valid_at__lt=before,
    )
    texts = {
        Place.MESSAGE: messages.order_by("-seq").values_list("id", "content"),
        Place.EPISODE: worded.order_by("-first_seq").values_list("id", headlines),
        Place.FACT: alike.values_list("id", "fact"),
        Place.NOTE: notes.order_by("-id").values_list("memory_id", "lexical_text"),
    }
    for place, rows in texts.items():
        for place_id, text in rows[:READ_AT_MOST]:
            yield (place, place_id), text


def _near(fact: Fact, claim: Claim) -> Iterator[PlaceKey]:
    """Yield the places most similar to the fact that do not state what is right."""
    model = choose_embedder(tenant=fact.tenant, conversation_id=fact.conversation_id).name
    vector = index.find_vector(tenant=fact.tenant, memory_id=fact.id, model=model)
    if vector is None:
        return
    near = index.nearest_units(
        tenant=fact.tenant,
        conversation=fact.conversation_id,
        invalid_at=None,
        vector=vector,
        model=model,
        at_most=4 * NEAR_AT_MOST,
    )
    for unit, cosine in near:
        if cosine < NEAR_COSINE or unit.memory_id == fact.id:
            continue
        if unit.kind == UnitKind.MESSAGE and unit.first_seq is not None:
            message = _messages_of(fact).filter(seq=unit.first_seq).first()
            place_id, text = (message.id, message.content) if message else (None, "")
        else:
            place_id, text = unit.memory_id, unit.lexical_text
        if place_id is not None and not claim.is_taken_back_in(text):
            yield Place(unit.kind), place_id
