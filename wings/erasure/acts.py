"""Erases a message, a conversation or notes with all that depends on them, in one transaction.

In the lock order of all writers: the conversation, episodes and notes, the memories, rows that
depend on them, and the jobs. We wait for earlier writers, and later ones find nothing to add to.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import QuerySet

from episodic import erasing as episodic
from episodic.models import Conversation, Episode, Message, Review
from episodic.services import request_consolidation, request_flush
from episodic.withholding import draw_anew
from indexing import erasing as index
from indexing.services import tell_mirror
from jobs import erasing as jobs
from memoryproject.database.batches import delete_rows, lock_rows
from memoryproject.tenancy.models import Tenant
from semantic import erasing as semantic
from semantic.copies import place_copies
from semantic.models import Fact
from semantic.redrawing import redraw
from semantic.user_facts import list_ids_beside, lock_home, lock_homes
from wings.erasure import other_rows, receipts
from wings.erasure.models import Erasure
from wings.marks.correction_marks import erase_marks
from wings.notes import erasing as notes
from wings.notes.models import Note

Ids = Sequence[uuid.UUID]
ACTOR = "erasure"
"""Actor of changes that an erasure makes elsewhere; the erasure records who asked for it."""
MESSAGES_AT_ONCE = 50
"""Number of messages erased one by one in a transaction."""


@dataclass(slots=True)
class Done:
    """Number of deleted rows by kind, and the deleted memories."""

    counts: Counter[str] = field(default_factory=Counter)
    memory_ids: list[uuid.UUID] = field(default_factory=list)

    def add(self, other: "Done") -> None:
        """Count what was deleted beside it."""
        self.counts += other.counts
        self.memory_ids += other.memory_ids


def erase_message(*, tenant: Tenant, message_id: uuid.UUID, actor: str) -> Done:
    """Delete a message, its episode, and the facts that depend on it.

    The episode's other messages return to the window; facts are extracted again from other episodes
    behind those facts. A message that was deleted already is ignored.
    """
    done = Done()
    rows = Message.objects.of(tenant).filter(id=message_id)
    peeked = rows.first()
    if peeked is None:
        return done
    conversation = lock_home(tenant, peeked.conversation_id)
    message = rows.first()
    if message is None:
        return done
    done.counts["messages"] += 1
    done.counts["receipts"] += receipts.erase_receipts_beside(message)
    done.counts["memory_tests"] += receipts.erase_tests(conversation, content=message.content)
    episodes = episodic.find_episode_ids(conversation, seq=message.seq)
    lock_rows(Episode.objects.of(tenant), episodes)
    tainted = semantic.lock_tainted(tenant=tenant, episode_ids=episodes)
    _erase_tainted(done, conversation, tainted, actor=actor, message=message, episodes=episodes)
    return done


def erase_some_messages(messages: QuerySet[Message], erasure: Erasure) -> Done:
    """Delete the first of an erasure's messages, one by one."""
    some = messages[:MESSAGES_AT_ONCE]
    return _erase_each(some, tenant=erasure.tenant, actor=erasure.actor)


def erase_fact(*, tenant: Tenant, fact_id: uuid.UUID, actor: str) -> Done:
    """Delete a fact, after the messages quarantined to forget it."""
    facts = Fact.objects.of(tenant).filter(id=fact_id)
    homes = list(facts.values_list("conversation_id", flat=True))
    messages = semantic.messages_forgotten_with(tenant=tenant, fact_id=fact_id)
    done = _erase_each(messages, tenant=tenant, actor=actor, also_lock=homes)
    for fact in facts:  # unless it went with a message
        conversation = lock_home(tenant, fact.conversation_id)
        done.add(erase_facts(conversation, fact_ids=[fact.id], actor=actor))
    return done


