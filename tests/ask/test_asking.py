"""Questions that a language model answers from memory: citations, abstention, cost, failures."""

from __future__ import annotations

import json
import re
import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from pytest_django import Settings

from episodic.models import Message
from jobs import spending
from jobs.draining import drain_jobs
from jobs.models import LLMCall
from memoryproject.ai import breaker
from memoryproject.edge import deadlines
from memoryproject.edge.deadlines import Work
from memoryproject.tenancy import limits
from retrieval.models import Retrieval
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.ask.conftest import SERVED, Home, answers, cites, find_line, sentence
from tests.model_server import Asked, ModelServer, Reply, fails, says
from tests.tenancy.test_keys_of_users import bind
from wings.ask import places
from wings.ask.asking import LEAST_TOKENS

pytestmark = pytest.mark.django_db

MOVES = "I'm moving from Ghent to Rotterdam at the end of the month"
USAGE = {"prompt_tokens": 500, "completion_tokens": 100}
MOVE = "Which city does Mira move to?"
GOOD = cites("Mira moves from Ghent to Rotterdam.", MOVES)


def assert_refused(answer: Any, status: int, code: str, words: str = "") -> None:
    body = assert_problem(answer, status)
    assert body["code"] == code and words in body["message"]


def test_each_sentence_names_the_memory_it_rests_on(model: ModelServer, home: Home) -> None:
    model.script("ask", GOOD)
    body = home.read()
    assert body["answer"] == "Mira moves from Ghent to Rotterdam."
    assert (body["abstained"], body["why"], body["struck"]) == (False, None, [])
    (cited,) = body["sentences"][0]["citations"]
    assert cited["quote"] == MOVES
    rows = Fact.objects if cited["kind"] == "fact" else Message.objects
    row: Any = rows.of(home.ana.tenant).get(id=cited["id"])
    assert MOVES in (row.fact if cited["kind"] == "fact" else row.content)


def test_the_model_is_shown_what_retrieve_memory_serves_between_fences(
    model: ModelServer, home: Home
) -> None:
    model.script("ask", GOOD)
    home.read(max_tokens=200)
    (asked,) = model.requests("ask")
    fence, question, *lines, end = asked.user.splitlines()
    assert fence == end and re.fullmatch(r"=== [0-9a-f]{16} ===", fence)
    assert question == 'Question: "Which city does Mira move to?"'
    body = {"conversation_id": str(home.talk), "query": "Which city does Mira move to?"}
    served = home.ana.post("retrieve_memory", {**body, "max_tokens": 200}).content.decode()
    shown = [re.sub(r"^\[\d+\] ", "", line) for line in lines]
    assert shown == [line for line in served.splitlines() if line]


def counted(reply: Reply) -> Reply:
    """Return the same answer, with what a provider counts."""
    body = json.loads(reply.body)
    return says(body["choices"][0]["message"]["content"], usage=USAGE)


