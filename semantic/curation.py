"""What people do to facts: declare them over or wrong, hold them again, correct them.

Each act is a changeset with its actor and reason, and so can be reverted. A fact that
was declared wrong is not derived again from the same words, until it is restored.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from episodic import queries as episodic_queries
from episodic.models import Conversation
from jobs.enqueue import enqueue
from jobs.models import Kind
from memoryproject.ai import embeddings
from memoryproject.ai.errors import ModelMisbehaved, ModelUnavailable
from memoryproject.errors import Conflict, NotFound, Problem
from memoryproject.tenancy.models import Tenant
from semantic import queries, states
from semantic.engines import Category, fact_embedding_text
from semantic.keywords import pick_keywords
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.services import (
    Ledger,
    NewFact,
    Support,
    Vectors,
    invalidate_fact,
    open_fact,
    put_state,
)

REASON_AT_MOST = 2_000
FACTS_AT_ONCE = 1_000
SENTENCE_AT_MOST = 1_000
KEYWORDS_AT_MOST = 20
KEYWORD_AT_MOST = 100
Versions = Mapping[uuid.UUID, int]
"""By fact, the version that the person has looked at."""
NO_VERSIONS: Versions = {}
CORRECTED = "corrected"
"""Note of the step that puts a curator's sentence in the place of a wrong one."""
APPROVED = "approved"
REJECTED = "rejected"
"""Notes of the steps by which a curator decides on what waits."""


@dataclass(frozen=True, slots=True)
class Act:
    """Who does something to facts, and why. The reason must say something."""

    tenant: Tenant
    actor: str
    reason: str


def invalidate_facts(
    *,
    act: Act,
    fact_ids: Sequence[uuid.UUID],
    because: Fact.Because,
    versions: Versions = NO_VERSIONS,
) -> list[Changeset]:
    """Stop holding facts, all or none; return a changeset for each conversation.

    `because` superseded: they were true until now; wrong: they never were, and the same
    words do not bring them back. With `versions` nothing is done if a fact has changed
    since it had that one.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: one of them is not held, or has changed.
        Problem: no reason, no fact, too many, or facts are not erased like this.
    """
    if because not in {Fact.Because.SUPERSEDED, Fact.Because.WRONG}:
        raise Problem("A fact is over or wrong.", fields={"because": ["superseded or wrong"]})
    because = Fact.Because(because)
    with transaction.atomic():
        made = []
        for conversation, facts in _lock_facts(act, fact_ids, versions):
            ledger = open_ledger(act, conversation)
            for fact in facts:
                if fact.invalid_at is not None:
                    raise Conflict(f"Fact {fact.id} is not held.")
                invalidate_fact(fact, ledger=ledger, valid_until=ledger.now, because=because)
            ledger.close()
            made.append(ledger.changeset)
        return made


def restore_facts(
    *, act: Act, fact_ids: Sequence[uuid.UUID], versions: Versions = NO_VERSIONS
) -> list[Changeset]:
    """Hold facts again, all or none; return a changeset for each conversation.

    What has replaced one of them stays as it is. `versions` as for invalidating.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: one is held, has changed, was erased, or its sentence is held as another fact.
        Problem: no reason, no fact, or too many.
    """
    with transaction.atomic():
        made = []
        for conversation, facts in _lock_facts(act, fact_ids, versions):
            ledger = open_ledger(act, conversation)
            for fact in facts:
                _restore(fact, ledger)
            ledger.close()
            made.append(ledger.changeset)
        return made


def approve_facts(
    *, act: Act, fact_ids: Sequence[uuid.UUID], versions: Versions = NO_VERSIONS
) -> list[Changeset]:
    """Hold facts that wait for a curator, all or none; return a changeset for each conversation.

    `versions` as for invalidating.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: one does not wait, has changed, or its sentence is held as another fact.
        Problem: no reason, no fact, or too many.
    """
    return _decide(act, fact_ids, versions, approved=True)


def reject_facts(
    *, act: Act, fact_ids: Sequence[uuid.UUID], versions: Versions = NO_VERSIONS
) -> list[Changeset]:
    """Declare facts wrong that wait for a curator: the same words do not bring them back.

    All or none; returns a changeset for each conversation. `versions` as for invalidating.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: one does not wait, or has changed.
        Problem: no reason, no fact, or too many.
    """
    return _decide(act, fact_ids, versions, approved=False)


