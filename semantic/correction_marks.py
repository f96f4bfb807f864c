"""Finds the places that still say what a retired fact said, keeps them as marks, and reads those.

The finding is a person's act and may take a second; reading an answer asks for the marks of
what it serves, and only in conversations in which something was ever corrected.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from episodic.models import Conversation, Episode, Message
from indexing import queries as index
from indexing.models import SearchUnit, UnitKind
from memoryproject.ai import embeddings
from memoryproject.database.batches import in_batches
from memoryproject.tenancy.models import Tenant
from memoryproject.text.cleaning import clean_line
from semantic.contradictions import Claim
from semantic.models import Changeset, CorrectionMark, Evidence, Fact

Place, FoundBy, State = CorrectionMark.Place, CorrectionMark.FoundBy, CorrectionMark.State
READ_AT_MOST = 1_000
"""Texts of a kind, the newest, that hold one of the words."""
NEAR_AT_MOST = 5
"""Places that are proposed because they are near in meaning."""
NEAR_COSINE = 0.89
HEIRS_AT_MOST = 20
"""Corrections of corrections that are followed."""
NO_BRACKETS = str.maketrans("[]", "()")
HELD = "superseded wrong".split()
"""Reasons of retirement for which marks count; what was undone or erased corrects nothing."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What a mark says: since when a place is known to be wrong or over, and what is right."""

    fact: Fact
    heir: Fact | None
    """The active fact that replaced it, over any number of steps; None: nothing did."""

    @property
    def text(self) -> str:
        """Return it as answers print it, on one line and without brackets."""
        is_wrong = self.fact.invalidated_because == Fact.Because.WRONG
        if not is_wrong:
            what = f"no longer true since {self.fact.valid_until:%Y-%m-%d}"
        else:
            what = "corrected" if self.heir else "declared wrong"
            what = f"{what} on {self.fact.invalid_at:%Y-%m-%d}"
        if self.heir is None:
            return what
        return f"{what}: {print_heir(self.heir)}"


def print_heir(fact: Fact) -> str:
    """Return how a mark prints the fact that is right."""
    return clean_line(fact.fact).translate(NO_BRACKETS)


def mark_places(
    fact: Fact, *, changeset: Changeset, conversation: Conversation, new: str = ""
) -> list[CorrectionMark]:
    """Find and store what still says a fact that a person has just retired; return the new marks.

    `new` is the sentence that replaced it. Evidence and what has the same words is active at
    once; what is only near in meaning, and evidence in other words, is proposed.
    """
    claim = Claim(fact.fact, new)
    if claim.is_empty:
        return []
    if not conversation.has_corrections:
        conversation.has_corrections = True
        conversation.save(update_fields=["has_corrections"])
    found = _find_places(fact, claim)
    known = CorrectionMark.objects.of(fact.tenant).filter(fact=fact)
    known_ids = set(known.values_list("place_id", flat=True))
    marks = [
        CorrectionMark(
            tenant=fact.tenant,
            conversation=conversation,
            fact=fact,
            changeset=changeset,
            place=place,
            place_id=place_id,
            found_by=found_by,
            state=State.ACTIVE if is_certain else State.PROPOSED,
        )
        for (place, place_id), (found_by, is_certain) in found.items()
        if place_id not in known_ids
    ]
    return CorrectionMark.objects.bulk_create(marks)


Found = dict[tuple[CorrectionMark.Place, uuid.UUID], tuple[CorrectionMark.FoundBy, bool]]
"""By place, how it was found, and whether it is sure."""


def _find_places(fact: Fact, claim: Claim) -> Found:
    found: Found = {}
    for message in _sources_of(fact):
        if not claim.is_taken_back_in(message.content):
            is_certain = claim.is_said_in(message.content, is_source=True)
            found[Place.MESSAGE, message.id] = (FoundBy.EVIDENCE, is_certain)
    for place, place_id, text in _texts_with(fact, claim.pattern):
        if claim.is_said_in(text):
            found.setdefault((place, place_id), (FoundBy.WORDS, True))
    for place, place_id in _near(fact, claim):
        found.setdefault((place, place_id), (FoundBy.MEANING, False))
    return found


