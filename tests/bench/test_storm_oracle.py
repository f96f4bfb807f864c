"""The oracle of the storm notices whatever is broken, and nothing where nothing is."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.db import connection

from bench import english
from bench.storm import oracle
from bench.storm.database import Connection
from bench.storm.ledger import Accepted, Place, Posting
from bench.storm.oracle import Wait
from memoryproject import embedded
from memoryproject.embedded.bootstrap import connect_as_superuser
from tests.conftest import Agent
from tests.fresh import ana as ana

pytestmark = pytest.mark.django_db(transaction=True)

BROKEN = {
    "i1_nowhere": "UPDATE episodic_message SET episode_id = gen_random_uuid() WHERE seq = 1",
    "i1_in_two_places": "UPDATE episodic_message SET quarantined_by_id = {job} WHERE seq = 1",
    "i1_quarantined_by_nobody": (
        "UPDATE episodic_message SET quarantined_by_id = gen_random_uuid() WHERE seq = 1"
    ),
    "i1_pending_miscounted": "UPDATE episodic_conversation SET pending_count = 1",
    "i2_seq_gaps": "DELETE FROM episodic_message WHERE seq = 2",
    "i2_episode_not_its_messages": (
        "UPDATE episodic_episode SET last_seq = last_seq + 1 WHERE last_seq ="
        " (SELECT max(last_seq) FROM episodic_episode)"
    ),
    "i2_window_behind_an_episode": "UPDATE episodic_message SET episode_id = NULL WHERE seq = 1",
    "i2_content_twice": (
        "UPDATE episodic_message SET content = 'as the other one' WHERE seq IN (1, 2)"
    ),
    "i3_consolidated_by_nobody": "UPDATE episodic_episode SET consolidated_at = now()",
    "i3_changeset_of_nothing": "UPDATE semantic_changeset SET started_at = now()",
    "i3_not_consolidated": "UPDATE episodic_episode SET consolidated_at = NULL",
    "i3_consolidated_twice": (
        "WITH other AS (INSERT INTO semantic_changeset SELECT (jsonb_populate_record(c,"
        " jsonb_build_object('id', gen_random_uuid()))).* FROM semantic_changeset c LIMIT 1"
        " RETURNING id) INSERT INTO semantic_evidence SELECT (jsonb_populate_record(v,"
        " jsonb_build_object('id', gen_random_uuid(), 'changeset_id', other.id,"
        " 'fact_id', gen_random_uuid()))).* FROM semantic_evidence v, other LIMIT 1"
    ),
    "i3_job_with_two_changesets": (
        "WITH turned AS (UPDATE jobs_job SET kind = 'consolidate') INSERT INTO"
        " semantic_changeset SELECT (jsonb_populate_record(c,"
        " jsonb_build_object('id', gen_random_uuid()))).* FROM semantic_changeset c"
    ),
    "i3_evidence_from_elsewhere": "UPDATE semantic_evidence SET message_seqs = '{{999}}'",
    "i3_fact_without_evidence": "DELETE FROM semantic_evidence",
    "i3_fact_held_twice": "UPDATE semantic_fact SET fact = 'Ana  sails.', invalid_at = NULL",
    "i3_review_chain_broken": (
        "INSERT INTO episodic_review (id, tenant_id, job_id, episode_id, retrieval_id, rating,"
        " engine, degraded, stability_before, stability_after, difficulty_before,"
        " difficulty_after) SELECT gen_random_uuid(), tenant_id, {job}, id, gen_random_uuid(),"
        " 'good', 'test', false, stability, stability + 1, difficulty, difficulty"
        " FROM episodic_episode"
    ),
    "i3_index_incomplete": "DELETE FROM indexing_searchunit WHERE first_seq = 1",
    "i3_unit_without_vector": "DELETE FROM indexing_searchvector",
    "i4_overdue": (
        "UPDATE jobs_job SET state = 'running', lease_token = gen_random_uuid(),"
        " lease_until = now() - interval '2 minutes'"
    ),
    "i4_open": "UPDATE jobs_job SET state = 'ready'",
    "i4_dead_without_reason": "UPDATE jobs_job SET state = 'dead', error_class = ''",
    "i4_window_left": (
        "UPDATE episodic_message SET episode_id = NULL WHERE seq ="
        " (SELECT max(seq) FROM episodic_message)"
    ),
    "i6_workers_ended": (
        "INSERT INTO jobs_workerrestart (cluster, reason) VALUES (gen_random_uuid(), 'none')"
    ),
    oracle.LOST: "DELETE FROM episodic_message WHERE seq = 2",
    "i5_told_otherwise": "UPDATE episodic_message SET content = 'something else' WHERE seq = 2",
    "i5_stored_more_than_sent": (
        "INSERT INTO episodic_message SELECT (jsonb_populate_record(m, jsonb_build_object("
        "'id', gen_random_uuid(), 'seq', 1000, 'client_index', 999))).* FROM episodic_message m"
        " WHERE seq = 1"
    ),
}
"""What breaks each rule; constraints and triggers rest meanwhile."""


@pytest.fixture
def database() -> Iterator[Connection]:
    address = embedded.locate(settings.DATA_DIR).address
    name = connection.settings_dict["NAME"]
    with connect_as_superuser(address, database=name) as opened:
        yield opened


@pytest.fixture
def accepted(ana: Agent) -> list[Accepted]:
    """A talk of three days that was posted with a key, and has become episodes and facts."""
    talk = english.make_talk(seed=4, messages=24)
    messages = [
        {**row, "content": f"{row['content']} Note N0-{number}."} for number, row in enumerate(talk)
    ]
    conversation = uuid.uuid4()
    body = {"conversation_id": str(conversation), "messages": messages}
    answer = ana.post("add_messages", body, **{"Idempotency-Key": "one"})
    ana.flush(conversation)
    contents = tuple(message["content"] for message in messages)
    places = tuple(Place(row["message_id"], row["seq"]) for row in answer.json()["messages"])
    return [(Posting("one", 0, conversation, contents), places)]


def find_rules(database: Connection, accepted: list[Accepted]) -> set[str]:
    """Return the names of the rules that do not hold."""
    sent = [posting for posting, _ in accepted]
    found = oracle.find_violations(database, accepted=accepted, sent=sent)
    return {violation.rule for violation in found}


def test_there_is_a_way_to_break_every_rule() -> None:
    assert {path.stem for path in oracle.SQL.glob("i[1-6]_*.sql")} <= set(BROKEN)


@pytest.mark.gate
def test_work_that_went_well_breaks_no_rule(database: Connection, accepted: list[Accepted]) -> None:
    assert find_rules(database, accepted) == set()
    standing = oracle.read_standing(database)
    assert standing["in_episodes"] == standing["messages"] == 24
    assert standing["facts"] and standing["episodes"] and not standing["open"]


@pytest.mark.gate
def test_each_broken_rule_is_noticed(database: Connection, accepted: list[Accepted]) -> None:
    row = database.execute("SELECT id FROM jobs_job LIMIT 1").fetchone()
    assert row is not None
    for rule, statement in BROKEN.items():
        with database.transaction(force_rollback=True):
            database.execute("SET session_replication_role = replica")
            done = database.execute(statement.format(job=f"'{row[0]}'"))
            assert done.rowcount, f"nothing was broken for {rule}"
            assert rule in find_rules(database, accepted)


def test_more_answers_than_work_and_kills_explain_are_noticed() -> None:
    assert not oracle.check_paid(oracle.Paid(good=12, needed=10, allowed=2))
    (violation,) = oracle.check_paid(oracle.Paid(good=13, needed=10, allowed=2))
    assert violation.invariant == "I6" and violation.count == 1


def test_a_flush_that_waits_beside_a_burden_is_noticed() -> None:
    waits = (Wait(0.4, 1), Wait(39.9, 1), Wait(70.1, 2))
    (violation,) = oracle.check_waits(waits)
    assert violation.invariant == "I4" and violation.samples == ("70.1 s in 2 runs",)
