"""Builds the fields of answers from the columns of models, dataclasses and properties."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from django.contrib.postgres.fields import ArrayField
from django.db import models
from rest_framework import serializers

SHOWN_AS: Mapping[type[Any], type[Any]] = {
    **serializers.ModelSerializer.serializer_field_mapping,
    models.JSONField: serializers.DictField,
    models.ForeignKey: serializers.UUIDField,
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    float: serializers.FloatField,
    str: serializers.CharField,
    uuid.UUID: serializers.UUIDField,
    datetime: serializers.DateTimeField,
    dict: serializers.DictField,
}


def show(owner: type[Any], name: str, column: serializers.Field[Any, Any, Any, Any]) -> Any:
    """Return the field for a `Column`."""
    *way, last = (column.source or name).split(".")
    for step in way:
        declared = _find_declared(owner, step)
        owner = getattr(declared, "related_model", None) or _without_null(declared)
    declared = _find_declared(owner, last)
    source = ".".join([*way, getattr(declared, "attname", last)])
    options: dict[str, Any] = {} if source == name else {"source": source}
    allow_null, help_text = column.allow_null, column.help_text
    return _make_field(declared, allow_null=allow_null, help_text=help_text, **options)


def _find_declared(owner: type[Any], name: str) -> Any:
    """Return the column of a model, or the type of an attribute or a property."""
    if isinstance(member := getattr(owner, name, None), property):
        return get_type_hints(member.fget)["return"]
    if issubclass(owner, models.Model):
        return owner._meta.get_field(name)
    return get_type_hints(owner)[name]


def _without_null(declared: Any) -> Any:
    """Return the type without None."""
    kinds = [kind for kind in get_args(declared) if kind is not NoneType]
    return kinds[0] if isinstance(declared, UnionType) else declared


def _make_field(declared: Any, **options: Any) -> Any:
    """Return the field for a column or a type."""
    is_text = isinstance(declared, models.CharField | models.TextField)
    if getattr(declared, "null", False) or (is_text and declared.blank):
        options["allow_null"] = True
    if isinstance(declared, UnionType):
        declared, options["allow_null"] = _without_null(declared), True
    if getattr(declared, "choices", None):
        return serializers.ChoiceField(choices=declared.choices, **options)
    if isinstance(declared, ArrayField):
        return serializers.ListField(child=_make_field(declared.base_field), **options)
    if get_origin(declared) in (list, tuple):
        return serializers.ListField(child=_make_field(get_args(declared)[0]), **options)
    kind: Any = type(declared) if isinstance(declared, models.Field) else declared
    kinds = (get_origin(kind) or kind).__mro__
    return next(SHOWN_AS[kind] for kind in kinds if kind in SHOWN_AS)(**options)
