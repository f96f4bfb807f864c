"""A secret can lie in a file, must be one, and is shown nowhere."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from memoryproject.process import env

CANARY = "sk-quokka-7f3a91-4b2c"
NAMES = [
    "MEMORY_SECRET_KEY",
    "MEMORY_KEY_PEPPER",
    "OPENAI_API_KEY",
    "DATABASE_URL",
    "MEMORY_OWNER_DATABASE_URL",
]
GOOD = "m3Jq0c2vX9hT5rLw8zKd1fNy7bPs4gUa6eVi3oQx2tRk0jHn5mWc"


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_may_lie_in_a_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{GOOD}\n")
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(f"{name}_FILE", str(file))
    assert env.read_text(name) == GOOD


@pytest.mark.parametrize("name", NAMES)
def test_a_secret_that_is_given_twice_is_refused_unread(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text(GOOD)
    monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "secret"))
    monkeypatch.setenv(name, CANARY)
    with pytest.raises(env.SettingError, match="are both set") as refused:
        env.read_text(name)
    assert CANARY not in str(refused.value) and GOOD not in str(refused.value)


@pytest.mark.parametrize("content", [None, b"", b" \n", b"\xff\xfe\xff"])
def test_a_file_without_a_secret_is_refused(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (tmp_path / "secret").write_bytes(content)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("OPENAI_API_KEY_FILE", str(tmp_path / "secret"))
    with pytest.raises(env.SettingError, match="OPENAI_API_KEY_FILE names"):
        env.read_text("OPENAI_API_KEY")


@pytest.mark.parametrize(
    "poor", ["changeme", "a" * 80, "abcd" * 20, "django-insecure-" + GOOD, GOOD[:49]]
)
def test_a_poor_secret_is_refused_without_being_told(
    poor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_SECRET_KEY", poor)
    with pytest.raises(env.SettingError, match="MEMORY_SECRET_KEY is too easy") as refused:
        env.read_or_make_secret("MEMORY_SECRET_KEY", file=tmp_path / "key", characters=50)
    assert poor not in str(refused.value)


def test_what_we_make_ourselves_is_a_good_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORY_SECRET_KEY", raising=False)
    made = env.read_or_make_secret("MEMORY_SECRET_KEY", file=tmp_path / "key", characters=50)
    again = env.read_or_make_secret("MEMORY_SECRET_KEY", file=tmp_path / "key", characters=50)
    assert made == again and (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def start(**environment: str) -> subprocess.CompletedProcess[str]:
    """Run `manage.py check` with these settings."""
    return subprocess.run(
        [sys.executable, str(settings.BASE_DIR / "manage.py"), "check"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_no_process_starts_with_one_secret_for_two_purposes() -> None:
    done = start(MEMORY_SECRET_KEY=GOOD, MEMORY_KEY_PEPPER=GOOD)
    assert done.returncode == 1
    assert done.stderr == (
        "error: MEMORY_SECRET_KEY and MEMORY_KEY_PEPPER must be two secrets, not one.\n"
    )


def test_no_process_starts_with_a_poor_secret() -> None:
    done = start(MEMORY_SECRET_KEY=CANARY)
    assert done.returncode == 1 and "MEMORY_SECRET_KEY is too easy to guess" in done.stderr
    assert CANARY not in done.stdout + done.stderr


def test_a_password_in_an_address_that_cannot_be_used_is_not_told() -> None:
    done = start(DATABASE_URL=f"mysql://ana:{CANARY}@host/name")
    assert done.returncode == 1 and CANARY not in done.stdout + done.stderr
    done = start(OPENAI_BASE_URL=f"http://ana:{CANARY}@host/v1")
    assert done.returncode == 1 and CANARY not in done.stdout + done.stderr


def test_djangos_own_page_of_an_error_shows_no_secret() -> None:
    """It is never shown, since DEBUG is never on; this is what it would show."""
    shown = subprocess.run(
        [
            sys.executable,
            str(settings.BASE_DIR / "manage.py"),
            "shell",
            "-v0",
            "-c",
            "from django.views.debug import SafeExceptionReporterFilter as F;"
            "print(F().get_safe_settings())",
        ],
        env={
            **os.environ,
            "OPENAI_API_KEY": CANARY,
            "MEMORY_SECRET_KEY": GOOD,
            "DATABASE_URL": f"postgresql://ana:{CANARY}@localhost:1/x",
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "'OPENAI_API_KEY'" in shown.stdout, shown.stderr
    assert CANARY not in shown.stdout + shown.stderr and GOOD not in shown.stdout


@pytest.mark.django_db
def test_health_tells_no_setting_and_nothing_of_a_tenant() -> None:
    answer = Client(SERVER_NAME="localhost").get("/api/v0/health/ready")
    assert answer.status_code == 200
    told = answer.json()
    assert (told.pop("status"), told.pop("models_away")) == ("ok", [])
    assert set(told) == {"due_jobs", "dead_jobs", "oldest_due_s", "last_done_s"}
