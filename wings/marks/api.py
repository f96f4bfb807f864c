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
    id = fields.Column("The id of the mark.")
    fact_id = fields.Column("The fact that is wrong or over.")
    place = fields.Column("What kind of place it is.")
    place_id = fields.Column("The id of the message, episode, fact or note.")
    found_by = fields.Column(
        "How it was found: it is evidence of the fact, it has the same words, or it is near in "
        "meaning."
    )
    state = fields.Column(
        "active: answers print the correction beside it; proposed: not until somebody confirms; "
        "dropped: never."
    )
    decided_by = fields.Column("Who confirmed or dropped it.")
    decided_at = fields.Column("When somebody confirmed or dropped it; null: nobody has.")
    changeset_id = fields.Column("The act or run in which it was found.")


class MarksOutput(fields.Output):
    """All marks of a fact."""

    marks = MarkOutput(many=True, help_text="Oldest first.")


class MarksInput(Reasoned):
    """The body of `facts/{id}/marks`."""

    mark_ids = serializers.ListField(
        child=fields.IdField(),
        allow_empty=False,
        max_length=MARKS_AT_MOST,
        help_text="Marks of the fact.",
    )
    decision = fields.WordField(
        "confirm, drop, or quarantine: episodes and facts are made anew without the messages "
        "among the places, and the facts among them are retired as wrong.",
        choices=list(marking.DECISIONS),
    )


class Marks(Curating):
    """Lists the marks of a fact, and decides on them."""

    scope = Scope.READ
    writing_scope = Scope.CURATE

    @describe("list_marks", answers=MarksOutput)
    def get(self, request: Request, fact_id: uuid.UUID) -> Response:
        """List the places that still say what a retired fact said.

        The places that still say what a fact said which a person has declared wrong, corrected or
        ended: messages, episodes by title or summary, other facts and notes of its conversation. Of
        a correction those of the fact that it replaced.
        200: The marks of the fact and of what it replaced.
        """
        return self._render(find_fact(self.tenant(), fact_id))

    @describe("decide_marks", MarksInput, MarksOutput)
    def post(self, request: Request, fact_id: uuid.UUID) -> Response:
        """Confirm or drop marks, or quarantine the messages.

        Confirms or drops marks of a fact, or quarantines the messages among them and retires the
        facts. The quarantine is a rollback of its own (`rollbacks`), and ends like one.
        200: All marks of the fact, as they are now.
        """
        body = self.read(MarksInput)
        fact = find_fact(self.tenant(), fact_id)
        marking.decide(act=self.take_act(body), fact=fact, **body)
        return self._render(fact)

    def _render(self, fact: Fact) -> Response:
        return Response({"marks": MarkOutput(list_marks(fact), many=True).data})