def _sources_of(fact: Fact) -> list[Message]:
    evidence = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    seqs = {seq for several in evidence.values_list("message_seqs", flat=True) for seq in several}
    return list(_messages_of(fact).filter(seq__in=seqs).order_by("seq"))


def _messages_of(fact: Fact) -> QuerySet[Message]:
    return Message.objects.of(fact.tenant).filter(
        conversation=fact.conversation_id, withheld_by=None
    )


def _texts_with(fact: Fact, pattern: str) -> Iterator[tuple[CorrectionMark.Place, uuid.UUID, str]]:
    """Yield texts of the conversation that match, of each kind the newest."""
    tenant, home = fact.tenant, fact.conversation_id
    messages = _messages_of(fact).filter(content__iregex=pattern).order_by("-seq")
    for place_id, text in messages.values_list("id", "content")[:READ_AT_MOST]:
        yield Place.MESSAGE, place_id, text
    episodes = Episode.objects.of(tenant).filter(conversation=home, withheld_by=None)
    worded = episodes.filter(Q(title__iregex=pattern) | Q(summary__iregex=pattern))
    rows = worded.order_by("-first_seq").values_list("id", "title", "summary")
    for place_id, title, summary in rows[:READ_AT_MOST]:
        yield Place.EPISODE, place_id, f"{title}\n{summary}"
    facts = Fact.objects.of(tenant).filter(conversation=home, invalid_at=None).exclude(id=fact.id)
    for place_id, text in (
        facts.filter(fact__iregex=pattern).order_by("-id").values_list("id", "fact")[:READ_AT_MOST]
    ):
        yield Place.FACT, place_id, text
    # Of notes the index has the words; this app does not know their table.
    notes = SearchUnit.objects.of(tenant).filter(
        conversation=home, kind=UnitKind.NOTE, invalid_at=None, lexical_text__iregex=pattern
    )
    for place_id, text in notes.order_by("-id").values_list("memory_id", "lexical_text")[
        :READ_AT_MOST
    ]:
        yield Place.NOTE, place_id, text


def _near(fact: Fact, claim: Claim) -> Iterator[tuple[CorrectionMark.Place, uuid.UUID]]:
    """Yield the places nearest in meaning to the fact that do not say what is right."""
    model = embeddings.get_embedder().name
    vector = index.find_vector(tenant=fact.tenant, memory_id=fact.id, model=model)
    if vector is None:
        return
    near = index.nearest_units(
        tenant=fact.tenant,
        conversation=fact.conversation_id,
        invalid_at=None,
        model=model,
        vector=vector,
        at_most=4 * NEAR_AT_MOST,
    )
    left = NEAR_AT_MOST
    for unit, cosine in near:
        if cosine < NEAR_COSINE or not left or unit.memory_id == fact.id:
            continue
        if unit.kind == UnitKind.MESSAGE and unit.first_seq is not None:
            message = _messages_of(fact).filter(seq=unit.first_seq).first()
            place_id, text = (message.id, message.content) if message else (None, "")
        else:
            place_id, text = unit.memory_id, unit.lexical_text
        if place_id is not None and not claim.is_taken_back_in(text):
            left -= 1
            yield Place(unit.kind), place_id


def marked_seqs(marks: Iterable[CorrectionMark], *, tenant: Tenant) -> set[int]:
    """Return the seqs of the messages among some marks."""
    ids = [mark.place_id for mark in marks if mark.place == Place.MESSAGE]
    return set(Message.objects.of(tenant).filter(id__in=ids).values_list("seq", flat=True))


def list_marks(facts: Sequence[Fact]) -> list[CorrectionMark]:
    """Return all marks of some facts of one tenant, oldest first; with fact and tenant."""
    if not facts:
        return []
    by_id = {fact.id: fact for fact in facts}
    rows = CorrectionMark.objects.of(facts[0].tenant).filter(fact__in=list(by_id))
    marks = list(rows.order_by("id"))
    for mark in marks:
        mark.fact = by_id[mark.fact_id]
        mark.tenant = mark.fact.tenant
    return marks


