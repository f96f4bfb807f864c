"""A backup holds everything, also what is still to be done, and restores it in another folder."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest

from memoryproject import embedded
from memoryproject.embedded import databases
from tests.reliability.client import Caller
from tests.reliability.product import Product, web
from tests.talk import MORNING, MOVING, messages, whole_talk

pytestmark = pytest.mark.gate

PASSPHRASE = "a passphrase of several words"
TALK = {"conversation_id": str(uuid.UUID(int=7))}


def count_rows(product: Product) -> dict[str, int]:
    tables = product.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    return {table: product.query(f'SELECT count(*) FROM "{table}"')[0][0] for (table,) in tables}


def remember(caller: Caller) -> None:
    assert caller.post("add_messages", {**TALK, "messages": whole_talk()}).status == 201
    assert caller.post("flush", TALK).status == 202


def leave_work(caller: Caller) -> None:
    """Post what nobody works on yet: in the same conversation and in another."""
    assert (
        caller.post("add_messages", {**TALK, "messages": messages(MOVING, MORNING)}).status == 201
    )
    assert caller.post("flush", TALK).status == 202
    other = {"conversation_id": str(uuid.uuid4())}
    assert caller.post("add_messages", {**other, "messages": whole_talk() * 2}).status == 201


def answers(caller: Caller) -> list[Any]:
    """Return what is served, ids and texts; scores move with the time since."""
    served: list[Any] = []
    for query in ("Where is Mira moving?", "marathon", "forty boxes of books"):
        found = caller.post("retrieve_memory/raw", {**TALK, "query": query})
        assert found.status == 200
        body = found.json()
        served.append([(hit["id"], hit.get("fact")) for hit in body["semantic"]])
        served.append([(hit["id"], hit.get("title")) for hit in body["episodic"]])
        served.append(caller.post("retrieve_memory", {**TALK, "query": query}).content)
    assert any(served)
    return served


def check_life(copy: Product, before: list[Any]) -> None:
    """Check that the old key opens it, that it answers as before, and that work gets done."""
    with web(copy.around()) as port:
        caller = copy.caller(port)
        assert answers(caller) == before
        ready = "SELECT count(*) FROM jobs_job WHERE state = 'ready'"
        assert copy.query(ready)[0][0] >= 2
        copy.manage("worker", "--drain")
        assert copy.query("SELECT DISTINCT state FROM jobs_job") == [("done",)]
        state = caller.get(f"conversations/{TALK['conversation_id']}").json()
        assert (state["messages"], state["pending"], state["set_aside"]) == (24, 0, 0)
        assert caller.post("add_message", {**TALK, "message": whole_talk()[0]}).json()["seq"] == 25


def fails(product: Product, *arguments: str) -> str:
    """Return what a command says that must fail; a traceback is no answer."""
    with pytest.raises(AssertionError) as caught:
        product.manage(*arguments)
    said = str(caught.value)
    assert "Traceback" not in said
    return said


def test_a_sealed_backup_is_restored_into_another_folder(product: Product, folder: Path) -> None:
    path, phrase = folder / "memory.backup", folder / "phrase"
    phrase.write_text(f"{PASSPHRASE}\n")
    with web(product.around()) as port:
        caller = product.caller(port)
        remember(caller)
        product.manage("worker", "--drain")
        leave_work(caller)
        before = answers(caller)
        product.manage("backup", str(path), "--passphrase-file", str(phrase))
        kept = count_rows(product)
    assert path.stat().st_mode & 0o777 == 0o600
    pepper = (product.data_dir / "key_pepper").read_bytes()
    assert pepper not in path.read_bytes()
    copy = Product(folder / "elsewhere", key=product.key)
    try:
        assert "give --passphrase-file" in fails(copy, "restore", str(path))
        phrase.write_text("another passphrase entirely\n")
        sealed = ("restore", str(path), "--passphrase-file", str(phrase))
        assert "passphrase is not the one" in fails(copy, *sealed)
        phrase.write_text(f"{PASSPHRASE}\n")
        copy.manage(*sealed)
        assert (copy.data_dir / "key_pepper").read_bytes() == pepper
        assert (copy.data_dir / "key_pepper").stat().st_mode & 0o777 == 0o600
        assert count_rows(copy) == kept
        check_life(copy, before)
        check_replacing(copy, sealed, kept)
    finally:
        copy.stop()


def check_replacing(copy: Product, sealed: tuple[str, ...], kept: dict[str, int]) -> None:
    """Check that a database that is there is not replaced unasked, and kept when it is."""
    messages = copy.query("SELECT count(*) FROM episodic_message")
    assert "--replace" in fails(copy, *sealed)
    copy.manage(*sealed, "--replace")
    assert count_rows(copy) == kept
    (before,) = databases.list_kept(embedded.locate(copy.data_dir).address)
    copy.manage("kept_databases", "--use", before.name)
    assert copy.query("SELECT count(*) FROM episodic_message") == messages
    copy.manage("kept_databases", "--delete")
    assert databases.list_kept(embedded.locate(copy.data_dir).address) == []


def test_a_lost_key_pepper_is_told_and_can_be_put_back(product: Product) -> None:
    file = product.data_dir / "key_pepper"
    pepper = file.read_text(encoding="utf-8")
    product.manage("migrate", "-v0")
    file.unlink()
    for command in (["migrate"], ["worker", "--drain"], ["keys"]):
        assert "not the secret under which the keys" in fails(product, *command)
    with web(product.around()) as port:
        answer = ask(product.caller(port))
        assert answer.status == 503 and "--accept-pepper" in answer.json()["message"]
    assert file.read_text(encoding="utf-8") != pepper
    file.write_text(pepper, encoding="utf-8")
    with web(product.around()) as port:
        assert ask(product.caller(port)).status == 200
    file.unlink()
    product.manage("migrate", "-v0", "--accept-pepper")
    with web(product.around()) as port:
        assert ask(product.caller(port)).status == 401


def ask(caller: Caller) -> Any:
    return caller.get("whoami")
