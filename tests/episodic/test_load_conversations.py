"""Loading conversations from files."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from episodic.models import Conversation, Message
from memoryproject.tenancy.models import Tenant
from tests.talk import MOVING

pytestmark = pytest.mark.django_db


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    path = tmp_path / "talk.jsonl"
    messages = [{"role": "user", "name": name, "content": text} for name, text in MOVING]
    path.write_text(json.dumps({"id": "conv-0", "messages": messages}))
    return path


def test_loading_again_stores_nothing_twice_and_goes_on_where_it_stopped(sample: Path) -> None:
    for _ in range(2):
        call_command("load_conversations", str(sample), "--tenant", "lab", stdout=io.StringIO())
    tenant = Tenant.objects.get(name="lab")
    assert Message.objects.of(tenant).count() == len(MOVING)


def test_ids_times_and_blanks_are_kept(tmp_path: Path) -> None:
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