def _erase_each(
    messages: QuerySet[Message], *, tenant: Tenant, actor: str, also_lock: Ids = ()
) -> Done:
    """Delete messages one by one. `also_lock`: conversations that the caller will change."""
    done = Done()
    places = list(messages.values_list("id", "conversation_id"))
    lock_homes(tenant, [*also_lock, *(home for _, home in places)])  # all of them before any user
    for message_id, _ in places:
        done.add(erase_message(tenant=tenant, message_id=message_id, actor=actor))
    return done


def erase_facts(conversation: Conversation, *, fact_ids: Ids, actor: str) -> Done:
    """Delete facts of a locked conversation, and their replacements.

    Facts are extracted again from episodes that support them.
    """
    done = Done()
    tainted = semantic.lock_replacing(tenant=conversation.tenant, fact_ids=fact_ids)
    _erase_tainted(done, conversation, tainted, actor=actor)
    return done


def _erase_tainted(
    done: Done,
    conversation: Conversation,
    tainted: semantic.Tainted,
    *,
    actor: str,
    message: Message | None = None,
    episodes: Ids = (),
) -> None:
    """Delete facts, or a message with its episodes and facts; keep the rest."""
    tenant, scope, facts = conversation.tenant, conversation.id, tainted.fact_ids
    was_settled = conversation.pending_count == 0
    done.memory_ids = [*episodes, *facts]
    _erase_what_rests_on(done, tenant, home=conversation)
    # A context quotes a fact's messages, even if the fact stays.
    index.lock_memories(tenant=tenant, memory_ids=tainted.bereft)
    done.counts["contexts"] += receipts.erase_contexts_holding(
        tenant=tenant, memory_ids=tainted.bereft
    )
    restored = semantic.note_erased(conversation, fact_ids=facts, actor=actor)
    semantic.forget_reasons(conversation=conversation, fact_ids=facts)
    done.counts += semantic.erase_facts(tenant=tenant, fact_ids=facts, episode_ids=episodes)
    if message is not None:
        episodic.erase_message(conversation, message, episode_ids=episodes)
        done.counts["episodes"] += delete_rows(Episode.objects.of(tenant), "id__in", episodes)
        erase_marks(tenant=tenant, ids=[message.id])
        other_rows.forget_names([message.id])
    index.erase_memories(tenant=tenant, memory_ids=done.memory_ids)
    index.forget_words(tenant=tenant, conversation_id=scope)
    draw_anew(tenant=tenant, episode_ids=tainted.redrawn)
    beside = list_ids_beside(conversation)
    if len(beside) > 1:
        place_copies(tenant, tainted.bereft)
        redraw(tenant, tainted.redrawn, but=conversation)
    episodic.settle(conversation)
    if message is not None and was_settled and conversation.pending_count:
        request_flush(conversation=conversation)
    elif tainted.redrawn:
        request_consolidation(conversation, force=True)
    tell_mirror(tenant=tenant, conversation_id=scope, memory_ids=[*restored, *tainted.bereft])
    _erase_work(done, conversation, beside)


