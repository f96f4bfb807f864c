"""Paged lists: the `next` of a page is the `after` of the following one."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from rest_framework import serializers

from memoryproject.edge import fields
from memoryproject.edge.schema import View, describe

Row = TypeVar("Row", bound=models.Model)
Form = type[serializers.Serializer[Any]]

PAGE = 50
PAGE_AT_MOST = 200
DIGITS_AT_MOST = 18  # so that it fits a bigint
LARGE = (models.TextField, models.JSONField, ArrayField)
"""Types of columns whose values can be large."""
WHOLE_NUMBER = re.compile(f"[0-9]{{1,{DIGITS_AT_MOST}}}")


class QueryNumberField(fields.WholeNumberField):
    """A whole number in a query string, where everything is text."""

    def __init__(self, help_text: str, **options: Any) -> None:
        super().__init__(help_text, **{"max_value": 10**DIGITS_AT_MOST - 1, **options})

    def to_internal_value(self, value: Any) -> int:
        if not isinstance(value, str) or not WHOLE_NUMBER.fullmatch(value):
            raise serializers.ValidationError(
                f"This must be a whole number of at most {DIGITS_AT_MOST} digits."
            )
        return super().to_internal_value(int(value))


class LimitField(QueryNumberField):
    """How many items a page has at most."""

    def __init__(self, default: int = PAGE) -> None:
        text = "Items of a page at most; a page may have fewer."
        super().__init__(text, default=default, min_value=1, max_value=PAGE_AT_MOST)


class QueryMomentField(fields.AskedMomentField):
    """A time in a query string, where milliseconds are text as well."""

    def to_internal_value(self, value: Any) -> datetime:
        is_number = isinstance(value, str) and WHOLE_NUMBER.fullmatch(value)
        return super().to_internal_value(int(value) if is_number else value)


class PlaceQuery(fields.Strict):
    """The page of a list. A field's `source` is the lookup with which it filters the rows."""

    after = fields.IdField("The `next` of the page before.", required=False, source="id__lt")
    limit = LimitField()


class PageQuery(PlaceQuery):
    conversation_id = fields.IdField(
        "Only what belongs to it.", required=False, source="conversation__external_id"
    )
    user_id = fields.NameField("Only of this user's conversations.", source="conversation__user_id")
    agent_id = fields.NameField(
        "Only of this agent's conversations.", source="conversation__agent_id"
    )


class StoredBytes(models.Func):
    """The size of a column's text in bytes, without reading the text."""

    template = "coalesce(octet_length((%(expressions)s)::text), 0)"
    output_field = models.BigIntegerField()


def take_page(
    rows: models.QuerySet[Row],
    *,
    query: Mapping[str, Any],
    render: Callable[[list[Row]], list[Any]],
) -> dict[str, Any]:
    """Return `{items, next}`, newest first; `next` is null on the last page.

    `query` is the result of a `PlaceQuery`: lookups, and the limit. Ids are UUIDv7, so their order
    is that of creation.
    """
    lookups = {name: value for name, value in query.items() if name != "limit"}
    page, more = load_rows(rows.filter(**lookups).order_by("-id"), query["limit"])
    return {"items": render(page), "next": str(page[-1].pk) if more else None}


def load_rows(
    rows: models.QuerySet[Row], limit: int, *, place: str = "id"
) -> tuple[list[Row], bool]:
    """Return the first `limit` of the rows, and whether there are more.

    If their texts exceed `PAGE_BYTES`, fewer are loaded, but at least one. The rows are in the
    order of `place`, a unique column.
    """
    columns = [field for field in rows.model._meta.concrete_fields if isinstance(field, LARGE)]
    size = sum((StoredBytes(field.attname) for field in columns), start=models.Value(0))
    sizes = rows.values_list(place, size)[: limit + 1]
    while True:
        keys, more = _fit(sizes.all(), limit)
        page = list(rows.filter(**{f"{place}__in": keys})) if keys else []
        if page or not keys:  # else all of them were erased meanwhile
            return page, more


def _fit(sizes: Iterable[tuple[Any, int]], limit: int) -> tuple[list[Any], bool]:
    """Return the keys of the rows that fit on a page, and whether there are more."""
    keys: list[Any] = []
    left = settings.PAGE_BYTES
    for key, size in sizes:
        left -= size
        if len(keys) == limit or (keys and left < 0):
            return keys, True
        keys.append(key)
    return keys, False


def describe_page(call: str, query: Form, item: Form, name: str) -> Callable[[View], View]:
    """Return the decorator that describes a call which lists `item` in pages."""
    columns = {
        "__doc__": "A page of a list.",
        "items": item(many=True, help_text="The items of this page."),
        "next": serializers.CharField(allow_null=True, help_text="Pass as `after`."),
    }
    page = type(name, (serializers.Serializer,), columns)
    return describe(call, answers=page, parameters=[query], headers="read_from read_age")
