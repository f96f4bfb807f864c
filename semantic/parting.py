"""Separates a conversation's facts from its user's before it moves to another user.

One user's statements are no evidence for another user's facts, and do not end them. Facts stay in
the conversation in which they were first said, with its own evidence. Evidence for each other's
facts is deleted, and extracted again on each side.
"""

from collections.abc import Iterable

from django.db.models import F, Q, QuerySet

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from semantic.copies import place_copies
from semantic.models import Change, Changeset, CorrectionMark, Evidence, Fact, Suggestion
from semantic.redrawing import redraw
from semantic.services import Ledger, put_state, start_changeset
from semantic.states import State
from semantic.user_facts import facts_beside, list_ids_beside, lock_user

ACTOR = "worker"
PARTED = "parted"
"""Note of partings."""
REASON = "The conversation is another user's from now on."


def leave_user(conversation: Conversation) -> Changeset | None:
    """Withdraw what a locked conversation shares with its user's others; None if nothing.

    The caller gives it another user in the same transaction. The evidence is deleted, not just
    withdrawn: neither user may see the other's words.
    """
    lock_user(conversation.tenant, conversation.user_id)
    tenant, home = conversation.tenant, Q(fact__conversation=conversation)
    shared = Evidence.objects.of(tenant).filter(
        Q(conversation=conversation) | home & Q(conversation__isnull=False)
    )
    fact_ids = sorted(set(shared.values_list("fact_id", flat=True)))
    ended = list(_find_ended(conversation).select_for_update().order_by("id"))
    _delete_pairs(conversation)
    if not fact_ids and not ended:
        return None
    now, kind = episodic_queries.database_now(), Changeset.Kind.CURATION
    ledger = start_changeset(conversation, now=now, kind=kind, actor=ACTOR, reason=REASON)
    counting = set(shared.filter(withdrawn_by=None).values_list("episode_id", flat=True))
    shared.delete()
    place_copies(tenant, fact_ids)
    for fact_id in fact_ids:
        ledger.note(Change.Action.WITHDRAW, memory_id=fact_id, note=PARTED)
    _restore(ended, ledger)
    redraw(tenant, counting)
    ledger.close()
    return ledger.changeset


def _find_ended(conversation: Conversation) -> QuerySet[Fact]:
    """Return facts replaced by a fact of another conversation, where one of the two is here."""
    facts = facts_beside(conversation).filter(
        superseded_by__isnull=False, invalidated_because=Fact.Because.SUPERSEDED
    )
    across = facts.exclude(superseded_by__conversation=F("conversation"))
    is_here = Q(conversation=conversation) | Q(superseded_by__conversation=conversation)
    return across.filter(is_here)


def _restore(facts: Iterable[Fact], ledger: Ledger) -> None:
    """Restore facts, unless the sentence is active in their conversation as another fact."""
    rows = Fact.objects.of(ledger.changeset.tenant).filter(invalid_at=None)
    for fact in facts:
        same = rows.filter(conversation=fact.conversation_id, content_hash=fact.content_hash)
        # Without its replacement, which readers of this one may not see.
        state = State(fact.invalidated_because, fact.valid_until) if same.exists() else State()
        put_state(fact, state, ledger=ledger, note=PARTED)


def _delete_pairs(conversation: Conversation) -> None:
    """Delete suggestions and marks that connect a fact of this conversation with another's."""
    tenant, here = conversation.tenant, Q(old_fact__conversation=conversation)
    rows = Suggestion.objects.of(tenant).filter(new_fact__isnull=False)
    across = rows.exclude(old_fact__conversation=F("new_fact__conversation"))
    across.filter(here | Q(new_fact__conversation=conversation)).delete()
    marks = CorrectionMark.objects.of(tenant).filter(
        place=CorrectionMark.Place.MESSAGE,
        conversation__in=list_ids_beside(conversation),
    )
    messages = Message.objects.of(tenant).filter(id__in=marks.values("place_id"))
    homes = dict(messages.values_list("id", "conversation_id"))
    crossing = [
        mark.id
        for mark in marks
        if (place := homes.get(mark.place_id)) != mark.conversation_id
        and conversation.id in {place, mark.conversation_id}
    ]
    CorrectionMark.objects.of(tenant).filter(id__in=crossing).delete()