def erase_conversation(
    *, tenant: Tenant, conversation_id: uuid.UUID, with_work: bool = True
) -> Done:
    """Delete the contents of a conversation; its row stays, so that `seq` continues.

    `with_work` also erases models' answers about it; without, the caller does.
    """
    done = Done()
    conversation = lock_home(tenant, conversation_id)
    beside = list_ids_beside(conversation)  # before it is forgotten whose the conversation is
    locked = Note.objects.within(conversation).select_for_update().order_by("id")
    note_ids = list(locked.values_list("id", flat=True))
    episodes = episodic.find_episode_ids(conversation)
    lock_rows(Episode.objects.of(tenant), episodes)
    tainted = semantic.lock_all(conversation, episode_ids=episodes)
    facts = tainted.fact_ids
    done.memory_ids = [*episodes, *facts, *note_ids]
    done.counts["receipts"] += receipts.erase_receipts_of(conversation)
    done.counts["memory_tests"] += receipts.erase_tests(conversation)
    index.forget_shelves(tenant=tenant, conversation_id=conversation.id)
    _erase_what_rests_on(done, tenant, home=conversation)
    semantic.forget_reasons(conversation=conversation)
    restored = semantic.note_erased_elsewhere(conversation, fact_ids=facts, actor=ACTOR)
    if len(beside) > 1:
        semantic.forget_reasons(conversation=conversation, fact_ids=facts)
    done.counts += semantic.erase_facts(tenant=tenant, fact_ids=facts, episode_ids=episodes)
    place_copies(tenant, tainted.bereft)
    done.counts += notes.erase_notes(tenant=tenant, note_ids=note_ids)
    done.counts["messages"] += episodic.erase_messages(conversation)
    done.counts["episodes"] += delete_rows(Episode.objects.of(tenant), "id__in", episodes)
    index.forget_shelves(tenant=tenant, conversation_id=conversation.id)
    index.erase_memories(tenant=tenant, memory_ids=done.memory_ids)
    done.counts += other_rows.erase_of_conversation(conversation)
    other_rows.forget_names([conversation.id, conversation.external_id])
    redraw(tenant, tainted.redrawn)
    episodic.settle(conversation)
    tell_mirror(tenant=tenant, conversation_id=None, memory_ids=[*restored, *tainted.bereft])
    if with_work:
        _erase_work(done, conversation, beside)
    return done


def erase_notes(*, tenant: Tenant, note_ids: Ids) -> Done:
    """Delete notes with all versions, and everything that quotes or links to them."""
    done = Done()
    done.memory_ids = there = lock_rows(Note.objects.of(tenant), note_ids)
    homes = notes.homes_of(tenant=tenant, note_ids=there)
    _erase_what_rests_on(done, tenant, home=None)
    done.counts += notes.erase_notes(tenant=tenant, note_ids=there)
    for home in homes:
        index.forget_words(tenant=tenant, conversation_id=home)
    index.erase_memories(tenant=tenant, memory_ids=there)
    return done


def erase_some_notes(tenant: Tenant, rows: QuerySet[Note]) -> Done | None:
    """Delete the first of some notes; None: there are none."""
    ids = rows.order_by("id").values_list("id", flat=True)[: settings.ERASED_NOTES_AT_ONCE]
    return erase_notes(tenant=tenant, note_ids=list(ids)) if ids else None


def _erase_what_rests_on(done: Done, tenant: Tenant, *, home: Conversation | None) -> None:
    """Delete what quotes, indexes, rates or names the memories to be deleted."""
    ids, counts = done.memory_ids, done.counts
    index.lock_memories(tenant=tenant, memory_ids=ids)
    counts["pages"] += receipts.count_pages(tenant=tenant, memory_ids=ids)
    counts["receipts"] += receipts.erase_receipts_serving(tenant=tenant, memory_ids=ids)
    counts["contexts"] += receipts.erase_contexts_holding(tenant=tenant, memory_ids=ids)
    links, origins = notes.erase_links(tenant=tenant, memory_ids=ids)
    counts["links"] += links
    counts += index.erase_entries(tenant=tenant, memory_ids=ids)
    counts["reviews"] += delete_rows(Review.objects.of(tenant), "episode__in", ids)
    erase_marks(tenant=tenant, ids=ids)
    other_rows.forget_reasons(tenant=tenant, memory_ids=ids)
    other_rows.forget_names(ids)
    tell_mirror(
        tenant=tenant, conversation_id=home.id if home else None, memory_ids=sorted(origins)
    )


def _erase_work(done: Done, conversation: Conversation, beside: Ids) -> None:
    """Cancel the runs that have read deleted text, and erase the models' answers to them.

    Prompts contain facts of all conversations of a user, which are `beside`.
    """
    tenant, scopes = conversation.tenant, sorted({conversation.id, *beside})
    jobs.take_back(tenant=tenant, conversation_ids=scopes)
    done.counts["model_answers"] += jobs.erase_answers(tenant=tenant, conversation_ids=scopes)
