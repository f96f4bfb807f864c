"""`manage.py make_person` makes somebody who can log in, in a role, and says how."""

from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.test import Client

pytestmark = pytest.mark.django_db


def make(*words: str) -> str:
    """Return what the command prints."""
    out = StringIO()
    call_command("make_person", *words, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("role", ["curator", "auditor", "operator", "superuser"])
def test_the_printed_password_opens_the_admin(role: str) -> None:
    password = make("ana", "--role", role).strip()
    person = User.objects.get(username="ana")
    assert person.is_superuser is (role == "superuser")
    assert [group.name for group in person.groups.all()] == ([] if role == "superuser" else [role])
    browser = Client(SERVER_NAME="localhost")
    given = {"username": "ana", "password": password}
    assert browser.post("/admin/login/?next=/admin/", given)["Location"] == "/admin/"
    assert browser.get("/admin/").status_code == 200
    assert browser.get("/admin/auth/user/").status_code == (200 if role == "superuser" else 403)


def test_the_password_is_kept_nowhere(db: None) -> None:
    password = make("ana", "--role", "auditor").strip()
    assert len(password) >= 16 and password not in User.objects.get(username="ana").password


def test_a_name_is_taken_once() -> None:
    make("ana", "--role", "auditor")
    with pytest.raises(CommandError, match="ana already"):
        make("ana", "--role", "curator")
    assert [group.name for group in User.objects.get().groups.all()] == ["auditor"]


@pytest.mark.parametrize("name", ["", " ", "a b", "a\nb", "<b>", "a" * 151])
def test_nobody_gets_a_name_that_cannot_be_typed(name: str) -> None:
    with pytest.raises(CommandError, match="the name"):
        make(name, "--role", "auditor")
    assert not User.objects.exists()


def test_there_are_no_other_roles() -> None:
    with pytest.raises(CommandError, match="invalid choice"):
        make("ana", "--role", "owner")


def test_a_database_without_the_roles_says_what_to_do() -> None:
    Group.objects.all().delete()
    with pytest.raises(CommandError, match=r"manage\.py migrate"):
        make("ana", "--role", "curator")
    assert not User.objects.exists()
