"""Lists the marks of a fact, and decides on them."""

import uuid

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge import fields
from memoryproject.edge.schema import describe
from memoryproject.tenancy.models import Scope
from semantic.api import find_fact
from semantic.curation_api import Curating, Reasoned
from semantic.models import CorrectionMark, Fact
from wings.marks import marking
from wings.marks.correction_marks import list_marks

MARKS_AT_MOST = 500


class MarkOutput(fields.Output):
    """A place that still states a retired fact."""

    table = CorrectionMark
    columns = "id fact_id place place_id found_by state decided_by decided_at changeset_id"


class MarksOutput(fields.Output):
    """All marks of a fact."""

    marks = MarkOutput(many=True)


class MarksInput(Reasoned):
    """The body of `facts/{id}/marks`."""

    mark_ids = serializers.ListField(
        child=fields.IdField(), allow_empty=False, max_length=MARKS_AT_MOST
    )
    decision = fields.WordField(choices=list(marking.DECISIONS))


class Marks(Curating):
    """Lists the marks of a fact, and decides on them."""

    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe("list_marks", answers=MarksOutput)
    def get(self, request: Request, fact_id: uuid.UUID) -> Response:
        return self._render(find_fact(self.tenant(), fact_id))

    @describe("decide_marks", MarksInput, MarksOutput)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        body = self.read(MarksInput)
        fact = find_fact(self.tenant(), fact_id)
        marking.decide(act=self.take_act(body), fact=fact, **body)
        return self._render(fact)

    def _render(self, fact: Fact) -> Response:
        return Response({"marks": MarkOutput(list_marks(fact), many=True).data})
