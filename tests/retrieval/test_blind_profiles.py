"""A set of people that judged profiles once: `tests/semantic/offline/blind` says what it is."""

from __future__ import annotations

import json
import re
import uuid
from pathlib import Path

import pytest

from jobs.draining import drain_jobs
from tests.conftest import Agent
from tests.fresh import ana as ana

pytestmark = [pytest.mark.django_db, pytest.mark.bench]

PEOPLE = Path(__file__).parents[1] / "semantic/offline/blind/profiles-48.jsonl"
SHOWN, STALE_AT_MOST = 0.45, 8
"""Share of what belongs on a card that 400 tokens have, and outdated lines in ten profiles."""


def test_a_profile_has_what_belongs_on_a_card(ana: Agent) -> None:
    wanted = shown = stale = 0
    for line in PEOPLE.read_text(encoding="utf-8").splitlines():
        person = json.loads(line)
        for talk in person["conversations"]:
            where = {"conversation_id": str(uuid.uuid4())}
            said = [
                {name: value for name, value in message.items() if value}
                for message in talk["messages"]
            ]
            body = where | {"user_id": person["id"], "messages": said}
            assert ana.post("add_messages", body).status_code == 201
            assert ana.post("flush", where).status_code == 202
            drain_jobs()
        text = ana.get(f"users/{person['id']}/profile", max_tokens=400).content.decode()
        wanted += len(person["card"])
        shown += sum(
            re.search(item["words"], text, re.DOTALL) is not None for item in person["card"]
        )
        stale += sum(
            re.search(item["words"], text, re.DOTALL) is not None for item in person["stale"]
        )
    assert shown >= SHOWN * wanted and stale <= STALE_AT_MOST, (shown, wanted, stale)
