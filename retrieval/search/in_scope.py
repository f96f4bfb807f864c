"""Searches a whole tenant with the ranking of a conversation.

A tenant may be too large to rank all of it: the tenant search selects memories, and these are
ranked like a conversation, with single messages.
"""

from dataclasses import replace

from indexing.models import MemoryKind
from retrieval.hits import Hit
from retrieval.scope import Scope
from retrieval.search import in_conversation
from retrieval.search.in_conversation import DEPTH, Question
from retrieval.search.in_tenant import SearchRequest, find_with

LEGS = 4
"""Memories to rank, in multiples of a ranking's depth, since each ranking finds its own."""


def search(scope: Scope, question: Question) -> list[Hit]:
    """Return the best memories of each kind, best first."""
    return in_conversation.search(scope, narrow(scope, question))


def narrow(scope: Scope, question: Question) -> Question:
    """Return the question for only those memories of a tenant that may answer it."""
    if not scope.is_everything:
        return question
    known = [
        finding.memory_id
        for shelf in question.shelves
        for finding in find_with(
            tenant=scope.tenant,
            request=_to_search(scope, question, shelf),
            meaning=question.meaning,
        )[0]
    ]
    return replace(question, known=known)


def _to_search(scope: Scope, question: Question, shelf: MemoryKind) -> SearchRequest:
    request = question.request
    return SearchRequest(
        query=request.query,
        source_types=[shelf.value],
        agent_id=scope.agent_id,
        category=request.searched_category if shelf is MemoryKind.FACT else None,
        as_of=request.as_of,
        known_at=request.known_at,
        max_results=LEGS * DEPTH,
    )
