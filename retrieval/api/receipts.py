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
from memoryproject.edge.fields import Output
from memoryproject.edge.pages import PageQuery, describe_page, take_page
from memoryproject.edge.schema import describe
from memoryproject.tenancy.models import Tenant
from memoryproject.tenancy.views import ReadView
from retrieval.models import Retrieval, RetrievalHit
from retrieval.receipts import replay


class HitOutput(Output):
    """One memory that an answer served."""

    table, columns = RetrievalHit, "memory_id kind rank score lexical_rank vector_rank"
    kind = serializers.CharField(source="memory_kind")


class RetrievalOutput(Output):
    """A receipt."""

    table = Retrieval
    columns = (
        "id conversation_id=conversation.external_id? asked_by=asked_by.name? kind query "
        "parameters embedding_model counts tokens relevance degraded created_at"
    )
    embedding_model = serializers.CharField()
    hits = HitOutput(many=True)


class Retrievals(ReadView):
    """Lists receipts, newest first."""

    for_users = True

    @describe_page("list_retrievals", PageQuery, RetrievalOutput, "RetrievalPage")
    def get(self, request: Request) -> Response:
        page = take_page(
            _find_receipts(self.tenant()),
            query=self.read_query(PageQuery),
            render=partial(render_receipts, self.tenant()),
        )
        return Response(page)


class OneRetrieval(ReadView):
    """The receipt of one answer, as the header `Memory-Receipt` names it."""

    for_users = True

    @describe("get_retrieval", answers=RetrievalOutput)
    def get(self, request: Request, retrieval_id: uuid.UUID) -> Response:
        receipt = get_row(_find_receipts(self.tenant()), "receipt", id=retrieval_id)
        return Response(render_receipts(self.tenant(), [receipt])[0])


class ReplayOutput(serializers.Serializer[Any]):
    """The text of an answer, rebuilt."""

    receipt = serializers.UUIDField()
    text = serializers.CharField(allow_null=True)
    exact = serializers.BooleanField()
    erased = serializers.IntegerField()


class RetrievalReplay(ReadView):
    @describe("replay_retrieval", answers=ReplayOutput)
    def get(self, request: Request, retrieval_id: uuid.UUID) -> Response:
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
