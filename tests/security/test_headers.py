"""Every answer tells the browser what it may load, and nobody may frame it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from memoryproject.edge.headers import ALWAYS
from tests.conftest import Agent
from tests.fresh import ana as ana

pytestmark = pytest.mark.django_db
PASSWORD = "a good long password"
NUMBER, WORD, ID = "1", "a", str(uuid.UUID(int=7))


def addresses(patterns: list[URLPattern | URLResolver], before: str = "/") -> Iterator[str]:
    """Yield one address of every route, with something in the place of what varies."""
    for one in patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns, route)
        else:
            yield fill(route)


def fill(route: str) -> str:
    """Return the route with values for its parameters."""
    route = re.sub(r"<(?:id|uuid):\w+>", ID, route)
    route = re.sub(r"<int:\w+>", NUMBER, re.sub(r"<(?:\w+:)?\w+>", WORD, route))
    return re.sub(r"\(\?P.*", WORD, route).replace("^", "").replace("$", "")


ADDRESSES = sorted(set(addresses(get_resolver().url_patterns)))
UNKNOWN = ["/nothing", "/api/v0/nothing", "/admin/nothing/", "/static/console/console.js"]


def policy_of(answer: object) -> dict[str, str]:
    """Return the sources of each directive."""
    text = answer["Content-Security-Policy"]  # type: ignore[index]
    parts = (part.strip().partition(" ") for part in text.split(";"))
    return {name: sources for name, _, sources in parts}


def assert_guarded(address: str, answer: object) -> None:
    policy = policy_of(answer)
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    scripts = policy.get("script-src", "'none'")
    assert "'unsafe-inline'" not in scripts and "*" not in scripts and "data:" not in scripts
    if not address.startswith("/admin/"):
        assert "'unsafe-eval'" not in scripts
    if not address.startswith(("/admin/", "/api/v0/docs/")):
        own = set() if address.startswith("/api/") else {"style-src", "img-src"}
        assert {name for name in policy if policy[name] != "'none'"} == own, address
        assert {policy[name] for name in own} <= {"'self'"}
    for name, value in ALWAYS.items():
        assert answer[name] == value, (address, name)  # type: ignore[index]


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_every_route_has_its_headers_and_no_page_a_script_of_its_own() -> None:
    """What is inline would be refused: 'unsafe-inline' is not allowed for scripts."""
    boss = Client(SERVER_NAME="localhost")
    boss.force_login(User.objects.create_superuser("boss", password=PASSWORD))
    pages = 0
    for address in ADDRESSES + UNKNOWN:
        if "logout" in address:
            continue
        answer = boss.get(address)
        assert_guarded(address, answer)
        if address == "/api/v0/schema/":  # it holds nobody's words
            assert answer["Cache-Control"] == "public, no-cache"
        elif address.startswith("/api/"):
            assert answer["Cache-Control"] == "no-store", address
        if answer.streaming:
            b"".join(answer)  # a file, which this closes
        elif answer.get("Content-Type", "").startswith("text/html"):
            pages += 1
            assert_without_script(address, answer.content.decode())
    assert len(ADDRESSES) > 150 and pages > 40


def assert_without_script(address: str, page: str) -> None:
    for tag, inside in re.findall(r"<script\b([^>]*)>(.*?)</script>", page, re.S):
        assert "src=" in tag or 'type="application/json"' in tag or not inside.strip(), address
    assert not re.search(r"<[a-z][^>]*\son(click|load|submit|change|error)=", page), address
    assert "javascript:" not in page, address


def test_strangers_and_agents_get_them_too(ana: Agent) -> None:
    for address in ("/", "/admin/", "/admin/login/", "/api/v0/facts", "/api/v0/docs/", *UNKNOWN):
        for client in (Client(SERVER_NAME="localhost"), ana.client):
            answer = client.get(address)
            assert_guarded(address, answer)
            if answer.streaming:
                b"".join(answer)


def test_what_goes_wrong_before_any_view_has_them_too(ana: Agent) -> None:
    for answer in (
        ana.client.get("/api/v0/facts", headers={"host": "evil.example.com"}),
        ana.client.post("/api/v0/flush", "{", content_type="application/json"),
        Client(SERVER_NAME="localhost").post("/admin/login/", {"username": "x" * 3_000_000}),
    ):
        assert answer.status_code >= 400 or answer.status_code == 200
        assert_guarded("/api/" if "json" in answer["Content-Type"] else "/admin/", answer)


def test_a_session_ends_after_a_working_day_and_its_cookie_is_for_the_server_alone() -> None:
    User.objects.create_superuser("boss", password=PASSWORD)
    browser = Client(SERVER_NAME="localhost")
    given = {"username": "boss", "password": PASSWORD}
    assert browser.post("/admin/login/?next=/admin/", given).status_code == 302
    for name in ("sessionid", "csrftoken"):
        cookie = browser.cookies[name]
        assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Lax", "")
    assert browser.cookies["sessionid"]["max-age"] == 8 * 3600
    left = Session.objects.get().expire_date - timezone.now()
    assert 7.9 < left.total_seconds() / 3600 <= 8


def test_a_form_without_its_token_is_refused() -> None:
    browser = Client(SERVER_NAME="localhost", enforce_csrf_checks=True)
    browser.force_login(User.objects.create_superuser("boss", password=PASSWORD))
    posted = [one for one in ADDRESSES if one.startswith("/admin/") and "jsi18n" not in one]
    refused = [one for one in posted if browser.post(one).status_code == 403]
    others = {one: browser.post(one).status_code for one in set(posted) - set(refused)}
    # What takes no POST at all, or is a page of nothing, changes nothing either.
    assert set(others.values()) <= {302, 404, 405}, others
    assert len(refused) > 40


HTTPS = {"MEMORY_HTTPS": "true", "MEMORY_ALLOWED_HOSTS": "memory.example.com"}


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    unset = "DJANGO_ALLOW_ASYNC_UNSAFE"  # the browser's tests set it in this process
    around = {name: value for name, value in os.environ.items() if name != unset}
    return subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), *arguments],
        env={**around, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.gate
def test_djangos_own_list_for_a_deployment_finds_nothing_under_https() -> None:
    done = run("check", "--deploy", "--fail-level", "WARNING", **HTTPS)
    assert done.returncode == 0, done.stderr
    plain = run("check", "--deploy", "--fail-level", "WARNING")
    assert plain.returncode == 1 and "security.W008" in plain.stderr, "the list is looked at"


ASK = """
from django.test import Client
c = Client(SERVER_NAME="memory.example.com")
for path, headers in [
    ("/admin/login/", {}),
    ("/admin/login/", {"X-Forwarded-Proto": "https"}),
    ("/api/v0/facts", {}),
    ("/api/v0/health/live", {}),
]:
    a = c.get(path, headers=headers)
    cookie = a.cookies.get("csrftoken")
    print(a.status_code, a.get("Location"), a.get("Strict-Transport-Security"),
          cookie and bool(cookie["secure"]))
"""


def test_behind_https_everything_goes_there_and_cookies_stay_there() -> None:
    done = run("shell", "-v0", "-c", ASK, **HTTPS)
    assert done.stdout.splitlines() == [
        "301 https://memory.example.com/admin/login/ None None",
        "200 None max-age=31536000 True",
        "301 https://memory.example.com/api/v0/facts None None",
        "200 None None None",
    ], done.stderr