def set_state(marks: Sequence[CorrectionMark], *, state: str, actor: str) -> None:
    """Put marks of one tenant into a state, and note who decided so."""
    rows = CorrectionMark.objects.of(marks[0].tenant).filter(id__in=[mark.id for mark in marks])
    rows.update(state=state, decided_by=actor, decided_at=Now())


def erase_marks(*, tenant: Tenant, ids: Sequence[uuid.UUID]) -> None:
    """Delete the marks of facts and places, by their ids."""
    for some in in_batches(ids):
        of_them = Q(fact__in=some) | Q(place_id__in=some)
        CorrectionMark.objects.of(tenant).filter(of_them).delete()


def find_corrections(
    *, tenant: Tenant, place_ids: Iterable[uuid.UUID], as_of: datetime | None = None
) -> dict[uuid.UUID, Correction]:
    """Return the newest correction that each place contradicts, by the place's id.

    Two queries, and one more for each correction of a correction. With `as_of` not what was
    true then. Uses index: semantic_mark_by_place.
    """
    marks = CorrectionMark.objects.of(tenant).filter(
        place_id__in=list(place_ids), state=State.ACTIVE, fact__invalidated_because__in=HELD
    )
    rows = marks.select_related("fact").order_by("fact__invalid_at", "id")
    by_place = {mark.place_id: mark.fact for mark in rows if not _was_true(mark.fact, as_of)}
    heirs = _find_heirs(tenant, by_place.values())
    return {place_id: Correction(fact, heirs.get(fact.id)) for place_id, fact in by_place.items()}


def _was_true(fact: Fact, as_of: datetime | None) -> bool:
    if as_of is None or fact.invalidated_because == Fact.Because.WRONG:
        return False
    return fact.valid_until is None or as_of < fact.valid_until


def _find_heirs(tenant: Tenant, facts: Iterable[Fact]) -> dict[uuid.UUID, Fact]:
    """Return by fact the active one that stands in its place, if there is any."""
    heads = {fact.id: fact for fact in facts}
    for _ in range(HEIRS_AT_MOST):
        wanted = {head.superseded_by_id for head in heads.values() if head.superseded_by_id}
        if not wanted:
            break
        newer = Fact.objects.of(tenant).in_bulk(list(wanted))
        heads = {
            fact_id: newer.get(head.superseded_by_id, head) if head.superseded_by_id else head
            for fact_id, head in heads.items()
        }
        if not wanted & set(newer):
            break
    return {fact_id: head for fact_id, head in heads.items() if head.invalid_at is None}


def find_heirs(conversation: Conversation) -> list[Fact]:
    """Return the active facts that answers may print as corrections, oldest first."""
    marks = CorrectionMark.objects.of(conversation.tenant).filter(
        conversation=conversation, fact__invalidated_because__in=HELD
    )
    retired = Fact.objects.of(conversation.tenant).filter(id__in=marks.values("fact"))
    heirs = _find_heirs(conversation.tenant, retired)
    return sorted({heir.id: heir for heir in heirs.values()}.values(), key=lambda fact: fact.id)


def set_corrections(
    tenant: Tenant, rows: Sequence[Message | Episode | Fact], *, as_of: datetime | None = None
) -> None:
    """Set on loaded rows what answers say of them where they contradict a correction."""
    corrections = find_corrections(tenant=tenant, place_ids=[row.pk for row in rows], as_of=as_of)
    for row in rows:
        if row.pk in corrections:
            row.correction = corrections[row.pk].text
            heir = corrections[row.pk].heir
            row.corrected_by = heir.id if heir else None


def set_corrected(conversation: Conversation, facts: Sequence[Fact]) -> None:
    """Set on facts when a person put them in the place of a wrong one.

    Uses index: semantic_fact_declared_wrong.
    """
    wrong = Fact.objects.of(conversation.tenant).filter(
        conversation=conversation,
        invalidated_because=Fact.Because.WRONG,
        superseded_by__in=[fact.id for fact in facts],
    )
    days = dict(wrong.order_by("invalid_at").values_list("superseded_by_id", "invalid_at"))
    for fact in facts:
        fact.corrected_at = days.get(fact.id)
