"""The form of a memory test."""

from __future__ import annotations

from django import forms

from console.forms import LinesField
from retrieval.memory_tests import TEXT_AT_MOST, TEXTS_AT_MOST


class MemoryTestForm(forms.Form):
    """What the answer to a question must and must not say."""

    must_say = LinesField(
        TEXTS_AT_MOST,
        TEXT_AT_MOST,
        label="Must say",
        help_text="One text a line; case does not count.",
    )
    must_not_say = LinesField(
        TEXTS_AT_MOST,
        TEXT_AT_MOST,
        label="Must not say",
        help_text="One text a line. Lines marked as corrected do not count.",
    )
    at_most_tokens = forms.IntegerField(
        label="Tokens of the answer, at most", required=False, min_value=1, max_value=1_000_000
    )
