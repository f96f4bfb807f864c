"""People, each known in another way, are erased with what was said to them; others stay."""

from __future__ import annotations

import logging
import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse

from episodic.models import Conversation, Episode, Message
from indexing.models import SearchVector
from jobs.draining import drain_jobs
from memoryproject.tenancy import services as tenancy
from memoryproject.tenancy.models import APIKey
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.erasure.lives import as_json, dump, erase, queued
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from wings.erasure import proof
from wings.erasure.models import Erasure

pytestmark = pytest.mark.django_db

BO, CLEO = "Bo", "克莉奥"
SECRETS = {"ana": "Anazibarquux", "bo": "Bozibarquux", "cleo": "Cleozibarquux"}
"""A word of each person that nobody else says, and that nobody is called."""


def talk(agent: Agent, lines: list[tuple[str, str]], **owner: str) -> str:
    """Post lines, each with who says it (empty: the assistant), and learn; return the id."""
    conversation = str(uuid.uuid4())
    said = [
        {"role": "user", "name": name, "content": content}
        if name
        else {"role": "assistant", "content": content}
        for name, content in lines
    ]
    body = {"conversation_id": conversation, **owner, "messages": said}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(uuid.UUID(conversation))
    return conversation


def talk_alone(agent: Agent, name: str, secret: str, **owner: str) -> str:
    """Let somebody talk with an assistant, which repeats what it hears."""
    lines = [("", f"Welcome back, {name}!")]
    for number in range(4):
        lines.append((name, f"I moved to {secret} street {number} and I am allergic to nuts."))
        lines.append(("", f"Thanks, {name}, I noted {secret} street {number}."))
    return talk(agent, lines, **owner)


def talk_shared(agent: Agent, name: str, secret: str) -> str:
    """Let somebody talk with an assistant and Dana, who is not to be erased."""
    return talk(
        agent,
        [
            ("", f"Hello {name}, nice to see you at {secret}."),
            (name, f"I live at {secret} and I work as a nurse."),
            ("", f"{secret} it is, {name}."),
            ("Dana", "I moved from Ghent to Rotterdam and I work as a data analyst."),
            ("", "Rotterdam is lovely, Dana."),
            (name, f"I am allergic to {secret} pollen."),
            ("", "I will remember that."),
            ("Dana", "I own a very heavy piano and about forty boxes of books."),
        ],
    )


def add(agent: Agent, name: str, **names: list[str]) -> str:
    answer = agent.post("people", {"name": name, **names})
    assert answer.status_code == 201, answer.content
    return str(answer.json()["id"])


def ask(agent: Agent, conversation: str, query: str) -> str:
    """Return all that is answered to a question."""
    here = {"conversation_id": conversation, "query": query}
    answers = [agent.post(call, here) for call in ("retrieve_memory", "reconstruct_context")]
    answers.append(agent.post("search", {"query": query}))
    return "".join(answer.content.decode() for answer in answers).replace(query, "")


