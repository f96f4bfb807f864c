"""Strict serializer fields, which convert no types, and their base classes."""

import json
import re
import uuid
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, cast

from django.conf import settings
from django.urls import register_converter
from django.urls.converters import UUIDConverter
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.validators import ProhibitSurrogateCharactersValidator

from memoryproject.edge.columns import show
from memoryproject.edge.http import TOO_LARGE

ISO_8601 = re.compile(
    r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}([.,]\d{1,9})?)?(Z|z|[+-]\d{2}:?[0-5]\d)?", re.ASCII
)
LEAST = 1e-9
"""Smallest number that is not read as 0: PostgreSQL rejects products that are too small."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(hours=24)
CENTURY = timedelta(days=36_500)
# What `str.strip` removes, written out: clients differ over `\s`.
WHITE_SPACE = r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
NAME_AT_MOST = 255
"""Longest id chosen by a caller, in characters."""
CONVERSATION = "The conversation, by the UUID that the agent chose."
CANONICAL_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class ExplainedField(serializers.Field):  # type: ignore[type-arg]
    """A field whose first argument says what it means, as a model's column has its name there."""

    def __init__(self, help_text: str | None = None, **options: Any) -> None:
        super().__init__(help_text=help_text, **options)


class TextField(ExplainedField, serializers.CharField):
    """Text, stored as sent: not trimmed, not normalized, never made from a number."""

    def __init__(self, help_text: str | None = None, **options: Any) -> None:
        super().__init__(help_text, trim_whitespace=False, **options)

    def to_internal_value(self, value: Any) -> str:
        if not isinstance(value, str):
            raise serializers.ValidationError("This must be text.")
        return value


class NameField(TextField):
    """An id chosen by the caller, such as a user's; optional."""

    def __init__(self, help_text: str | None = None, **options: Any) -> None:
        super().__init__(help_text, **{"required": False, "max_length": NAME_AT_MOST, **options})


SAYS_SOMETHING = {"type": "string", "minLength": 1, "pattern": f"[^{WHITE_SPACE}]"}


@extend_schema_field(SAYS_SOMETHING)
class ContentField(TextField):
    """The text of a message: not empty, not only white space, within the size limit."""

    cap = "MAX_CONTENT_BYTES"
    """The setting with its limit in bytes of UTF-8."""

    def __init__(self, help_text: str | None = None, **options: Any) -> None:
        super().__init__(help_text, **options)
        # It takes 10 ms for the largest content; the parser has refused what it looks for.
        self.validators.remove(ProhibitSurrogateCharactersValidator())

    def to_internal_value(self, value: Any) -> str:
        content = super().to_internal_value(value)
        if not content.strip():
            raise serializers.ValidationError("This must not be empty or only white space.")
        at_most = getattr(settings, self.cap)
        if len(content.encode()) > at_most:
            raise serializers.ValidationError(f"This is over {at_most} bytes.", code=TOO_LARGE)
        return content


class MetadataField(ExplainedField, serializers.DictField):
    """An agent's own data about a text: an object within the size limit."""

    def to_internal_value(self, data: Any) -> Any:
        metadata = super().to_internal_value(data)
        if count_bytes(metadata) > settings.MAX_METADATA_BYTES:
            raise serializers.ValidationError(
                f"This is over {settings.MAX_METADATA_BYTES} bytes as JSON.", code=TOO_LARGE
            )
        return metadata


def count_bytes(metadata: Mapping[str, Any]) -> int:
    """Return the size of metadata as compact JSON in UTF-8."""
    return len(json.dumps(metadata, ensure_ascii=False, separators=(",", ":")).encode())


