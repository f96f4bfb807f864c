"""Form parts of several pages: a reason, words, lines, a time, a conversation's id."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django import forms

from memoryproject.adminkit.filters import read_moment
from memoryproject.edge.errors import Problem
from semantic.curation import REASON_AT_MOST
from wings.console.texts import FORMS

Result = TypeVar("Result")


class TextForm(forms.Form):
    """A form with texts from `texts.toml`, under its name or that of a base."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for form in reversed(type(self).mro()):
            for name, texts in FORMS.get(form.__name__, {}).items():
                field = self.fields[name]
                field.label = texts.get("label", field.label)
                field.help_text = texts.get("help", field.help_text)
                field.error_messages |= texts.get("errors", {})


class ReasonForm(TextForm):
    """The reason that every action needs."""

    reason = forms.CharField(max_length=REASON_AT_MOST, widget=forms.Textarea(attrs={"rows": 2}))


class WordsField(forms.CharField):
    """Words to search for; NUL, which Postgres does not store, counts as a space."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value) or "").replace("\x00", " ").strip()


class LinesField(forms.CharField):
    """Texts, one per line: up to `at_most` of them, of up to `length` characters."""

    def __init__(self, at_most: int, length: int, **options: Any) -> None:
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 2}), **options)
        self._at_most, self._length = at_most, length

    def clean(self, value: Any) -> list[str]:
        lines = [line.strip() for line in super().clean(value).splitlines() if line.strip()]
        if len(lines) > self._at_most or any(len(line) > self._length for line in lines):
            fault = f"At most {self._at_most} lines of {self._length} characters."
            raise forms.ValidationError(fault)
        return lines


def read_choice_id(text: str) -> str:
    """Return the id of a conversation that was chosen by its line, or given by its id."""
    return "".join(text.split()[-1:])


class ConversationField(forms.UUIDField):
    """A conversation: a line of `pages.list_conversations`, or the full id, the agent's or ours."""

    default_error_messages = {"invalid": "Choose one of the list, or give the whole id."}
    widget = forms.TextInput(
        attrs={
            "list": "conversation-choices",
            "placeholder": "a name, a day, or the whole id",
            "autocomplete": "off",
            "spellcheck": "false",
        }
    )

    def to_python(self, value: Any) -> Any:
        return super().to_python(read_choice_id(str(value or "")))


class MomentField(forms.CharField):
    """A time in a form that `read_moment` reads."""

    def clean(self, value: Any) -> datetime | None:
        text = super().clean(value)
        try:
            return read_moment(text) if text else None
        except Problem as problem:
            raise forms.ValidationError(problem.message) from None


def submit(form: Any, act: Callable[[], Result]) -> Result | None:
    """Do what a valid form asks for, and return the result, usually the address to go to.

    None: it was not done, and the form shows why, at the invalid field or above all fields.
    """
    if not form.is_valid():
        return None
    try:
        return act()
    except Problem as problem:
        for name, faults in (problem.fields or {"": [problem.message]}).items():
            form.add_error(name if name in form.fields else None, faults)
        return None
