"""The page of a person: names and ids, what is theirs, and the forms that change who is who."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest

from console.facts.forms import CURATE
from console.forms import LinesField, ReasonForm
from people import queries
from people.models import Person

SHOWN_AT_MOST = 20
NAMES_AT_MOST = 50
NAME_AT_MOST = 255


class PersonForm(forms.Form):
    """Somebody who is not known yet."""

    name = forms.CharField(max_length=NAME_AT_MOST, label="What people call them")
    user_ids = LinesField(
        NAMES_AT_MOST, NAME_AT_MOST, label="User ids", help_text="One a line, as agents give them."
    )
    speakers = LinesField(
        NAMES_AT_MOST,
        NAME_AT_MOST,
        label="Names of speakers",
        help_text="One a line, as messages have them.",
    )

    def clean(self) -> dict[str, Any]:
        """Return what was written; there is a name or an id."""
        params: dict[str, Any] = super().clean() or {}
        if not self.errors and not (params["user_ids"] or params["speakers"]):
            raise forms.ValidationError("Name an id, or a speaker.")
        return params


class MergeForm(ReasonForm):
    """Say that a person is another one."""

    into_id = forms.ModelChoiceField(Person.across_tenants.none(), label="The person they are")
    field_order = ("into_id", "reason")

    def __init__(self, *args: Any, person: Person, **options: Any) -> None:
        super().__init__(*args, **options)
        others = Person.objects.of(person.tenant).exclude(id=person.id)
        self.fields["into_id"].queryset = others.order_by("name", "id")  # type: ignore[attr-defined]

    def clean_into_id(self) -> uuid.UUID:
        """Return the id of the chosen person."""
        return uuid.UUID(str(self.cleaned_data["into_id"].pk))


def get_story(request: HttpRequest, person: Person) -> Mapping[str, Any]:
    """Return under which names and ids somebody is known, and what is theirs, the newest first."""
    identity, sees = queries.find_identity(person), request.user.has_perm
    belongings = queries.list_belongings(person.tenant, identity)
    others = Person.objects.of(person.tenant).filter(id__in=identity.person_ids[1:])
    merge = queries.find_merge(person)
    shown = {
        kind: list(belongings[kind].order_by("-id")[:SHOWN_AT_MOST])
        for kind, permission in (
            ("facts", "semantic.view_fact"),
            ("episodes", "episodic.view_episode"),
            ("answers", "retrieval.view_retrieval"),
        )
        if sees(permission)
    }
    return {
        "identity": identity,
        "merged_into": merge,
        "others": list(others.order_by("id")),
        "counts": [(kind, rows.count()) for kind, rows in belongings.items()],
        "shown": shown,
        "shown_at_most": SHOWN_AT_MOST,
        "may_curate": sees(CURATE),
        "merge_form": MergeForm(prefix="merge", person=person),
        "unmerge_form": ReasonForm(prefix="unmerge"),
    }
