"""What stands on every page works by keyboard: palette, shortcuts, skip link, tenant switcher."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from episodic.models import Conversation
from tests.browser.conftest import Visit
from tests.browser.story import Story
from tests.conftest import make_agent

pytestmark = pytest.mark.gate


def test_the_palette_leads_to_pages_ids_and_what_was_opened(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("auditor")
    row = Conversation.across_tenants.get(external_id=story.nora)
    for typed, leads_to in (
        ("case fi", "**/admin/case-file/"),
        (str(story.nora), f"**/admin/episodic/conversation/{row.id}/change/"),
    ):
        tab.page.wait_for_load_state("networkidle")
        tab.page.keyboard.press("Control+k")
        field = tab.page.locator("#search-input-command")
        expect(field).to_be_focused()
        field.press_sequentially(typed)
        expect(tab.page.locator("#command-results-list a")).to_have_count(1)
        field.press("Enter")
        tab.page.wait_for_url(leads_to)
    tab.open("/admin/case-file/")
    tab.page.locator("#console-search").focus()
    tab.page.keyboard.press("Control+k")
    expect(tab.page.locator("#search-input-command")).to_be_focused()
    tab.open("/admin/")
    tab.page.keyboard.press("Control+k")
    expect(tab.page.locator("#command-results-list a")).to_have_count(1)
    assert str(row.id) in (tab.page.locator("#command-results-list a").get_attribute("href") or "")


def test_the_keys_are_listed_and_the_menu_can_be_skipped(visit: Callable[..., Visit]) -> None:
    tab = visit("curator")
    tab.open("/admin/search/")
    tab.page.locator("h1").first.click()
    tab.page.keyboard.press("?")
    expect(tab.page.get_by_role("dialog")).to_contain_text("Ctrl+K")
    tab.page.keyboard.press("Escape")
    expect(tab.page.get_by_role("dialog")).to_have_count(0)
    tab.open("/admin/")
    tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    assert tab.page.url.endswith("#content")


def test_the_switcher_stays_from_page_to_page(visit: Callable[..., Visit], story: Story) -> None:
    make_agent("another", "agent")
    tab = visit("operator", width=390)
    tab.page.get_by_label("Tenant", exact=True).select_option("another")
    tab.page.wait_for_url("**/admin/?tenant=another**")
    tab.open("/admin/tenancy/apikey/")
    expect(tab.page.get_by_label("Tenant", exact=True)).to_have_value("another")
    expect(tab.page.locator("#result_list")).not_to_contain_text(story.agent.key.name)
