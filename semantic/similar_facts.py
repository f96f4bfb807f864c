"""Finds facts similar to a new one: the same statement, or one declared wrong."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from episodic.models import Conversation
from indexing import queries as index
from indexing.queries import Neighbour
from memoryproject.ai.embeddings import Vectors
from semantic import queries
from semantic.duplicates import MERGE_COSINE, is_near_duplicate, is_same_fact
from semantic.models import Fact
from semantic.services import NewFact
from semantic.user_facts import facts_beside, list_ids_beside

CANDIDATE_LIMIT = 5


class SimilarFacts:
    """The active facts that are similar to those that a run proposes.

    Searched in the conversation and in its user's other ones, by vectors.
    """

    def __init__(self, conversation: Conversation, vectors: Vectors, model: str) -> None:
        self._model = model
        self._conversation, tenant = conversation, conversation.tenant
        self._near = index.nearest_to_each(
            vectors,
            tenant=tenant,
            conversation_ids=list_ids_beside(conversation),
            model=model,
            cosine_at_least=MERGE_COSINE,
            at_most=2 * CANDIDATE_LIMIT,  # the run may retire some
        )
        ids = {neighbour.memory_id for near in self._near for neighbour in near}
        self._facts = facts_beside(conversation).filter(id__in=ids, invalid_at=None).in_bulk()
        self._opened: dict[uuid.UUID, int] = {}
        """The facts of this run, each with the position of its proposal."""
        self._vectors = vectors.astype(np.float16).astype(np.float32)  # as they are stored

    def add(self, fact: Fact, position: int) -> None:
        """Include a fact that was just created, with the vector of its proposal."""
        self._facts[fact.id] = fact
        self._opened[fact.id] = position

    def drop(self, fact: Fact) -> None:
        """Exclude a fact that was retired."""
        self._facts.pop(fact.id, None)

    def find_alike(self, new: NewFact, position: int) -> tuple[Fact | None, Fact | None]:
        """Return the active fact that says the same, or None; and else one that seems to.

        `position` is the proposal's. Facts that only seem to say the same are merged by a person.
        """
        cosines = self._vectors[list(self._opened.values())] @ self._vectors[position]
        near = [*self._near[position], *map(Neighbour, self._opened, cosines.tolist())]
        near = [row for row in near if row.cosine >= MERGE_COSINE and row.memory_id in self._facts]
        near = sorted(near, key=lambda row: (-row.cosine, row.memory_id))[:CANDIDATE_LIMIT]
        same = _find_first(new, near, self._facts, says_so=is_same_fact)
        doubtful = None if same else _find_first(new, near, self._facts, says_so=is_near_duplicate)
        return same, doubtful

    def find_declared_wrong(self, new: NewFact) -> Fact | None:
        """Return the fact declared wrong that says the same, or None."""
        wrong = self._declared_wrong
        content_hash = queries.content_hash(new.row.fact)
        same = next((fact for fact in wrong.values() if fact.content_hash == content_hash), None)
        if same is not None or new.vector is None:
            return same
        near = index.nearest(
            memory__in=list(wrong),
            tenant=self._conversation.tenant,
            vector=new.vector,
            model=self._model,
            at_most=CANDIDATE_LIMIT,
        )
        return _find_first(new, near, wrong, says_so=is_same_fact)

    @cached_property
    def _declared_wrong(self) -> dict[uuid.UUID, Fact]:
        """Facts that people declared wrong, or asked to forget, by id.

        Uses indexes: semantic_fact_declared_wrong, semantic_fact_by_reason.
        """
        facts = facts_beside(self._conversation)
        wrong = facts.filter(invalidated_because=Fact.Because.WRONG).order_by("id")
        forgotten = facts.filter(
            invalidated_because=Fact.Because.FORGOTTEN, invalid_at__isnull=False
        )
        return {fact.id: fact for fact in chain(wrong, forgotten.order_by("id"))}


def _find_first(
    new: NewFact,
    near: Sequence[Neighbour],
    facts: Mapping[uuid.UUID, Fact],
    *,
    says_so: Callable[..., bool],
) -> Fact | None:
    """Return the most similar of the facts that pass a rule."""
    for neighbour in near:
        fact = facts[neighbour.memory_id]
        if fact.user_id != new.row.user_id:
            continue
        categories = {"category_a": fact.category, "category_b": new.row.category}
        if says_so(fact.fact, new.row.fact, cosine=neighbour.cosine, **categories):
            return fact
    return None
