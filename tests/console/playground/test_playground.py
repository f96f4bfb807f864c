"""The playground answers as the API does, shows how, and leaves no trace."""

from __future__ import annotations

import html
import json
import re
import shlex
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from episodic.models import Conversation
from indexing.models import MemoryKind
from jobs.models import Job
from retrieval.models import Retrieval, RetrievalHit
from semantic import curation
from semantic.models import Fact
from tests.conftest import Agent
from tests.console.visitors import SUPERUSER, visit_as
from tests.semantic.learning import Talk, contradicts, new

pytestmark = pytest.mark.django_db
QUESTION = "Where is Mira moving with her piano?"
SCRIPT = "<script>alert(1)</script>"


def ask(browser: Client, **asked: Any) -> Any:
    return browser.get(reverse("console:playground"), asked)


def read(answer: Any) -> str:
    return html.unescape(answer.content.decode())


@pytest.fixture
def curator(db: None) -> Client:
    return visit_as("curator")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"detail": "high", "semantic_limit": 3, "episodic_limit": 1},
        {"max_tokens": 120},
        {"max_tokens": 400, "category": "identity"},
        {"kind": "context", "semantic_limit": 2},
        {"as_of": "2026-03-04T00:00:00Z"},
        {"explain": True},
    ],
    ids=lambda fields: "-".join(fields) or "plain",
)
def test_the_text_and_what_it_holds_are_the_apis_own(
    curator: Client, ana: Agent, told: uuid.UUID, fields: dict[str, Any]
) -> None:
    page = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION, **fields)
    assert page.status_code == 200
    body = {"conversation_id": str(told), "query": QUESTION, **fields}
    call = {"context": "context_pre_retrieve"}.get(body.pop("kind", ""), "retrieve_memory")
    told_agent = ana.post(call, body)
    assert told_agent.content.decode() == page.context["text"] != ""
    receipt = Retrieval.objects.of(ana.tenant).get()
    hits = RetrievalHit.objects.of(ana.tenant).filter(retrieval=receipt)
    served = {
        row.found.memory_id
        for _, rows in page.context["kinds_of_memory"]
        for row in rows
        if row.outcome.name == "SERVED"
    }
    in_text = {
        hit.memory_id
        for hit in hits
        if "max_tokens" not in fields or hit.memory_kind == MemoryKind.FACT
    }
    assert in_text <= served <= {hit.memory_id for hit in hits}
    assert page.context["tokens"] == receipt.tokens


def test_the_text_is_the_apis_own_where_a_newer_fact_lies_beyond_the_limit(
    curator: Client, ana: Agent
) -> None:
    talk = Talk(ana)
    talk.learn(new("Mira owns a red piano."), new("Jonas sings."), new("Jonas bakes bread."))
    talk.learn(
        new("Mira sold what she had."),
        hints=[contradicts("Mira owns a red piano.", "Mira sold what she had.")],
    )
    asked = {"conversation_id": str(talk.row().external_id), "query": "Who owns a red piano?"}
    texts = set()
    for limit in range(1, 5):
        fields = {**asked, "semantic_limit": limit}
        page = ask(curator, tenant="ana's", **fields)
        answer = ana.post("retrieve_memory", fields).content.decode()
        assert answer == page.context["text"]
        texts.add(answer)
    assert len(texts) == 4


