"""What the README tells a newcomer is true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.urls import get_resolver

from tests.conftest import Agent
from tests.processes import worker

README = (settings.BASE_DIR / "README.md").read_text(encoding="utf-8")
ENVIRONMENT_READERS = re.compile(r"read_\w+\(\s*\"([A-Z_]+)\"")
SOURCES = [settings.BASE_DIR / "memoryproject" / "settings.py"]
SOURCES += (settings.BASE_DIR / "operations").rglob("*.py")


def read_blocks(title: str, language: str) -> list[str]:
    """Return what stands in the fenced blocks of a section, in order."""
    section = re.search(rf"^## {title}\n(.*?)^## ", README, re.S | re.M)
    assert section
    return re.findall(rf"```{language}\n(.*?)```", section[1], re.S)


def run_session(session: str, agent: Agent, server: object, tmp_path: Path) -> str:
    """Run commands of the README beside a server and a worker; return what they print."""
    (tmp_path / "var").mkdir()
    (tmp_path / "var" / "api_key").write_text(agent.secret)
    session = session.replace("http://127.0.0.1:8000", str(server))
    with worker():
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", session],
            cwd=tmp_path,
            env={**os.environ, "PATH": with_curl(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.django_db(transaction=True)
def test_the_session_runs_and_answers_with_facts_and_an_episode(
    ana: Agent, live_server: object, tmp_path: Path
) -> None:
    (session,) = read_blocks("A session", "bash")
    printed = run_session(session, ana, live_server, tmp_path)
    assert "## Semantic Memory" in printed and "## Episodic Memories" in printed
    assert re.search(r"^- \[identity\] Ana .*Porto", printed, re.M)
    assert '- Ana: "I moved from Lisbon to Porto last week."' in printed


@pytest.mark.django_db(transaction=True)
def test_the_session_on_reading_within_a_budget_answers_what_the_readme_shows(
    ana: Agent, live_server: object, tmp_path: Path
) -> None:
    (talk,) = read_blocks("A session", "bash")
    steps = read_blocks("Search, peek, chunk, context", "bash")
    marked = "\necho; echo ======\n".join([talk, *steps])
    _, *printed = run_session(marked, ana, live_server, tmp_path).split("======\n")
    shown = read_blocks("Search, peek, chunk, context", "(?:json|markdown)")
    assert len(printed) == len(shown) == len(steps) == 4
    for answer, example in zip(printed[:-1], shown[:-1], strict=True):
        assert_shows(json.loads(answer), json.loads(re.sub(r",?\s*…(?=\s*[\]}])", "", example)))
    text, example = (re.sub(DAY, "a day", part.strip()) for part in (printed[-1], shown[-1]))
    assert text == example


DAY = r"\d{4}-\d\d-\d\d"


def assert_shows(answer: Any, example: Any) -> None:
    """Check that an answer holds what an example of it shows: "…" ends what goes on."""
    if isinstance(example, dict):
        for name, part in example.items():
            assert_shows(answer[name], part)
    elif isinstance(example, list):
        assert len(answer) >= len(example)
        for one, part in zip(answer, example, strict=False):
            assert_shows(one, part)
    elif isinstance(example, str) and example.endswith("…"):
        assert answer.startswith(example[:-1]) or re.fullmatch(r"[0-9a-f]{4}…", example)
    else:
        assert answer == (pytest.approx(example, abs=0.02) if type(example) is float else example)


def with_curl(folder: Path) -> str:
    """Return a PATH on which there is a curl, ours where the machine has none."""
    path = os.environ["PATH"]
    if shutil.which("curl"):
        return path
    ours = folder / "bin" / "curl"
    ours.parent.mkdir()
    ours.write_text(f"#!{sys.executable}\n{CURL}")
    ours.chmod(0o755)
    return f"{ours.parent}:{path}"


CURL = """
import sys, urllib.error, urllib.request
words, headers, data, url = sys.argv[1:], {}, None, ""
while words:
    word = words.pop(0)
    if word == "-H":
        name, _, value = words.pop(0).partition(": ")
        headers[name] = value
    elif word == "-d":
        data = words.pop(0).encode()
    elif word != "-s":
        url = word
try:
    answer = urllib.request.urlopen(urllib.request.Request(url, data, headers))
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(answer.read().decode())
"""


def test_every_setting_that_is_read_is_explained() -> None:
    read = {name for path in SOURCES for name in ENVIRONMENT_READERS.findall(path.read_text())}
    assert len(read) > 15
    table = README[README.index("## Configuration") : README.index("## Words")]
    assert sorted(read - set(re.findall(r"`([A-Z_]+)`", table))) == []


def test_every_setting_that_is_explained_is_read() -> None:
    read = {name for path in SOURCES for name in ENVIRONMENT_READERS.findall(path.read_text())}
    table = README[README.index("## Configuration") : README.index("## Words")]
    first_cells = re.findall(r"^\| (`[A-Z_`, ]+`) \|", table, re.M)
    explained = {name for cell in first_cells for name in re.findall(r"`([A-Z_]+)`", cell)}
    assert sorted(explained - read) == []


def test_every_call_of_the_api_is_named() -> None:
    routes = {
        str(pattern.pattern).removeprefix("api/v0/")
        for pattern in get_resolver().url_patterns
        if str(pattern.pattern).startswith("api/v0/")
    }
    routes = {re.sub(r"<[^>]*>", "{id}", route).rstrip("/") for route in routes}
    named = set(re.findall(r"`([a-z_/{}]+)`", README))
    assert sorted(routes - named - {"schema", "docs"}) == []


def test_linked_files_exist() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if not target.startswith("http"):
            assert (settings.BASE_DIR / target).exists(), target