def make_key(agent: Agent, user: str) -> APIKey:
    return tenancy.create_api_key(tenant=agent.tenant, name="phone", user_ids=[user]).key


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_people_known_in_different_ways_are_nowhere_any_more(
    ana: Agent, cleo: Agent, tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Ana by a user id, Bo by his name alone, Cleo by a note's user id merged with a name."""
    caplog.set_level(logging.DEBUG)
    settings.MIRROR_DIR = tmp_path / "mirror"
    key = make_key(ana, "ana-17")
    talks = {
        "ana": talk_alone(ana, "Anneliese", SECRETS["ana"], user_id="ana-17"),
        "bo": talk_alone(ana, BO, SECRETS["bo"]),
        "cleo": talk_shared(ana, CLEO, SECRETS["cleo"]),
    }
    noted = {"content": f"{CLEO} likes {SECRETS['cleo']}.", "user_id": "cleo-9"}
    assert ana.post("notes", noted).status_code == 201
    for name, conversation in talks.items():
        assert SECRETS[name] in ask(ana, conversation, "Who moved, and who is allergic?")
    people = {
        "ana": add(ana, "Anneliese", user_ids=["ana-17"]),
        "bo": add(ana, BO, speakers=[BO]),
        "cleo": add(ana, "C. of the notes", user_ids=["cleo-9"]),
    }
    twin = add(ana, CLEO, speakers=[CLEO])
    merge = {"reason": "They said so.", "into_id": people["cleo"]}
    assert ana.post(f"people/{twin}/merge", merge).status_code == 200
    drain_jobs()
    before = dump()
    assert all(secret.lower() in before for secret in SECRETS.values())
    for name, person in people.items():
        foretold = as_json(erase(ana, "person", person, dry_run=True))
        done = as_json(erase(ana, "person", person))
        assert (done["state"], done["counts"]) == ("done", foretold["counts"]), name
        assert done["proof"]["state"] == "clean", done["proof"]
        drain_jobs()
    left = dump() + queued() + caplog.text.lower() + logs_of_postgres() + pages(tmp_path)
    for word in (*SECRETS.values(), "Anneliese", "ana-17", "cleo-9", CLEO):
        assert word.lower() not in left, word
    assert not re.search(r"\bbo\b", left)
    for conversation in talks.values():
        assert not any(word in ask(ana, conversation, "Who?") for word in SECRETS.values())
    alone = [row for name, row in talks.items() if name != "cleo"]
    for table in (Message, Episode, Fact, SearchVector):
        rows = table.objects.of(ana.tenant)
        assert not rows.filter(conversation__external_id__in=alone).exists(), table
        assert rows.filter(conversation__external_id=talks["cleo"]).exists(), table
    key.refresh_from_db()
    assert (key.user_ids, key.revoked_at is None) == ([], False)


def logs_of_postgres() -> str:
    files = [path for path in settings.DATA_DIR.rglob("*.log") if path.is_file()]
    return "".join(path.read_text(errors="replace") for path in files).lower()


def pages(folder: Path) -> str:
    return "".join(path.read_text().lower() for path in folder.rglob("*.md"))


def test_of_one_who_talks_alone_nothing_is_left_and_nothing_is_made_anew(ana: Agent) -> None:
    conversation = talk_alone(ana, BO, SECRETS["bo"])
    person = add(ana, BO, speakers=[BO])
    foretold = as_json(erase(ana, "person", person, dry_run=True))
    (plan,) = foretold["conversations"]
    assert (plan["conversation_id"], plan["erases"], plan["is_theirs"]) == (
        conversation, "all", True,
    )  # fmt: skip
    assert (plan["theirs"], plan["others"], plan["speakers"]) == (4, 5, [])
    done = as_json(erase(ana, "person", person))
    assert done["counts"] == foretold["counts"] and done["counts"]["messages"] == 9
    drain_jobs()
    assert not Message.objects.of(ana.tenant).exists()
    assert not Episode.objects.of(ana.tenant).exists()
    assert ana.get("facts").json()["items"] == []


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (None, ["I moved", "Rotterdam is", "I own"]),
        ("words", ["Hello Bo,", "Bozibarquux it", "I moved", "Rotterdam is", "I will", "I own"]),
        ("all", []),
    ],
)
def test_what_goes_of_a_shared_conversation_is_chosen(
    ana: Agent, choice: str | None, left: list[str]
) -> None:
    conversation = talk_shared(ana, BO, SECRETS["bo"])
    person = add(ana, BO, speakers=[BO])
    shared = {} if choice is None else {"shared": {conversation: choice}}
    foretold = as_json(erase(ana, "person", person, dry_run=True, **shared))
    (plan,) = foretold["conversations"]
    assert (plan["erases"], plan["is_theirs"]) == (choice or "replies", False)
    assert (plan["theirs"], plan["replies"], plan["others"]) == (2, 3, 3)
    assert plan["speakers"] == ["Dana"]
    done = as_json(erase(ana, "person", person, **shared))
    assert done["counts"] == foretold["counts"]
    drain_jobs()
    rows = Message.objects.of(ana.tenant).order_by("seq").values_list("content", flat=True)
    assert len(rows) == len(left) and all(map(str.startswith, rows, left))
    assert done["proof"]["state"] == ("found" if choice == "words" else "clean")
    titles = str(list(Episode.objects.of(ana.tenant).values_list("title", "summary")))
    assert (SECRETS["bo"] in titles) <= (choice == "words")


def test_a_conversation_of_another_user_or_with_somebody_nameless_is_shared(ana: Agent) -> None:
    lines = [(BO, "I moved to Porto."), ("", "Porto, Bo."), (BO, "I work as a nurse.")]
    theirs = talk(ana, lines, user_id="dana-1")
    nameless = talk(ana, lines)
    body = {"conversation_id": nameless, "message": {"role": "user", "content": "Me too."}}
    assert ana.post("add_message", body).status_code == 201
    person = add(ana, BO, speakers=[BO])
    plans = as_json(erase(ana, "person", person, dry_run=True))["conversations"]
    assert {plan["conversation_id"]: (plan["user_id"], plan["speakers"]) for plan in plans} == {
        theirs: ("dana-1", []), nameless: (None, [""]),
    }  # fmt: skip
    assert not any(plan["is_theirs"] for plan in plans)


def test_a_choice_names_a_conversation_that_they_share(ana: Agent, cleo: Agent) -> None:
    alone = talk_alone(ana, BO, SECRETS["bo"])
    person = add(ana, BO, speakers=[BO])
    for bad in ({alone: "all"}, {str(uuid.uuid4()): "all"}, {alone: "some"}, {"x": "all"}, "all"):
        fields = assert_problem(erase(ana, "person", person, shared=bad), 400)["fields"]
        assert all(name.startswith("shared") for name in fields)
    assert_problem(erase(ana, "conversation", alone, shared={alone: "all"}), 400, "shared")
    assert Message.objects.of(ana.tenant).exists()


