"""The version stands in pyproject.toml, and what cannot read it there says the same."""

from __future__ import annotations

import json
import re

import pytest
from django.test import Client

from memoryproject.process.release import ROOT, VERSION
from tests.conftest import Agent


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("CHANGELOG.md", r"^## \[(\d\S*)\] - \d{4}-\d\d-\d\d$"),
        ("deploy/helm/Chart.yaml", r'^appVersion: "(.*)"$'),
        ("deploy/helm/values.yaml", r"^image: memory-server:(.*)$"),
    ],
)
def test_other_files_name_the_same_version(path: str, pattern: str) -> None:
    (found, *_) = re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M)
    assert found == VERSION


def test_clients_that_need_each_other_name_versions_that_are_there() -> None:
    client = (ROOT / "clients/python/pyproject.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.*)"$', client, re.M)
    server = (ROOT / "clients/mcp/pyproject.toml").read_text(encoding="utf-8")
    assert f'"memory-server-client=={version}"' in server
    (own,) = re.findall(r'^version = "(.*)"$', server, re.M)
    registry = json.loads((ROOT / "clients/mcp/server.json").read_text(encoding="utf-8"))
    assert {registry["version"], registry["packages"][0]["version"]} == {own}
    assert len(registry["description"]) <= 100  # the registry's limit
    readme = (ROOT / "clients/mcp/README.md").read_text(encoding="utf-8")
    assert f"<!-- mcp-name: {registry['name']} -->" in readme


@pytest.mark.django_db
def test_it_stands_where_operators_look(admin_client: Client, ana: Agent) -> None:
    assert ana.get("health/live").json() == {"status": "ok", "version": VERSION}
    assert f"Memory server {VERSION}</footer>" in admin_client.get("/admin/").text
