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
from wings.notes.renderings import LINK_TYPE

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

    query = fields.ContentField("What to look for, in words; * for everything.")
    source_types = Several(
        choices=list(SOURCE_TYPES), help_text="Types of notes, `episode`, `fact`."
    )
    source_ids = serializers.ListField(
        child=fields.TextField(max_length=ID_AT_MOST),
        required=False,
        allow_empty=False,
        max_length=SOURCE_IDS_AT_MOST,
        help_text="A note's own; of a fact or an episode the id of its conversation.",
    )
    tag = fields.TextField(
        "One of a note's tags; leaves out all else.", max_length=WORD_AT_MOST, required=False
    )
    since = fields.AskedMomentField(
        "Included; UTC without an offset. When it was so: of a note occurred_at, of a thread its "
        "last activity, of a fact from when on it is true, of an episode its end.",
        required=False,
    )
    as_of = fields.AskedMomentField(
        "Search what was true then, retired facts too, and what had been said and noted. UTC "
        "without an offset.",
        required=False,
    )
    known_at = KnownAtField()
    min_relevance = fields.NumberField(
        "Only memories of at least this relevance, from 0 to 1.",
        default=0.0,
        min_value=0,
        max_value=1,
    )
    max_results = fields.WholeNumberField(
        "Memories at most.", default=RESULTS, min_value=1, max_value=RESULTS_AT_MOST
    )
    max_tokens = BudgetField(
        "The whole texts of all items together stay within it.", required=False
    )
    sort_by = fields.WordField(
        "By relevance, by `occurred_at` (recency), by importance, or by `combined_score`.",
        choices=ORDERS,
        default=ORDERS[0],
    )
    max_hops = fields.WholeNumberField(
        "Links to follow from what is found.", default=0, min_value=0, max_value=HOPS_AT_MOST
    )
    link_types = Several(choices=list(LINK_TYPES), help_text="Of hops; default: all.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "since" in attrs and "until" in attrs and attrs["until"] < attrs["since"]:
            raise serializers.ValidationError({"until": ["This lies before since."]})
        return attrs


class SearchItem(fields.Output):
    """A memory that answers."""

    table = results.Item
    id = fields.Column("The id of the memory.", "finding.memory_id")
    source_type = serializers.ChoiceField(
        choices=list(SOURCE_TYPES),
        source="finding.source_type",
        help_text="Of a note its source type, else `episode` or `fact`.",
    )
    source_id = fields.Column(
        "A note's own; else the id of the conversation.", "memory.source_id", allow_null=True
    )
    label = fields.Column("A line to show it by.", "memory.clean_label")  # type: ignore[assignment]
    relevance = fields.Column(
        "0 to 1, comparable between searches: the larger of how much of the query's words it "
        "holds and how near it is in meaning. With `*` 0.5; through links 0.5, halved by each "
        "further link.",
        "finding.score",
    )
    importance = fields.Column("0 to 1.", "finding.importance")
    combined_score = fields.Column("0.7 relevance + 0.3 importance.", "finding.combined")
    token_estimate = fields.Column("Of its whole text.")
    snippet = fields.Column("What it says, in a line.")
    occurred_at = fields.Column("When it was so: recency goes by this.", "finding.at")
    hops = fields.Column("Links that led here; 0: the query found it.", "finding.depth")
    metadata = fields.Column(
        "Of a note what you gave; of an episode its messages and times; of a fact its category, "
        "its times and how many episodes support it.",
        "memory.metadata",
    )


class HopPath(fields.Output):
    """A link that was followed, from the nearer memory to the farther one."""

    table = Node
    from_ = fields.Column("The memory nearer to what the query found.", "via")
    to = fields.Column("The memory farther from it.", "id")
    link_type = serializers.ChoiceField(choices=LINK_TYPES, help_text=LINK_TYPE)


class SearchOutput(fields.Output):
    """The answer of `search`."""

    table = results.Result
    items = SearchItem(many=True, help_text="The memories that match, in the order asked for.")
    total_count = fields.Column("Memories that match, returned or not.", "findings.total")
    tokens_used = fields.Column("The items' estimates together.")
    counter = fields.Column("How tokens are counted.")
    query = fields.Column("Every parameter as it was applied.", "applied")
    hops_used = fields.Column("Steps after which links led to nothing new.", "findings.hops_used")
    hop_paths = HopPath(many=True, help_text="The links on the way to items, nearest first.")
    receipt = fields.Column(
        "Names this answer in audits; null: the database was away.", "receipt.id", allow_null=True
    )
    degraded = fields.Column(
        "no_vectors: only words were searched; old_vectors: the embedding model has changed, and "
        "older memories were found by keyword alone; mirror: in files, as the database was away; "
        "null: nothing missing.",
        "findings.degraded",
        allow_null=True,
    )


class Search(MirroredView):
    for_users = True
    memory_operations = {"POST": "search_memory"}

    @describe("search", SearchInput, SearchOutput, headers="receipt degraded read_from read_age")
    def post(self, request: Request) -> Response:
        """Search facts, episodes and notes of the whole tenant.

        Searches active facts, episodes and notes of all conversations and of none, by keyword and
        semantic rank. Nothing is reviewed afterwards. With `max_hops` the links of what is found
        are followed both ways; what they lead to must pass the filters, too. Then peek at an item
        (`memories/{id}`), read it within a limit (`memories/{id}/chunk`), or put a prompt together
        (`contexts`).
        200: The memories that match, in the order asked for.
        """
        params = SearchRequest(**{"links": self.key().links, **self.read(SearchInput)})
        return self.answer(
            SearchOutput,
            lambda: results.search(self.reading(), params),
            lambda: results.search_mirror(tenant=self.tenant(), request=params),
        )
