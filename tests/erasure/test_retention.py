"""Policies erase what is no longer needed, say so first, and pass over what is on hold."""

from __future__ import annotations

import io
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from jobs.reconciler import reconcile
from retrieval.models import Retrieval
from tests.api.problems import assert_problem
from tests.conftest import Agent, tell
from wings.erasure import services
from wings.erasure.models import Erasure, Hold, RetentionPolicy
from wings.notes.models import Note

pytestmark = pytest.mark.django_db
LONG_AGO = timezone.now() - timedelta(days=400)


def grow_old(agent: Agent, *talks: uuid.UUID) -> None:
    """Let it be long ago that anything was said."""
    rows = Message.objects.of(agent.tenant)
    rows.filter(conversation__external_id__in=talks).update(received_at=LONG_AGO)


def keep(agent: Agent, kind: str, **limits: Any) -> RetentionPolicy:
    return RetentionPolicy.objects.create(tenant=agent.tenant, kind=kind, actor="ana", **limits)


def talks_left(agent: Agent) -> set[uuid.UUID]:
    rows = Message.objects.of(agent.tenant).values_list("conversation__external_id", flat=True)
    return set(rows)


def apply() -> None:
    RetentionPolicy.across_tenants.update(looked_at=None)
    reconcile()
    drain_jobs()


def test_old_conversations_go_with_all_made_of_them_and_are_on_record(
    ana: Agent, cleo: Agent
) -> None:
    old, young, hers = (tell(agent, uuid.uuid4()) for agent in (ana, ana, cleo))
    grow_old(ana, old)
    grow_old(cleo, hers)
    policy = keep(ana, "conversation", older_than_days=365)
    wish = {"scope": "retention", "id": str(policy.id), "reason": "To see.", "dry_run": True}
    counts = ana.post("erasures", wish).json()["counts"]
    messages = Message.objects.of(ana.tenant).filter(conversation__external_id=old).count()
    assert counts == {"conversations": 1, "messages": messages}
    assert_problem(cleo.post("erasures", wish), 404)
    apply()
    assert talks_left(ana) == {young} and talks_left(cleo) == {hers}
    facts = ana.get("facts").json()["items"]
    assert {one["conversation_id"] for one in facts} == {str(young)}
    (erasure,) = ana.get("erasures").json()["items"]
    assert (erasure["scope"], erasure["state"]) == ("retention", "done")
    assert erasure["target_id"] == str(policy.id) and "older than 365 days" in erasure["reason"]
    assert erasure["counts"]["messages"] == messages and erasure["counts"]["facts"] > 0
    apply()
    assert Erasure.objects.of(ana.tenant).count() == 1  # nothing is left: no second record


def test_all_that_a_policy_asks_must_be_so(ana: Agent) -> None:
    first, second, third = (uuid.uuid4() for _ in range(3))
    for talk in (first, second, third):
        ana.say(talk, "Something.")
    grow_old(ana, first, second)
    ana.post("retrieve_memory", {"conversation_id": str(second), "query": "Something?"})
    keep(ana, "conversation", older_than_days=365, unserved_days=30)
    apply()
    assert talks_left(ana) == {second, third}
    Retrieval.objects.of(ana.tenant).update(created_at=LONG_AGO)
    RetentionPolicy.across_tenants.all().delete()
    keep(ana, "conversation", keep_newest=1)
    apply()
    assert talks_left(ana) == {third}


def test_notes_go_by_their_source_type(ana: Agent) -> None:
    for kind in ("document", "note"):
        ana.post("notes", {"content": f"A {kind}.", "source_type": kind, "source_id": "x"})
    Note.objects.of(ana.tenant).update(updated_at=LONG_AGO)
    keep(ana, "note", source_type="document", older_than_days=30)
    apply()
    assert [note.source_type for note in Note.objects.of(ana.tenant)] == ["note"]


def test_what_is_on_hold_stays_until_the_hold_is_lifted(ana: Agent) -> None:
    held, free = uuid.uuid4(), uuid.uuid4()
    for talk in (held, free):
        ana.say(talk, "Something.")
    grow_old(ana, held, free)
    keep(ana, "conversation", older_than_days=365)
    home = Conversation.objects.of(ana.tenant).get(external_id=held)
    hold = services.place_hold(
        tenant=ana.tenant, conversation_id=home.id, actor="ana", reason="Case 4711."
    )
    apply()
    assert talks_left(ana) == {held}
    message = Message.objects.of(ana.tenant).get()
    for scope, name in (("conversation", held), ("message", message.id), ("tenant", "ana's")):
        wish = {"scope": scope, "id": str(name), "reason": "Now."}
        assert_problem(ana.post("erasures", wish), 409)
    services.lift_hold(tenant=ana.tenant, hold_id=hold.id, actor="ana")
    apply()
    assert talks_left(ana) == set()


def test_a_hold_of_the_tenant_holds_notes_too(ana: Agent) -> None:
    note = ana.post("notes", {"content": "Keep me."}).json()["id"]
    Note.objects.of(ana.tenant).update(updated_at=LONG_AGO)
    keep(ana, "note", older_than_days=1)
    services.place_hold(tenant=ana.tenant, conversation_id=None, actor="ana", reason="Case 4711.")
    apply()
    assert_problem(ana.post("erasures", {"scope": "note", "id": note, "reason": "Now."}), 409)
    assert Note.objects.of(ana.tenant).count() == 1


def run(command: str, *arguments: str) -> str:
    printed = io.StringIO()
    call_command(command, *arguments, stdout=printed)
    return printed.getvalue()


def test_policies_and_holds_are_set_by_command(ana: Agent) -> None:
    talk = uuid.uuid4()
    ana.say(talk, "Something.")
    grow_old(ana, talk)
    limits = ("conversation", "--older-than-days", "365")
    assert "1 conversations, 1 messages now" in run("set_retention", "ana's", *limits)
    assert not RetentionPolicy.objects.of(ana.tenant).exists()
    run("set_retention", "ana's", *limits, "--apply")
    policy = RetentionPolicy.objects.of(ana.tenant).get()
    assert str(policy.id) in run("set_retention", "ana's")
    run("set_retention", "ana's", "--delete", str(policy.id))
    assert not RetentionPolicy.objects.of(ana.tenant).exists()
    with pytest.raises(CommandError, match="no longer kept"):
        run("set_retention", "ana's", "conversation")
    run("hold", "ana's", "--conversation", str(talk), "--reason", "Case 4711.")
    hold = Hold.objects.of(ana.tenant).get()
    assert "Case 4711." in run("hold", "ana's")
    assert run("hold", "ana's", "--lift", str(hold.id)) == ""
    with pytest.raises(CommandError, match="no such conversation"):
        run("hold", "ana's", "--conversation", str(uuid.uuid4()), "--reason", "So.")