def test_what_it_shows_as_a_call_asks_the_same(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    page = ask(
        curator, tenant="ana's", conversation_id=told, query='Mira\'s "big" piano', max_tokens=150
    )
    words = shlex.split(page.context["curl"].replace("\\\n", ""))
    assert words[2].endswith("/api/v0/retrieve_memory")
    body = json.loads(words[words.index("-d") + 1])
    assert ana.post("retrieve_memory", body).content.decode() == page.context["text"]


def test_its_conversation_is_chosen_by_name_even_an_old_one(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    newer = [Conversation(tenant=ana.tenant, external_id=uuid.uuid4()) for _ in range(101)]
    Conversation.objects.of(ana.tenant).bulk_create(newer)
    assert str(told) not in read(ask(curator, tenant="ana's"))
    page = read(ask(curator, conversation_id=told))
    line = re.search(rf'<input name="conversation_id" value="(Jonas, Mira · [^"]+ · {told})"', page)
    assert line is not None
    assert f'{newer[-1].external_id}"></option>' in page and "nobody yet · " in page
    again = ask(curator, conversation_id=line[1], query=QUESTION)
    assert again.context["tokens"] > 0 and line[1] in read(again)


def test_it_leaves_no_receipt_no_review_and_no_job(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    before = Job.objects.of(ana.tenant).count()
    assert ask(curator, tenant="ana's", conversation_id=told, query=QUESTION).context["tokens"] > 0
    assert not Retrieval.objects.of(ana.tenant).exists()
    assert not RetrievalHit.objects.of(ana.tenant).exists()
    ana.say(told, "The piano stays in Ghent after all.", name="Mira")
    ana.flush(told)
    kinds = Job.objects.of(ana.tenant).values_list("kind", flat=True)
    assert "review" not in kinds and len(kinds) > before


def test_the_ranks_of_both_legs_are_those_that_an_agent_can_have_explained(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    page = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION, semantic_limit=2)
    body = {"conversation_id": str(told), "query": QUESTION, "semantic_limit": 2, "explain": True}
    explained = ana.post("retrieve_memory/raw", body).json()["explain"]["hits"]
    rows = {
        str(row.found.memory_id): row.found
        for _, rows in page.context["kinds_of_memory"]
        for row in rows
    }
    assert len(explained) >= 3 and len(rows) > len(explained)
    for memory_id, how in explained.items():
        found = rows[memory_id]
        assert (found.rank, found.lexical_rank, found.vector_rank, list(found.terms)) == (
            how["rank"],
            how["lexical_rank"],
            how["vector_rank"],
            how["terms"],
        )
        assert found.score == pytest.approx(how["score"], rel=1e-3)


def test_what_is_below_the_limit_is_shown_as_cut(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    page = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION, semantic_limit=1)
    _, facts = page.context["kinds_of_memory"][0]
    became = [row.outcome.value for row in facts]
    assert became[0] == "served" and set(became[1:]) == {"below the limit"}
    assert len(became) > 3
    terms = list(facts[0].found.terms)
    assert terms[0] == "mira" and len(terms) == 2 and " ".join(terms) in read(page)


def test_what_a_budget_leaves_no_room_for_is_shown_as_such(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    page = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION, max_tokens=60)
    became = {row.outcome.value for _, rows in page.context["kinds_of_memory"] for row in rows}
    assert {"served", "did not fit"} <= became
    assert 0 < page.context["tokens"] <= 60
    assert page.context["room"] == 60 - page.context["tokens"]


def test_a_fact_declared_wrong_is_gone_from_it(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    page = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION)
    best = page.context["kinds_of_memory"][0][1][0]
    fact = Fact.objects.of(ana.tenant).get(id=best.found.memory_id)
    from_api = f"facts?conversation_id={told}"
    assert fact.fact in [row["fact"] for row in ana.get(from_api).json()["items"]]
    made = curation.invalidate_facts(
        act=curation.Act(tenant=ana.tenant, actor="me", reason="it was never true"),
        fact_ids=[fact.id],
        because=Fact.Because.WRONG,
    )
    assert made
    again = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION)
    assert fact.fact not in [row.text for row in again.context["kinds_of_memory"][0][1]]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"conversation_id": "no uuid"}, "conversation_id"),
        ({"conversation_id": ""}, "conversation_id"),
        ({"query": "  "}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"semantic_limit": "many"}, "semantic_limit"),
        ({"semantic_limit": "0"}, "semantic_limit"),
        ({"episodic_limit": "9" * 5000}, "episodic_limit"),
        ({"max_tokens": "-1"}, "max_tokens"),
        ({"max_tokens": "1e9"}, "max_tokens"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"as_of": "9999-12-31T00:00Z"}, "as_of"),
        ({"detail": "everything"}, "detail"),
        ({"category": "gossip"}, "category"),
    ],
)
def test_bad_input_is_the_form_again_with_words(
    curator: Client, ana: Agent, conversation: uuid.UUID, wrong: dict[str, str], field: str
) -> None:
    asked = {"tenant": "ana's", "conversation_id": str(conversation), "query": QUESTION}
    page = ask(curator, **asked | wrong)
    assert page.status_code == 400
    assert page.context["errors"][field] in read(page)


