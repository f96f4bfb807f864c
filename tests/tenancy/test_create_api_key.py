"""The command that makes a key from the shell."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memoryproject.tenancy import services
from memoryproject.tenancy.models import APIKey, Scope, Tenant

pytestmark = pytest.mark.django_db


def create(*arguments: str) -> str:
    """Run the command and return what it prints on standard output."""
    printed, complained = StringIO(), StringIO()
    call_command("create_api_key", *arguments, stdout=printed, stderr=complained)
    assert complained.getvalue() == ""
    return printed.getvalue()


def key_behind(printed: str) -> APIKey:
    key = services.find_key(secret=printed.strip(), now=timezone.now())
    assert key is not None
    return key


def test_the_key_is_printed_alone() -> None:
    printed = create("--tenant", "acme")
    assert printed.startswith("mem_") and printed.endswith("\n")
    assert len(printed.split()) == 1
    assert key_behind(printed).tenant.name == "acme"


def test_the_tenant_is_made_once() -> None:
    keys = [key_behind(create("--tenant", name)) for name in ("acme", "acme", " acme ")]
    assert len({key.id for key in keys}) == 3
    assert len({key.tenant_id for key in keys}) == 1
    assert Tenant.objects.filter(name="acme").count() == 1


def test_without_a_scope_the_key_may_do_everything() -> None:
    assert key_behind(create("--tenant", "acme")).scopes == list(Scope.values)


def test_scopes_add_up() -> None:
    assert key_behind(create("--tenant", "a", "--scope", "read")).scopes == ["read"]
    printed = create("--tenant", "a", "--scope", "read", "--scope", "ingest")
    assert set(key_behind(printed).scopes) == {"read", "ingest"}


def test_a_name_and_an_end_are_kept() -> None:
    printed = create("--tenant", "a", "--name", "bot", "--expires", "2999-01-31T00:00:00Z")
    key = key_behind(printed)
    assert key.name == "bot"
    assert key.expires_at is not None and key.expires_at.year == 2999


@pytest.mark.parametrize(
    "arguments",
    [[], ["--tenant", ""], ["--tenant", " "], ["--tenant", "x" * 201], ["--tenant", "a\0b"],
     ["--tenant", "a", "--scope", "everything"], ["--tenant", "a", "--expires", "tomorrow"],
     ["--tenant", "a", "--expires", "2999-01-31"],
     ["--tenant", "a", "--expires", "2999-01-31T00:00"],
     ["--tenant", "a", "--expires", "2999-02-31T00:00:00Z"],
     ["--tenant", "a", "--name", "x" * 201],
     ["--tenant", "a", "--name", "a\0b"], ["--tenant", "a", "--name", ""]],
)  # fmt: skip
def test_a_wrong_argument_makes_nothing(arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        create(*arguments)
    assert not APIKey.across_tenants.exists()
    assert not Tenant.objects.exists()
