"""A key gets another secret while it is in use; the old one ends when its grace is over."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from memoryproject.edge.errors import Conflict, Problem
from memoryproject.tenancy import services
from memoryproject.tenancy.models import APIKey
from memoryproject.tenancy.secret_form import has_check, make_secret, may_exist
from tests.conftest import Agent, make_agent

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def nothing_is_remembered(settings: Settings) -> None:
    settings.KEY_REMEMBERED_S = -1.0


def ask(secret: str) -> int:
    client = Client(headers={"authorization": f"Bearer {secret}"}, SERVER_NAME="localhost")
    return client.get("/api/v0/facts").status_code


def held(agent: Agent) -> APIKey:
    """Return the key as it is in the database."""
    return APIKey.objects.of(agent.tenant).select_related("tenant").get(id=agent.key.id)


def run(command: str, *words: Any) -> str:
    out = StringIO()
    call_command(command, *words, stdout=out)
    return out.getvalue()


def test_both_secrets_open_until_the_grace_is_over(ana: Agent) -> None:
    now = timezone.now()
    made = services.rotate_key(key=held(ana), now=now, grace=HOUR)
    assert made.secret != ana.secret and ask(made.secret) == ask(ana.secret) == 200
    assert services.find_key(secret=ana.secret, now=now + HOUR - timedelta(seconds=1)) == ana.key
    assert services.find_key(secret=ana.secret, now=now + HOUR) is None
    assert services.find_key(secret=made.secret, now=now + HOUR) == ana.key


def test_without_a_grace_the_old_secret_ends_at_once(ana: Agent) -> None:
    assert ask(ana.secret) == 200
    made = services.rotate_key(key=held(ana), now=timezone.now(), grace=timedelta(0))
    assert (ask(ana.secret), ask(made.secret)) == (401, 200)


def test_there_are_never_more_than_two_secrets(ana: Agent) -> None:
    now = timezone.now()
    second = services.rotate_key(key=held(ana), now=now).secret
    third = services.rotate_key(key=held(ana), now=now).secret
    assert [ask(secret) for secret in (ana.secret, second, third)] == [401, 200, 200]


def test_revoking_ends_both_secrets(ana: Agent) -> None:
    made = services.rotate_key(key=held(ana), now=timezone.now())
    services.revoke_api_key(key=held(ana), now=timezone.now())
    assert ask(made.secret) == ask(ana.secret) == 401


def test_the_end_of_a_key_is_the_end_of_both_secrets(ana: Agent) -> None:
    now = timezone.now()
    APIKey.objects.of(ana.tenant).update(expires_at=now + HOUR)
    made = services.rotate_key(key=held(ana), now=now, grace=2 * HOUR)
    for secret in (ana.secret, made.secret):
        assert services.find_key(secret=secret, now=now) == ana.key
        assert services.find_key(secret=secret, now=now + HOUR) is None


def test_a_key_that_has_ended_gets_no_secret(ana: Agent, bo: Agent) -> None:
    now = timezone.now()
    APIKey.objects.of(ana.tenant).filter(id=ana.key.id).update(expires_at=now)
    services.revoke_api_key(key=held(bo), now=now)
    for agent in (ana, bo):
        with pytest.raises(Conflict):
            services.rotate_key(key=held(agent), now=now)


def test_of_two_who_rotate_at_once_one_is_told(ana: Agent) -> None:
    mine, theirs = held(ana), held(ana)
    made = services.rotate_key(key=mine, now=timezone.now())
    with pytest.raises(Conflict, match="meanwhile"):
        services.rotate_key(key=theirs, now=timezone.now())
    assert ask(made.secret) == 200


@pytest.mark.parametrize("grace", [-HOUR, services.GRACE_AT_MOST + HOUR])
def test_a_grace_has_bounds(ana: Agent, grace: timedelta) -> None:
    with pytest.raises(Problem, match="grace"):
        services.rotate_key(key=held(ana), now=timezone.now(), grace=grace)
    assert held(ana).hash == ana.key.hash


def test_a_previous_secret_without_an_end_cannot_be_stored(ana: Agent) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        APIKey.objects.of(ana.tenant).update(previous_hash="0" * 64)


def test_rotating_keeps_all_else(ana: Agent) -> None:
    before = held(ana)
    services.rotate_key(key=held(ana), now=timezone.now())
    after = held(ana)
    for name in ("id", "tenant_id", "name", "scopes", "expires_at", "revoked_at", "rate"):
        assert getattr(after, name) == getattr(before, name)
    assert after.prefix != before.prefix


def test_a_secret_that_is_cut_changed_or_made_up_is_refused_without_a_look() -> None:
    good = make_secret()
    last, middle = ("A" if letter != "A" else "B" for letter in (good[-1], good[20]))
    assert may_exist(good) and has_check(good)
    assert may_exist(good[:47]) and not has_check(good[:47])
    for bad in (good[:-1], good + "x", good[:-1] + last, good[:20] + middle + good[21:], "x",
                good.replace("mem_", "men_"), good[:47] + "é" * 11):  # fmt: skip
        assert not may_exist(bad) and not has_check(bad), bad


# ---- by command


def test_the_commands_rotate_list_and_revoke(ana: Agent, cleo: Agent) -> None:
    secret = run("keys", ana.key.prefix, "--rotate").strip()
    assert ask(secret) == ask(ana.secret) == 200
    last = run("keys", str(ana.key.id), "--rotate", "--grace-hours", "0").strip()
    assert [ask(one) for one in (ana.secret, secret, last)] == [401, 401, 200]
    listed = run("keys")
    assert last not in listed and last[:10] in listed and cleo.key.prefix in listed
    assert cleo.key.prefix not in run("keys", "--tenant", "ana's")
    assert "revoked ana" in run("keys", last[:10], "--revoke")
    assert ask(last) == 401 and ask(cleo.secret) == 200
    assert last[:10] not in run("keys") and "revoked" in run("keys", "--all")
    for act in ("--rotate", "--revoke"):
        with pytest.raises(CommandError):
            run("keys", str(ana.key.id), act)
        with pytest.raises(CommandError, match="Name a key"):
            run("keys", act)


@pytest.mark.parametrize("named", ["", "mem_", "nobody", "0b8f7c52-6f0e-4a57-9d0b-3f6f7c1f2a11"])
def test_a_key_that_is_not_there_is_said_so(ana: Agent, named: str) -> None:
    for act in ("--rotate", "--revoke", "--rate=5"):
        with pytest.raises(CommandError, match="No key"):
            run("keys", named, act)
    assert ask(ana.secret) == 200


def test_a_prefix_of_two_keys_names_neither(ana: Agent, cleo: Agent) -> None:
    APIKey.objects.of(cleo.tenant).update(prefix=ana.key.prefix)
    with pytest.raises(CommandError, match="More than one"):
        run("keys", ana.key.prefix, "--revoke")


@pytest.mark.parametrize("hours", ["-1", "nan", "inf", "1e300", "3000"])
def test_hours_that_are_none_change_nothing(ana: Agent, hours: str) -> None:
    with pytest.raises(CommandError):
        run("keys", ana.key.prefix, "--rotate", f"--grace-hours={hours}")
    assert held(ana).hash == ana.key.hash


def test_the_rate_of_a_key_is_set_by_command(ana: Agent) -> None:
    key = ana.key.prefix
    assert run("keys", key, "--rate", "600").strip().endswith("\t600 a minute")
    assert held(ana).rate == 600 and run("keys", key).strip().endswith("\t600 a minute")
    assert run("keys", key, "--rate", "default").strip().endswith("\tno limit (the server's)")
    for bad in ("-1", "x", "1000001", "1.5"):
        with pytest.raises(CommandError):
            run("keys", key, f"--rate={bad}")
    assert held(ana).rate is None


def test_the_rates_of_a_tenant_are_set_by_command(ana: Agent) -> None:
    assert "calls: 900 a minute" in run("tenant", "ana's", "--calls", "900")
    assert held(ana).tenant.settings == {"rate": 900}
    said = run("tenant", "ana's", "--calls", "default", "--sent-bytes", "5000000")
    assert "sent bytes: 5000000 a minute" in said
    assert held(ana).tenant.settings == {"byte_rate": 5_000_000}
    for bad in (["--calls", "x"], ["--calls=5", "--sent-bytes=-1"]):
        with pytest.raises(CommandError):
            run("tenant", "ana's", *bad)
    run("tenant", "ana's", "--sent-bytes", "default", "--scope", "user")
    assert held(ana).tenant.settings == {"default_scope": "user"}


def test_a_key_of_another_tenant_sees_nothing_of_it(ana: Agent) -> None:
    stranger = make_agent("cleo's", "cleo")
    made = services.rotate_key(key=held(stranger), now=timezone.now())
    found = services.find_key(secret=made.secret, now=timezone.now())
    assert found is not None and found.tenant_id != ana.tenant.id
