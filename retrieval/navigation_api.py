"""Listing and following the links of a memory."""

from __future__ import annotations

import uuid
from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from indexing.models import MemoryKind
from memoryproject.fields import CANONICAL_UUID, Strict, say_moment
from memoryproject.pages import PAGE, PAGE_AT_MOST, QueryNumberField, page_schema
from memoryproject.tenancy.models import Scope
from memoryproject.views import KeyedView
from notes.kinds import LINK_TYPES
from retrieval import navigation
from retrieval.navigation import DEPTH_AT_MOST, NODES_AT_MOST, Edge, Node, Place

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
    """The end of a page of links."""

    def to_internal_value(self, value: Any) -> Any:
        parts = value.split(".")
        if len(parts) == 3 and CANONICAL_UUID.fullmatch(parts[0]) and parts[1] in LINK_TYPES:
            for outward, direction in DIRECTIONS.items():
                if parts[2] == direction:
                    return Place(uuid.UUID(parts[0]), parts[1], outward)
        raise serializers.ValidationError("This must be the `next` of a page before.")


class LinksQuery(Strict):
    """The query parameters of the list of links."""

    link_types = LinkTypesField(
        required=False, help_text="Only these, with commas between them; default: all."
    )
    after = PlaceField(required=False, help_text="The `next` of the page before.")
    limit = QueryNumberField(default=PAGE, min_value=1, max_value=PAGE_AT_MOST)


class WalkQuery(Strict):
    """The query parameters of a walk."""

    depth = QueryNumberField(
        default=DEPTH, min_value=0, max_value=DEPTH_AT_MOST, help_text="Steps at most."
    )
    link_types = LinkTypesField(
        required=False, help_text="Only these, with commas between them; default: all."
    )
    limit = QueryNumberField(
        default=NODES, min_value=1, max_value=NODES_AT_MOST, help_text="Memories at most."
    )


class MemoryLinkOutput(serializers.Serializer[Any]):
    """A link as one of the two memories sees it."""

    id = serializers.UUIDField(allow_null=True, help_text="null: the server derives it.")
    from_id = serializers.UUIDField()
    to_id = serializers.UUIDField()
    link_type = serializers.ChoiceField(choices=LINK_TYPES)
    direction = serializers.ChoiceField(choices=list(DIRECTIONS.values()))
    other_id = serializers.UUIDField(help_text="The memory at the other end.")
    other_kind = serializers.ChoiceField(choices=MemoryKind.choices)
    made_by = serializers.ChoiceField(choices=["agent", "person", "server"])
    actor = serializers.CharField(allow_null=True, help_text="Which key or person.")
    created_at = serializers.DateTimeField(allow_null=True)


class NodeOutput(serializers.Serializer[Any]):
    """A memory on the way, and the link by which it was reached."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=MemoryKind.choices)
    depth = serializers.IntegerField(help_text="Steps from the start, from 1.")
    from_id = serializers.UUIDField()
    to_id = serializers.UUIDField()
    link_type = serializers.ChoiceField(choices=LINK_TYPES)
    direction = serializers.ChoiceField(
        choices=list(DIRECTIONS.values()), help_text="out: the link was followed as it points."
    )


class WalkOutput(serializers.Serializer[Any]):
    """What lies around a memory."""

    start = serializers.UUIDField()
    nodes = NodeOutput(many=True)
    cut = serializers.BooleanField(help_text="There is more within the depth than the limit.")


class MemoryLinks(KeyedView):
    """Lists the links of a memory."""

    scope = Scope.READ

    @extend_schema(
        operation_id="list_memory_links",
        parameters=[LinksQuery],
        responses=page_schema(MemoryLinkOutput, "MemoryLinkPage"),
        description="The links of an episode, a fact or a note, both ways: those to the newest "
        "memories first. Some are drawn (`POST links`), some the server derives: derived_from "
        "leads from a fact to the episodes that support it, supersedes from a fact to the one "
        "that it replaced, next from an episode to the following one.",
    )
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        query = self.read(LinksQuery, request.query_params.dict())
        found = navigation.links_of(
            tenant=self.tenant(),
            memory_id=memory_id,
            at_most=query["limit"] + 1,
            link_types=query.get("link_types", LINK_TYPES),
            after=query.get("after"),
        )
        page = found[: query["limit"]]
        more = len(found) > len(page)
        return Response(
            {
                "items": [_render_edge(memory_id, edge) for edge in page],
                "next": _name_place(page[-1]) if more else None,
            }
        )


class MemoryWalk(KeyedView):
    """Follows the links of a memory, and theirs."""

    scope = Scope.READ

    @extend_schema(
        operation_id="walk_memory",
        parameters=[WalkQuery],
        responses=WalkOutput,
        description="The memories around one, breadth first and both ways, each once: nearest "
        "first, then newest. Each comes with the link by which it was first reached. Where there "
        "are more than `limit`, `cut` says so.",
    )
    def get(self, request: Request, memory_id: uuid.UUID) -> Response:
        query = self.read(WalkQuery, request.query_params.dict())
        walk = navigation.walk(
            tenant=self.tenant(),
            start=memory_id,
            depth=query["depth"],
            at_most=query["limit"],
            link_types=query.get("link_types", LINK_TYPES),
        )
        return Response(
            {
                "start": str(memory_id),
                "nodes": [_render_node(node) for node in walk.nodes],
                "cut": walk.cut,
            }
        )


def _render_edge(memory_id: uuid.UUID, edge: Edge) -> dict[str, Any]:
    ends = (memory_id, edge.other_id) if edge.outward else (edge.other_id, memory_id)
    return {
        "id": str(edge.link_id) if edge.link_id else None,
        "from_id": str(ends[0]),
        "to_id": str(ends[1]),
        "link_type": edge.link_type,
        "direction": DIRECTIONS[edge.outward],
        "other_id": str(edge.other_id),
        "other_kind": edge.other_kind,
        "made_by": edge.made_by or "server",
        "actor": edge.actor,
        "created_at": say_moment(edge.created_at) if edge.created_at else None,
    }


def _name_place(edge: Edge) -> str:
    return f"{edge.other_id}.{edge.link_type}.{DIRECTIONS[edge.outward]}"


def _render_node(node: Node) -> dict[str, Any]:
    return {
        "id": str(node.id),
        "kind": node.kind,
        "depth": node.depth,
        "from_id": str(node.from_id),
        "to_id": str(node.to_id),
        "link_type": node.link_type,
        "direction": DIRECTIONS[node.outward],
    }
