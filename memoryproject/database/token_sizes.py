"""Reads what a text costs in tokens from its row, where it was counted when it was written."""

from django.db.models import IntegerField, Value
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Length


class OctetLength(Length):
    function = "OCTET_LENGTH"


def stored_quarters(counter: str) -> Coalesce:
    """Return the expression for the quarters of a token that a row's `content` comes to.

    A text that was counted by another counter only is taken for a token a byte, which none
    exceeds.
    """
    stored = Cast(KT(f"token_sizes__{counter}"), IntegerField())
    return Coalesce(stored, OctetLength("content") * Value(4))
