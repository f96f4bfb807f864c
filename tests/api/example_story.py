"""One session in which every operation of the API is called once, and how it is written down.

The examples in the description of the API are recorded by it:

    RECORD_EXAMPLES=1 python -m pytest tests/api/test_examples.py
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.test import override_settings
from django.utils import timezone

from episodic.models import Conversation, Message
from jobs.draining import drain_jobs
from jobs.models import Job, Kind, LLMCall, State
from memoryproject.edge.http import AWAY, error_body
from memoryproject.edge.reference import ERRORS
from memoryproject.tenancy import limits
from semantic.models import Fact
from tests.api.problems import assert_problem
from tests.ask.conftest import answers, find_line, sentence
from tests.conftest import Agent, make_agent
from tests.llm.conftest import forget_server, settings_for
from tests.model_server import Asked, Reply, run_model_server
from tests.semantic.learning import leave_suggestion

TENANT = "Hospital canteen"
TALK = "7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11"
OTHER_TALK = "2f9d3a60-8a3f-4f0e-b0d7-5f6c3f1f7a42"
LINES = [
    ("Ana", "I am allergic to peanuts, so the canteen is an adventure."),
    ("", "I will look for dishes without peanuts."),
    ("Ana", "I work as a nurse at the hospital in Porto."),
    ("Ana", "My sister Rita lives in Braga and has two cats."),
    ("", "Noted."),
    ("Ana", "I prefer to eat before noon, when the canteen is quiet."),
    ("Ana", "I plan to run the Lisbon half marathon in October."),
    ("Ana", "I now prefer to eat after two, when my shift is over."),
]
BASE = datetime(2026, 3, 5, 20, tzinfo=UTC)
"""The hour at which the examples say that it all happened."""
SAID_BEFORE = timedelta(days=3, hours=12)
"""How long before that the first line was said."""
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SECRET = re.compile(r"whsec_[\w+/]+=*")
TIME = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d|T\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00))")


@dataclass
class Session:
    """Somebody with a key for each scope, who writes down each call's first answer."""

    operations: dict[str, tuple[str, str, dict[str, Any]]]
    """Method, path and description, by the operation's name."""
    examples: dict[str, Any] = field(default_factory=dict)
    started: datetime = field(default_factory=timezone.now)

    def __post_init__(self) -> None:
        first = BASE - SAID_BEFORE
        hour = self.started.replace(hour=first.hour, minute=0, second=0, microsecond=0)
        # At the same hour always and more than three days ago, at whatever hour this
        # runs: answers show both.
        self.said = hour - timedelta(days=3 if hour <= self.started else 4)
        self.keys: dict[str, Agent] = {
            scope: make_agent(TENANT, f"canteen {scope}", (scope,))
            for scope in ("ingest", "read", "curate", "admin")
        }

    def call(self, name: str, body: Any = None, *, status: int = 200, **parameters: Any) -> Any:
        """Call an operation with a key that has the scope that it names, and no other."""
        method, path, described = self.operations[name]
        places: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "header": {}}
        for one in described["parameters"]:
            if one["name"] in parameters:
                places[one["in"]][one["name"]] = parameters[one["name"]]
        (needed, *_) = described.get("security", [{}])[0].get("key") or ["read"]
        answer = self.keys[needed].client.generic(
            method.upper(),
            path.format(**places["path"]),
            "" if body is None else json.dumps(body),
            content_type="application/json",
            query_params=places["query"],
            headers=places["header"],
        )
        assert answer.status_code == status, (name, answer.status_code, answer.content)
        documented = set(described["responses"][str(status)].get("headers", {}))
        assert {one for one in answer.headers if one.startswith("Memory-")} <= documented, name
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        content = answer.json() if is_json else answer.content.decode()
        example = {"parameters": parameters, "body": body, "answers": {}}
        answers = self.examples.setdefault(name, example)["answers"]
        answers.setdefault(str(status), content)
        return content

    def fail(self, status: int, method: str, path: str, **options: Any) -> None:
        """Make a call that is refused, and write down the error."""
        options = {"content_type": "application/json", "headers": {}, **options}
        client = options.pop("agent", self.keys["ingest"]).client
        answer = client.generic(method, f"/api/v0/{path}", **options)
        error = assert_problem(answer, status)
        self.examples.setdefault(ERRORS, {}).setdefault(str(status), error)

    def written(self) -> Any:
        """Return the examples with ids and times that are the same in each run."""
        ids: dict[str, str] = {TALK: TALK, OTHER_TALK: OTHER_TALK}

        def name(found: re.Match[str]) -> str:
            return ids.setdefault(found[0], f"019cade0-0000-7000-8000-{len(ids):012x}")

        def date(found: re.Match[str]) -> str:
            moment = datetime.fromisoformat(found[0]).replace(tzinfo=UTC)
            since_said = moment - self.said
            if since_said > timedelta(days=1):  # the server's clock
                hours = round((moment - self.started) / timedelta(hours=1))
                moment = BASE + timedelta(hours=hours)
            elif since_said >= timedelta(0):
                moment = BASE - SAID_BEFORE + since_said
            return f"{moment:%Y-%m-%d %H:%M}" if " " in found[0] else write(moment)

        text = json.dumps(self.examples, ensure_ascii=False, default=str)
        text = text.replace(f'"{self.started:%Y-%m-%d}"', f'"{BASE:%Y-%m-%d}"')
        # A fact's day, plain or explained; in a profile its month or that of an episode.
        for shown in (
            "{0.day} {0:%B %Y}", ", {0:%Y-%m-%d}]", "### {0:%Y-%m}\\n", "- {0:%Y-%m-%d} ",
        ):  # fmt: skip
            text = text.replace(shown.format(self.said), shown.format(BASE - SAID_BEFORE))
        text = text.replace(self.keys["read"].key.prefix, "mem_7Qd2")
        text = SECRET.sub("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw0pQ5bYk2vVU=", text)
        text = TIME.sub(date, UUID.sub(name, text))
        return json.loads(text, parse_float=lambda digits: round(float(digits), 6))


