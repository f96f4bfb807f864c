"""Finds what somebody asks to forget, by its words and meaning, and has it forgotten.

Facts that match best, messages that hold every word of the request, and what the facts were
drawn from. A user's conversations are looked through, or the one that has no user.
"""

import uuid
from collections.abc import Sequence

from django.db.models import Q

from episodic import forget_requests
from episodic.models import Conversation, Message, Role
from indexing.detection import detect_language
from indexing.languages import SIMPLE
from indexing.model_change import choose_embedder
from indexing.models import MemoryKind
from jobs.claims import Claim, commit
from memoryproject.tenancy.models import Tenant
from retrieval.hits import Finding
from retrieval.recent import STOPPED_BY, read_lexemes
from retrieval.search.in_conversation import embed
from retrieval.search.in_tenant import SearchRequest, find_with
from retrieval.search.scores import likeness_of
from semantic import forgetting, queries
from semantic.curation import Act
from semantic.models import Suggestion

FACTS_LOOKED_AT = 20
FACTS_AT_MOST = 5
WORDS_SHARE = 0.6
"""Of the request's words that a fact must hold."""
ALIKE_SHARE = 0.9
"""Or how like the request it must be in meaning, from 0 to 1, if it holds none of the words."""
MESSAGES_LOOKED_AT = 2_000
"""The newest."""
MESSAGES_AT_MOST = 20
FEWEST_WORDS = 2
"""One word alone, such as a name, would take every message that has it."""
ACTOR = "user's message"
REASON = "The user asked to forget it."


def forget_text(
    text: str,
    *,
    act: Act,
    home: Conversation | None,
    users: Sequence[str],
    also: Sequence[uuid.UUID] = (),
) -> list[Suggestion]:
    """Forget what a text says: facts and messages of users, or of `home` where there are none.

    `also` are messages that go along, such as the one that asks. Returns a suggestion to erase
    each fact.
    """
    words = _read_words([text])[0]
    facts = _find_facts(act.tenant, text, words, home, users)
    messages = _find_messages(act.tenant, words, home, users)
    found = [*also, *(one for one in messages if one not in also)]
    return forgetting.forget(act=act, fact_ids=facts, message_ids=found)


def _read_words(texts: Sequence[str]) -> list[set[str]]:
    language = detect_language(texts[:1])
    return read_lexemes(texts, STOPPED_BY if language == SIMPLE else language)


def _find_facts(
    tenant: Tenant, text: str, words: set[str], home: Conversation | None, users: Sequence[str]
) -> list[uuid.UUID]:
    """Return the active facts that fit best, best first."""
    meaning = embed(text, choose_embedder(tenant=tenant))
    likeness = likeness_of(meaning.model)
    findings: list[Finding] = []
    for user_id in users or (None,):
        request = SearchRequest(
            query=text,
            source_types=[MemoryKind.FACT.value],
            user_id=user_id,
            conversation_id=home.external_id if home and not users else None,
            max_results=FACTS_LOOKED_AT,
        )
        findings += find_with(tenant=tenant, request=request, meaning=meaning).best
    ids = [finding.memory_id for finding in findings]
    rows = {row.id: row for row in queries.active_facts(tenant=tenant, fact_ids=ids)}
    kept = [finding for finding in findings if finding.memory_id in rows]
    sentences = [text, *(rows[finding.memory_id].fact for finding in kept)]
    fits = []
    for finding, said in zip(kept, _read_words(sentences)[1:], strict=True):
        share = len(words & said) / len(words) if words else 0.0
        alike = 0.0 if finding.distance is None else likeness.share(1 - finding.distance)
        if share >= WORDS_SHARE or alike >= ALIKE_SHARE:
            fits.append((share + alike, finding.memory_id))
    return [fact_id for _, fact_id in sorted(fits, reverse=True)[:FACTS_AT_MOST]]


def _find_messages(
    tenant: Tenant, words: set[str], home: Conversation | None, users: Sequence[str]
) -> list[uuid.UUID]:
    """Return the newest messages that hold all of the words."""
    if len(words) < FEWEST_WORDS:
        return []
    whose = Q(conversation__user_id__in=users) if users else Q(conversation=home)
    rows = Message.objects.of(tenant).filter(whose, withheld_by=None).order_by("-id")
    newest = list(rows.values_list("id", "content")[:MESSAGES_LOOKED_AT])
    said = _read_words([" ".join(words), *(content for _, content in newest)])[1:]
    pairs = zip(newest, said, strict=True)
    return [message_id for (message_id, _), has in pairs if words <= has][:MESSAGES_AT_MOST]


def forget_asked(claim: Claim) -> None:
    """Do what messages of a conversation ask for; the job's input names them."""
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
            home=home,
            users=[home.user_id] if home.user_id else (),
            also=[message.id] if is_all else (),
        )
    with commit(claim):
        return
