"""The forms with which people change facts."""

from typing import Any

from django import forms

from semantic.curation import KEYWORDS_AT_MOST, SENTENCE_AT_MOST
from semantic.engines import Category
from wings.console.forms import ReasonForm
from wings.console.texts import TEXTS

CURATE = "semantic.curate_fact"
AT_ONCE = "undone at once"


class ActForm(ReasonForm):
    """A change of one fact in the version that the person has seen."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    case_id = forms.UUIDField(required=False, widget=forms.HiddenInput)


class BecauseForm(ReasonForm):
    because = forms.ChoiceField(
        choices=list(TEXTS["reasons_to_retire"].items()), widget=forms.RadioSelect
    )
    field_order = ("because", "reason")


class InvalidateForm(ActForm, BecauseForm):
    """Retire a fact."""


class CorrectForm(ActForm):
    fact = forms.CharField(max_length=SENTENCE_AT_MOST, widget=forms.Textarea(attrs={"rows": 2}))
    category = forms.ChoiceField(choices=[(kind.value, kind.value) for kind in Category])
    keywords = forms.CharField(
        required=False,
        help_text=f"Names and nouns, with commas between them; at most {KEYWORDS_AT_MOST}. Left "
        "empty or as they are, they follow the new sentence.",
    )
    field_order = ("fact", "category", "keywords", "reason")

    def clean_keywords(self) -> list[str] | None:
        """Return the keywords; None: extract them from the sentence."""
        words = [word.strip() for word in self.cleaned_data["keywords"].split(",")]
        return [word for word in words if word] or None


class UndoForm(ReasonForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"initial": {"reason": AT_ONCE}, "prefix": "undo", **kwargs})
        self.fields["reason"].widget = forms.TextInput()


class RevertForm(ReasonForm):
    leave_conflicts = forms.BooleanField(required=False)
    field_order = ("leave_conflicts", "reason")

    def __init__(self, *args: Any, conflicts: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not conflicts:
            del self.fields["leave_conflicts"]