def _decide(
    act: Act, fact_ids: Sequence[uuid.UUID], versions: Versions, *, approved: bool
) -> list[Changeset]:
    with transaction.atomic():
        made = []
        for conversation, facts in _lock_facts(act, fact_ids, versions):
            ledger = open_ledger(act, conversation)
            for fact in facts:
                if fact.invalidated_because != Fact.Because.WAITING:
                    raise Conflict(f"Fact {fact.id} does not wait for a curator.")
                if approved:
                    _hold(fact, ledger, note=APPROVED)
                    continue
                wrong = states.State(because=Fact.Because.WRONG, valid_until=fact.valid_at)
                pair = {fact.id: put_state(fact, wrong, ledger=ledger)}
                ledger.note(Change.Action.INVALIDATE, memory_id=fact.id, note=REJECTED, states=pair)
            ledger.close()
            made.append(ledger.changeset)
        return made


def _restore(fact: Fact, ledger: Ledger) -> None:
    if fact.invalid_at is None:
        raise Conflict(f"Fact {fact.id} is held already.")
    if fact.invalidated_because == Fact.Because.WAITING:
        raise Conflict(f"Fact {fact.id} waits for a curator: approve or reject it.")
    if fact.invalidated_because == Fact.Because.ERASED:
        raise Conflict(f"Fact {fact.id} was erased.")
    _hold(fact, ledger)


def _hold(fact: Fact, ledger: Ledger, *, note: str = "") -> None:
    held = queries.find_active(conversation=ledger.conversation, fact=fact.fact)
    if held is not None:
        raise Conflict(f"Fact {held.id} says the same and is held.")
    pair = put_state(fact, states.State(), ledger=ledger)
    ledger.note(Change.Action.RESTORE, memory_id=fact.id, note=note, states={fact.id: pair})


def correct_fact(
    *,
    act: Act,
    fact_id: uuid.UUID,
    sentence: str,
    category: Category | None = None,
    keywords: Sequence[str] | None = None,
    version: int | None = None,
) -> Fact:
    """Close a fact as wrong and open a better one on the same evidence; return the new one.

    Category stays as it was if none is given; keywords are drawn from the sentence.
    With `version` nothing is done if the fact has changed since it had that one. Where the
    words stay and only category or keywords change, the old fact is superseded.

    Raises:
        NotFound: the tenant has no such fact.
        Conflict: it is not held, has changed, is right as it is, or the new sentence is
            held as another fact.
        Problem: no reason, no sentence of at most 1,000 characters, or odd keywords.
    """
    sentence = _clean_sentence(sentence)
    fact = queries.facts_by_id(tenant=act.tenant, fact_ids=[fact_id]).first()
    if fact is None:
        raise NotFound("There is no such fact.")
    kind = category or Category(fact.category)
    found_by = _clean_keywords(keywords) if keywords is not None else _keep(fact, sentence)
    vector = _embed(fact_embedding_text(category=kind, fact=sentence, keywords=found_by))
    with transaction.atomic():
        seen = NO_VERSIONS if version is None else {fact_id: version}
        ((conversation, (fact,)),) = _lock_facts(act, [fact_id], seen)
        if fact.invalid_at is not None:
            raise Conflict("The fact is not held: look at it again.")
        held = queries.find_active(conversation=conversation, fact=sentence)
        if held is not None and held.id != fact.id:
            raise Conflict(f"Fact {held.id} says so already.")
        if (fact.fact, fact.category, fact.keywords) == (sentence, kind, list(found_by)):
            raise Conflict("The fact says just this already.")
        ledger = open_ledger(act, conversation)
        new = NewFact(
            category=kind,
            fact=sentence,
            keywords=found_by,
            valid_at=fact.valid_at,
            support=_support_of(fact),
            vector=vector,
        )
        # What is said in the same words was not wrong: they may be learnt again.
        because = Fact.Because.SUPERSEDED if held else Fact.Because.WRONG
        opened = open_fact(new, ledger=ledger, replaces=fact, because=because, note=CORRECTED)
        ledger.close()
        if vector is None:
            enqueue(tenant=act.tenant, kind=Kind.EMBED, scope=conversation.id)
    return opened


