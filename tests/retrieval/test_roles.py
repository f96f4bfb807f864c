"""Users' lines go before an assistant's replies unless these are asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from retrieval.hits import MessageRow, Place
from retrieval.roles import asks_for_reply, prefer_users
from retrieval.tuning import USER_PRIOR

AT = datetime(2026, 3, 2, tzinfo=UTC)


def make_rows(*roles: str) -> dict[Place, MessageRow]:
    return {
        ("e", seq): MessageRow(str(seq), seq, role, "", "Hi", AT, {}, None, "e")
        for seq, role in enumerate(roles)
    }


def test_a_users_line_rises_where_an_assistant_takes_part() -> None:
    rows = make_rows("user", "assistant", "tool")
    weights = prefer_users(dict.fromkeys(rows, 1.0), rows, question="Where do I live?")
    assert list(weights.values()) == [1.0 + USER_PRIOR, 1.0, 1.0]


def test_among_people_and_where_replies_are_asked_for_nothing_changes() -> None:
    rows = make_rows("user", "user")
    scores = dict.fromkeys(rows, 1.0)
    assert prefer_users(scores, rows, question="Where do I live?") == scores
    rows = make_rows("assistant", "assistant")
    scores = dict.fromkeys(rows, 1.0)
    assert prefer_users(scores, rows, question="Where do I live?") == scores
    rows = make_rows("user", "assistant")
    scores = dict.fromkeys(rows, 1.0)
    assert prefer_users(scores, rows, question="What did you recommend?") == scores


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Which book did you recommend for the flight?", True),
        ("What was suggested against the noise?", True),
        ("How did we fix the pandas error?", True),
        ("What did the assistant say about my knees?", True),
        ("Can you repeat your advice on shoes?", True),
        ("Was hast du mir für die Knie empfohlen?", True),
        ("Quel livre m'as-tu conseillé ?", True),
        ("¿Qué me recomendaste para las rodillas?", True),
        ("你推荐了哪本书?", True),
        ("おすすめしてくれた本は何でしたか?", True),
        ("Where do I live?", False),
        ("What is my sister called?", False),
        ("Can you tell me where Mira works?", False),
        ("Can you give me a summary of my project?", False),
        ("Wo wohne ich?", False),
        ("我住在哪里?", False),
    ],
)
def test_what_asks_for_a_reply(question: str, asks: bool) -> None:
    assert asks_for_reply(question) == asks