class WordField(ExplainedField, serializers.ChoiceField):
    """One of a list of words; a number is rejected, even if it prints like one."""

    def to_internal_value(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            words = ", ".join(str(choice) for choice in self.choices)
            raise serializers.ValidationError(f"This must be one of: {words}.")
        return value


class WholeNumberField(ExplainedField, serializers.IntegerField):
    """A whole number in JSON; not true, 5.0 or "5"."""

    def to_internal_value(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise serializers.ValidationError("This must be a whole number.")
        return int(super().to_internal_value(value))


class NumberField(ExplainedField, serializers.FloatField):
    """A number of ordinary size in JSON; not true or "0.5"."""

    def to_internal_value(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not -1e9 < value < 1e9:
            raise serializers.ValidationError("This must be a number.")
        number = float(super().to_internal_value(value))
        return number if abs(number) >= LEAST else 0.0


class FlagField(ExplainedField, serializers.BooleanField):
    """True or false in JSON; not 1, not "true"."""

    def to_internal_value(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise serializers.ValidationError("This must be true or false.")
        return value


class IdField(ExplainedField, serializers.UUIDField):
    """A UUID in its usual form, 8-4-4-4-12 hexadecimal digits."""

    def to_internal_value(self, value: Any) -> uuid.UUID:
        if not isinstance(value, str) or not CANONICAL_UUID.fullmatch(value):
            raise serializers.ValidationError("This must be a UUID, 8-4-4-4-12 hexadecimal digits.")
        return uuid.UUID(value)


class IdConverter(UUIDConverter):
    """A UUID in a path, in the form that IdField accepts in a body."""

    regex = CANONICAL_UUID.pattern


register_converter(IdConverter, "id")
LIKE_SECONDS = range(10**8, 10**11)
"""Numbers that mean days of 1970 to 1973 as milliseconds, but years from 1973 on as seconds."""


@extend_schema_field(
    {
        "oneOf": [
            {"type": "string", "format": "date-time"},
            {"type": "integer", "minimum": 0, "description": "milliseconds since 1970"},
        ]
    }
)
class MomentField(ExplainedField):
    """A time to store: ISO 8601 with an offset, or whole milliseconds since 1970."""

    needs_offset, keeps_offset = True, False
    ahead_at_most, end = DAY, "24 hours"
    wanted = "an ISO 8601 time with an offset, or milliseconds since 1970"

    def to_internal_value(self, value: Any) -> datetime:
        with suppress(OverflowError):  # beyond the years that Python has
            moment = self._read(value)
            if EARLIEST <= moment <= timezone.now() + self.ahead_at_most:
                return moment
        raise serializers.ValidationError(f"This must lie between 1970 and {self.end} from now.")

    def _read(self, value: Any) -> datetime:
        if isinstance(value, int) and not isinstance(value, bool):
            if value in LIKE_SECONDS:
                raise serializers.ValidationError("This looks like seconds; give milliseconds.")
            return EARLIEST + timedelta(milliseconds=value)
        if isinstance(value, str) and ISO_8601.fullmatch(value):
            with suppress(ValueError):
                moment = datetime.fromisoformat(value.upper())
                if moment.tzinfo or not self.needs_offset:
                    moment = moment.replace(tzinfo=moment.tzinfo or UTC)
                    return moment if self.keeps_offset else moment.astimezone(UTC)
        raise serializers.ValidationError(f"This must be {self.wanted}.")

    def to_representation(self, value: datetime) -> str:
        return say_moment(value)


class ToldMomentField(MomentField):
    """The time at which something was said, on the speaker's clock; may be in the future."""

    keeps_offset = True
    ahead_at_most, end = CENTURY, "100 years"


class AskedMomentField(MomentField):
    """A `MomentField` for a question; without an offset, UTC."""

    needs_offset = False
    ahead_at_most, end = CENTURY, "100 years"
    wanted = "an ISO 8601 time, or milliseconds since 1970"


def say_moment(moment: datetime) -> str:
    """Return a time in the API's format: UTC, with a Z."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class Strict(serializers.Serializer):  # type: ignore[type-arg]
    """Accepts only known fields; null in an optional field means absent."""

    ignored: frozenset[str] = frozenset()
    """Names of fields that are accepted and ignored."""

    def to_internal_value(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise serializers.ValidationError({"non_field_errors": ["This must be an object."]})
        unknown = [str(name) for name in value if name not in self.fields]
        wrong: dict[str, Any] = {
            name: ["Unknown field."] for name in unknown if name not in self.ignored
        }
        known = {
            name: item
            for name, item in value.items()
            if name in self.fields and (item is not None or self.fields[name].required)
        }
        try:
            checked = super().to_internal_value(known)
        except serializers.ValidationError as error:
            wrong |= cast(dict[str, Any], error.detail)
        if wrong:
            raise serializers.ValidationError(wrong)
        return checked


class Batch(Strict):
    """A body with a list of items to store, limited by a setting."""

    listed: str
    """Name of the field with the list."""

    def to_internal_value(self, value: Any) -> Any:
        items = value.get(self.listed) if isinstance(value, dict) else None
        if isinstance(items, list) and len(items) > settings.MAX_BATCH:
            raise serializers.ValidationError(
                {self.listed: [f"A batch holds at most {settings.MAX_BATCH} {self.listed}."]},
                code=TOO_LARGE,
            )
        return super().to_internal_value(value)


class Column(ExplainedField):
    """A field of an `Output` with the type of its table's column, or of what `source` leads to."""

    def __init__(self, help_text: str, source: str = "", *, allow_null: bool = False) -> None:
        super().__init__(help_text, source=source or None, allow_null=allow_null)


class Output(serializers.Serializer):  # type: ignore[type-arg]
    """Fields of an answer; in a field that may be null, an empty text becomes null."""

    table: ClassVar[type[Any]] = object
    """The model or dataclass whose columns it shows."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        declared: dict[str, Any] = cls._declared_fields
        bases = [getattr(base, "_declared_fields", {}) for base in cls.__bases__]
        inherited = {name: declared[name] for fields in bases for name in fields}
        cls._declared_fields = {
            name.rstrip("_"): show(cls.table, name, field) if isinstance(field, Column) else field
            for name, field in {**inherited, **declared}.items()
        }

    def to_representation(self, instance: Any) -> dict[str, Any]:
        shown = super().to_representation(instance)
        return {
            name: None if value == "" and self.fields[name].allow_null else value
            for name, value in shown.items()
        }
