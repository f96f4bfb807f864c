"""Drawing and removing links; `retrieval` lists and follows them."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.errors import Problem
from memoryproject.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from notes import linking
from notes.api import name_actor
from notes.forms import LinkInput, LinkOutput
from notes.kinds import LinkType
from notes.models import Link
from notes.renderings import render_link


class Links(KeyedView):
    """Takes new links."""

    scope = Scope.INGEST

    @extend_schema(
        operation_id="add_link",
        request=LinkInput,
        responses={201: LinkOutput, 404: Error},
        description="Draws a typed link from one memory to another, whatever kind each is of. "
        "404: one of the two is unknown. 400: both are the same, or there is just this link "
        "already, whose id the answer then tells.",
    )
    def post(self, request: Request) -> Response:
        given = self.read(LinkInput)
        drawn = linking.add_link(
            tenant=self.tenant(),
            actor=name_actor(self),
            made_by=Link.MadeBy.AGENT,
            from_id=given["from_id"],
            to_id=given["to_id"],
            link_type=LinkType(given["link_type"]),
        )
        if not drawn.is_new:
            message = f"There is this link already: {drawn.link.id}."
            raise Problem("The request has errors.", fields={"to_id": [message]})
        return Response(render_link(drawn.link), status=201)


class OneLink(KeyedView):
    """A link by its id."""

    scope = Scope.INGEST

    @extend_schema(
        operation_id="delete_link",
        request=None,
        responses={204: None},
        description="Removes a link that was drawn. What the server links itself stays.",
    )
    def delete(self, request: Request, link_id: uuid.UUID) -> Response:
        linking.remove_link(tenant=self.tenant(), link_id=link_id)
        return Response(status=204)
