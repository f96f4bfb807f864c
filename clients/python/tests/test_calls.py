"""Both faces against a live server."""

from __future__ import annotations

import os
import time
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

import memory_server_client as memory

SAID = [
    {"role": "user", "name": "Ana", "content": "I moved from Lisbon to Porto last week."},
    {"role": "assistant", "content": "How do you like it there?"},
    {"role": "user", "name": "Ana", "content": "I work as a nurse at the hospital now."},
]


def test_what_was_said_comes_back_as_markdown_and_as_json(client: Any, talk: uuid.UUID) -> None:
    stored = client.add_messages(talk, SAID)
    assert [one["seq"] for one in stored["messages"]] == [1, 2, 3]
    assert client.wait_for(client.flush(talk))["kind"] == "flush"
    text = client.retrieve_memory(talk, "Where does Ana live?", max_tokens=500, fence=True)
    assert isinstance(text, memory.Markdown) and "Porto" in text
    assert text.indexed_through == 3 and text.pending == 0 and text.degraded is None
    assert text.fence and text.startswith(f"[memory {text.fence}") and text.token_counter
    assert text.receipt and client.get_retrieval(text.receipt)["query"] == "Where does Ana live?"
    raw = client.retrieve_memory_raw(talk, "Where does Ana live?")
    assert any("Porto" in fact["fact"] for fact in raw["semantic"])
    facts = list(client.list_facts(conversation_id=talk))
    assert {fact["id"] for fact in facts} >= {fact["id"] for fact in raw["semantic"]}
    assert client.get_fact(facts[0]["id"])["evidence"]
    assert client.get_conversation(talk)["messages"] == 3
    assert "Porto" in client.recent_memory(talk)
    assert client.recent_memory_raw(talk)[0]["messages"]


def test_nothing_found_is_an_empty_text(client: Any, talk: uuid.UUID) -> None:
    assert client.retrieve_memory(talk, "anything") == ""


def test_a_key_of_ones_own_stores_nothing_twice(client: Any, talk: uuid.UUID) -> None:
    key = str(uuid.uuid4())
    first = client.add_message(talk, SAID[0], idempotency_key=key)
    assert client.add_message(talk, SAID[0], idempotency_key=key) == first
    with pytest.raises(memory.Conflict) as refused:
        client.add_message(talk, SAID[1], idempotency_key=key)
    assert refused.value.status == 409 and refused.value.request_id
    client.add_message(talk, SAID[0])
    assert len(list(client.list_messages(talk))) == 2


def test_an_iterator_reads_page_after_page(client: Any, talk: uuid.UUID) -> None:
    said = [{"role": "user", "content": f"line {number}"} for number in range(7)]
    client.add_messages(talk, said)
    texts = [one["content"] for one in client.list_messages(talk, page_size=3)]
    assert texts == [one["content"] for one in said]


def test_a_note_is_written_found_changed_and_deleted(client: Any, talk: uuid.UUID) -> None:
    word = f"w{uuid.uuid4().hex}"
    note = client.add_note(
        f"The key to the boat hangs behind the {word}.",
        tags=["boat"],
        conversation_id=talk,
        occurred_at=datetime.now(timezone.utc) - timedelta(days=1),
    )
    other = client.add_note("The boat is green.", tags=["boat"])
    item = client.search(word, source_types=["note"])["items"][0]
    assert item["id"] == note["id"]
    assert word in client.chunk_memory(note["id"], 200)["content"]
    link = client.add_link(note["id"], other["id"])
    assert [one["id"] for one in client.list_memory_links(note["id"])] == [link["id"]]
    changed = client.change_note(note["id"], version=1, changes={"content": word, "tags": None})
    assert (changed["version"], changed["content"], changed["tags"]) == (2, word, [])
    with pytest.raises(memory.Conflict):
        client.change_note(note["id"], version=1, changes={"content": "old"})
    assert client.delete_link(link["id"]) is None and client.delete_note(note["id"]) is None
    with pytest.raises(memory.NotFound):
        client.get_note(note["id"])


def test_a_context_is_put_together(client: Any) -> None:
    note = client.add_note("The harbour opens at six.")
    context = client.make_context(1000, system_prompt="You are kind.")
    assert client.add_to_context(context["id"], note["id"])["added"]
    text = client.get_context_text(context["id"])
    assert text.startswith("You are kind.") and "six" in text


def test_a_fact_is_corrected_and_that_is_reverted(client: Any, talk: uuid.UUID) -> None:
    client.add_messages(talk, SAID)
    client.wait_for(str(client.flush(talk)["job_id"]))
    fact = next(fact for fact in client.list_facts(conversation_id=talk) if "Porto" in fact["fact"])
    better = client.correct_fact(fact["id"], "Ana lives in Porto.", reason="shorter")
    assert client.plan_revert(better["changeset_id"])["conflicts"] == 0
    undone = client.revert_changeset(better["changeset_id"], reason="try")
    assert undone["reverts"] == better["changeset_id"]
    kinds = {one["kind"] for one in client.list_changesets(conversation_id=talk, page_size=1)}
    assert kinds == {"consolidation", "curation", "revert"}


