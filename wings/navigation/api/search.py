"""The call `search`: facts, episodes and notes of a whole tenant."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.kinds import LINK_TYPES
from memoryproject.edge import fields
from memoryproject.edge.schema import describe
from retrieval.api.answers import BudgetField, KnownAtField
from retrieval.search.in_tenant import ORDERS, SOURCE_TYPES, SearchRequest
from wings.navigation import results
from wings.navigation.api.narrowed import MirroredView, NarrowedInput
from wings.navigation.links import Node
from wings.notes.forms import ID_AT_MOST, WORD_AT_MOST

RESULTS = 10
RESULTS_AT_MOST = 100
SOURCE_IDS_AT_MOST = 100
HOPS_AT_MOST = 3


class Several(serializers.ListField):
    """Some words of a list, at least one."""

    def __init__(self, choices: list[str], **options: Any) -> None:
        child = fields.WordField(choices=choices)
        super().__init__(
            child=child, required=False, allow_empty=False, max_length=len(choices), **options
        )


class SearchInput(NarrowedInput):
    """The body of `POST search`. Absent filters do not narrow."""

    query = fields.ContentField()
    source_types = Several(choices=list(SOURCE_TYPES))
    source_ids = serializers.ListField(
        child=fields.TextField(max_length=ID_AT_MOST),
        required=False,
        allow_empty=False,
        max_length=SOURCE_IDS_AT_MOST,
    )
    tag = fields.TextField(max_length=WORD_AT_MOST, required=False)
    since = fields.AskedMomentField(required=False)
    as_of = fields.AskedMomentField(required=False)
    known_at = KnownAtField()
    min_relevance = fields.NumberField(default=0.0, min_value=0, max_value=1)
    max_results = fields.WholeNumberField(default=RESULTS, min_value=1, max_value=RESULTS_AT_MOST)
    max_tokens = BudgetField(required=False)
    sort_by = fields.WordField(choices=ORDERS, default=ORDERS[0])
    max_hops = fields.WholeNumberField(default=0, min_value=0, max_value=HOPS_AT_MOST)
    link_types = Several(choices=list(LINK_TYPES))

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "since" in attrs and "until" in attrs and attrs["until"] < attrs["since"]:
            raise serializers.ValidationError({"until": ["This lies before since."]})
        return attrs


class SearchItem(fields.Output):
    """A memory that answers."""

    table = results.Item
    columns = (
        "id=finding.memory_id source_type memory.source_id? label=memory.clean_label "
        "relevance=finding.score finding.importance combined_score=finding.combined "
        "token_estimate snippet occurred_at=finding.at hops=finding.depth memory.metadata"
    )
    source_type = serializers.ChoiceField(choices=list(SOURCE_TYPES), source="finding.source_type")


class HopPath(fields.Output):
    """A link that was followed, from the nearer memory to the farther one."""

    table, columns = Node, "from=via to=id link_type"
    link_type = serializers.ChoiceField(choices=LINK_TYPES)


class SearchOutput(fields.Output):
    """The answer of `search`."""

    table = results.Result
    columns = (
        "items total_count=findings.total tokens_used counter query=applied findings.hops_used "
        "hop_paths receipt=receipt.id? findings.degraded?"
    )
    items = SearchItem(many=True)
    hop_paths = HopPath(many=True)


class Search(MirroredView):
    for_users = True
    memory_operations = {"POST": "search_memory"}

    @describe("search", SearchInput, SearchOutput)
    def post(self, request: Request) -> Response:
        params = SearchRequest(**{"links": self.key().links, **self.read(SearchInput)})
        return self.answer(
            SearchOutput,
            lambda: results.search(self.reading(), params),
            lambda: results.search_mirror(tenant=self.tenant(), request=params),
        )
