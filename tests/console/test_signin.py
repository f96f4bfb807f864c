"""Signing in by a provider and with a second factor, and ending sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import hotp_value, yield_hotp_counters_from_time
from django.conf import settings as configured
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from memoryproject.process import env
from memoryproject.tenancy.models import Membership
from tests.conftest import Agent
from tests.console.oidc_server import CLIENT, SECRET, Provider, providing
from wings.operations.checks import check_provider

pytestmark = pytest.mark.django_db
PASSWORD = "a good long password"
LOGIN, HOME = "/admin/login/", "/admin/"
START = "/admin/sign-in/provider/"


@pytest.fixture
def provider(settings: Any) -> Iterator[Provider]:
    with providing() as provider:
        settings.OIDC_ISSUER = provider.url
        settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
        settings.OIDC_ROLES = [
            ("memory-curators", env.Grant("curator")),
            ("memory-ops", env.Grant("operator")),
            ("ana-auditors", env.Grant("auditor", "ana's")),
            ("lost-auditors", env.Grant("auditor", "no such tenant")),
        ]
        yield provider


def make_browser(**options: Any) -> Client:
    return Client(SERVER_NAME="localhost", **options)


def come_in(browser: Client, start: str = START) -> HttpResponse:
    """Go to the provider and back; return the answer to who came back."""
    leaving = browser.get(start)
    assert leaving.status_code == 302, leaving.content
    sent = requests.get(leaving["Location"], allow_redirects=False, timeout=60)
    back = urlsplit(sent.headers["Location"])
    assert (back.netloc, back.path) == ("localhost", "/admin/sign-in/provider/callback/")
    answer: HttpResponse = browser.get(f"{back.path}?{back.query}")
    return answer


def roles_of(person: User) -> tuple[set[str], set[tuple[str, str]]]:
    rows = Membership.across_tenants.filter(person=person)
    return (
        set(person.groups.values_list("name", flat=True)),
        {(row.tenant.name, row.role.name) for row in rows},
    )


def test_a_claim_gives_roles_in_all_tenants_and_in_one_and_takes_them_again(
    ana: Agent, cleo: Agent, provider: Provider
) -> None:
    provider.claims |= {
        "preferred_username": "ana", "email": "ana@example.org",
        "groups": ["memory-curators", "ana-auditors", "lost-auditors", "staff", {"odd": 1}],
    }  # fmt: skip
    browser = make_browser()
    answer = come_in(browser, f"{START}?next=/admin/notifications/")
    assert (answer.status_code, answer["Location"]) == (302, "/admin/notifications/")
    person = User.objects.get(username="ana")
    assert (person.email, person.has_usable_password()) == ("ana@example.org", False)
    assert roles_of(person) == ({"curator"}, {("ana's", "auditor")})
    assert browser.get(reverse("console:playground")).status_code == 200
    provider.claims |= {"groups": "ana-auditors", "email": "new@example.org"}
    assert come_in(make_browser()).status_code == 302
    assert roles_of(person) == (set(), {("ana's", "auditor")})
    assert browser.get(reverse("console:playground")).status_code == 403
    provider.claims["groups"] = []
    assert come_in(make_browser()).status_code == 403
    person.refresh_from_db()
    assert (roles_of(person), person.is_staff) == ((set(), set()), False)
    assert person.email == "new@example.org"
    assert browser.get(HOME).status_code == 302
    assert User.objects.count() == 1


def test_a_name_or_an_address_of_somebody_here_opens_nothing_of_theirs(provider: Provider) -> None:
    boss = User.objects.create_superuser("boss", email="boss@example.org", password=PASSWORD)
    provider.claims |= {
        "preferred_username": "boss", "email": "boss@example.org", "email_verified": True,
        "groups": ["memory-ops"],
    }  # fmt: skip
    browser = make_browser()
    assert come_in(browser).status_code == 302
    came = User.objects.get(pk=browser.session["_auth_user_id"])
    assert came != boss and not came.is_superuser and came.username != "boss"


def test_who_has_no_role_is_refused_and_leaves_no_account(provider: Provider) -> None:
    provider.claims["groups"] = ["staff"]
    answer = come_in(make_browser())
    assert answer.status_code == 403 and b"no role" in answer.content
    assert not User.objects.exists()


@pytest.mark.parametrize(
    "flaw",
    [
        "signature", "no signature", "key taken for a password", "nonce", "audience",
        "several audiences", "issuer", "expired", "userinfo", "denied",
    ],
)  # fmt: skip
def test_a_token_that_proves_nothing_is_refused(flaw: str, provider: Provider) -> None:
    provider.claims["groups"] = ["memory-ops"]
    provider.flaw = flaw
    browser = make_browser()
    answer = come_in(browser)
    assert answer.status_code == 403 and b"did not confirm" in answer.content
    assert "_auth_user_id" not in browser.session and not User.objects.exists()


def test_an_answer_that_this_browser_did_not_ask_for_is_refused(provider: Provider) -> None:
    provider.claims["groups"] = ["memory-ops"]
    leaving = make_browser().get(START)
    sent = requests.get(leaving["Location"], allow_redirects=False, timeout=60)
    back = urlsplit(sent.headers["Location"])
    victim = make_browser()
    assert victim.get(f"{back.path}?{back.query}").status_code == 403
    assert "_auth_user_id" not in victim.session


def test_nobody_is_sent_elsewhere(provider: Provider) -> None:
    provider.claims["groups"] = ["memory-ops"]
    answer = come_in(make_browser(), f"{START}?next=https://another.example/")
    assert answer["Location"] == HOME


def test_a_provider_that_is_away_or_another_is_said(provider: Provider, settings: Any) -> None:
    provider.flaw = "discovery"
    assert make_browser().get(START).status_code == 503
    settings.OIDC_ISSUER = "http://127.0.0.1:1"
    answer = make_browser().get(START)
    assert answer.status_code == 503 and b"does not answer" in answer.content
    assert b"Sign in with 127.0.0.1" in make_browser().get(LOGIN).content


def test_without_a_provider_there_is_no_door() -> None:
    assert b"Sign in with" not in make_browser().get(LOGIN).content
    for address in (START, f"{START}callback/"):
        assert make_browser().get(address).status_code == 404


@pytest.mark.parametrize(
    "name", ["signup", "password/reset", "email", "3rdparty", "3rdparty/signup"]
)
@pytest.mark.parametrize("root", ["/accounts/", "/admin/", "/admin/sign-in/"])
def test_nobody_can_sign_up_or_connect_an_account(root: str, name: str, provider: Provider) -> None:
    answer = make_browser().post(f"{root}{name}/")
    assert answer.status_code in {302, 404}
    assert answer.status_code == 404 or answer["Location"].startswith(LOGIN)
    assert not User.objects.exists()


def test_the_checks_say_what_a_provider_lacks(settings: Any) -> None:
    assert check_provider() == []
    settings.OIDC_ISSUER = "http://login.example.org"
    found = check_provider()
    assert {one.id for one in found} == {"operations.E001", "operations.E002", "operations.E003"}
    settings.OIDC_ISSUER, settings.OIDC_CLIENT_ID = "https://login.example.org", CLIENT
    settings.OIDC_ROLES = [("a", env.Grant("curator"))]
    assert check_provider() == []


# ---- second factors


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss", password=PASSWORD)


def log_in(browser: Client, password: str = PASSWORD) -> HttpResponse:
    given = {"username": "boss", "password": password}
    answer: HttpResponse = browser.post(f"{LOGIN}?next=/admin/notifications/", given)
    return answer


def code_for(secret: str) -> str:
    """Return what an authenticator app shows now, which the server may not have seen."""
    cache.clear()
    _, counter, _ = yield_hotp_counters_from_time()  # that before and that after hold, too
    return f"{hotp_value(secret, counter):06}"


def set_up(browser: Client) -> tuple[str, list[str]]:
    """Set up a second factor; return its secret, and recovery codes."""
    asked = browser.get(reverse("mfa_activate_totp"))
    if asked.status_code == 302:
        browser.post(asked["Location"], {"password": PASSWORD})
    secret = browser.get(reverse("mfa_activate_totp")).context["form"].secret
    answer = browser.post(reverse("mfa_activate_totp"), {"code": code_for(secret)})
    assert answer["Location"] == reverse("mfa_view_recovery_codes")
    shown = browser.get(answer["Location"]).content.decode()
    return secret, re.findall(r"<code>([^<]+)</code>", shown)


def test_after_the_password_comes_the_code(boss: User) -> None:
    browser = make_browser()
    assert log_in(browser)["Location"] == "/admin/notifications/"
    secret, recovery = set_up(browser)
    kept = Authenticator.objects.get(type="totp").data["secret"]
    assert secret not in kept
    other = make_browser()
    answer = log_in(other)
    assert answer["Location"] == reverse("mfa_authenticate")
    assert other.get(HOME).status_code == 302, "the password alone opens nothing"
    assert other.get(answer["Location"]).status_code == 200
    assert other.post(answer["Location"], {"code": "000000"}).status_code == 200
    assert other.get(HOME).status_code == 302
    answer = other.post(answer["Location"], {"code": code_for(secret)})
    assert answer["Location"] == "/admin/notifications/"
    assert other.get(HOME).status_code == 200
    for expected in (302, 200):  # a recovery code holds once
        third = make_browser()
        log_in(third)
        answer = third.post(reverse("mfa_authenticate"), {"code": recovery[0]})
        assert answer.status_code == expected


def test_wrong_codes_lock_as_wrong_passwords_do(boss: User) -> None:
    browser = make_browser()
    log_in(browser)
    secret, _ = set_up(browser)
    guesser = make_browser()
    log_in(guesser)
    limit = configured.AXES_FAILURE_LIMIT
    statuses = [
        guesser.post(reverse("mfa_authenticate"), {"code": "000000"}).status_code
        for _ in range(limit)
    ]
    assert statuses == [200] * (limit - 1) + [429]
    right = guesser.post(reverse("mfa_authenticate"), {"code": code_for(secret)})
    assert right.status_code == 429 and "_auth_user_id" not in guesser.session
    assert log_in(make_browser()).status_code == 429, "the password's door is locked, too"


def test_a_second_factor_is_changed_by_who_confirms_alone(boss: User) -> None:
    browser = make_browser()
    browser.force_login(boss)  # a session as a thief has it
    page = browser.get(reverse("mfa_activate_totp"))
    confirm = reverse("account_reauthenticate")
    assert page.status_code == 302 and page["Location"].startswith(confirm)
    wrong = browser.post(confirm, {"password": "another"})
    assert wrong.status_code == 200 and browser.get(reverse("mfa_activate_totp")).status_code == 302
    right = browser.post(f"{confirm}?next={reverse('mfa_activate_totp')}", {"password": PASSWORD})
    assert right["Location"] == reverse("mfa_activate_totp")
    set_up(browser)
    assert browser.get(reverse("mfa_deactivate_totp")).status_code == 200
    assert browser.post(reverse("mfa_deactivate_totp"))["Location"] == reverse("mfa_index")
    assert not Authenticator.objects.exists()


def test_a_new_pepper_ends_second_factors_and_opens_nothing(boss: User, settings: Any) -> None:
    browser = make_browser()
    log_in(browser)
    secret, _ = set_up(browser)
    settings.KEY_PEPPER = "another pepper of more than 32 characters"
    other = make_browser()
    log_in(other)
    answer = other.post(reverse("mfa_authenticate"), {"code": code_for(secret)})
    assert answer.status_code == 200 and b"ask for help" in answer.content
    assert other.get(HOME).status_code == 302


def test_a_superuser_takes_a_lost_factor_away_on_record(boss: User) -> None:
    browser = make_browser()
    log_in(browser)
    set_up(browser)
    other = make_browser()
    other.force_login(User.objects.create_superuser("deputy"))
    sent = {"action": "remove_second_factors", "_selected_action": [boss.pk]}
    other.post(reverse("admin:auth_user_changelist"), sent)
    assert not Authenticator.objects.exists()
    assert LogEntry.objects.get(object_id=str(boss.pk)).change_message
    assert log_in(make_browser())["Location"] == "/admin/notifications/"


def test_where_it_is_required_people_are_led_to_set_one_up(
    boss: User, settings: Any, provider: Provider
) -> None:
    settings.REQUIRE_TOTP = True
    browser = make_browser()
    log_in(browser)
    for address in (HOME, reverse("console:playground"), reverse("admin:auth_user_changelist")):
        answer = browser.get(address)
        assert (answer.status_code, answer["Location"]) == (302, reverse("mfa_activate_totp"))
    set_up(browser)
    assert browser.get(HOME).status_code == 200
    assert browser.post(reverse("mfa_deactivate_totp")).status_code == 200
    assert Authenticator.objects.filter(type="totp").exists()
    provider.claims["groups"] = ["memory-ops"]
    guest = make_browser()
    come_in(guest)
    assert guest.get(HOME).status_code == 200, "the provider has asked for what it asks for"


# ---- sessions


def test_sessions_are_listed_and_ended(boss: User) -> None:
    here, there, elsewhere = (make_browser(HTTP_USER_AGENT=f"browser {n}") for n in range(3))
    for browser in (here, there, elsewhere):
        log_in(browser)
    stranger = User.objects.create_superuser("stranger")
    apart = make_browser()
    apart.force_login(stranger)
    apart.get(reverse("mfa_index"))
    page = here.get(reverse("mfa_index"))
    named = {one.user_agent: one for one in page.context["sessions"]}
    assert set(named) == {"browser 0", "browser 1", "browser 2"}
    apart.post(reverse("mfa_index"), {"session": named["browser 1"].pk})
    assert there.get(HOME).status_code == 200, "nobody ends another's session"
    here.post(reverse("mfa_index"), {"session": named["browser 1"].pk})
    assert (there.get(HOME).status_code, elsewhere.get(HOME).status_code) == (302, 200)
    here.post(reverse("mfa_index"))
    assert (elsewhere.get(HOME).status_code, here.get(HOME).status_code) == (302, 200)
    assert apart.get(HOME).status_code == 200
