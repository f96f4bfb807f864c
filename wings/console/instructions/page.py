"""The form that saves a version of instructions, and the act that undoes the newest."""

import uuid
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from memoryproject.edge.errors import Conflict
from memoryproject.edge.fields import NAME_AT_MOST
from memoryproject.tenancy.models import Tenant
from wings.console import pages
from wings.console.facts.forms import CURATE
from wings.console.forms import LinesField, TextForm, submit
from wings.instructions import services
from wings.instructions.models import InstructionVersion

SEES = "instructions.view_instructionversion"
PAIRS = {"words": ("word", "meaning"), "labels": ("label", "example")}
"""Fields whose lines are two texts with = between them."""
LINE_AT_MOST = services.WORD_AT_MOST + services.ENTRY_AT_MOST


class InstructionsForm(TextForm):
    agent_id = forms.CharField(max_length=NAME_AT_MOST, required=False)
    keep = LinesField(services.ENTRIES_AT_MOST, services.ENTRY_AT_MOST)
    never = LinesField(services.ENTRIES_AT_MOST, services.ENTRY_AT_MOST)
    words = LinesField(services.ENTRIES_AT_MOST, LINE_AT_MOST)
    labels = LinesField(services.ENTRIES_AT_MOST, LINE_AT_MOST)

    def clean_words(self) -> list[dict[str, str]]:
        return self._read_pairs("words")

    def clean_labels(self) -> list[dict[str, str]]:
        return self._read_pairs("labels")

    def _read_pairs(self, field: str) -> list[dict[str, str]]:
        """Return the lines of a field as entries."""
        pairs = [line.partition("=") for line in self.cleaned_data[field]]
        texts = [(name.strip(), text.strip()) for name, _, text in pairs]
        if not all(name and text for name, text in texts):
            raise forms.ValidationError("Write a word or label, =, and its meaning or example.")
        if any(len(name) > services.WORD_AT_MOST for name, _ in texts):
            raise forms.ValidationError(f"It has at most {services.WORD_AT_MOST} characters.")
        return [dict(zip(PAIRS[field], pair, strict=True)) for pair in texts]


def read_form(version: InstructionVersion | None) -> dict[str, str]:
    """Return what the form shows of a version."""
    if version is None:
        return {}
    lines = {"keep": version.keep, "never": version.never}
    for field, (name, text) in PAIRS.items():
        lines[field] = [f"{entry[name]} = {entry[text]}" for entry in getattr(version, field)]
    return {
        "agent_id": version.agent_id,
        **{name: "\n".join(texts) for name, texts in lines.items()},
    }


def get_story(request: HttpRequest, version: InstructionVersion) -> Mapping[str, Any]:
    in_effect = services.find_version(version.tenant, version.agent_id)
    return {"is_in_effect": in_effect is not None and in_effect.id == version.id}


@pages.admin_page(
    "console/instructions/form.html", "Save instructions", SEES, CURATE, of_one_tenant=True
)
def save_instructions(request: HttpRequest, tenant: Tenant) -> pages.Answer:
    """Show the version in effect, and save what a person makes of it as a new one."""
    shown = services.find_version(tenant, request.GET.get("agent_id", ""))
    posted = request.POST if request.method == "POST" else None
    form = InstructionsForm(posted, initial=read_form(shown))

    def save() -> HttpResponse:
        actor = request.user.get_username()
        version = services.save_version(tenant=tenant, actor=actor, **form.cleaned_data)
        pages.record(request, version, "saved them", is_new=True)
        return pages.redirect_to(version)

    return submit(form, save) or {"form": form}


@pages.action_for(SEES, CURATE)
def undo_instructions(request: HttpRequest, version_id: uuid.UUID) -> HttpResponse:
    version = pages.get_row(InstructionVersion, version_id)
    named: dict[str, Any] = {"tenant": version.tenant, "agent_id": version.agent_id}
    actor = request.user.get_username()

    def undo() -> None:
        if services.find_version(**named) != version:
            raise Conflict("It is not in effect any more.")
        services.undo_newest(**named, actor=actor, now=timezone.now())

    done = "Undone: the version before is in effect, if there is one."
    return pages.act_on(request, version, undo, done=done, logged="undid it")
