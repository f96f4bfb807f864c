"""Guessing passwords is slow: a name is locked where its password was wrong too often."""

from __future__ import annotations

from datetime import timedelta

import pytest
from axes.models import AccessAttempt, AccessLog
from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import F
from django.http import HttpResponse
from django.test import Client

pytestmark = pytest.mark.django_db
PASSWORD = "a good long password"
LIMIT: int = settings.AXES_FAILURE_LIMIT
HOME = "203.0.113.5"


@pytest.fixture
def boss() -> User:
    return User.objects.create_superuser("boss", password=PASSWORD)


def log_in(
    password: str, *, name: str = "boss", address: str = HOME, agent: str = "a"
) -> HttpResponse:
    browser = Client(
        SERVER_NAME="localhost",
        REMOTE_ADDR=address,
        HTTP_USER_AGENT=agent,
        enforce_csrf_checks=True,
    )
    page = browser.get("/admin/login/")
    token = page.context["csrf_token"]
    given = {"username": name, "password": password, "csrfmiddlewaretoken": str(token)}
    answer: HttpResponse = browser.post("/admin/login/?next=/admin/", given)
    return answer


def fail(times: int, **how: str) -> list[int]:
    return [log_in("wrong", **how).status_code for _ in range(times)]


def test_the_right_password_opens_the_admin_and_is_on_record(boss: User) -> None:
    assert log_in(PASSWORD).status_code == 302
    assert AccessLog.objects.get().username == "boss"


def test_after_some_wrong_passwords_even_the_right_one_is_refused(boss: User) -> None:
    assert fail(LIMIT) == [200] * (LIMIT - 1) + [429]
    refused = log_in(PASSWORD)
    assert refused.status_code == 429
    assert int(refused["Retry-After"]) == settings.AXES_COOLOFF_TIME.total_seconds()
    assert "minutes" in refused.content.decode()


def test_another_browser_at_the_same_address_is_locked_too(boss: User) -> None:
    for number in range(LIMIT):
        log_in("wrong", agent=f"browser {number}")
    assert log_in(PASSWORD, agent="yet another").status_code == 429


def test_others_are_not_locked_out(boss: User) -> None:
    User.objects.create_superuser("other", password=PASSWORD)
    fail(LIMIT)
    assert log_in(PASSWORD, name="other").status_code == 302
    assert log_in(PASSWORD, address="203.0.113.6").status_code == 302


def test_a_name_that_does_not_exist_is_answered_like_one_that_does(boss: User) -> None:
    fail(LIMIT)
    assert fail(LIMIT, name="nobody") == [200] * (LIMIT - 1) + [429]
    mine, nobodys = (log_in("wrong", name=name).content for name in ("boss", "nobody"))
    assert mine == nobodys


def test_a_success_forgives_what_was_wrong_before(boss: User) -> None:
    fail(LIMIT - 1)
    assert log_in(PASSWORD).status_code == 302
    assert fail(LIMIT - 1) == [200] * (LIMIT - 1)


def test_the_lock_opens_by_itself_and_trying_does_not_hold_it_shut(boss: User) -> None:
    fail(LIMIT)
    locked_at = AccessAttempt.objects.get().attempt_time
    fail(2)
    assert AccessAttempt.objects.get().attempt_time == locked_at
    past = settings.AXES_COOLOFF_TIME + timedelta(seconds=1)
    AccessAttempt.objects.update(attempt_time=F("attempt_time") - past)
    assert log_in(PASSWORD).status_code == 302


def test_no_password_is_kept(boss: User) -> None:
    log_in("a secret that I mistyped")
    kept = AccessAttempt.objects.values().get()
    assert "mistyped" not in str(kept)
