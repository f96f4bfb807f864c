"""What calls share: fields; and those that look through a whole tenant: filters, the mirror."""

from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from drf_spectacular.types import OpenApiTypes
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from memoryproject.edge import fields
from memoryproject.edge.headers import set_headers
from memoryproject.tenancy.views import ReadView
from memoryproject.text.cleaning import LINK_STYLES
from retrieval.memory import EPISODIC
from wings.navigation import mirror
from wings.notes.forms import VALENCES, WORD_AT_MOST

MARKDOWN = {(200, "text/markdown"): OpenApiTypes.STR}


QUERY = "What to look for, in words."
QUERIES_AT_MOST = 5


class BudgetField(fields.WholeNumberField):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"min_value": 1, "max_value": 1_000_000, **options})


class LinksField(fields.WordField):
    """How a text for a prompt prints links."""

    def __init__(self) -> None:
        super().__init__(
            choices=LINK_STYLES,
            required=False,
            help_text="How texts for a prompt print links, addresses and HTML: defanged (nothing "
            "follows or loads them) or plain (as they were said). Default: as the key says, and "
            "keys that say nothing defang them.",
        )


class FenceField(fields.FlagField):
    """Whether a text for a prompt stands between marks."""

    def __init__(self) -> None:
        super().__init__(
            default=False,
            help_text="Put the text between two marks with a random word, which say that it is "
            "data and no instruction. The answer names the word; the marks count.",
        )


class KnownAtField(fields.AskedMomentField):
    """A moment by the server's clock, of which the beliefs are asked for."""

    def __init__(self) -> None:
        super().__init__(
            required=False,
            help_text="Answer with what the server believed then, by its own clock, whatever was "
            "corrected since; with `as_of` with what it then believed to be true at that moment. "
            "What was quarantined or erased since stays out.",
        )


class NarrowedInput(fields.Strict):
    """What calls take that look through a whole tenant. All filters must hold."""

    query = fields.ContentField(help_text=QUERY)
    conversation_id = fields.IdField(required=False)
    user_id = fields.NameField()
    agent_id = fields.NameField()
    category = fields.TextField(
        max_length=WORD_AT_MOST,
        required=False,
        help_text=f"Of notes and facts; `{EPISODIC}`: of episodes, too, which else are left out.",
    )
    min_importance = fields.NumberField(required=False, min_value=0, max_value=1)
    emotion_valence = fields.WordField(choices=VALENCES, required=False)
    until = fields.AskedMomentField(required=False)
    asked_in = fields.IdField(required=False)
    links = LinksField()


class MirroredView(ReadView):
    """A view with a lesser answer in the pages of the mirror, where memories are mirrored."""

    def answers_without_database(self) -> bool:
        return mirror.is_on()

    def answer(
        self,
        form: type[Serializer[Any]],
        from_rows: Callable[[], object],
        from_pages: Callable[[], object],
    ) -> Response:
        """Return the answer: from the mirror, if there is one, while the database is away."""
        try:
            answer = from_rows()
        except (OperationalError, InterfaceError):
            if not self.answers_without_database() or self.key().user_ids:
                raise
            answer = from_pages()
        body = form(answer).data
        return set_headers(Response(body), receipt=body["receipt"], degraded=body["degraded"])
