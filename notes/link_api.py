"""Creates and deletes links; `retrieval` lists and follows them."""

import uuid

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from memoryproject.edge.errors import Problem
from memoryproject.edge.schema import Error
from memoryproject.tenancy.models import Scope
from memoryproject.tenancy.views import KeyedView
from notes import link_services
from notes.forms import LinkInput
from notes.models import Link
from notes.renderings import LinkOutput


class Links(KeyedView):
    """Takes new links."""

    scope = Scope.INGEST

    @extend_schema(
        operation_id="add_link", request=LinkInput, responses={201: LinkOutput, 404: Error}
    )
    def post(self, request: Request) -> Response:
        link, is_new = link_services.add_link(
            tenant=self.tenant(),
            actor=self.actor(),
            made_by=Link.MadeBy.AGENT,
            **self.read(LinkInput),
        )
        if not is_new:
            message = f"There is this link already: {link.id}."
            raise Problem("The request has errors.", fields={"to_id": [message]})
        return Response(LinkOutput(link).data, status=201)


class OneLink(KeyedView):
    """A link by its id."""

    scope = Scope.INGEST

    @extend_schema(operation_id="delete_link", request=None, responses={204: None})
    def delete(self, request: Request, link_id: uuid.UUID) -> Response:
        link_services.delete_link(tenant=self.tenant(), link_id=link_id)
        return Response(status=204)
