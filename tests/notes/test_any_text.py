"""Whatever text is written comes back as it was, and breaks nothing on its way."""

from __future__ import annotations

import pytest

from indexing.models import SearchUnit
from tests.conftest import Agent
from tests.notes.test_writing import add, change

pytestmark = pytest.mark.django_db
NASTY = [
    "'; DROP TABLE notes_note; --", "%(tenant)s %s {edges}", "<script>alert(1)</script>",
    "\u202eright to left", "a\u0301", "🙂" * 300, "日本語のテキスト" * 300, "\t\r\n x",
    "\\x00 \\u0000", "ＦＵＬＬ width", "x" * 64_000, "wort " * 12_000, "\ufeffmark", "ß ẞ İ ı",
    "{\"json\": [1]}", "a\u2028b", "\U0010ffff", ". . . .",
]  # fmt: skip


@pytest.mark.gate
@pytest.mark.parametrize("text", NASTY, ids=range(len(NASTY)))
def test_any_text_is_kept_in_every_field(ana: Agent, text: str) -> None:
    short = text[:100]
    named = ("label", "description", "category", "user_id", "source_id", "emotion_type")
    fields = {
        **dict.fromkeys((*named, "source_path"), short),
        "excerpt": text[:16_000],
        "tags": [short],
        "metadata": {} if len(text) > 30_000 else {short: [text, {"a": text}]},
    }
    made = add(ana, content=text, **fields)
    assert {name: made[name] for name in fields} == fields and made["content"] == text
    assert ana.get(f"notes/{made['id']}").json() == made
    for query in ("category", "user_id", "source_id"):
        assert len(ana.get("notes", **{query: short}).json()["items"]) == 1
    assert len(ana.get("notes", tag=short).json()["items"]) == 1
    assert SearchUnit.objects.of(ana.tenant).exists()
    assert change(ana, made["id"], version=1, content=f"{text[:9]} again").status_code == 200
    assert ana.get(f"notes/{made['id']}/versions").json()["items"][1]["content"] == text
