"""Reads a text's size in tokens from its row, where it was stored when the text was."""

from django.db.models import IntegerField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Length


class OctetLength(Length):
    function = "OCTET_LENGTH"


def stored_quarters(counter: str) -> Coalesce:
    """Return the SQL expression for the quarters of a token of a row's `content`.

    A text without a count by this counter is assumed to have one token per byte, the highest
    possible.
    """
    stored = Cast(KT(f"token_sizes__{counter}"), IntegerField())
    return Coalesce(stored, OctetLength("content") * Value(4))