def write(moment: datetime) -> str:
    """Return a time as the API writes it."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def tell_all(described: dict[str, Any]) -> Session:
    """Call every operation that is described, in an order in which each has something to answer."""
    session = Session(
        {
            operation["operationId"]: (method, path, operation)
            for path, methods in described["paths"].items()
            for method, operation in methods.items()
        }
    )
    look_around(session)
    facts = say(session)
    ask(session)
    note = write_on_purpose(session, facts[0])
    look_up(session, facts[0])
    curate(session, facts)
    operate(session, note)
    go_wrong(session)
    assert set(session.examples) == {*session.operations, ERRORS}
    return session


def look_around(session: Session) -> None:
    """Ask what the key is and how the server is, before anything is stored."""
    reader = session.keys["read"]
    limits.set_rate(reader.tenant, limits.NONE)
    limits.set_rate(reader.key, 600)
    session.call("whoami")
    session.call("health_live")
    session.call("health_ready")


def say(session: Session) -> list[str]:
    """Post and flush; return the ids of the facts, oldest first."""
    messages = [
        {
            "role": "user" if name else "assistant",
            "content": content,
            "timestamp": write(session.said + timedelta(minutes=at)),
            **({"name": name} if name else {}),
        }
        for at, (name, content) in enumerate(LINES)
    ]
    once = {"Idempotency-Key": "chat-4711-message-1"}
    owner = {"user_id": "ana-4711", "agent_id": "canteen-bot"}
    body = {"conversation_id": TALK, **owner, "message": messages[0]}
    session.call("add_message", body, status=201, **once)
    session.call("add_message", body, status=200, **once)
    batch = {"conversation_id": TALK, "messages": messages[1:]}
    once = {"Idempotency-Key": "chat-4711-messages-2-to-8"}
    session.call("add_messages", batch, status=201, **once)
    session.call("add_messages", batch, status=200, **once)
    job = session.call("flush", {"conversation_id": TALK}, status=202)["job_id"]
    drain_jobs()
    session.call("close_conversation", status=202, conversation_id=TALK)
    drain_jobs()
    session.call("get_job", job_id=job)
    session.call("get_conversation", conversation_id=TALK)
    facts = Fact.objects.of(session.keys["read"].tenant).order_by("id")
    return [str(fact.id) for fact in facts]


def ask(session: Session) -> None:
    """Ask in each way."""
    question = {"conversation_id": TALK, "query": "What can Ana eat?"}
    session.call("retrieve_memory", {**question, "semantic_limit": 3, "max_tokens": 300})
    raw = {**question, "semantic_limit": 1, "episodic_limit": 1, "explain": True}
    receipt = session.call("retrieve_memory_raw", raw)["receipt"]
    session.call("context_pre_retrieve", {**question, "semantic_limit": 2})
    answer_by_model(session, question)
    session.call("recent_memory", {"conversation_id": TALK, "limit": 1})
    session.call("recent_memory_raw", {"conversation_id": TALK, "limit": 1})
    session.call("get_user_profile", user_id="ana-4711", max_tokens=200, sections="dangers,present")
    session.call("get_agent_profile", agent_id="canteen-bot", max_tokens=60)
    session.call("get_conversation_profile", conversation_id=TALK, max_tokens=60, format="json")
    session.call("list_retrievals", limit=1)
    session.call("get_retrieval", retrieval_id=receipt)
    session.call("replay_retrieval", retrieval_id=receipt)


def answer_by_model(session: Session, question: dict[str, Any]) -> None:
    """Ask a model that answers from what it is shown."""
    text, quote = "Ana is allergic to peanuts.", "I am allergic to peanuts"

    def answer(asked: Asked) -> Reply:
        cited = (find_line(asked, f'Ana: "{quote}'), quote)
        return answers(sentence(text, cited), sentence("Ana eats fish."))

    with run_model_server() as model, override_settings(**settings_for(model)):
        model.script("ask", answer)
        session.call("ask", {**question, "max_tokens": 300})
        forget_server()


def write_on_purpose(session: Session, fact: str) -> str:
    """Write a note, change it, link it, look for it and read it; return its id."""
    rules = {
        "source_type": "knowledge_base",
        "source_id": "kb-7",
        "label": "Canteen rules",
        "content": "The canteen marks dishes with peanuts by a red dot. It opens at 11:30.",
        "importance": 0.9,
        "tags": ["canteen"],
    }
    once = {"Idempotency-Key": "kb-7-first"}
    note = session.call("add_note", rules, status=201, **once)["id"]
    session.call("add_note", rules, status=200, **once)
    menus = {
        "notes": [{"content": "Monday: lentil soup."}, {"content": "Tuesday: rice and beans."}]
    }
    session.call("add_notes", menus, status=201, **{"Idempotency-Key": "menus-1"})
    change = {"version": 1, "content": rules["content"] + " It closes at 14:00."}
    session.call("change_note", change, note_id=note)
    session.call("get_note", note_id=note)
    session.call("list_notes", tag="canteen", limit=1)
    session.call("list_note_versions", note_id=note, limit=1)
    ends = {"from_id": note, "to_id": fact, "link_type": "supports"}
    session.call("add_link", ends, status=201)
    session.call("list_memory_links", memory_id=note, limit=1)
    session.call("walk_memory", memory_id=note, depth=1)
    look_for = {"query": "Where can Ana eat without peanuts?", "max_results": 1, "max_hops": 1}
    session.call("search", {**look_for, "source_types": ["knowledge_base"]})
    session.call("reconstruct_context", {"query": "dishes with peanuts", "focus_level": 1})
    session.call("peek_memory", memory_id=note)
    session.call("chunk_memory", {"max_tokens": 20, "truncation_strategy": "sentence"},
                 memory_id=note)  # fmt: skip
    prompt = {"max_tokens": 700, "system_prompt": "You look after Ana."}
    context = session.call("make_context", prompt, status=201)["id"]
    session.call("add_to_context", {"memory_id": note}, context_id=context)
    session.call("get_context", context_id=context)
    session.call("get_context_text", context_id=context)
    return note


def look_up(session: Session, fact: str) -> None:
    """List what is stored, and show one of each."""
    session.call("list_conversations", user_id="ana-4711", limit=1)
    messages = session.call("list_messages", conversation_id=TALK, limit=1)["items"]
    session.call("get_message", message_id=messages[0]["id"])
    episodes = session.call("list_episodes", conversation_id=TALK, limit=1)["items"]
    session.call("get_episode", episode_id=episodes[0]["id"])
    session.call("list_facts", conversation_id=TALK, limit=1)
    session.call("get_fact", fact_id=fact)
    changesets = session.call("list_changesets", kind="consolidation", limit=1)["items"]
    session.call("get_changeset", changeset_id=changesets[0]["id"], limit=1)


def curate(session: Session, facts: list[str]) -> None:
    """Decide about facts and suggestions, and take decisions back."""
    reader = session.keys["read"]
    why = {"reason": "Ana said so on the phone."}
    session.call("invalidate_fact", {**why, "because": "wrong"}, fact_id=facts[0])
    marks = session.call("list_marks", fact_id=facts[0])["marks"]
    chosen = {"mark_ids": [marks[0]["id"]], "decision": "confirm"}
    session.call("decide_marks", {**why, **chosen}, fact_id=facts[0])
    session.call("restore_fact", why, fact_id=facts[0])
    better = {**why, "fact": "Ana works as a head nurse at the hospital in Porto."}
    corrected = session.call("correct_fact", better, status=201, fact_id=facts[1])
    test = {"conversation_id": TALK, "query": "Where does Ana work?", "must_say": ["Porto"]}
    made = session.call("add_memory_test", test, status=201)
    session.call("list_memory_tests")
    session.call("run_memory_tests")
    session.call("delete_memory_test", status=204, test_id=made["id"])
    act = corrected["changeset_id"]
    session.call("plan_revert", changeset_id=act)
    session.call("revert_changeset", why, status=201, changeset_id=act)
    rows = Fact.objects.of(reader.tenant)
    # As the offline engine leaves rules that an assistant has said of itself.
    pending = {"invalid_at": timezone.now(), "invalidated_because": Fact.Because.WAITING}
    rows.filter(id__in=[facts[2], facts[4]]).update(**pending)
    session.call("approve_fact", why, fact_id=facts[2])
    session.call("reject_fact", why, fact_id=facts[4])
    leave_suggestion(reader, rows.get(id=facts[1]))
    ana = {"name": "Ana", "user_ids": ["ana-4711"], "speakers": ["Ana"]}
    ana_id = session.call("add_person", ana, status=201)["id"]
    form = {"name": "Ana, by web form", "speakers": ["Web form"]}
    form_id = session.call("add_person", form, status=201)["id"]
    session.call("merge_person", {**why, "into_id": ana_id}, person_id=form_id)
    session.call("get_person", person_id=ana_id)
    session.call("list_people", user_id="ana-4711", limit=1)
    session.call("export_person", person_id=ana_id, kind="facts", limit=1)
    session.call("unmerge_person", {"reason": "Others use it."}, person_id=form_id)
    suggested = session.call("list_suggestions", limit=1)["items"]
    session.call("decline_suggestion", why, suggestion_id=suggested[0]["id"])
    (left,) = session.call("list_suggestions")["items"]
    session.call("accept_suggestion", why, suggestion_id=left["id"])
    session.call("diff", **{"from": write(session.started - timedelta(hours=12))})


def operate(session: Session, note: str) -> None:
    """Roll back a source, run failed work again, ask what it cost, delete and erase."""
    reader = session.keys["read"]
    forged = {"role": "user", "name": "Web form", "content": "Ana loves peanuts."}
    session.call("add_message", {"conversation_id": OTHER_TALK, "message": forged}, status=201)
    source = {"speaker": "Web form", "since": "2026-03-01T00:00:00Z", "reason": "A forged form."}
    rollback = session.call("roll_back", source, status=201)["id"]
    session.call("list_rollbacks", limit=1)
    session.call("get_rollback", rollback_id=rollback)
    session.call("lift_rollback", {"reason": "It was real."}, rollback_id=rollback)
    home = Conversation.objects.of(reader.tenant).get(external_id=OTHER_TALK)
    dead = Job.objects.create(
        tenant=reader.tenant, kind=Kind.SEGMENT, scope=home.id, state=State.DEAD, attempts=5,
        error_class="ModelMisbehaved", finished_at=timezone.now(),
    )  # fmt: skip
    aside = Message.objects.of(reader.tenant).filter(conversation=home)
    aside.update(quarantined_by=dead)
    session.call("retry_conversation", status=202, conversation_id=OTHER_TALK)
    session.call("move_conversation", {"user_id": "olga"}, status=202, conversation_id=OTHER_TALK)
    session.call("retry_job", job_id=dead.id)
    LLMCall.objects.create(
        tenant=reader.tenant, job=dead.id, request_sha256="0" * 64, purpose="segment",
        model="gpt-4o-mini", ok=False, input_tokens=812, output_tokens=240,
        cost=Decimal("0.000266"), finished_at=timezone.now(),
    )  # fmt: skip
    session.call("get_usage", days=1)
    (link,) = session.call("list_memory_links", memory_id=note)["items"]
    session.call("delete_link", status=204, link_id=link["id"])
    said = {
        "keep": ["what somebody may not eat"],
        "never": ["what a meal costs"],
        "words": [{"word": "MU", "meaning": "the menu of the day"}],
    }
    session.call("put_instructions", said)
    session.call("get_instructions")
    session.call("list_instructions", limit=1)
    text = "I am allergic to peanuts. It costs 4.80 euros."
    session.call("preview_instructions", {"text": text})
    session.call("undo_instructions", {})
    target = {"url": "https://example.com/memory", "types": ["fact.corrected", "erasure.done"]}
    webhook = session.call("add_webhook", target, status=201)["id"]
    session.call("list_webhooks", limit=1)
    session.call("rotate_webhook", webhook_id=webhook)
    session.call("get_webhook", webhook_id=webhook)
    wish = {"scope": "note", "id": note, "reason": "Asked for in ticket 4711."}
    session.call("delete_note", status=204, note_id=note)
    session.call("restore_note", note_id=note)
    erasure = session.call("erase", wish)["id"]
    session.call("list_erasures", limit=1)
    session.call("get_erasure", erasure_id=erasure)
    (event,) = session.call("list_webhook_events", webhook_id=webhook)["items"]
    session.call("redeliver_event", status=202, event_id=event["id"])
    session.call("delete_webhook", status=204, webhook_id=webhook)
    session.call("forget", {"text": "I am allergic to peanuts", "user_id": "ana-4711"})


def go_wrong(session: Session) -> None:
    """Make each kind of error once; what the database's absence answers is not made, but known."""
    bot = {"role": "bot", "content": "Hello."}
    message = json.dumps({"conversation_id": TALK, "message": bot})
    session.fail(400, "POST", "add_message", data=message)
    session.fail(401, "GET", "facts", headers={"authorization": ""})
    session.fail(403, "GET", "facts")
    unknown = json.dumps({"conversation_id": "00000000-0000-4000-8000-000000000000"})
    session.fail(404, "POST", "flush", data=unknown)
    other = json.dumps({"conversation_id": TALK, "message": {**bot, "role": "user"}})
    key = {"Idempotency-Key": "chat-4711-message-1"}
    session.fail(409, "POST", "add_message", data=other, headers=key)
    erased = json.dumps({"content": "What was erased."})
    session.fail(410, "POST", "notes", data=erased, headers={"Idempotency-Key": "kb-7-first"})
    session.fail(413, "POST", "notes", data=json.dumps({"content": "long " * 20_000}))
    session.fail(415, "POST", "notes", data="text", content_type="text/plain")
    hasty = make_agent(TENANT, "hasty", ("read",))
    limits.set_rate(hasty.key, 2)
    for _ in range(limits.find_burst(2)):
        hasty.get("facts")
    session.fail(429, "GET", "facts", agent=hasty)
    session.examples[ERRORS]["503"] = error_body("unavailable", AWAY)
