"""The login that `make run` prints can be printed again, whatever became of its password."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from wings.operations.management.commands import run
from wings.operations.management.commands.login import find_address, keep_address

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_dir(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def print_login() -> str:
    """Return the password in the last line of what `make login` prints."""
    printed = io.StringIO()
    call_command("login", stdout=printed)
    lines = printed.getvalue().strip().splitlines()
    assert lines[2].strip() == f"http://{find_address()}/admin/try-it/?tenant=default"
    last = lines[-1]
    found = re.search(r"/admin/ +user admin, password (\S+)$", last)
    assert found
    return found[1]


def logs_in(password: str) -> bool:
    answer = Client().post("/admin/login/", {"username": "admin", "password": password})
    return answer.status_code == 302


def test_the_first_password_is_printed_as_often_as_one_asks(data_dir: Path) -> None:
    password = print_login()
    assert print_login() == password == (data_dir / "admin_password").read_text()
    assert logs_in(password)


def test_away_from_a_terminal_it_is_printed_at_the_first_start_alone(
    settings: Settings,
) -> None:
    settings.LOG_FORMAT = "json"
    out, err = io.StringIO(), io.StringIO()
    command = run.Command(stdout=out, stderr=err)
    command.show_login(is_first=False)
    assert not err.getvalue()
    command.show_login(is_first=True)
    assert f"user admin, password {print_login()}" in err.getvalue()
    assert print_login() not in out.getvalue()


def test_the_port_on_which_the_server_listens_need_not_be_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PORT", raising=False)
    assert find_address() == "127.0.0.1:8000"
    keep_address("127.0.0.1", 8377)
    assert find_address() == "127.0.0.1:8377"
    monkeypatch.setenv("PORT", "8400")
    assert find_address() == "127.0.0.1:8400"


def test_a_password_that_was_changed_gives_way_to_a_new_one_that_is_stored_nowhere(
    data_dir: Path,
) -> None:
    first = print_login()
    admin = User.objects.get(username="admin")
    admin.set_password("of my own choice")
    admin.save()
    password = print_login()
    assert logs_in(password) and not logs_in("of my own choice") and not logs_in(first)
    assert all(password not in path.read_text() for path in data_dir.iterdir())
