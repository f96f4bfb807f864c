"""A visitor with every right, and a past to look at: told, asked, told again, reviewed."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from axes.models import AccessAttempt, AccessLog
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from episodic.models import Conversation, Episode, Message, Reveal, Review, Withholding
from indexing.models import Memory, VectorIndex, WordCount
from jobs.models import Job, Kind, LLMCall, WorkerRestart
from memoryproject.ai.models import Breaker
from memoryproject.tenancy import key_usage
from memoryproject.tenancy.models import Membership
from retrieval.models import Retrieval
from semantic.models import Changeset, CorrectionMark, Fact
from tests.conftest import Agent, make_agent
from tests.emptying import delete_all_rows
from tests.semantic.learning import leave_suggestion
from tests.talk import whole_talk
from wings.console.models import ExportRun, ImportBatch, ImportRun, PageRead
from wings.erasure.models import RetentionPolicy
from wings.erasure.services import place_hold
from wings.events.models import Notification
from wings.events.types import JOB_DEAD
from wings.suggestions.triage import set_triage

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture
def auditor(db: None) -> Client:
    """Return the browser of a superuser who has logged in."""
    user = User.objects.create_superuser("auditor")
    browser = Client(SERVER_NAME="localhost")
    browser.force_login(user)
    return browser


@pytest.fixture(scope="package")
def past(django_db_setup: None, django_db_blocker: Any) -> Iterator[Agent]:
    """Return ana, whose conversation has left a row in every table.

    Made once for this folder, and so committed: looking changes nothing.
    """
    with django_db_blocker.unblock():
        ana = make_agent("ana's", "ana")
        leave_rows_everywhere(ana)
    yield ana
    with django_db_blocker.unblock():
        delete_all_rows()


def leave_rows_everywhere(ana: Agent) -> None:
    conversation = uuid.uuid4()
    body = {"conversation_id": str(conversation), "messages": whole_talk()}
    assert ana.post("add_messages", body).status_code == 201
    ana.flush(conversation)
    question = {"conversation_id": str(conversation), "query": "Where is Mira moving?"}
    assert ana.post("retrieve_memory", question).status_code == 200
    ana.say(conversation, f"Mira moved from Rotterdam to Ghent. {SCRIPT}", name="Mira")
    ana.flush(conversation)
    leave_suggestion(ana)
    asked = {"conversation_id": str(conversation), "query": "Where?", "must_say": [SCRIPT]}
    assert ana.post("memory_tests", asked).status_code == 201
    leave_mark(ana)
    leave_notes(ana, conversation)
    leave_erasure(ana)
    people = [
        ana.post("people", {"name": name, "speakers": [name]}).json()["id"]
        for name in ("Mira", SCRIPT)
    ]
    merged = {"into_id": people[0], "reason": f"They are {SCRIPT}"}
    assert ana.post(f"people/{people[1]}/merge", merged).status_code == 200
    said = {"keep": [SCRIPT], "never": [SCRIPT], "words": [{"word": SCRIPT, "meaning": SCRIPT}]}
    saved = ana.client.put("/api/v0/instructions", said, content_type="application/json")
    assert saved.status_code == 200
    LLMCall.objects.create(
        tenant=ana.tenant,
        request_sha256="0" * 64,
        purpose="segment",
        model="a-model",
        ok=True,
        response={"title": SCRIPT},
    )
    Reveal.objects.create(
        tenant=ana.tenant,
        conversation=Conversation.objects.of(ana.tenant).get(),
        person="somebody",
        reason=f"To see {SCRIPT}",
        until=timezone.now(),
    )
    Withholding.objects.create(
        tenant=ana.tenant, since=timezone.now(), actor="somebody", reason=f"For {SCRIPT}"
    )
    taken = {"tenant": ana.tenant, "person": "somebody"}
    ExportRun.objects.create(**taken, table="facts", format="csv")
    PageRead.objects.create(**taken, page="console:search")
    run = ImportRun.objects.create(**taken, file_name=f"{SCRIPT}.csv", total=0)
    ImportBatch.objects.create(tenant=ana.tenant, run=run, position=0, rows=[])
    RetentionPolicy.objects.create(
        tenant=ana.tenant, kind="note", older_than_days=100_000, actor="somebody"
    )
    place_hold(
        tenant=ana.tenant, conversation_id=uuid.uuid4(), actor="somebody", reason=f"A {SCRIPT}"
    )
    Breaker.objects.create(provider="127.0.0.1", model="a-model")
    WorkerRestart.objects.create(cluster=uuid.uuid4(), reason="a job has been due for 70 s")
    browser = {"username": "ana", "ip_address": "127.0.0.1", "path_info": "/admin/login/"}
    AccessAttempt.objects.create(**browser, failures_since_start=1)
    AccessLog.objects.create(**browser)
    person, _ = User.objects.get_or_create(username="a member", is_staff=True)
    role = Group.objects.get(name="auditor")
    Membership.objects.create(tenant=ana.tenant, person=person, role=role)
    Notification.objects.create(
        tenant=ana.tenant, person=person, type=JOB_DEAD.code, subject=uuid.uuid4()
    )
    key_usage.write_counts()
    WordCount.objects.create(tenant=ana.tenant, shelf="fact", slot=1, units=1)
    VectorIndex.objects.create(
        tenant=ana.tenant, shelf="fact", model="a-model", dim=3, name="indexing_near_0", recall=1.0
    )


def leave_mark(ana: Agent) -> None:
    """Mark a message of a fact, as a correction does; the fact stays active."""
    fact = Fact.objects.of(ana.tenant).select_related("conversation", "changeset").latest("id")
    CorrectionMark.objects.create(
        tenant=ana.tenant,
        conversation=fact.conversation,
        fact=fact,
        changeset=fact.changeset,
        place=CorrectionMark.Place.MESSAGE,
        place_id=Message.objects.of(ana.tenant).latest("id").id,
        found_by=CorrectionMark.FoundBy.WORDS,
        state=CorrectionMark.State.PROPOSED,
    )
    set_triage(ana.tenant, fact.id, actor="lin", assignee="lin", comment="Ask her.")


def leave_erasure(ana: Agent) -> None:
    """Write a note, and have it erased; a webhook is to be told."""
    target = {"url": f"https://example.com/?{SCRIPT}", "types": ["erasure.done"]}
    assert ana.post("webhooks", target).status_code == 201
    note = ana.post("notes", {"content": "Mira likes fog."}, **{"Idempotency-Key": "fog"}).json()
    asked = {"scope": "note", "id": note["id"], "reason": f"To be rid of {SCRIPT}"}
    assert ana.post("erasures", asked).status_code == 200


def leave_notes(ana: Agent, conversation: uuid.UUID) -> None:
    """Write two notes, change the second, link the first to it, and put all into a context."""
    written = [
        ana.post(
            "notes", {"content": text, "conversation_id": str(conversation), "user_id": "mira"}
        ).json()["id"]
        for text in ("Mira likes canals.", f"A note about {SCRIPT}")
    ]
    change = {"version": 1, "label": f"Changed {SCRIPT}", "tags": [SCRIPT]}
    changed = ana.client.patch(
        f"/api/v0/notes/{written[1]}", change, content_type="application/json"
    )
    assert changed.status_code == 200
    drawn = ana.post("links", {"from_id": written[0], "to_id": written[1]})
    assert drawn.status_code == 201
    prompt = {"max_tokens": 1000, "system_prompt": f"Obey. {SCRIPT}"}
    context = ana.post("contexts", prompt).json()["id"]
    for memory in [*written, *Memory.objects.of(ana.tenant).values_list("id", flat=True)]:
        added = ana.post(f"contexts/{context}/add", {"memory_id": str(memory)})
        assert added.status_code == 200


@pytest.fixture
def crowd(db: None, past: Agent) -> Agent:
    """Return ana, among 25 other tenants, with 25 of everything that comes in small numbers."""
    episode = Episode.objects.of(past.tenant).order_by("id")[0]
    for number in range(25):
        stranger = make_agent(f"tenant {number}", f"agent {number}")
        talk = uuid.uuid4()
        stranger.say(talk, "Good morning.")
        leave_notes(stranger, talk)
        owner = {"tenant": stranger.tenant}
        conversation = Conversation.objects.of(stranger.tenant).get()
        job = Job.objects.create(tenant=past.tenant, kind=Kind.REVIEW, scope=uuid.uuid4())
        Review.objects.create(
            tenant=past.tenant, job=job, episode=episode, retrieval_id=uuid.uuid4(),
            rating="good", engine="offline", stability_before=1, stability_after=2,
            difficulty_before=5, difficulty_after=4,
        )  # fmt: skip
        LLMCall.objects.create(
            **owner, request_sha256="1", purpose="segment", model="m", ok=True, job=job.id
        )
        Changeset.objects.create(**owner, conversation=conversation, kind="curation", actor="bo")
        Retrieval.objects.create(
            **owner, conversation=conversation, kind="context", asked_by=stranger.key,
            query="What?", parameters={},
        )  # fmt: skip
    return past
