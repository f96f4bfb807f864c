"""Lists in pages: ask for the next page with the `after` that the last one gave."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from rest_framework import serializers

from memoryproject.fields import IdField, Strict, WholeNumberField

Row = TypeVar("Row", bound=Model)

PAGE = 50
PAGE_AT_MOST = 200
DIGITS_AT_MOST = 18  # so that it fits a bigint
WHOLE_NUMBER = re.compile(f"[0-9]{{1,{DIGITS_AT_MOST}}}")


class QueryNumberField(WholeNumberField):
    """A whole number in a query string, where everything is text."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_value": 10**DIGITS_AT_MOST - 1, **options})

    def to_internal_value(self, value: Any) -> int:
        if not isinstance(value, str) or not WHOLE_NUMBER.fullmatch(value):
            raise serializers.ValidationError(
                f"This must be a whole number of at most {DIGITS_AT_MOST} digits."
            )
        return super().to_internal_value(int(value))


class PageQuery(Strict):
    """The query parameters that every list takes."""

    conversation_id = IdField(required=False, help_text="Only what belongs to it.")
    after = IdField(required=False, help_text="The `next` of the page before.")
    limit = QueryNumberField(default=PAGE, min_value=1, max_value=PAGE_AT_MOST)


def take_page(
    rows: QuerySet[Row], *, query: dict[str, Any], render: Callable[[list[Row]], list[Any]]
) -> dict[str, Any]:
    """Return `{items, next}`, newest first; `next` is null on the last page.

    Ids are UUIDv7, so their order is that of creation.
    """
    if query.get("after") is not None:
        rows = rows.filter(id__lt=query["after"])
    found = list(rows.order_by("-id")[: query["limit"] + 1])
    page = found[: query["limit"]]
    more = len(found) > len(page)
    return {"items": render(page), "next": str(page[-1].pk) if more else None}


def page_schema(item: type[serializers.Serializer[Any]], name: str) -> Any:
    """Return the serializer class of a page of `item`, for the OpenAPI description."""
    return type(
        name,
        (serializers.Serializer,),
        {
            "items": item(many=True),
            "next": serializers.CharField(allow_null=True, help_text="Pass as `after`."),
        },
    )
