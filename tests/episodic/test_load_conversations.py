"""Loading conversations from files of LoCoMo's format and of our own."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from episodic.models import Conversation, Message
from memoryproject.tenancy.models import Tenant
from tests.bench.quality.samples import turns
from tests.talk import MOVING, RUNNING

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    second = turns(RUNNING, 2)
    second[3]["blip_caption"] = "a pair of blue shoes"
    conversation = {
        "speaker_a": "Mira",
        "speaker_b": "Jonas",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns(MOVING, 1),
        "session_2_date_time": "10:04 am on 12 June, 2023",
        "session_2": second,
    }
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([{"sample_id": "conv-0", "conversation": conversation}]))
    return path


def test_speakers_dates_captions_and_ids_are_carried_over(sample: Path) -> None:
    call_command("load_conversations", str(sample), "--tenant", "lab", stdout=io.StringIO())
    tenant = Tenant.objects.get(name="lab")
    rows = list(Message.objects.of(tenant).order_by("seq"))
    assert len(rows) == 16
    assert (rows[0].role, rows[0].name, rows[1].role, rows[1].name) == (
        "user", "Mira", "user", "Jonas",
    )  # fmt: skip
    assert rows[0].metadata == {"dia_id": "D1:1"}
    assert rows[0].occurred_at.isoformat() == "2023-05-08T13:56:00+00:00"
    assert rows[11].content.endswith("[shared a photo: a pair of blue shoes]")


def test_loading_again_stores_nothing_twice_and_goes_on_where_it_stopped(sample: Path) -> None:
    for _ in range(2):
        call_command("load_conversations", str(sample), "--tenant", "lab", stdout=io.StringIO())
    tenant = Tenant.objects.get(name="lab")
    assert Message.objects.of(tenant).count() == 16


def test_our_own_lines_load_too(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    given = {
        "id": "0b0d5c1e-7a44-4a53-9d0c-0c1f3f1f6a01",
        "messages": [
            {"role": "user", "content": " Hello \n", "timestamp": "2026-01-01T00:00:00+02:00"}
        ],
    }
    path.write_text(json.dumps(given) + "\n\n")
    call_command("load_conversations", str(path), "--tenant", "lab", stdout=io.StringIO())
    tenant = Tenant.objects.get(name="lab")
    assert str(Conversation.objects.of(tenant).get().external_id) == given["id"]
    assert Message.objects.of(tenant).get().content == " Hello \n"


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        '{"id": "x"}',
        '{"id": "x", "messages": [{"role": "king", "content": "a"}]}',
        '{"id": "x", "messages": [{"role": "user", "content": " "}]}',
        '{"id": "x", "messages": [{"role": "user", "content": "a", "timestamp": "2026-01-01"}]}',
        '[{"sample_id": "x"}]',
    ],
)
def test_a_file_of_another_form_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text(text)
    with pytest.raises(CommandError):
        call_command("load_conversations", str(path), "--tenant", "lab", stdout=io.StringIO())
    tenant = Tenant.objects.filter(name="lab").first()
    assert tenant is None or not Message.objects.of(tenant).exists()
