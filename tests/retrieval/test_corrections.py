"""A correction corrects: what still says the old is found, marked in answers, and withheld."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from episodic.models import Message
from jobs.draining import drain_jobs
from semantic.models import CorrectionMark, Evidence, Fact, Suggestion
from tests.api.problems import assert_problem
from tests.conftest import Agent, make_agent

pytestmark = pytest.mark.django_db

DOGS = [
    ("user", "I have three dogs. We live in Utrecht."),
    ("assistant", "Three dogs, how lovely! What are they called?"),
    ("user", "Bo, Rex and Luna. Bo is the oldest."),
    ("assistant", "Bo, Rex and Luna are wonderful names."),
    ("user", "I work as a carpenter, mostly on staircases."),
    ("assistant", "Staircases are hard to get right."),
]
RIGHT = "User has two dogs."
WHY = "She said so on the telephone."


@pytest.fixture(scope="module")
def dogs(shared: None) -> uuid.UUID:
    """A conversation about three dogs, processed, once for all tests of this file."""
    agent, conversation = make_agent("ana's", "ana"), uuid.uuid4()
    for role, content in DOGS:
        agent.say(conversation, content, role=role)
    agent.flush(conversation)
    return conversation


def ask(agent: Agent, conversation: uuid.UUID, call: str = "retrieve_memory", **body: Any) -> Any:
    asked = {"conversation_id": str(conversation), "query": "How many dogs?", "detail": "high"}
    answer = agent.post(call, asked | body)
    assert answer.status_code == 200, answer.content
    return answer.json() if call.endswith("raw") else answer.content.decode()


def old_fact(agent: Agent) -> Fact:
    return Fact.objects.of(agent.tenant).get(fact='User: "I have three dogs."')


def correct(agent: Agent, **body: Any) -> dict[str, Any]:
    path = f"facts/{old_fact(agent).id}/correct"
    answer = agent.post(path, {"fact": RIGHT, "reason": WHY, **body})
    assert answer.status_code == 201, answer.content
    corrected: dict[str, Any] = answer.json()
    return corrected


def says_old(text: str) -> list[str]:
    return [line for line in text.splitlines() if "three dogs" in line.lower()]


@pytest.mark.parametrize("options", [{}, {"max_tokens": 300}, {"explain": True}])
def test_each_line_that_says_the_old_is_marked(
    ana: Agent, dogs: uuid.UUID, options: dict[str, Any]
) -> None:
    before = ask(ana, dogs, **options)
    assert len(says_old(before)) >= 2 and "corrected" not in before
    correct(ana)
    after = ask(ana, dogs, **options)
    assert RIGHT in after.splitlines()[1]  # the first fact
    left = says_old(after)
    assert len(left) >= 2 and all("corrected" in line for line in left)
    quoted = [line for line in left if line.startswith("- ")]
    today = f"{Fact.objects.of(ana.tenant).get(fact=RIGHT).created_at:%Y-%m-%d}"
    assert all(line.endswith(f"[corrected on {today}: {RIGHT}]") for line in quoted)
    others = [line for line in after.splitlines() if line not in left and RIGHT not in line]
    marked = [line for line in others if "corrected" in line]
    # The heading of an episode tells that its summary below is marked.
    headings = [line for line in others if line.startswith("### ") and "[rank" in line]
    assert marked == headings and all(line.endswith(", corrected]") for line in headings)


def test_raw_names_what_contradicts(ana: Agent, dogs: uuid.UUID) -> None:
    assert "corrections" not in ask(ana, dogs, "retrieve_memory/raw")
    correct(ana)
    answer = ask(ana, dogs, "retrieve_memory/raw")
    marked = CorrectionMark.objects.of(ana.tenant).filter(state="active")
    assert set(answer["corrections"]) == {str(mark.place_id) for mark in marked}
    assert {mark.place for mark in marked} == {"message", "episode"}


def test_evidence_is_the_act_and_not_the_words_that_say_otherwise(
    ana: Agent, dogs: uuid.UUID
) -> None:
    case = str(uuid.uuid4())
    corrected = correct(ana, case_id=case)
    assert corrected["source_episodic_ids"] == []
    shown = ana.get(f"facts/{corrected['id']}").json()
    assert shown["evidence"] == []
    (step,) = shown["history"]
    assert (step["actor"], step["reason"], step["case_id"]) == ("key ana", WHY, case)


def test_what_takes_nothing_back_keeps_its_evidence(ana: Agent, dogs: uuid.UUID) -> None:
    corrected = correct(ana, fact="User has three dogs, and they are old.")
    assert len(corrected["source_episodic_ids"]) == 1
    assert not CorrectionMark.objects.of(ana.tenant).exists()
    assert "corrected on" not in ask(ana, dogs).partition("## Episodic")[2]


def test_undoing_the_changeset_undoes_the_marks(ana: Agent, dogs: uuid.UUID) -> None:
    before = ask(ana, dogs)
    corrected = correct(ana)
    path = f"changesets/{corrected['changeset_id']}/revert"
    assert ana.post(path, {"reason": "It was three."}).status_code == 201
    assert ask(ana, dogs) == before


def test_a_correction_of_a_correction_is_what_marks_say(ana: Agent, dogs: uuid.UUID) -> None:
    corrected = correct(ana)
    path = f"facts/{corrected['id']}/correct"
    again = ana.post(path, {"fact": "User has four dogs.", "reason": WHY})
    assert again.status_code == 201
    quoted = [line for line in says_old(ask(ana, dogs)) if line.startswith("- ")]
    assert quoted and all(line.endswith("User has four dogs.]") for line in quoted)


def test_a_dropped_mark_is_not_shown_and_one_act_withholds(ana: Agent, dogs: uuid.UUID) -> None:
    corrected = correct(ana)
    path = f"facts/{corrected['id']}/marks"
    marks = ana.get(path).json()["marks"]
    messages = [mark for mark in marks if (mark["place"], mark["state"]) == ("message", "active")]
    (echo,) = [mark["id"] for mark in messages if mark["found_by"] == "words"]

    def decide(decision: str, *mark_ids: str) -> Any:
        body = {"mark_ids": mark_ids, "decision": decision, "reason": WHY}
        return ana.post(path, body)

    assert_problem(decide("drop", str(uuid.uuid4())), 404)
    assert decide("drop", echo).status_code == 200
    assert 'how lovely! what are they called?"\n' in ask(ana, dogs).lower()
    answer = decide("quarantine", *[mark["id"] for mark in messages])
    assert answer.status_code == 200, answer.content
    drain_jobs()
    assert says_old(ask(ana, dogs)) == [] and RIGHT in ask(ana, dogs)
    assert Message.objects.of(ana.tenant).filter(withheld_by__isnull=False).count() == 2


def test_a_fact_declared_wrong_or_over_marks_its_words(ana: Agent, dogs: uuid.UUID) -> None:
    path = f"facts/{old_fact(ana).id}/invalidate"
    assert ana.post(path, {"because": "wrong", "reason": WHY}).status_code == 200
    quoted = [line for line in says_old(ask(ana, dogs)) if line.startswith("- ")]
    assert quoted and all("[declared wrong on " in line for line in quoted)
    assert not Evidence.objects.of(ana.tenant).filter(fact__fact=RIGHT).exists()


@pytest.mark.parametrize("role", ["assistant", "user"])
def test_an_echo_of_the_old_is_marked_and_what_a_user_says_since_the_correction_is_not(
    ana: Agent, dogs: uuid.UUID, role: str
) -> None:
    correct(ana)
    before = set(CorrectionMark.objects.of(ana.tenant).values_list("place_id", flat=True))
    ana.say(dogs, "Three dogs in a big car bark at night.", role=role)
    ana.say(dogs, "I paint the fence green.")
    assert ana.flush(dogs).later == 0
    later = CorrectionMark.objects.of(ana.tenant).exclude(place_id__in=before)
    marked = {(mark.place, mark.state) for mark in later}
    assert ({("message", "active"), ("episode", "active")} <= marked) is (role == "assistant")
    assert marked == set() or role == "assistant"
    left = [line for line in says_old(ask(ana, dogs)) if line.startswith("- ")]
    new = [line for line in left if "bark" in line]
    assert new and all(("[corrected on" in line) is (role == "assistant") for line in new)


def test_what_had_been_said_before_is_learnt_with_its_mark(ana: Agent, dogs: uuid.UUID) -> None:
    ana.say(dogs, "My three dogs bark at night.", role="user")
    correct(ana)
    ana.say(dogs, "My three dogs need a big car.", role="user")
    ana.flush(dogs)
    car = Fact.objects.of(ana.tenant).get(fact__contains="big car")
    assert not CorrectionMark.objects.of(ana.tenant).filter(place_id=car.id).exists()
    bark = Fact.objects.of(ana.tenant).get(fact__contains="bark")
    (mark,) = CorrectionMark.objects.of(ana.tenant).filter(place_id=bark.id)
    assert (mark.place, mark.state) == ("fact", "active")
    corrected = Fact.objects.of(ana.tenant).get(fact=RIGHT)
    first, *others = ask(ana, dogs).partition("## Episodic")[0].splitlines()[1:-1]
    (line,) = [line for line in others if "bark" in line]
    assert RIGHT in first and line.endswith(f": {RIGHT}]")
    path, body = f"facts/{corrected.id}/marks", {"decision": "quarantine", "reason": WHY}
    assert ana.post(path, {**body, "mark_ids": [str(mark.id)]}).status_code == 200
    bark.refresh_from_db()
    assert bark.invalidated_because == Fact.Because.WRONG
    assert bark.fact not in ask(ana, dogs)
    assert_problem(ana.post(path, {**body, "mark_ids": [str(mark.id)]}), 400)


def test_what_was_said_since_a_newer_fact_is_not_marked_when_that_replaces_the_old(
    ana: Agent, dogs: uuid.UUID
) -> None:
    for line in ("I have two dogs now.", "Three dogs took three hours a walk."):
        ana.say(dogs, line)
    ana.flush(dogs)
    newer = Fact.objects.of(ana.tenant).get(fact__contains="two dogs")
    row = Suggestion.objects.of(ana.tenant).get(old_fact=old_fact(ana), new_fact=newer)
    assert ana.post(f"suggestions/{row.id}/accept").status_code == 200
    marks = CorrectionMark.objects.of(ana.tenant)
    assert {mark.state for mark in marks} == {"active"}
    messages = Message.objects.of(ana.tenant).filter(id__in=marks.values("place_id"))
    assert sorted(row.seq for row in messages) == [1, 2]


def test_what_is_searched_and_read_is_marked(ana: Agent, dogs: uuid.UUID) -> None:
    correct(ana)
    found = ana.post("search", {"query": "three dogs", "source_types": ["episode"]}).json()
    (item,) = found["items"]
    assert item["snippet"].endswith(f": {RIGHT}]")
    chunk = ana.post(f"memories/{item['id']}/chunk", {"max_tokens": 500}).json()["content"]
    assert all("[corrected on " in line for line in says_old(chunk)[1:])
    body = {"query": "three dogs", "focus_level": 3, "conversation_id": str(dogs)}
    brought = ana.post("reconstruct_context", body)
    assert brought.status_code == 200, brought.content
    assert "[corrected on " in brought.content.decode()