@pytest.mark.parametrize(
    "odd", [{"kind": "x"}, {"drawn": "x"}, {"tenant": "nobody's"}, {"tenant": "\x00"}]
)
def test_odd_choices_fall_back_to_the_usual_ones(
    curator: Client, ana: Agent, told: uuid.UUID, odd: dict[str, str]
) -> None:
    asked = {"tenant": "ana's", "conversation_id": str(told), "query": QUESTION}
    assert ask(curator, **asked | odd).status_code == 200


def test_an_unknown_conversation_and_no_question_say_what_to_do(
    curator: Client, ana: Agent
) -> None:
    assert "Ask what an agent would ask" in read(ask(curator))
    unknown = uuid.uuid4()
    page = ask(curator, tenant="ana's", conversation_id=unknown, query=QUESTION)
    assert page.status_code == 200 and "no conversation of that id" in read(page)
    assert not Conversation.objects.of(ana.tenant).filter(external_id=unknown).exists()


def test_a_strangers_conversation_is_unknown_in_it(
    curator: Client, ana: Agent, cleo: Agent, told: uuid.UUID
) -> None:
    page = ask(curator, tenant="cleo's", conversation_id=told, query=QUESTION)
    assert "no conversation of that id" in read(page) and "Rotterdam" not in read(page)
    assert str(told) not in " ".join(line for line, _ in page.context["conversations"])


@pytest.mark.parametrize(
    ("role", "status"),
    [("curator", 200), (SUPERUSER, 200), ("auditor", 403), ("operator", 403), ("", 403)],
)
def test_who_may_run_it(ana: Agent, role: str, status: int) -> None:
    browser = visit_as(role)
    assert ask(browser).status_code == status
    menu = browser.get("/admin/").content.decode()
    assert (reverse("console:try_it") in menu) is (status == 200)


def test_who_has_not_logged_in_is_sent_to_the_login(db: None) -> None:
    answer = ask(Client(SERVER_NAME="localhost"))
    assert answer.status_code == 302 and "/admin/login/" in answer["Location"]


def test_who_may_run_it_but_not_read_messages_sees_no_text(ana: Agent, told: uuid.UUID) -> None:
    browser = visit_as("")
    nobody = User.objects.get(username="nobody")
    nobody.user_permissions.add(Permission.objects.get(codename="run_playground"))
    page = ask(browser, tenant="ana's", conversation_id=told, query=QUESTION, detail="high")
    assert "I have a van" not in read(page)
    assert "masked" in read(page) and page.context["kinds_of_memory"]


def test_what_was_said_is_escaped(curator: Client, ana: Agent, told: uuid.UUID) -> None:
    ana.say(told, f"Mira lives in Ghent with {SCRIPT}.", name="Mira")
    ana.flush(told)
    asked = {"query": f"Where does Mira live {SCRIPT}", "detail": "high", "episodic_limit": 20}
    page = ask(curator, tenant="ana's", conversation_id=told, **asked)
    text = page.content.decode()
    assert SCRIPT not in text and html.escape(SCRIPT) in text
    assert "< script>" in page.context["text"]  # as agents get it: nothing that a reader runs


def test_the_page_has_no_inline_script_or_handler(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    text = ask(curator, tenant="ana's", conversation_id=told, query=QUESTION).content.decode()
    ours = text[text.index('class="console"') :]
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>|\son\w+=|style=", ours.split("</main>")[0])


def test_queries_do_not_grow_with_what_is_found(
    curator: Client, ana: Agent, told: uuid.UUID
) -> None:
    asked = {"tenant": "ana's", "conversation_id": told, "query": QUESTION}

    def count(**more: Any) -> int:
        with CaptureQueriesContext(
            connection,
        ) as caught:
            assert ask(curator, **asked, **more).status_code == 200
        return len(caught)

    count()
    few = count(semantic_limit=1, episodic_limit=1)
    many = count(semantic_limit=200, episodic_limit=100)
    assert many <= few <= 21
