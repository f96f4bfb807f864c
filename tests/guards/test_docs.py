"""What the README and the pages of docs/ tell a newcomer is true."""

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
from django.core.management import get_commands
from django.urls import get_resolver

from tests.conftest import Agent
from tests.fresh import ana as ana
from tests.guards.pages import PAGES, find_anchors, read_page
from tests.processes import worker

ENVIRONMENT_READERS = re.compile(r"read_\w+\(\s*\"([A-Z_]+)\"")
SOURCES = [settings.BASE_DIR / "memoryproject" / "settings.py"]
SOURCES += (settings.BASE_DIR / "memoryproject" / "process").rglob("*.py")
SOURCES += (settings.BASE_DIR / "wings" / "operations").rglob("*.py")


def read_blocks(page: str, title: str, language: str) -> list[str]:
    """Return what stands in the fenced blocks of a section, in order."""
    section = re.search(rf"^## {title}\n(.*?)^## ", read_page(page), re.S | re.M)
    assert section
    return re.findall(rf"```{language}\n(.*?)```", section[1], re.S)


def run_session(session: str, agent: Agent, server: object, tmp_path: Path) -> str:
    """Run commands of a page beside a server and a worker; return what they print."""
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
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_the_session_runs_and_answers_with_facts_and_an_episode(
    ana: Agent, live_server: object, tmp_path: Path
) -> None:
    (session,) = read_blocks("README.md", "A session", "bash")
    printed = run_session(session, ana, live_server, tmp_path)
    assert_remembers(printed)


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_the_tutorial_runs_and_answers_what_it_shows(
    ana: Agent, live_server: object, tmp_path: Path
) -> None:
    (talk,) = read_blocks("docs/tutorial.md", "A conversation", "bash")
    steps = read_blocks("docs/tutorial.md", "Search, peek, chunk, context", "bash")
    marked = "\necho; echo ======\n".join([talk, *steps])
    talk_answer, *printed = run_session(marked, ana, live_server, tmp_path).split("======\n")
    assert_remembers(talk_answer)
    shown = read_blocks("docs/tutorial.md", "Search, peek, chunk, context", "(?:text|markdown)")
    assert len(printed) == len(shown) == len(steps) == 4
    for answer, example in zip(printed[:-1], shown[:-1], strict=True):
        assert_shows(json.loads(answer), json.loads(re.sub(r",?\s*…(?=\s*[\]}])", "", example)))
    text, example = (re.sub(DAY, "a day", part.strip()) for part in (printed[-1], shown[-1]))
    assert text == example


def assert_remembers(answer: str) -> None:
    """Check that an answer contains Ana's move, in her own words and with its week beside it."""
    said = r'Ana: "I moved from Lisbon to Porto last week \([^)]+\d{4}\)\."'
    moved = rf"^- (?:\[identity\] |\d\d:\d\d )?{said}"
    assert "## Episodic Memories" in answer and re.search(moved, answer, re.M)


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


def test_every_setting_that_is_read_is_explained_and_no_other() -> None:
    read = {name for path in SOURCES for name in ENVIRONMENT_READERS.findall(path.read_text())}
    assert len(read) > 15
    table = read_page("docs/configuration.md")
    first_cells = " ".join(re.findall(r"^\| (`[A-Z_`, ]+`) \|", table, re.M))
    assert set(re.findall(r"`([A-Z_]+)`", first_cells)) == read


def test_every_call_of_the_api_is_named() -> None:
    routes = {
        str(pattern.pattern).removeprefix("api/v0/")
        for pattern in get_resolver().url_patterns
        if str(pattern.pattern).startswith("api/v0/")
    }
    routes = {re.sub(r"<[^>]*>", "{id}", route).rstrip("/") for route in routes}
    named = set(re.findall(r"`([a-z_/{}]+)`", read_page("docs/api.md")))
    assert sorted(routes - named - {"schema", "docs"}) == []


def test_every_command_has_its_row_and_no_other_has() -> None:
    ours = {
        path.stem
        for path in settings.BASE_DIR.glob("*/**/management/commands/*.py")
        if path.stem != "__init__" and ".venv" not in path.parts
    }
    assert len(ours) > 15 and ours <= set(get_commands())
    cells = " ".join(re.findall(r"^\| (`[a-z_`, ]+`) \|", read_page("docs/commands.md"), re.M))
    assert set(re.findall(r"`([a-z_]+)`", cells)) == ours


def test_every_command_that_a_page_names_is_there() -> None:
    """Of the changes those that are not released yet: earlier versions had other commands."""
    makefile = (settings.BASE_DIR / "Makefile").read_text()
    for page in PAGES:
        text = read_page(page).partition("\n## [0.")[0]
        for target in re.findall(r"(?:^|`)make ([a-z]+)", text, re.M):
            assert f"\n{target}:" in makefile, f"{page}: make {target}"
        for command in re.findall(r"manage\.py ([a-z_]+)", text):
            assert command in get_commands(), f"{page}: manage.py {command}"
        for module in re.findall(r"-m (bench\.\w+)", text):
            there = settings.BASE_DIR / module.replace(".", "/") / "__main__.py"
            assert there.exists(), f"{page}: {module}"


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    for page in PAGES:
        folder = (settings.BASE_DIR / page).parent
        for target in re.findall(
            r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", read_page(page), flags=re.S)
        ):
            if target.startswith("http"):
                continue
            name, _, anchor = target.partition("#")
            path = (folder / name).resolve() if name else settings.BASE_DIR / page
            assert path.exists(), f"{page}: {target}"
            assert not anchor or anchor in find_anchors(path.read_text()), f"{page}: {target}"


def test_every_file_that_a_page_names_is_there() -> None:
    for page in PAGES:
        text = read_page(page)
        for name in re.findall(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|sql))`", text):
            assert (settings.BASE_DIR / name).exists(), f"{page}: {name}"


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.endswith("/README.md") and "clients/" not in page]
)
def test_the_readme_of_an_app_is_a_screen_and_names_files_that_are_there(page: str) -> None:
    text = read_page(page)
    assert len(text.splitlines()) <= 40
    for cell in re.findall(r"^\| (`[^|]+`) \|", text, re.M):
        for name in re.findall(r"`([\w/]+\.py|[\w/]+/)`", cell):
            assert (settings.BASE_DIR / page).parent.joinpath(name).exists(), name


def test_the_readme_takes_a_minute_to_read() -> None:
    assert len(read_page("README.md")) <= 8000