def test_a_receipt_and_the_cost_are_kept_but_no_text_of_the_answer(
    model: ModelServer, home: Home, settings: Settings
) -> None:
    settings.PRICES = {"scripted": (Decimal(2), Decimal(10))}
    model.script("ask", lambda asked: counted(GOOD(asked)))
    body = home.read()
    assert (body["model"], body["model_calls"], body["cost"]) == ("scripted", 1, 0.002)
    receipt = home.ana.get(f"retrievals/{body['receipt']}").json()
    assert receipt["kind"] == "ask" and receipt["query"] == "Which city does Mira move to?"
    replayed = home.ana.get(f"retrievals/{body['receipt']}/replay").json()
    assert replayed["exact"] and MOVES in replayed["text"]
    call = LLMCall.objects.of(home.ana.tenant).get(purpose="ask")
    assert call.ok and call.cost == Decimal("0.002") and call.finished_at
    assert call.response is None and call.job is None and call.request_sha256.startswith("let go")


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda asked: sentence("Mira moves to Rotterdam."), "no_citation"),
        (lambda asked: sentence("Mira moves.", (10**6, "Mira moves")), "not_served"),
        (lambda asked: sentence("Mira moves.", (line_of(asked), "moving to Paris")), "not_quoted"),
        (lambda asked: sentence("Mira moves.", (line_of(asked), "")), "not_quoted"),
        (lambda asked: sentence("Mira moves.", (line_of(asked), "to the")), "not_quoted"),
        (lambda asked: sentence("She moves to Paris.", (line_of(asked), MOVES)), "not_carried"),
        (lambda asked: sentence("Jonas moves.", (line_of(asked), MOVES)), "not_carried"),
        (lambda asked: sentence("She moves in 14 days.", (line_of(asked), MOVES)), "not_carried"),
        (
            lambda asked: sentence("Mira moves on 3 May 2026.", (line_of(asked), MOVES)),
            "not_carried",
        ),
    ],
)
def test_a_sentence_that_does_not_stand_is_struck_with_a_reason(
    model: ModelServer, home: Home, make: Any, reason: str
) -> None:
    good = sentence("Mira leaves Ghent.", (1, "x"))

    def reply(asked: Asked) -> Reply:
        good["cites"] = [{"line": line_of(asked), "quote": MOVES.upper()}]
        return answers(make(asked), good)

    model.script("ask", reply)
    body = home.read()
    assert [one["reason"] for one in body["struck"]] == [reason]
    assert body["answer"] == "Mira leaves Ghent."


def line_of(asked: Asked) -> int:
    return find_line(asked, MOVES)


def test_one_citation_that_stands_is_enough_and_the_others_are_left_out(
    model: ModelServer, home: Home
) -> None:
    def reply(asked: Asked) -> Reply:
        cited = [(line_of(asked), MOVES), (10**6, "Mira moves"), (line_of(asked), "to Paris")]
        return answers(sentence("Mira moves from Ghent.", *cited))

    model.script("ask", reply)
    (only,) = home.read()["sentences"]
    assert [one["quote"] for one in only["citations"]] == [MOVES]


def test_dates_stand_where_the_line_is_of_that_day_or_says_so(
    model: ModelServer, home: Home
) -> None:
    def reply(asked: Asked) -> Reply:
        line = (line_of(asked), MOVES)
        return answers(
            sentence("Mira told it on 2 March 2026.", line),
            sentence("Mira moves at the end of March 2026.", line),
            sentence("Mira told it on 3 March 2026.", line),
        )

    model.script("ask", reply)
    body = home.read()
    assert len(body["sentences"]) == 2 and len(body["struck"]) == 1


def test_without_a_sentence_that_stands_there_is_no_answer(model: ModelServer, home: Home) -> None:
    model.script("ask", answers(sentence("Mira moves to Paris.", (1, "to Paris"))))
    body = home.read()
    assert (body["abstained"], body["why"], body["answer"]) == (True, "all_struck", "")


def test_it_abstains_where_the_model_finds_nothing(model: ModelServer, home: Home) -> None:
    model.script("ask", answers())
    body = home.read("Which city did Mira leave Ghent for, and at what price?")
    assert (body["abstained"], body["why"], body["model_calls"]) == (True, "not_in_memory", 1)


def test_below_the_relevance_no_model_is_asked(model: ModelServer, home: Home) -> None:
    body = home.read("How does one bake a sourdough baguette?", min_relevance=1)
    assert (body["abstained"], body["why"]) == (True, "min_relevance")
    assert (body["model"], body["model_calls"], body["cost"]) == (None, 0, 0)
    assert Retrieval.objects.of(home.ana.tenant).get(id=body["receipt"]).kind == "ask"


def test_an_unknown_conversation_has_no_answer(model: ModelServer, home: Home) -> None:
    body = home.read(conversation_id=str(uuid.uuid4()), min_relevance=0)
    assert (body["abstained"], body["why"]) == (True, "nothing_served")


