"""A real browser before a real server, over a past that the pipeline made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from jobs.models import Job
from tests.browser.chromium import FLAGS, find_chromium
from tests.browser.story import Story, tell_story
from tests.emptying import delete_all_rows
from wings.events.notices import notify_people
from wings.events.outbox import NewEvent, announce
from wings.events.types import JOB_DEAD

PASSWORD = "a long enough one"
ROLES = ("curator", "auditor", "operator")
# Playwright keeps an event loop in this thread, and Django is right to ask about it.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="module")
def story(django_db_setup: None, django_db_blocker: Any) -> Iterator[Story]:
    """Return what has happened; committed, and gone after the file: walks change it."""
    with django_db_blocker.unblock():
        told = tell_story()
        for role in ROLES:
            person = User.objects.create_user(role, password=PASSWORD, is_staff=True)
            person.groups.add(Group.objects.get(name=role))
        User.objects.create_superuser("boss", password=PASSWORD)
        dead = Job.across_tenants.filter(state="dead").latest("id")
        event = NewEvent(JOB_DEAD, {"job_id": str(dead.id)})
        announce([event], tenant=told.agent.tenant, scope=told.agent.tenant.id)
        notify_people(at_most=1_000)
        yield told
        delete_all_rows()


@pytest.fixture(scope="module")
def server(story: Story) -> Iterator[LiveServer]:
    """Return a server of the admin on a port of its own."""
    live = LiveServer("127.0.0.1")
    yield live
    live.stop()


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Return a headless Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Visit:
    """One person's tab, and what went wrong in it."""

    page: Page
    address: str
    clicks: int = 0
    faults: list[str] = field(default_factory=list)

    def open(self, path: str) -> None:
        """Go to an address of the server."""
        answer = self.page.goto(self.address + path)
        assert answer is not None and answer.status < 400, f"{path}: {answer and answer.status}"

    def click(self, target: Any) -> None:
        """Click, and count it."""
        target.click()
        self.page.wait_for_load_state("load")
        self.clicks += 1

    def press(self, key: str) -> None:
        """Press a key once the scripts of the page listen: text is seen before they have run."""
        self.page.wait_for_load_state("load")
        self.page.keyboard.press(key)


@pytest.fixture
def visit(chromium: Browser, server: LiveServer) -> Iterator[Callable[..., Visit]]:
    """Return a function that logs a person in and returns the tab.

    Ends with an error if a page asked another host for anything, or a script failed, or
    its policy refused something.
    """
    contexts: list[BrowserContext] = []
    visits: list[Visit] = []

    def log_in(person: str, *, width: int = 1280, dark: bool = False) -> Visit:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        made = Visit(page=context.new_page(), address=server.url)
        visits.append(made)
        watch(made)
        made.open("/admin/login/?next=/admin/")
        made.page.get_by_label("Username").fill(person)
        made.page.get_by_label("Password").fill(PASSWORD)
        made.page.get_by_role("button", name="Log in").click()
        made.page.wait_for_url(server.url + "/admin/")
        return made

    yield log_in
    for context in contexts:
        context.close()
    assert [fault for one in visits for fault in one.faults] == []


def watch(visit: Visit) -> None:
    """Note failed scripts, what the page's policy refuses, and requests to other hosts."""
    page = visit.page
    page.on("pageerror", lambda error: visit.faults.append(f"script: {error}"))
    page.on(
        "console",
        lambda message: (
            visit.faults.append(f"policy: {message.text}")
            if "Content Security Policy" in message.text
            else None
        ),
    )
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((visit.address, "data:", "blob:"))
            else visit.faults.append(f"outside: {request.url}")
        ),
    )
