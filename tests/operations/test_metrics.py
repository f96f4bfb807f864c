"""Prometheus scrapes what the processes count and the database knows, and nobody else does."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from django.conf import settings as project
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from tests.conftest import Agent, tell
from wings.operations.metrics import collector

pytestmark = pytest.mark.django_db
NAME = re.compile(r"\bmemory_[a-z_]+")
PARTS = re.compile(r"_(bucket|sum|count)$")
OBSERVING = project.BASE_DIR / "deploy" / "observing"


@pytest.fixture(autouse=True)
def read_anew() -> Iterator[None]:
    collector.forget()
    yield
    collector.forget()


def scrape(**headers: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = Client(SERVER_NAME="localhost").get("/metrics", headers=headers)
    assert answer.status_code == 200
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


def test_a_scrape_counts_requests_stages_and_rows(ana: Agent, conversation: uuid.UUID) -> None:
    tell(ana, conversation)
    route = "api/v0/retrieve_memory"
    labels = (("method", "POST"), ("route", route), ("status", "200"))
    before = scrape().get(("memory_requests_total", labels), 0)
    asked = {"conversation_id": str(conversation), "query": "Where?"}
    assert ana.post("retrieve_memory", asked).status_code == 200
    collector.forget()
    after = scrape()
    assert after["memory_requests_total", labels] == before + 1
    for stage in ("embed", "search", "compose", "receipt"):
        assert after["memory_answer_stage_seconds_count", (("stage", stage),)] >= 1
    assert after["memory_rows", (("kind", "message"),)] == len(
        ana.get("messages", conversation_id=conversation).json()["items"]
    )
    assert after["memory_database_up", ()] == 1
    everything = " ".join(f"{name} {labels}" for name, labels in after)
    for secret in (str(ana.tenant.id), ana.tenant.name, str(conversation)):
        assert secret not in everything


@pytest.mark.parametrize(
    "address, headers, allowed",
    [
        ("127.0.0.1", {}, True),
        ("::1", {}, True),
        ("192.0.2.7", {}, False),
        ("127.0.0.1", {"x-forwarded-for": "192.0.2.7"}, False),
        ("127.0.0.1", {"forwarded": "for=192.0.2.7"}, False),
        ("192.0.2.7", {"authorization": "Bearer a-scrape-key"}, True),
        ("192.0.2.7", {"authorization": "Bearer another"}, False),
        ("192.0.2.7", {"authorization": "Bearer ä"}, False),
    ],
)
def test_it_answers_this_machine_or_the_key(
    settings: Any, address: str, headers: dict[str, str], allowed: bool
) -> None:
    settings.METRICS_KEY = "a-scrape-key"
    client = Client(SERVER_NAME="localhost", REMOTE_ADDR=address)
    assert client.get("/metrics", headers=headers).status_code == (200 if allowed else 403)


def test_without_a_key_no_key_opens_it(settings: Any) -> None:
    settings.METRICS_KEY = ""
    client = Client(SERVER_NAME="localhost", REMOTE_ADDR="192.0.2.7")
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 403


def test_a_second_scrape_asks_the_database_nothing(
    django_assert_num_queries: Any, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(20):
        scrape()
    with django_assert_num_queries(0):
        scrape()


def test_dashboard_rules_and_page_name_metrics_that_are_there(ana: Agent) -> None:
    ana.get("facts")
    answer = Client(SERVER_NAME="localhost").get("/metrics").content.decode()
    there = set(re.findall(r"^# TYPE (\w+)", answer, re.M))
    board = json.loads((OBSERVING / "dashboard.json").read_text())
    rules = yaml.safe_load((OBSERVING / "alerts.yaml").read_text())["groups"][0]["rules"]
    asked = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked += [rule["expr"] for rule in rules]
    shown = {PARTS.sub("", name) for text in asked for name in NAME.findall(text)}
    assert shown - there == set()
    page = (project.BASE_DIR / "docs" / "observing.md").read_text()
    explained = set(re.findall(r"`(memory_[a-z_]+)`", page))
    assert explained == there
    alerts = {rule["alert"] for rule in rules}
    assert alerts == set(re.findall(r"\*(Memory\w+)\*", page))
