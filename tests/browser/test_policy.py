"""A browser runs no script on our pages but those that the server's files hold."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from tests.browser.conftest import Visit, watch
from tests.browser.screens import SCREENS
from tests.browser.story import Story

pytestmark = pytest.mark.gate

INJECT = """() => {
    window.ran = [];
    const script = document.createElement("script");
    script.textContent = "window.ran.push('inline')";
    document.body.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.ran.push('handler')");
    image.src = "data:,";
    document.body.append(image);
    const link = document.createElement("a");
    link.href = "javascript:window.ran.push('link')";
    document.body.append(link);
    link.click();
}"""


def test_what_gets_into_a_page_is_not_run(visit: Callable[..., Visit], story: Story) -> None:
    """Were a value ever left unescaped, the policy is what stands behind it."""
    tab = visit("boss")
    for screen in SCREENS:
        if screen.role == "boss":
            tab.open(screen.address(story))
            assert tab.faults == [], screen.name
            tab.page.evaluate(INJECT)
            for _ in range(600):  # each 0.1 s: it says what it refuses when it comes to it
                tab.page.wait_for_timeout(100)
                if len(tab.faults) >= 3:
                    break
            assert tab.page.evaluate("window.ran") == [], screen.name
            assert len(tab.faults) >= 3, "the browser says what it refuses"
            tab.page.goto("about:blank")  # until then it may refuse something once more
            tab.faults.clear()


def test_the_description_of_the_api_works_under_its_policy(
    chromium: Browser, server: LiveServer
) -> None:
    context = chromium.new_context()
    tab = Visit(page=context.new_page(), address=server.url)
    watch(tab)
    tab.open("/api/v0/docs/")
    expect(tab.page.get_by_text("Post, flush or wait, ask.")).to_be_visible()
    expect(tab.page.locator(".opblock-tag").first).to_contain_text("Write what was said")
    expect(
        tab.page.get_by_role("button", name="POST /api/v0/add_message", exact=False).first
    ).to_be_visible()
    tab.page.get_by_role("button", name="GET /api/v0/health/live", exact=False).first.click()
    tab.page.get_by_role("button", name="Try it out").click()
    tab.page.get_by_role("button", name="Execute").click()
    expect(
        tab.page.locator(".live-responses-table tr.response .response-col_status").first
    ).to_contain_text("200")
    assert tab.faults == []
    context.close()
