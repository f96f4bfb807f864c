"""Searches a whole tenant as a conversation is searched.

It may be too large to rank all of it: the search of a tenant names the memories, and what it found
is ranked as a conversation is, with single messages.
"""

from dataclasses import replace

from indexing.models import MemoryKind
from retrieval.hits import Hit
from retrieval.scope import Scope
from retrieval.search import in_conversation
from retrieval.search.in_conversation import DEPTH, Question
from retrieval.search.in_tenant import SearchRequest, find_with

LEGS = 4
"""Memories of a tenant that are ranked, in depths of a leg: those found by both are shared."""


def search(scope: Scope, question: Question) -> list[Hit]:
    """Return the best memories of each shelf, each shelf best first."""
    return in_conversation.search(scope, narrow(scope, question))


def narrow(scope: Scope, question: Question) -> Question:
    """Return the question for those memories of a tenant alone that may answer it."""
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
