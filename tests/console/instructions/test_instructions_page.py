"""A curator saves versions of instructions and undoes the newest; an auditor only looks."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tests.admin.pages import page
from tests.conftest import Agent
from wings.instructions.models import InstructionVersion

pytestmark = pytest.mark.django_db


def test_versions_are_saved_shown_and_undone(curator: Client, auditor: Client, ana: Agent) -> None:
    curator.get("/admin/", {"tenant": "ana's"})
    address = reverse("console:instructions_new")
    assert address in curator.get(page(InstructionVersion, "changelist")).content.decode()
    for words in ("BID", "=x", f"{'x' * 41} = y"):
        assert curator.post(address, {"words": words}).status_code == 400
    for never in ("prices", "prices\nwages"):
        said = {"agent_id": "desk", "never": never, "words": "BID = twice a day"}
        said["labels"] = "pay = I paid.\npay = I owe you 3 euros."
        assert curator.post(address, said).status_code == 302
    first, second = InstructionVersion.objects.of(ana.tenant).order_by("id")
    assert (second.never, second.actor) == (["prices", "wages"], "curator")
    form = curator.get(address, {"agent_id": "desk"}).content.decode()
    assert "wages" in form and "BID = twice a day" in form
    assert "pay = I owe you 3 euros." in form
    shown = curator.get(page(InstructionVersion, "change", second.pk)).content.decode()
    undo = reverse("console:instructions_undo", args=[second.pk])
    assert "In effect" in shown and undo in shown
    looked = auditor.get(page(InstructionVersion, "change", second.pk)).content.decode()
    assert "wages" in looked and undo not in looked
    curator.post(reverse("console:instructions_undo", args=[first.pk]))  # not the one in effect
    assert not InstructionVersion.objects.of(ana.tenant).exclude(undone_at=None).exists()
    curator.post(undo)
    second.refresh_from_db()
    assert second.undone_by == "curator"
    shown = curator.get(page(InstructionVersion, "change", first.pk)).content.decode()
    assert "In effect" in shown