def check_reason(act: Act) -> str:
    """Return the reason of an act.

    Raises:
        Problem: it has none, or one longer than 2,000 characters.
    """
    reason = act.reason.strip()
    if not reason or len(reason) > REASON_AT_MOST or "\x00" in reason:
        said = f"Say why, in at most {REASON_AT_MOST} characters."
        raise Problem(said, fields={"reason": [said]})
    return reason


def open_ledger(
    act: Act,
    conversation: Conversation,
    *,
    kind: Changeset.Kind = Changeset.Kind.CURATION,
    reverts: Changeset | None = None,
) -> Ledger:
    """Start the changeset of a person's act; the conversation is locked.

    Raises:
        Problem: the act has no reason, or one longer than 2,000 characters.
    """
    reason = check_reason(act)
    now = episodic_queries.database_now()
    changeset = Changeset.objects.create(
        tenant=act.tenant,
        conversation=conversation,
        kind=kind,
        actor=act.actor,
        reason=reason,
        started_at=now,
        reverts=reverts,
    )
    return Ledger(
        changeset=changeset,
        conversation=conversation,
        embedding_model=embeddings.get_embedder().name,
        now=now,
    )


def _lock_facts(
    act: Act, fact_ids: Sequence[uuid.UUID], versions: Versions
) -> list[tuple[Conversation, list[Fact]]]:
    """Lock facts and, before them, their conversations, in order of id: as every writer does."""
    wanted = set(fact_ids)
    if not wanted or len(wanted) > FACTS_AT_ONCE:
        raise Problem(f"Choose 1 to {FACTS_AT_ONCE} facts.")
    found = queries.facts_by_id(tenant=act.tenant, fact_ids=wanted)
    homes = dict(found.values_list("id", "conversation_id"))
    if len(homes) != len(wanted):
        raise NotFound("There is no such fact.")
    locked = {
        conversation_id: episodic_queries.lock_conversation(
            tenant=act.tenant, conversation_id=conversation_id
        )
        for conversation_id in sorted(set(homes.values()))
    }
    facts: dict[uuid.UUID, list[Fact]] = {conversation_id: [] for conversation_id in locked}
    for fact in found.select_for_update():
        if versions.get(fact.id, fact.version) != fact.version:
            raise Conflict(f"Fact {fact.id} has changed meanwhile: look at it again.")
        fact.tenant, fact.conversation = act.tenant, locked[fact.conversation_id]
        facts[fact.conversation_id].append(fact)
    return [(locked[conversation_id], rows) for conversation_id, rows in facts.items()]


def _clean_sentence(sentence: str) -> str:
    """Return the sentence on one line: answers are lists of facts, a line each."""
    cleaned = " ".join(sentence.split())
    if not cleaned or len(cleaned) > SENTENCE_AT_MOST or "\x00" in cleaned:
        said = f"Write one sentence of at most {SENTENCE_AT_MOST} characters."
        raise Problem(said, fields={"fact": [said]})
    return cleaned


def _clean_keywords(keywords: Sequence[str]) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(" ".join(word.split()) for word in keywords if word.strip()))
    too_long = any(len(word) > KEYWORD_AT_MOST or "\x00" in word for word in cleaned)
    if len(cleaned) > KEYWORDS_AT_MOST or too_long:
        said = f"At most {KEYWORDS_AT_MOST} keywords of at most {KEYWORD_AT_MOST} characters."
        raise Problem(said, fields={"keywords": [said]})
    return cleaned


def _keep(fact: Fact, sentence: str) -> tuple[str, ...]:
    """Return the fact's keywords that the sentence still holds, and the sentence's own."""
    still = [word for word in fact.keywords if word.casefold() in sentence.casefold()]
    kept = {word.casefold() for word in still}
    own = [word for word in pick_keywords(sentence, speaker="") if word.casefold() not in kept]
    return tuple(dict.fromkeys([*still, *own]))[:KEYWORDS_AT_MOST]


def _support_of(fact: Fact) -> tuple[Support, ...]:
    rows = Evidence.objects.of(fact.tenant).filter(fact=fact, withdrawn_by=None)
    return tuple(
        Support(row.episode, tuple(row.message_seqs))
        for row in rows.select_related("episode").order_by("id")
    )


def _embed(text: str) -> Vectors | None:
    """Return the text's vector; None while the model is away: words find the fact until then."""
    try:
        vectors = embeddings.embed_passages([text])
    except (ModelUnavailable, ModelMisbehaved):
        return None
    first: Vectors = vectors[0]
    return first
