"""What somebody hears who reads the admin by ear: icons, buttons, differences, titles."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from urllib.parse import quote

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from semantic.models import Fact
from tests.browser.conftest import Visit
from tests.browser.story import BANK, WRONG_SENTENCE, Story

pytestmark = pytest.mark.gate
NAMED = re.compile(r"""- '?(link|button) "((?:[^"\\]|\\.)*)\"""")
"""What a snapshot calls a control; with a quotation in it the line is quoted, too."""


def test_icons_are_not_read_and_each_button_says_what_it_acts_on(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("curator")
    body = tab.page.locator("body")
    for name in ("admin:index", "console:review_queue", "admin:semantic_fact_changelist"):
        tab.open(f"{reverse(name)}?tenant={quote(BANK)}")
        icons = tab.page.locator(".material-symbols-outlined")
        words = {text.strip() for text in icons.all_text_contents()} - {""}
        heard = [name for _, name in NAMED.findall(body.aria_snapshot())]
        assert "Today" in heard and "today" in words
        assert not [said for said in heard if said.split(" ")[0] in words], name
    tab.open(f"{reverse('console:review_queue')}?tenant={quote(BANK)}")
    found = NAMED.findall(tab.page.locator("main.console").aria_snapshot())
    names = [name for kind, name in found if kind == "button"]
    assert len(names) > 5 and max(Counter(names).values()) == 1, names


def test_a_difference_is_heard_and_a_list_is_titled_by_what_it_lists(
    visit: Callable[..., Visit], story: Story
) -> None:
    tab = visit("curator")
    fact = Fact.objects.of(story.agent.tenant).get(fact=WRONG_SENTENCE)
    tab.open(reverse("admin:semantic_fact_change", args=[fact.id]))
    tab.press("e")
    form = tab.page.locator("#correct form")
    form.get_by_label("The right sentence").fill(WRONG_SENTENCE + " So she says.")
    form.get_by_role("button", name="Show the difference").click()
    heard = tab.page.locator("#correct-difference")
    expect(heard).to_contain_text("inserted: So she says.")
    tab.open(reverse("admin:episodic_withholding_changelist"))
    expect(tab.page).to_have_title("Quarantined sources | Memory server")
