"""While the model works, the database waits for nobody."""

from __future__ import annotations

import uuid

import pytest
from django.db import connection

from jobs.models import LLMCall
from tests.ask.conftest import Home, answers
from tests.conftest import make_agent, tell
from tests.model_server import Asked, ModelServer, Reply

OPEN = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND state LIKE 'idle in transaction%'
"""


@pytest.fixture
def stored(transactional_db: None) -> Home:
    ana = make_agent("ana's", "ana")
    return Home(ana, tell(ana, uuid.uuid4()))


def test_no_transaction_is_open_while_the_model_works(stored: Home, model: ModelServer) -> None:
    counts = []

    def reply(asked: Asked) -> Reply:
        with connection.cursor() as cursor:
            cursor.execute(OPEN)
            counts.append(cursor.fetchone()[0])
        connection.close()
        return answers()

    model.script("ask", reply)
    assert stored.read()["why"] == "not_in_memory"
    assert counts == [0]
    assert LLMCall.objects.of(stored.ana.tenant).get(purpose="ask").ok