def test_what_the_model_looks_up_is_added_to_what_it_was_shown(
    model: ModelServer, home: Home
) -> None:
    wanted = ("Who trains Mira?", "Who is Priya?", "Who is Teresa?")

    def reply(asked: Asked) -> Reply:
        lines = SERVED.findall(asked.user)
        (first, text), (last, added) = lines[0], lines[-1]
        return answers(sentence(text, (int(first), text)), sentence(added, (int(last), added)))

    model.script("ask", answers(further=wanted), reply)
    body = home.read(MOVE, max_tokens=LEAST_TOKENS)
    first, second = model.requests("ask")
    shown = first.user.splitlines()[1:-1]
    assert second.user.splitlines()[1 : 1 + len(shown)] == shown
    assert (body["model_calls"], len(body["sentences"]), body["struck"]) == (2, 2, [])
    receipts = Retrieval.objects.of(home.ana.tenant).filter(kind="ask")
    for name, looked_up in (("receipt", None), ("further_receipt", 2)):
        receipt = receipts.get(id=body[name])
        assert receipt.query == MOVE  # the model's own words are not kept
        assert receipt.parameters.get("looked_up") == looked_up
        assert receipt.tokens <= LEAST_TOKENS


def test_the_model_is_not_asked_again_where_nothing_more_is_found(
    model: ModelServer, home: Home
) -> None:
    model.script("ask", answers(further=("Who is Priya?",)))
    body = home.read("Is Priya her coach?")
    assert (body["model_calls"], body["why"]) == (1, "not_in_memory")


def test_a_careless_model_is_asked_once_more(model: ModelServer, home: Home) -> None:
    model.script("ask", says("Rotterdam, I think."), GOOD)
    assert home.read()["answer"] == "Mira moves from Ghent to Rotterdam."
    assert "An earlier answer was of no use" in model.requests("ask")[1].user


def test_as_events_each_sentence_is_one(model: ModelServer, home: Home) -> None:
    model.script("ask", GOOD)
    response = home.ask(stream=True)
    assert response.headers["Content-Type"].startswith("text/event-stream")
    events = re.findall(r"event: (\w+)\ndata: (.*)\n\n", response.content.decode())
    assert [name for name, _ in events] == ["retrieved", "sentence", "done"]
    retrieved, said, done = (json.loads(data) for _, data in events)
    assert retrieved["receipt"] == done["receipt"] == response.headers["Memory-Receipt"]
    assert said["text"] == done["answer"] and said["citations"]


def test_without_a_model_it_says_what_to_set(home: Home) -> None:
    assert_refused(home.ask(), 409, "conflict", "MEMORY_LLM")


@pytest.mark.parametrize("reply", [fails(500), fails(401), says("no"), Reply(drop=True)])
def test_a_model_that_fails_is_a_503(model: ModelServer, home: Home, reply: Reply) -> None:
    model.always("ask", reply)
    assert_refused(home.ask(), 503, "unavailable")


def test_a_model_that_takes_too_long_is_a_503(
    model: ModelServer, home: Home, settings: Settings
) -> None:
    settings.MODEL_TIMEOUT_S = 1
    model.script("ask", Reply(hang_s=5))
    assert_refused(home.ask(), 503, "unavailable")


def test_no_more_questions_than_its_rate_allows(model: ModelServer, home: Home) -> None:
    limits.set_rate(home.ana.tenant, 1, limits.QUESTIONS)
    model.script("ask", GOOD)
    assert home.ask().status_code == 200
    again = home.ask()
    assert_refused(again, 429, "too_fast", "1 questions a minute")
    assert int(again.headers["Retry-After"]) > 30


@pytest.mark.parametrize("name", [spending.SETTING, spending.QUESTIONS])
def test_a_budget_that_is_used_up_is_a_429_until_tomorrow(
    model: ModelServer, home: Home, settings: Settings, name: str
) -> None:
    settings.PRICES = {"scripted": (Decimal(2), Decimal(10))}
    spending.set_budget(home.ana.tenant, Decimal("0.0001"), name)
    answer = home.ask()
    assert_refused(answer, 429, "too_many", "budget")
    assert not model.asked


def test_what_else_is_spent_does_not_count_for_the_budget_of_questions(
    model: ModelServer, home: Home, settings: Settings
) -> None:
    settings.PRICES, settings.CHAT_ANSWER_TOKENS = {"scripted": (Decimal(2), Decimal(10))}, 1000
    LLMCall.objects.create(
        tenant=home.ana.tenant, purpose="consolidate", model="scripted", ok=True, cost=Decimal(5)
    )
    spending.set_budget(home.ana.tenant, Decimal(1), spending.QUESTIONS)
    model.script("ask", GOOD)
    assert home.ask().status_code == 200