def test_the_reason_that_stays_names_nobody(ana: Agent) -> None:
    person = add(ana, "Bo Larsen", speakers=[BO], user_ids=["bo-1"])
    for reason in ("Ｂｏ asked for it.", "Larsen wrote.", "For bo-1."):
        asked = {"scope": "person", "id": person, "reason": reason}
        assert_problem(ana.post("erasures", asked), 400, "reason")
    assert not Erasure.objects.of(ana.tenant).exists()


def test_the_proof_finds_what_others_said_and_who_bears_the_name(ana: Agent, cleo: Agent) -> None:
    person = add(ana, BO, speakers=[BO], user_ids=["bo-1"])
    said = ana.say(uuid.uuid4(), "I saw BO's bike in the robot shop.", name="Dana")
    ana.say(uuid.uuid4(), "I saw a bookshop.", name="Dana")
    note = ana.post("notes", {"content": "Nothing.", "metadata": {"by": "x\nbo-1"}}).json()["id"]
    cleo.say(uuid.uuid4(), "I am Bo.", name="Bo")
    done = as_json(erase(ana, "person", person))["proof"]
    assert done["state"] == "found"
    assert (done["hits"], done["skipped"]) == ({"messages": 1, "notes": 1}, [])
    assert done["row_ids"] == {"episodic.message": [said["message_id"]], "notes.note": [note]}
    assert (done["names"], done["user_ids"]) == (1, 1)
    assert done["columns"] > done["tables"] > 20


def test_the_proof_says_where_it_could_not_look(
    ana: Agent, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof, "SECONDS_AT_MOST", -1)
    settings.MIRROR_DIR = tmp_path / "away"
    person = add(ana, BO, speakers=[BO])
    done = as_json(erase(ana, "person", person))
    assert (done["state"], done["proof"]["state"]) == ("done", "incomplete")
    assert {"messages", "pages of the mirror"} <= set(done["proof"]["skipped"])
    paper = reverse("console:certificate", args=[done["id"]])
    text = visit_as(SUPERUSER).get(paper).content.decode()
    assert "not all was searched" in text and "pages of the mirror" in text


def test_every_column_of_text_is_searched(ana: Agent) -> None:
    """A new kind of column is one that `list_texts` knows, or holds no words."""
    wordless = {"UUIDField", "TenantForeignKey", "ForeignKey", "DateTimeField", "DateField",
                "BooleanField", "FloatField", "SparseVectorField", "HalfVectorField",
                "GenericIPAddressField", "BinaryField"}  # fmt: skip
    for model in proof.list_tables():
        searched = {column.attname for column in proof.list_texts(model)}
        for column in model._meta.concrete_fields:
            kind = type(getattr(column, "output_field", column)).__name__
            is_number = "Integer" in kind or "Decimal" in kind or kind in wordless
            known = column.attname in searched or is_number or column.choices
            assert known, f"{model._meta.label}.{column.name} is a {kind}: is it searched?"


def test_the_page_lists_where_they_speak_and_takes_the_choice(ana: Agent) -> None:
    alone = talk_alone(ana, BO, SECRETS["bo"])
    shared = talk_shared(ana, BO, SECRETS["bo"])
    person = add(ana, BO, speakers=[BO])
    boss, page = visit_as(SUPERUSER), reverse("console:erase_person", args=[person])
    text = boss.get(page).content.decode()
    assert alone in text and f"shared-{shared}" in text and f"shared-{alone}" not in text
    form = {"typed": BO, "reason": "Bo wrote a letter."}
    refused = boss.post(page, form)
    assert refused.status_code == 400 and "must not name" in refused.content.decode()
    form = {"typed": BO, "reason": "Asked for by letter.", f"shared-{shared}": "all"}
    paper = boss.post(page, form)["Location"]
    assert not Message.objects.of(ana.tenant).exists()
    text = boss.get(paper).content.decode()
    assert "nothing is left" in text and "searched for 1 name" in text
    assert Conversation.objects.of(ana.tenant).count() == 2


def test_what_was_asked_about_an_erased_person_in_no_conversation_goes(ana: Agent) -> None:
    talk_alone(ana, BO, SECRETS["bo"], user_id="bo")
    talk_alone(ana, "Dana", "Danastreet", user_id="dana")
    for user in ("bo", "dana"):
        body = {"query": f"Where does {user} live?", "scope": "user", "user_id": user}
        assert ana.post("retrieve_memory", body).status_code == 200
        assert ana.get(f"users/{user}/profile").status_code == 200
    erase(ana, "person", add(ana, BO, user_ids=["bo"], speakers=[BO]))
    drain_jobs()
    receipts = ana.get("retrievals", limit=100).json()["items"]
    assert [receipt["parameters"]["user_id"] for receipt in receipts] == ["dana", "dana"]
