"""Shared parts of calls that search a whole tenant: filters, and the mirror."""

from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from memoryproject.edge import fields
from memoryproject.edge.headers import set_headers
from memoryproject.tenancy.views import ReadView
from retrieval.api.answers import QUERY, LinksField
from retrieval.memory import EPISODIC
from wings.navigation import mirror
from wings.notes.forms import VALENCES, WORD_AT_MOST


class NarrowedInput(fields.Strict):
    """Fields of calls that search a whole tenant. All filters must match."""

    query = fields.ContentField(QUERY)
    conversation_id = fields.IdField("Only what belongs to it.", required=False)
    user_id = fields.NameField("Only of this user's conversations, and notes about him.")
    agent_id = fields.NameField("Only of this agent's conversations.")
    category = fields.TextField(
        f"Of notes and facts; `{EPISODIC}`: of episodes, too, which else are left out.",
        max_length=WORD_AT_MOST,
        required=False,
    )
    min_importance = fields.NumberField(
        "A note's own; an episode's surprise; of a fact 0.5, and 0.1 more for each further "
        "episode that supports it, up to 0.9.",
        required=False,
        min_value=0,
        max_value=1,
    )
    emotion_valence = fields.WordField(
        "Of notes; leaves out all else.", choices=VALENCES, required=False
    )
    until = fields.AskedMomentField("Included; UTC without an offset.", required=False)
    asked_in = fields.IdField(
        "The conversation that the answer is for. It narrows nothing; but what your agent says "
        "there of the answer is an echo, and not learnt as news. Default: conversation_id.",
        required=False,
    )
    links = LinksField()


class MirroredView(ReadView):
    """A view with a reduced answer from the mirror, if memories are mirrored."""

    def answers_without_database(self) -> bool:
        return mirror.is_on()

    def answer(
        self,
        form: type[Serializer[Any]],
        from_rows: Callable[[], object],
        from_pages: Callable[[], object],
    ) -> Response:
        """Return the answer; from the mirror, if there is one, without the database."""
        try:
            answer = from_rows()
        except (OperationalError, InterfaceError):
            if not self.answers_without_database() or self.key().user_ids:
                raise
            answer = from_pages()
        body = form(answer).data
        return set_headers(Response(body), receipt=body["receipt"], degraded=body["degraded"])
