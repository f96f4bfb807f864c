"""A log line says what happened, and nothing of what was said."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.db import DataError, connection, transaction
from django.test import Client

from memoryproject.process import env, logs
from memoryproject.process.env import SettingError
from tests.conftest import Agent

CANARY = "quokka7f3a91"


class Written:
    """What our formatter writes of everything that is logged."""

    def __init__(self) -> None:
        self.stream = io.StringIO()
        self.handler = logging.StreamHandler(self.stream)
        self.handler.setFormatter(logs.make_formatter("json"))

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def last(self) -> dict[str, Any]:
        return self.lines()[-1]


@pytest.fixture
def written() -> Iterator[Written]:
    """Everything that reaches the root logger, down to DEBUG."""
    kept, root = Written(), logging.getLogger()
    level = root.level
    root.addHandler(kept.handler)
    root.setLevel(logging.DEBUG)
    yield kept
    root.removeHandler(kept.handler)
    root.setLevel(level)


@pytest.mark.django_db
def test_a_request_is_one_line_of_ids_and_figures(ana: Agent, written: Written) -> None:
    answer = ana.client.get("/api/v0/facts?category=" + CANARY, headers={"X-Custom": CANARY})
    line = next(line for line in written.lines() if line["logger"] == "memory.access")
    assert set(line) <= {"time", "level", "logger", "event", *logs.FIELDS}
    told = {name: line[name] for name in ("method", "route", "status", "tenant", "key")}
    assert told == {
        "method": "GET",
        "route": "api/v0/facts",
        "status": answer.status_code,
        "tenant": ana.tenant.id if isinstance(ana.tenant.id, int) else str(ana.tenant.id),
        "key": ana.key.id if isinstance(ana.key.id, int) else str(ana.key.id),
    }
    assert line["request"] == answer["X-Request-Id"] and line["ms"] > 0 and line["bytes"] > 0
    assert CANARY not in written.stream.getvalue()


@pytest.mark.parametrize(
    "given",
    ["0f8fad5b-d9cb-469f-a165-70867728950e", "4bf92f3577b34da6a3ce929d0e0e4736", "DEADBEEF01"],
)
def test_a_callers_own_id_of_a_request_is_kept(given: str, written: Written) -> None:
    answer = Client(SERVER_NAME="localhost").get(
        "/api/v0/health/live", headers={"X-Request-Id": given}
    )
    assert answer["X-Request-Id"] == given
    assert written.last()["request"] == given


@pytest.mark.parametrize(
    "given", ["", "deadbeef", CANARY, "12345678\n", "1" * 65, "../../etc", "{}", "١٢٣٤٥٦٧٨٩"]
)
def test_what_is_no_such_id_is_replaced_by_a_new_one(given: str) -> None:
    chosen = logs.choose_request_id(given)
    assert chosen != given and logs.REQUEST_ID.fullmatch(chosen)


def test_a_path_that_is_no_route_and_a_method_of_its_own_are_not_quoted(written: Written) -> None:
    client = Client(SERVER_NAME="localhost")
    assert client.get(f"/api/v0/{CANARY}?{CANARY}={CANARY}").status_code == 404
    client.generic(CANARY.upper(), "/api/v0/facts")
    assert CANARY not in written.stream.getvalue().lower()
    assert [line["method"] for line in written.lines() if "method" in line] == ["GET", "other"]


@pytest.mark.django_db
def test_an_error_of_the_database_is_told_by_its_class(written: Written) -> None:
    """Postgres quotes in its message, psycopg and Django in the text of the exception."""
    with pytest.raises(DataError, match=CANARY), transaction.atomic():
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT %s::integer", [CANARY])
        except DataError:
            logging.getLogger("elsewhere").exception("It broke: %s", CANARY)
            raise
    line = written.last()
    assert line["exception"] == "django.db.utils.DataError"
    assert line["sqlstate"] == psycopg.errors.InvalidTextRepresentation.sqlstate
    assert line["event"] == "It broke: …"
    assert any("test_log_lines.py" in frame for frame in line["frames"])
    assert CANARY not in written.stream.getvalue()


@pytest.mark.parametrize(
    ("sentence", "arguments", "event"),
    [
        ("%d of %s after %.1f s", (3, CANARY, 2.5), "3 of … after 2.5 s"),
        ("%(count)d of %(name)s", ({"count": 2, "name": CANARY},), "2 of …"),
        (f"filled in before: {CANARY}", (), ""),
        ("%s", (), ""),
    ],
)
def test_of_another_librarys_sentence_only_numbers_are_filled_in(
    sentence: str, arguments: tuple[Any, ...], event: str, written: Written
) -> None:
    logging.getLogger("some.library").warning(sentence, *arguments)
    line = written.last()
    assert line["event"] == event and "test_log_lines.py" in line["at"]
    assert CANARY not in written.stream.getvalue()


def test_a_field_that_is_not_on_the_list_or_no_id_is_left_out(written: Written) -> None:
    given = {"content": CANARY, "tenant": f"the one of {CANARY} ", "status": 200}
    logging.getLogger("memory.test").info("event", extra=given)
    line = written.last()
    assert line["status"] == 200 and line["tenant"] == "…" and "content" not in line
    logging.getLogger("some.library").info("event %d", 1, extra=given)
    assert "status" not in written.last()


def test_lines_for_people_hold_the_same_and_stay_one_line() -> None:
    record = logging.LogRecord("memory.x", logging.INFO, "a.py", 1, "two\nlines\x1b[31m", (), None)
    line = logs.make_formatter("text").format(record)
    assert "\n" not in line and "\x1b" not in line and " INFO memory.x two lines" in line


def test_what_nobody_caught_is_a_line_without_its_text(
    written: Written, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(logging, "raiseExceptions", True)
    hook = logs.threading.excepthook
    try:
        logs.install_hooks()
        try:
            raise ValueError(CANARY)
        except ValueError as error:
            sys.excepthook(ValueError, error, error.__traceback__)
        fail = logs.threading.Thread(target=lambda: int(CANARY))
        fail.start()
        fail.join()
    finally:
        logs.threading.excepthook = hook
        logging.captureWarnings(False)
    assert [line["exception"] for line in written.lines()[-2:]] == ["ValueError"] * 2
    assert CANARY not in written.stream.getvalue() + capfd.readouterr().err


def test_a_level_and_a_format_that_do_not_exist_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MEMORY_LOG_FORMAT", "xml")
    with pytest.raises(SettingError, match="one of text, json"):
        env.read_choice("MEMORY_LOG_FORMAT", "json", among=logs.FORMATS)
