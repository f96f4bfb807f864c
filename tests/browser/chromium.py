"""A real Chromium: the one of this machine, installed from Debian's packages when missing."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
APT = ["apt-get", "-q", "-y", "-o", "Acquire::http::Timeout=30"]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]


def find_chromium() -> str:
    """Return the path of a browser; skip the test where there is none and none can be had."""
    found = _find()
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _install()
        found = _find()
    if found is None:
        pytest.skip("there is no Chromium here: as root, apt-get install chromium")
    return found


def _find() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


def _install() -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (["update"], ["install", "--no-install-recommends", "chromium"]):
        subprocess.run([*APT, *step], env=environment, timeout=300, check=False)
