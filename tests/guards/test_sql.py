"""SQL is where layers could be broken without an import: so it is read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings

APPS = [
    "memoryproject",
    "jobs",
    "indexing",
    "episodic",
    "semantic",
    "retrieval",
    "wings",
]
FILES = [
    path
    for app in APPS
    for path in (settings.BASE_DIR / app).rglob("*.sql")
    if "migrations" not in path.parts
]
SOURCES = [
    path
    for app in APPS
    for path in (settings.BASE_DIR / app).rglob("*.py")
    if "migrations" not in path.parts
]
TABLE = re.compile(r"\b(?:FROM|JOIN|UPDATE|INTO)\s+(\w+_\w+)")
CHANGES = re.compile(r"\b(?:INSERT|(?<!FOR )UPDATE|DELETE|TRUNCATE|ALTER|DROP|CREATE)\b")


def find_app(path: Path) -> str:
    """Return the app whose tables a file of SQL may name."""
    first, second, *_ = path.relative_to(settings.BASE_DIR).parts
    return second if first in ("memoryproject", "wings") else first


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sql_file_says_what_it_takes_and_gives(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    header = text[: text.index("WITH")] if "WITH" in text else text
    for word in ("-- in:", "-- out:", "-- index:"):
        assert word in header, f"{path.name} lacks {word}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_sql_file_reads_or_says_by_its_name_that_it_writes_its_own_tables(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    if not path.name.startswith("write_"):
        assert not CHANGES.search(body)
        return
    app = find_app(path)
    written = re.findall(r"INSERT INTO (\w+)", body)
    assert written and all(table.startswith(f"{app}_") for table in written)
    assert not re.search(r"\b(?:(?<!DO )UPDATE|DELETE|TRUNCATE|ALTER|DROP|CREATE)\b", body)


def test_there_are_sql_files_to_check() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_only_retrieval_names_other_apps_tables(path: Path) -> None:
    app = find_app(path)
    tables = {table.split("_")[0] for table in TABLE.findall(path.read_text(encoding="utf-8"))}
    assert app == "retrieval" or tables & set(APPS) <= {app}


def test_no_statement_is_put_together_from_values() -> None:
    """An f-string or % inside execute(…) would be a way in for somebody's text."""
    pattern = re.compile(
        r"\.execute\(\s*(?:f[\"']|[\"'][^\"']*[\"']\s*%|[\"'][^\"']*[\"']\.format)"
    )
    guilty = [
        str(path)
        for path in SOURCES
        if "embedded" not in path.parts and pattern.search(path.read_text(encoding="utf-8"))
    ]
    assert guilty == []
