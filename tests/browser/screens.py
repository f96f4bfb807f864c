"""The screens of the admin that people work on, and how to get to each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from playwright.sync_api import Page

from episodic.models import Conversation, Episode, Message, Withholding
from jobs.models import Job, LLMCall
from retrieval.models import Retrieval
from semantic.models import Changeset, Fact
from tests.browser.conftest import PASSWORD
from tests.browser.story import BANK, FRONT_DESK, RULE, WRONG_SENTENCE, Story
from wings.erasure.models import Erasure
from wings.notes.models import Link, Note


@dataclass(frozen=True)
class Screen:
    """One page: its name, who looks, and its address once there is a story."""

    name: str
    role: str
    address: Callable[[Story], str]
    then: Callable[[Page], None] = lambda page: None
    """What the person does there before it is looked at."""


def _page(name: str, **query: Any) -> Callable[[Story], str]:
    return lambda story: f"{reverse(name)}?{urlencode(query)}"


def _row(model: Any, **wanted: Any) -> Callable[[Story], str]:
    """Return how to get to the page of the newest row with these values."""

    def address(story: Story) -> str:
        row = model.across_tenants.filter(tenant=story.agent.tenant, **wanted).latest("id")
        label = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
        return reverse(label, args=[row.id])

    return address


def _nora(story: Story) -> str:
    row = Conversation.across_tenants.get(external_id=story.nora)
    return reverse("admin:episodic_conversation_change", args=[row.id])


def _episode(story: Story) -> str:
    served = Episode.across_tenants.filter(conversation__external_id=story.nora)
    return reverse("admin:episodic_episode_change", args=[served.order_by("id")[0].id])


def _preview_undoing(page: Page) -> None:
    page.get_by_label("Since (UTC)").fill("2020-01-01T00:00")
    page.get_by_label("Speaker").fill(FRONT_DESK)
    page.get_by_label("Reason").fill("It mixes customers up.")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Roll back").wait_for()


def _confirm(page: Page) -> None:
    if page.get_by_label("Password").count():
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Set up").wait_for()


def _conversation_erasing(story: Story) -> str:
    row = Conversation.across_tenants.get(external_id=story.nora)
    return reverse("console:erase_conversation", args=[row.id])


def _certificate(story: Story) -> str:
    row = Erasure.across_tenants.filter(tenant=story.agent.tenant).latest("id")
    return reverse("console:certificate", args=[row.id]) + "?scan=1"


def _note(label: str, page: str, asked: str = "") -> Callable[[Story], str]:
    """Return how to get to a page about the note of that label."""

    def address(story: Story) -> str:
        note = Note.across_tenants.get(tenant=story.agent.tenant, label=label)
        return reverse(page, args=[note.id]) + asked

    return address


def _link_removal(story: Story) -> str:
    link = Link.across_tenants.filter(tenant=story.agent.tenant).latest("id")
    return reverse("console:link_remove", args=[link.id])


def _case(story: Story) -> str:
    asked = Retrieval.across_tenants.filter(conversation__external_id=story.nora)
    found = asked.filter(query="Which insurance fits Nora?").latest("id")
    return reverse("console:case", args=[found.id])


def _playground(story: Story) -> str:
    conversation = Conversation.across_tenants.get(external_id=story.nora)
    asked = {
        "tenant": story.agent.tenant.name,
        "conversation_id": conversation.external_id,
        "query": "Where does Nora live and work?",
    }
    return f"{reverse('console:playground')}?{urlencode(asked)}"


LISTS = [
    Screen(name, "boss", _page(f"admin:{label}_changelist"))
    for name, label in (
        ("conversations", "episodic_conversation"),
        ("facts", "semantic_fact"),
        ("changesets", "semantic_changeset"),
        ("jobs", "jobs_job"),
        ("calls", "jobs_llmcall"),
    )
]
SCREENS = [
    Screen("home", "boss", _page("admin:index")),
    Screen("conversation", "curator", _nora),
    Screen("conversation-masked", "auditor", _nora),
    Screen("episode", "curator", _episode),
    Screen("fact", "curator", _row(Fact, fact=WRONG_SENTENCE)),
    Screen("message", "curator", _row(Message)),
    Screen("changeset", "curator", _row(Changeset, kind="consolidation")),
    Screen("retrieval", "curator", _row(Retrieval)),
    Screen("case-entry", "auditor", _page("console:case_file")),
    Screen("case", "curator", _case),
    Screen("case-masked", "auditor", _case),
    Screen("playground", "curator", _playground),
    Screen("search", "curator", _page("console:search", q="insurance dogs cats")),
    Screen("search-notes", "curator", _page("console:search", q="card")),
    Screen("note", "curator", _note(RULE, "admin:notes_note_change")),
    Screen("note-plan", "auditor", _row(Note, source_type="plan_summary")),
    Screen("note-change", "curator", _note(RULE, "admin:notes_note_change", "?like=1")),
    Screen("link", "curator", _row(Link)),
    Screen("link-remove", "curator", _link_removal),
    Screen("compare", "curator", _page("console:compare", tenant=BANK, since="2026-01-01")),
    Screen("review-queue", "curator", _page("console:review_queue", tenant=BANK)),
    Screen("review-queue-masked", "auditor", _page("console:review_queue", tenant=BANK)),
    Screen("undo", "curator", _page("console:roll_back", tenant=BANK), _preview_undoing),
    Screen("withholding", "curator", _row(Withholding)),
    Screen("erase", "boss", _conversation_erasing),
    Screen("erasure", "curator", _row(Erasure)),
    Screen("certificate", "auditor", _certificate),
    Screen("tour", "operator", _page("console:tour")),
    Screen("home-curator", "curator", _page("admin:index")),
    Screen("home-auditor", "auditor", _page("admin:index")),
    Screen("job", "operator", _row(Job, state="dead")),
    Screen("call", "operator", _row(LLMCall)),
    Screen(
        "tenant",
        "operator",
        lambda story: reverse("admin:tenancy_tenant_change", args=[story.agent.tenant.id]),
    ),
    Screen(
        "key",
        "operator",
        lambda story: reverse("admin:tenancy_apikey_change", args=[story.agent.key.id]),
    ),
    Screen("export", "curator", _page("console:export")),
    Screen("import", "curator", _page("console:import")),
    Screen("notifications", "operator", _page("console:notifications")),
    Screen("notification-choice", "operator", _page("console:notification_choice")),
    Screen("sign-in", "boss", _page("mfa_index")),
    Screen("sign-in-confirm", "curator", _page("mfa_activate_totp")),
    Screen("sign-in-totp", "boss", _page("mfa_activate_totp"), _confirm),
    *LISTS,
]
