"""The form of a note, checked as the API checks one."""

from typing import Any

from django import forms

from indexing.kinds import Valence
from memoryproject.edge.errors import Problem
from memoryproject.edge.http import flatten_details
from wings.console.forms import ReasonForm
from wings.notes.forms import DESCRIPTION_AT_MOST, LABEL_AT_MOST, NotePatch
from wings.notes.models import Note, NoteState

SHARE = forms.NumberInput(attrs={"step": "any", "min": 0, "max": 1})


class TextField(forms.CharField):
    """A text as typed; browsers' line breaks are converted, so that they are no change."""

    def __init__(self, *, rows: int) -> None:
        widget = forms.Textarea(attrs={"rows": rows})
        super().__init__(strip=False, required=False, widget=widget)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class NoteForm(ReasonForm):
    """A new version of a note. Unchanged fields are not written."""

    version = forms.IntegerField(min_value=1, widget=forms.HiddenInput)
    label = forms.CharField(required=False)
    description = TextField(rows=2)
    content = TextField(rows=8)
    importance = forms.FloatField(required=False, widget=SHARE)
    category = forms.CharField(required=False)
    tags = forms.CharField(required=False)
    emotion_type = forms.CharField(required=False)
    emotion_intensity = forms.FloatField(required=False, widget=SHARE)
    emotion_valence = forms.ChoiceField(
        required=False, choices=[("", "not said"), *((kind.value, kind.value) for kind in Valence)]
    )
    TEXTS = (
        "label", "content", "description", "importance", "category", "tags", "emotion_type",
        "emotion_intensity", "emotion_valence",
    )  # fmt: skip
    field_order = (*TEXTS, "reason")

    def __init__(self, *args: Any, note: Note, like: NoteState | None = None, **kwargs: Any):
        """Show the note, or the text of an earlier version."""
        self.note = note
        shown = {**read_state(like or note), "version": note.version}
        super().__init__(*args, **{"initial": shown, "prefix": "change", **kwargs})
        self.fields["label"].widget.attrs["maxlength"] = LABEL_AT_MOST
        self.fields["description"].widget.attrs["maxlength"] = DESCRIPTION_AT_MOST

    def read_changes(self) -> dict[str, Any]:
        """Return the changed fields; raise Problem if the API would refuse one."""
        data = {name: self.cleaned_data[name] for name in self.changed_data if name in self.TEXTS}
        if "tags" in data:
            data["tags"] = [word.strip() for word in data["tags"].split(",") if word.strip()]
        if data.get("emotion_valence") == "":
            data["emotion_valence"] = None
        body = {**data, "version": self.cleaned_data["version"]}
        patch = NotePatch(data=body, context={"source_type": self.note.source_type})
        if not patch.is_valid():
            faults: dict[str, list[str]] = {}
            for path, texts in flatten_details(patch.errors).items():
                faults.setdefault(path.partition(".")[0], []).extend(texts)
            raise Problem("The form has errors.", fields=faults)
        return {name: value for name, value in patch.validated_data.items() if name != "version"}


def read_state(state: NoteState) -> dict[str, Any]:
    """Return a version's values for the form, with a form's line breaks."""
    return {
        **{name: getattr(state, name) for name in NoteForm.TEXTS},
        "label": " ".join(state.label.split()),
        "description": state.description.replace("\r\n", "\n"),
        "content": state.content.replace("\r\n", "\n"),
        "tags": ", ".join(state.tags),
    }
