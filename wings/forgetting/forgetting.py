"""Finds what somebody asks to forget, by words and meaning, and forgets it.

It finds the best matching facts and notes, messages with every word of the request, and the facts'
own messages, within a user, a conversation, or the tenant.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import Q, QuerySet

from episodic import forget_requests
from episodic.models import Conversation, Message, Role
from indexing.detection import detect_question_language
from indexing.model_change import choose_embedder
from indexing.models import MemoryKind
from jobs.claims import Claim, commit
from memoryproject.tenancy.models import Tenant
from retrieval.recent import read_lexemes
from retrieval.scope import find_user_ids
from retrieval.search.in_conversation import embed
from retrieval.search.in_tenant import NOTE_TYPES, SearchRequest, find_with
from retrieval.search.scores import likeness_of
from semantic import queries
from semantic.curation import Act
from semantic.models import Suggestion
from wings.forgetting import facts as forgetting
from wings.notes.queries import notes_by_id
from wings.notes.services import delete_note

LOOKED_AT = 20
"""Number of facts and notes that are considered."""
FORGOTTEN_AT_MOST = 5
WORDS_SHARE, BEHIND_BEST = 0.6, 0.2
"""Share of the request's words that a memory needs, and its largest distance from the best."""
ALIKE_SHARE = 0.9
"""Similarity to the request, 0 to 1, that a memory with other words needs."""
MESSAGES_LOOKED_AT = 2_000
"""Number of newest messages that are considered."""
MESSAGES_AT_MOST = 20
FEWEST_WORDS = 2
"""Words that a request needs: a single word, such as a name, would match too many messages."""
ACTOR = "user's message"
REASON = "The user asked to forget it."


@dataclass(frozen=True, slots=True)
class Place:
    """Where to search: users' data, one conversation, or with neither the tenant."""

    tenant: Tenant
    users: Sequence[str] | None = None
    """The users; empty: they may not be seen, so there is nothing to search."""
    home: Conversation | None = None

    def list_requests(self, text: str) -> list[SearchRequest]:
        """Return the searches for facts and notes, one per user."""
        kinds = [MemoryKind.FACT.value, *NOTE_TYPES]
        home = self.home.external_id if self.home else None
        request = SearchRequest(
            query=text, source_types=kinds, conversation_id=home, max_results=LOOKED_AT
        )
        if self.users is None:
            return [request]
        return [replace(request, user_id=user_id, conversation_id=None) for user_id in self.users]

    def messages(self) -> QuerySet[Message]:
        """Return the messages that may be served, newest first."""
        rows = Message.objects.of(self.tenant).filter(withheld_by=None).order_by("-id")
        if self.users is not None:
            own = Q(user_id="", conversation__user_id__in=self.users)
            return rows.filter(own | Q(user_id__in=self.users))
        return rows.filter(conversation=self.home) if self.home else rows


def choose_place(tenant: Tenant, user_id: str, home: Conversation | None) -> Place:
    """Return a user's data, under all of the user's ids; without a user, the conversation."""
    return Place(tenant, find_user_ids(tenant, user_id) if user_id else None, home)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """The forgotten facts, as suggestions to erase them, and the deleted notes."""

    suggestions: list[Suggestion]
    note_ids: list[uuid.UUID]


def forget_text(text: str, *, act: Act, place: Place, also: Sequence[uuid.UUID] = ()) -> Forgotten:
    """Forget what a text describes: the best matching facts and notes, and messages.

    `also` are further messages to quarantine, such as the request.
    """
    language = detect_question_language(text)
    (words,) = read_lexemes([text], language)
    fact_ids, note_ids = _find_memories(place, text, words, language)
    found = [*also, *_find_messages(place, words, language)]
    made = forgetting.forget(act=act, fact_ids=fact_ids, message_ids=list(dict.fromkeys(found)))
    for note_id in note_ids:
        delete_note(tenant=place.tenant, actor=act.actor, note_id=note_id)
    return Forgotten(made, note_ids)


def _find_memories(
    place: Place, text: str, words: set[str], language: str
) -> tuple[list[uuid.UUID], list[uuid.UUID]]:
    """Return the active facts and the notes that match best."""
    tenant = place.tenant
    meaning = embed(text, choose_embedder(tenant=tenant))
    likeness = likeness_of(meaning.model)
    alike: dict[uuid.UUID, float] = {}
    for request in place.list_requests(text):
        for finding in find_with(tenant=tenant, request=request, meaning=meaning)[0]:
            distance = finding.distance
            alike[finding.memory_id] = 0.0 if distance is None else likeness.share(1 - distance)
    facts = {row.id: row.fact for row in queries.active_facts(tenant=tenant, fact_ids=alike)}
    notes = {row.id: row.content for row in notes_by_id(tenant=tenant, note_ids=alike).values()}
    texts = facts | notes
    shares = {
        memory_id: len(words & said) / max(1, len(words))
        for memory_id, said in zip(texts, read_lexemes(list(texts.values()), language), strict=True)
    }
    least = max(WORDS_SHARE, max(shares.values(), default=0.0) - BEHIND_BEST)
    fits = [one for one in texts if shares[one] >= least or alike[one] >= ALIKE_SHARE]
    fits = sorted(fits, key=lambda one: shares[one] + alike[one], reverse=True)[:FORGOTTEN_AT_MOST]
    return [one for one in fits if one in facts], [one for one in fits if one in notes]


def _find_messages(place: Place, words: set[str], language: str) -> list[uuid.UUID]:
    """Return the newest messages with all of the words."""
    if len(words) < FEWEST_WORDS:
        return []
    newest = list(place.messages().values_list("id", "content")[:MESSAGES_LOOKED_AT])
    said = read_lexemes([content for _, content in newest], language)
    pairs = zip(newest, said, strict=True)
    return [message_id for (message_id, _), has in pairs if words <= has][:MESSAGES_AT_MOST]


def forget_asked(claim: Claim) -> None:
    """Do what messages of a conversation request; the job's input names them."""
    rows = Message.objects.of(claim.tenant).filter(id__in=list(claim.input), role=Role.USER)
    for message in rows.select_related("conversation").order_by("seq"):
        asked = forget_requests.read_request(message.content)
        if asked is None:
            continue
        thing, is_all = asked
        home = message.conversation
        forget_text(
            thing,
            act=Act(claim.tenant, ACTOR, REASON),
            place=choose_place(claim.tenant, message.user_id or home.user_id, home),
            also=[message.id] if is_all else (),
        )
    with commit(claim):
        return