def test_a_budget_without_a_price_is_a_409(
    model: ModelServer, home: Home, settings: Settings
) -> None:
    settings.ASK_BUDGET = Decimal(1)
    assert_refused(home.ask(), 409, "conflict", "MEMORY_PRICES")


def test_commands_set_the_rate_and_the_budget_of_questions(home: Home, settings: Settings) -> None:
    settings.CHAT_MODEL, settings.PRICES = "scripted", {"scripted": (Decimal(2), Decimal(10))}
    call_command("tenant", "ana's", "--questions", "7", "--questions-budget", "2.50")
    home.ana.tenant.refresh_from_db()
    assert limits.find_rate(home.ana.tenant, limits.QUESTIONS) == 7
    assert spending.find_budget(home.ana.tenant, spending.QUESTIONS) == Decimal("2.50")


def test_one_tenant_leaves_threads_to_others(
    model: ModelServer, home: Home, settings: Settings
) -> None:
    settings.WEB_THREADS = 8
    with places.taking_place(home.ana.tenant):
        assert_refused(home.ask(), 429, "too_many")
    model.script("ask", GOOD)
    assert home.ask().status_code == 200


def test_the_words_of_the_answer_are_cleaned(model: ModelServer, home: Home) -> None:
    text = "Mira moves from Ghent, see ![x](https://evil.example/?q=1)."
    model.script("ask", cites(text, MOVES))
    body = home.read()
    told = " ".join(one["text"] for one in (*body["sentences"], *body["struck"]))
    assert "https://" not in told and "![" not in told


def test_a_key_that_is_bound_to_users_gets_no_answer_from_others(
    model: ModelServer, home: Home
) -> None:
    bound = bind(home.ana, "bo")
    body = {"conversation_id": str(home.talk), "query": "Where to?", "min_relevance": 0}
    answer = bound.post("ask", body)
    assert answer.status_code == 200 and answer.json()["why"] == "nothing_served"
    assert not model.asked


def test_when_its_conversation_is_erased_nothing_of_a_question_is_left(
    model: ModelServer, home: Home
) -> None:
    model.script("ask", answers(further=(MOVE,)), GOOD)
    body = home.read("What does Mira do by the river?")
    erasure = {"scope": "conversation", "id": str(home.talk), "reason": "She asked for it."}
    assert home.ana.post("erasures", erasure).status_code in {200, 202}
    drain_jobs()
    assert home.ana.get(f"retrievals/{body['receipt']}").status_code == 404
    assert not Retrieval.objects.of(home.ana.tenant).filter(kind="ask").exists()
    calls = LLMCall.objects.of(home.ana.tenant).filter(purpose="ask")
    assert [call.response for call in calls] == [None, None]


def test_a_question_has_time_for_the_model_beside_its_own(model: ModelServer, home: Home) -> None:
    work, left = Work(seconds=60), []

    def reply(asked: Asked) -> Reply:
        left.append(work.left_s)
        return GOOD(asked)

    model.script("ask", reply)
    with work.begin():
        assert home.ask().status_code == 200
    assert left[0] > 60


def test_what_a_question_cost_is_kept_though_its_client_is_gone(
    model: ModelServer, home: Home
) -> None:
    work = Work(seconds=60)

    def reply(asked: Asked) -> Reply:
        work.cancel()
        return answers()

    cache.set(breaker._name_calm(breaker.find_chat_model()), value=True)  # nothing to look up
    model.script("ask", reply)
    with work.begin():
        home.ask()
    call = LLMCall.objects.of(home.ana.tenant).get(purpose="ask")
    assert call.ok and call.finished_at


def test_what_must_be_kept_outlasts_a_deadline() -> None:
    with Work(seconds=0).begin():
        assert deadlines.left_ms() == 1
        with deadlines.outlasting():
            assert deadlines.left_ms() is None
        assert deadlines.left_ms() == 1
