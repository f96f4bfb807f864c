"""The calls `memories/{id}/links` and `walk`: list and follow the links of a memory."""

import re
import uuid
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.kinds import LINK_TYPES
from indexing.models import MemoryKind
from memoryproject.edge.fields import CANONICAL_UUID, Column, Output, Strict
from memoryproject.edge.pages import LimitField, QueryNumberField, describe_page
from memoryproject.edge.schema import describe
from memoryproject.tenancy.views import ReadView
from wings.navigation import links
from wings.navigation.links import DEPTH_AT_MOST, NODES_AT_MOST, Edge, Node
from wings.notes.renderings import LINK_TYPE, MADE_BY

DIRECTIONS = {True: "out", False: "in"}
ONE_TYPE = f"({'|'.join(LINK_TYPES)})"
ONE_PLACE = rf"^{CANONICAL_UUID.pattern}\.{ONE_TYPE}\.(out|in)$"
DEPTH = 2
NODES = 100


@extend_schema_field({"type": "string", "pattern": f"^{ONE_TYPE}(,{ONE_TYPE})*$"})
class LinkTypesField(serializers.CharField):
    """Types of links with commas between them."""

    def to_internal_value(self, value: Any) -> Any:
        words = tuple(dict.fromkeys(value.split(",")))
        if any(word not in LINK_TYPES for word in words):
            known = ", ".join(LINK_TYPES)
            raise serializers.ValidationError(f"These must be some of: {known}.")
        return words


@extend_schema_field({"type": "string", "pattern": ONE_PLACE})
class PlaceField(serializers.CharField):
    """The position at which a page of links ended."""

    def to_internal_value(self, value: Any) -> Any:
        if not re.fullmatch(ONE_PLACE, value):
            raise serializers.ValidationError("This must be the `next` of a page before.")
        memory_id, link_type, direction = value.split(".")
        return uuid.UUID(memory_id), link_type, direction == DIRECTIONS[True]


class LinksQuery(Strict):
    link_types = LinkTypesField(
        required=False, help_text="Only these, with commas between them; default: all."
    )
    after = PlaceField(required=False, help_text="The `next` of the page before.")
    limit = LimitField()


class WalkQuery(Strict):
    depth = QueryNumberField("Steps at most.", default=DEPTH, min_value=0, max_value=DEPTH_AT_MOST)
    link_types = LinkTypesField(
        required=False, help_text="Only these, with commas between them; default: all."
    )
    limit = QueryNumberField(
        "Memories at most.", default=NODES, min_value=1, max_value=NODES_AT_MOST
    )


class DirectionField(serializers.ChoiceField):
    """Whether a link was followed in its direction."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=list(DIRECTIONS.values()), source="outward", **options)

    def to_representation(self, value: Any) -> Any:
        return DIRECTIONS[value]


class MemoryLinkOutput(Output):
    """A link as one of the two memories sees it."""

    table = Edge
    id = Column("null: the server derives it.", "link_id")
    from_id = Column("The memory that the link comes from.")
    to_id = Column("The memory that the link points to.")
    link_type = serializers.ChoiceField(choices=LINK_TYPES, help_text=LINK_TYPE)
    direction = DirectionField(
        help_text="`out`: the link points away from the memory asked about; `in`: to it."
    )
    other_id = Column("The memory at the other end.")
    other_kind = serializers.ChoiceField(
        choices=MemoryKind.choices, help_text="What kind of memory that is."
    )
    made_by = serializers.ChoiceField(choices=["agent", "person", "server"], help_text=MADE_BY)
    actor = Column("Which key or person.")
    created_at = Column("When the link was created; null: the server derives it.")


class NodeOutput(Output):
    """A memory that was reached, and the link by which it was."""

    table = Node
    id = Column("The id of the memory.")
    kind = serializers.ChoiceField(
        choices=MemoryKind.choices, help_text="What kind of memory it is: episode, fact or note."
    )
    depth = Column("Steps from the start, from 1.")
    from_id = Column("The memory that the link comes from.")
    to_id = Column("The memory that the link points to.")
    link_type = serializers.ChoiceField(choices=LINK_TYPES, help_text=LINK_TYPE)
    direction = DirectionField(help_text="out: the link was followed as it points.")


class WalkOutput(serializers.Serializer[Any]):
    """The memories around one."""

    start = serializers.UUIDField(help_text="The memory that the walk began at.")
    nodes = NodeOutput(many=True, help_text="The memories, nearest first, then newest.")
    cut = serializers.BooleanField(help_text="There is more within the depth than the limit.")


class MemoryLinks(ReadView):
    @describe_page("list_memory_links", LinksQuery, MemoryLinkOutput, "MemoryLinkPage")
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        """List the links of a memory.

        The links of an episode, a fact or a note, both ways: those to the newest memories first.
        Some are stored (`POST links`), some the server derives: derived_from leads from a fact to
        the episodes that support it, supersedes from a fact to the one that it replaced, next from
        an episode to the following one.
        200: A page of links.
        """
        query = self.read_query(LinksQuery)
        limit = query.pop("limit")
        edges = links.links_of(
            tenant=self.tenant(), memory_id=memory_id, at_most=limit + 1, **query
        )
        after = _name_place(edges[limit - 1]) if len(edges) > limit else None
        items = MemoryLinkOutput(edges[:limit], many=True).data
        return Response({"items": items, "next": after})


class MemoryWalk(ReadView):
    @describe("walk_memory", None, WalkOutput, parameters=[WalkQuery], headers="read_from read_age")
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        """Follow the links of a memory, step by step.

        The memories around one, breadth first and both ways, each once: nearest first, then newest.
        Each comes with the link by which it was first reached. Where there are more than `limit`,
        `cut` says so.
        200: The memories around it.
        """
        query = self.read_query(WalkQuery)
        at_most = query.pop("limit")
        walk = links.walk(tenant=self.tenant(), start=memory_id, at_most=at_most, **query)
        return Response(WalkOutput({"start": memory_id, "nodes": walk.nodes, "cut": walk.cut}).data)


def _name_place(edge: Edge) -> str:
    return f"{edge.other_id}.{edge.link_type}.{DIRECTIONS[edge.outward]}"
