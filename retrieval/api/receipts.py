"""The calls `retrievals`: receipts of answers, with what each served."""

import uuid
from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import get_row
from memoryproject.edge.fields import Column, Output
from memoryproject.edge.pages import PageQuery, describe_page, take_page
from memoryproject.edge.schema import describe
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.views import ReadView
from retrieval.models import Retrieval, RetrievalHit
from retrieval.receipts import replay


class HitOutput(Output):
    """One memory that an answer served."""

    table = RetrievalHit
    memory_id = Column("The id of a memory: an episode, a fact or a note.")
    kind = serializers.CharField(
        source="memory_kind", help_text="What kind of memory it is: episode, fact or note."
    )
    rank = Column("1 is best: counted by kind of memory, in a search over all kinds.")
    score = Column("What it is ordered by; of a search the relevance.")
    lexical_rank = Column("Its rank by keywords, 1 is best; null: not among them.")
    vector_rank = Column("Its semantic rank, 1 is best; null: not among them.")


class RetrievalOutput(Output):
    """A receipt."""

    table = Retrieval
    id = Column("The id of the receipt.")
    conversation_id = Column(
        "null: there was no such conversation.", "conversation.external_id", allow_null=True
    )
    asked_by = Column("The name of the caller's key.", "asked_by.name", allow_null=True)
    kind = Column("The call that was answered.")
    query = Column("What was asked, in the caller's words.")
    parameters = Column("Every parameter as it was applied.")
    embedding_model = serializers.CharField(
        help_text="The model of the semantic ranking; empty: only keywords were searched."
    )
    counts = Column(
        "By kind of memory, how many the keyword ranking (`lexical`) and the semantic one "
        "(`vector`) found; kinds of which none was found are missing."
    )
    tokens = Column("The size of the answer in tokens, estimated.")
    relevance = Column(
        "How likely it is that the answer holds what was asked for, 0 to 1; null: not known, as "
        "with another scope than conversation, or where only words were searched."
    )
    degraded = Column(
        "What was missing: `no_vectors`, only keywords were searched; `old_vectors`, the "
        "embedding model has changed and older memories were found by keyword; null: nothing."
    )
    created_at = Column("When the answer was given.")
    hits = HitOutput(
        many=True, help_text="The memories that were served: by kind, then best first."
    )


class Retrievals(ReadView):
    for_users = True

    @describe_page("list_retrievals", PageQuery, RetrievalOutput, "RetrievalPage")
    def get(self, request: Request) -> Response:
        """List receipts of answers.

        200: A page of receipts, newest first.
        """
        page = take_page(
            _find_receipts(self.tenant()),
            query=self.read_query(PageQuery),
            render=partial(render_receipts, self.tenant()),
        )
        return Response(page)


class OneRetrieval(ReadView):
    for_users = True

    @describe("get_retrieval", answers=RetrievalOutput)
    def get(self, request: Request, retrieval_id: uuid.UUID) -> Response:
        """Show the receipt of one answer.

        The receipt of one answer, as the header `Memory-Receipt` names it.
        200: What was asked, and what was served.
        """
        receipt = get_row(_find_receipts(self.tenant()), "receipt", id=retrieval_id)
        return Response(render_receipts(self.tenant(), [receipt])[0])


class ReplayOutput(serializers.Serializer[Any]):
    """The text of an answer, rebuilt."""

    receipt = serializers.UUIDField(help_text="The id of the receipt.")
    text = serializers.CharField(
        allow_null=True,
        help_text="As it was served, `[erased]` where something was erased since; of the raw form "
        "its markdown. null: what it was made of was not kept, as of searches.",
    )
    exact = serializers.BooleanField(
        help_text="Whether it is what was served, to the letter, by a keyed hash of that."
    )
    erased = serializers.IntegerField(help_text="Places at which something was erased since.")


class RetrievalReplay(ReadView):
    @describe("replay_retrieval", answers=ReplayOutput)
    def get(self, request: Request, retrieval_id: uuid.UUID) -> Response:
        """Show the text that an answer served.

        The text that `retrieve_memory` or `context_pre_retrieve` served under this receipt,
        whatever was corrected since. The receipt holds no text: it is made again of the same facts,
        episodes and messages. Of an erased memory the receipts are gone, too.
        200: The text, made again of what it was made of.
        """
        receipt = get_row(_find_receipts(self.tenant()), "receipt", id=retrieval_id)
        return Response(ReplayOutput(replay(receipt)).data)


def _find_receipts(tenant: Tenant) -> QuerySet[Retrieval]:
    return Retrieval.objects.of(tenant).select_related("conversation", "asked_by")


def render_receipts(tenant: Tenant, page: Sequence[Retrieval]) -> Any:
    """Return receipts with their hits, in the same order, by one query."""
    hits: dict[uuid.UUID, list[RetrievalHit]] = {row.id: [] for row in page}
    rows = RetrievalHit.objects.of(tenant).filter(retrieval__in=page)
    for hit in rows.order_by("retrieval_id", "memory_kind", "rank", "id"):
        hits[hit.retrieval_id].append(hit)
    for row in page:
        row.hits = hits[row.id]  # type: ignore[attr-defined]
    return RetrievalOutput(page, many=True).data
