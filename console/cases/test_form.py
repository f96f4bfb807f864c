"""The form of a memory test."""

from __future__ import annotations

from typing import Any

from django import forms

from retrieval import memory_tests


class LinesField(forms.CharField):
    """Texts, one a line."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 2}), **options)

    def clean(self, value: Any) -> list[str]:
        """Return the lines that say something."""
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(lines) > memory_tests.TEXTS_AT_MOST or any(
            len(line) > memory_tests.TEXT_AT_MOST or "\x00" in line for line in lines
        ):
            raise forms.ValidationError(
                f"At most {memory_tests.TEXTS_AT_MOST} lines of "
                f"{memory_tests.TEXT_AT_MOST} characters."
            )
        return lines


class MemoryTestForm(forms.Form):
    """What the answer to a question must and must not say."""

    must_say = LinesField(label="Must say", help_text="One text a line; case does not count.")
    must_not_say = LinesField(
        label="Must not say", help_text="One text a line. Lines marked as corrected do not count."
    )
    at_most_tokens = forms.IntegerField(
        label="Tokens of the answer, at most", required=False, min_value=1, max_value=1_000_000
    )
