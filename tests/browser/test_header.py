"""What stands on every page works by keyboard: palette, shortcuts, skip link, tenant switcher."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.urls import reverse
from playwright.sync_api import expect

from episodic.models import Conversation
from semantic.models import Fact
from tests.browser.conftest import PASSWORD, Visit
from tests.browser.story import WRONG_SENTENCE, Story
from tests.conftest import make_agent

pytestmark = pytest.mark.gate


def test_the_palette_leads_to_pages_ids_and_what_was_opened(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("auditor")
    row = Conversation.across_tenants.get(external_id=story.nora)
    first = tab.page.locator("#command-results-list a").first
    for typed, leads_to in (
        ("did it say", "/admin/case-file/"),
        (str(story.nora), f"/admin/episodic/conversation/{row.id}/change/"),
    ):
        tab.page.wait_for_load_state("networkidle")
        tab.page.keyboard.press("Control+k")
        field = tab.page.locator("#search-input-command")
        expect(field).to_be_focused()
        field.press_sequentially(typed)
        # What was opened last stands there until the answer to what was typed has come.
        expect(first).to_have_attribute("href", re.compile(leads_to))
        expect(tab.page.locator("#command-results-list a")).to_have_count(1)
        field.press("Enter")
        tab.page.wait_for_url(f"**{leads_to}")
    tab.open("/admin/case-file/")
    tab.page.locator("#console-search").focus()
    tab.press("Control+k")
    expect(tab.page.locator("#search-input-command")).to_be_focused()
    tab.open("/admin/")
    tab.press("Control+k")
    expect(first).to_have_attribute("href", re.compile(str(row.id)))
    expect(tab.page.locator("#command-results-list a")).to_have_count(1)


def test_the_keys_are_listed_and_the_menu_can_be_skipped(visit: Callable[..., Visit]) -> None:
    tab = visit("curator")
    tab.open("/admin/search/")
    tab.page.locator("h1").first.click()
    tab.press("?")
    expect(tab.page.get_by_role("dialog")).to_contain_text("Ctrl+K")
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.open("/admin/")
    tab.press("Tab")
    tab.press("Enter")
    expect(tab.page).to_have_url(re.compile("#content$"))


def test_the_switcher_stays_from_page_to_page(visit: Callable[..., Visit], story: Story) -> None:
    make_agent("another", "agent")
    tab = visit("operator", width=390)
    tab.page.get_by_label("Tenant", exact=True).select_option("another")
    tab.page.wait_for_url("**/admin/?tenant=another**")
    tab.open("/admin/tenancy/apikey/")
    expect(tab.page.get_by_label("Tenant", exact=True)).to_have_value("another")
    expect(tab.page.locator("#result_list")).not_to_contain_text(story.agent.key.name)


def test_times_are_shown_by_the_clock_of_the_reader(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("auditor")
    row = Conversation.across_tenants.get(external_id=story.nora)
    tab.open(f"/admin/episodic/conversation/?id={row.id}")
    times = tab.page.locator("#content [data-utc]")
    utc = [time.get_attribute("data-utc") or "" for time in times.all()]
    assert utc and times.all_inner_texts() == utc
    tab.page.get_by_role("button", name="UTC").click()
    minutes = tab.page.evaluate("new Date().getTimezoneOffset()")
    for said, shown in zip(utc, times.all_inner_texts(), strict=True):
        at = datetime.fromisoformat(said) - timedelta(minutes=minutes)
        assert datetime.fromisoformat(shown) == at
    tab.page.reload()
    expect(tab.page.get_by_role("button", name="Local")).to_be_visible()


def test_a_form_sent_after_the_session_ended_is_filled_in_again(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("curator")
    page = tab.page
    fact = Fact.objects.of(story.agent.tenant).get(fact=WRONG_SENTENCE)
    tab.open(reverse("admin:semantic_fact_change", args=[fact.id]))
    tab.press("i")
    form = page.locator("#invalidate form")
    form.get_by_label("Reason").fill("Thought about for an hour.")
    form.get_by_label(re.compile("wrong")).check()
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    tab.click(form.get_by_role("button", name="Retire it"))
    page.get_by_label("Username").fill("curator")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(form.get_by_label("Reason")).to_have_value("Thought about for an hour.")
    expect(form.get_by_label(re.compile("wrong"))).to_be_checked()
    expect(form.get_by_role("status")).to_contain_text("Your session had ended")
    fact.refresh_from_db()
    assert fact.invalid_at is None