def test_what_a_correction_changed_is_compared_replayed_marked_and_tested(
    client: Any, talk: uuid.UUID
) -> None:
    client.add_messages(talk, SAID)
    client.wait_for(client.flush(talk))
    text = client.retrieve_memory(talk, "Where does Ana live?", links="plain", scope="conversation")
    fact = next(fact for fact in client.list_facts(conversation_id=talk) if "Porto" in fact["fact"])
    before = datetime.now(timezone.utc)
    better = client.correct_fact(
        fact["id"], "Ana lives in Braga.", reason="she said so", case_id=text.receipt
    )
    assert client.replay_retrieval(text.receipt)["text"] == text
    (difference,) = client.diff(conversation_id=talk, from_=before)["items"]
    assert difference["what"] == "corrected" and difference["newer"]["id"] == better["id"]
    believed = client.list_facts(conversation_id=talk, known_at=before)
    assert fact["id"] in {one["id"] for one in believed}
    marks = client.list_marks(better["id"])["marks"]
    assert "message" in {mark["place"] for mark in marks}
    ids = [mark["id"] for mark in marks]
    dropped = client.decide_marks(better["id"], ids, decision="drop", reason="try")["marks"]
    assert {mark["state"] for mark in dropped} == {"dropped"}
    test = client.add_memory_test(talk, "Where does Ana live?", must_say=["Braga"])
    assert test["passes"] and client.run_memory_tests()["passed"] >= 1
    assert [one["id"] for one in client.list_memory_tests(conversation_id=talk)] == [test["id"]]
    assert client.delete_memory_test(test["id"]) is None


def test_what_is_a_persons_is_found_by_user_merged_and_exported(
    client: Any, talk: uuid.UUID
) -> None:
    ana, name = f"ana-{talk}", f"Ana {uuid.uuid4()}"
    client.add_message(talk, SAID[0], user_id=ana, agent_id="clerk")
    assert [one["id"] for one in client.list_conversations(user_id=ana)] == [str(talk)]
    with pytest.raises(memory.Conflict):
        client.add_message(talk, SAID[0], user_id="bo")
    notes: list[memory.NewNote] = [{"content": "Likes tea.", "user_id": ana}, {"content": "Rain."}]
    stored = client.add_notes(notes)["notes"]
    assert [one["id"] for one in client.list_notes(user_id=ana)] == [stored[0]["id"]]
    person = client.add_person(name, user_ids=[ana])
    other = client.add_person(name, speakers=[name])
    assert client.merge_person(other["id"], person["id"], reason="the same")["speakers"] == [name]
    assert client.unmerge_person(other["id"], reason="they are two")["merged_into"] is None
    assert [one["id"] for one in client.list_people(user_id=ana)] == [person["id"]]
    said = list(client.export_person(person["id"], page_size=1))
    assert [one["content"] for one in said] == [SAID[0]["content"]]


def test_a_webhook_is_added_rotated_and_deleted(client: Any) -> None:
    hook = client.add_webhook("https://example.com/memory", types=["erasure.done"])
    assert client.rotate_webhook(hook["id"])["secret"] != hook["secret"]
    assert "secret" not in client.get_webhook(hook["id"])
    assert hook["id"] in {one["id"] for one in client.list_webhooks()}
    assert list(client.list_webhook_events(hook["id"], state="dead")) == []
    assert client.delete_webhook(hook["id"]) is None


def test_a_key_knows_what_it_is_and_is_refused_what_it_may_not(connect: Any) -> None:
    reader = connect(key=os.environ["MEMORY_READER_KEY"])
    assert reader.whoami()["scopes"] == ["read"]
    with pytest.raises(memory.Forbidden, match="scope ingest"):
        reader.add_note("x")
    with pytest.raises(memory.Unauthorized):
        connect(key="mem_none").whoami()
    assert reader.health_live() and "status" in reader.health_ready()


def test_what_is_wrong_is_named_by_field(client: Any, talk: uuid.UUID) -> None:
    with pytest.raises(memory.BadRequest) as refused:
        client.add_message(talk, {"role": "king", "content": "x"})
    assert list(refused.value.fields) == ["message.role"] and "message.role" in str(refused.value)
    with pytest.raises(memory.TooLarge):
        client.add_message(talk, {"role": "user", "content": "x" * 270_000})
    with pytest.raises(memory.BadRequest):
        client.add_message(talk, {"role": "user", "content": "half \ud83d"})


def test_a_stranger_finds_nothing(client: Any, stranger: Any, talk: uuid.UUID) -> None:
    note = client.add_note("Mine alone.")
    with pytest.raises(memory.NotFound):
        stranger.get_note(note["id"])


def test_a_preview_of_an_erasure_and_of_a_rollback_change_nothing(
    client: Any, talk: uuid.UUID
) -> None:
    client.add_message(talk, SAID[0])
    preview = client.erase("conversation", talk, reason="try", dry_run=True)
    assert preview["state"] == "preview" and preview["id"] is None
    since = datetime.now(timezone.utc) - timedelta(hours=1)
    rolled = client.roll_back(since=since, conversation_id=talk, reason="try", dry_run=True)
    assert rolled["counts"]["messages"] == 1
    assert len(list(client.list_messages(talk))) == 1


def test_a_job_that_is_not_done_in_time_is_a_timeout(client: Any, talk: uuid.UUID) -> None:
    client.add_messages(talk, SAID)
    with pytest.raises(TimeoutError):
        client.wait_for(client.flush(talk), timeout_s=0.0)


def test_a_client_that_is_too_fast_waits_as_it_is_told(connect: Any) -> None:
    """Ten calls at once; the eleventh is let in after a second."""
    slow = connect(key=os.environ["MEMORY_SLOW_KEY"])
    left = slow.whoami()["limits"][0]["left"]
    started = time.monotonic()
    for _ in range(left + 1):
        slow.whoami()
    assert 0.5 < time.monotonic() - started < 60
