"""Which facts go with a message, which stay, and what is learnt anew."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.db.models import Q

from episodic.models import Conversation, Episode, Message
from jobs.draining import drain_jobs
from retrieval.models import ContextSection
from semantic.models import Change, Changeset, Evidence, Fact, Suggestion
from tests.api.problems import assert_problem
from tests.conftest import Agent
from tests.erasure.lives import as_json, erase
from tests.fresh import ana as ana
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from tests.llm.answers import change, changes, segment, segments, shown_facts
from tests.model_server import Asked, ModelServer, Reply, says
from tests.semantic.learning import leave_suggestion
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db

OLD = "Mira lives in Ghent."
NEW = "Mira lives in Rotterdam."
RUNS = "Mira runs three times a week."
"""What the model says of the first and of the second conversation."""


def learn_first(model: ModelServer) -> None:
    model.script("segment", says(segments(segment(7, "Mira moves"))))
    drawn = changes(change("new", OLD, messages=[5]), change("new", "Mira owns a piano."))
    model.script("consolidate", says(drawn))


def replaces_old(asked: Asked) -> Reply:
    alias = shown_facts(asked)[OLD]
    rows = [change("update", NEW, alias, messages=[9]), change("new", RUNS, messages=[10])]
    return says(changes(*rows))


@pytest.fixture
def twice(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> uuid.UUID:
    """A conversation of two episodes, the second of which replaces a fact of the first."""
    learn_first(model)
    tell(ana, conversation, messages(MOVING, MORNING))
    model.script("segment", says(segments(segment(7, "Mira trains"))))
    model.script("consolidate", replaces_old)
    tell(ana, conversation, messages(RUNNING, EVENING))
    assert held(ana) == {NEW, RUNS, "Mira owns a piano."}
    return conversation


def tell(agent: Agent, conversation: uuid.UUID, said: list[dict[str, Any]]) -> None:
    body = {"conversation_id": str(conversation), "messages": said}
    assert agent.post("add_messages", body).status_code == 201
    agent.flush(conversation)


def held(agent: Agent) -> set[str]:
    active = Fact.objects.of(agent.tenant).filter(invalid_at=None)
    return set(active.values_list("fact", flat=True))


def message_at(agent: Agent, seq: int) -> str:
    return str(Message.objects.of(agent.tenant).get(seq=seq).id)


def test_what_only_an_erased_message_had_ended_holds_again(
    model: ModelServer, ana: Agent, twice: uuid.UUID
) -> None:
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.script("consolidate", says(changes(change("new", RUNS, messages=[1]))))
    done = as_json(erase(ana, "message", message_at(ana, 9)))
    assert done["counts"]["facts"] == 2
    assert held(ana) == {OLD, "Mira owns a piano."}
    drain_jobs()
    assert held(ana) == {OLD, RUNS, "Mira owns a piano."}
    erasure = Changeset.objects.of(ana.tenant).get(kind=Changeset.Kind.ERASURE)
    steps = Change.objects.of(ana.tenant).filter(changeset=erasure).order_by("position")
    assert [step.action for step in steps] == ["invalidate", "invalidate", "restore"]
    assert erasure.actor == "key ana"


def test_what_was_put_in_the_place_of_an_erased_fact_is_drawn_anew(
    model: ModelServer, ana: Agent, twice: uuid.UUID
) -> None:
    """Its words may be the old one's: of the second episode facts are drawn once more."""
    model.script("segment", says(segments(segment(6, "Mira moves"))))
    model.script("consolidate", says(changes(change("new", NEW, messages=[7]))))
    done = as_json(erase(ana, "message", message_at(ana, 5)))
    assert done["counts"]["facts"] == 3
    assert held(ana) == {RUNS}
    drain_jobs()
    assert held(ana) == {RUNS, NEW}
    assert not Episode.objects.of(ana.tenant).filter(consolidated_at=None).exists()


def test_suggestions_about_an_erased_fact_go_with_it(
    model: ModelServer, ana: Agent, twice: uuid.UUID
) -> None:
    suggestion = leave_suggestion(ana)
    left = Suggestion.objects.of(ana.tenant)
    assert {suggestion.old_fact.fact, suggestion.new_fact.fact} == {NEW, RUNS}
    assert ana.post(f"suggestions/{suggestion.id}/accept").status_code == 200
    piano = Fact.objects.of(ana.tenant).get(fact="Mira owns a piano.")
    other = leave_suggestion(ana, piano)
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.script("consolidate", says(changes()))
    done = as_json(erase(ana, "message", message_at(ana, 9)))
    assert done["counts"]["facts"] == 2
    drain_jobs()
    assert list(left.all()) == [other]
    assert as_json(erase(ana, "conversation", twice))["state"] == "done"
    assert not left.exists()


def test_a_fact_that_was_worded_elsewhere_stays_without_the_evidence(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    learn_first(model)
    tell(ana, conversation, messages(MOVING, MORNING))

    def says_again(asked: Asked) -> Reply:
        return says(changes(change("reinforce", "", shown_facts(asked)[OLD], messages=[9])))

    model.script("segment", says(segments(segment(7, "Mira trains"))))
    model.script("consolidate", says_again)
    tell(ana, conversation, messages(RUNNING, EVENING))
    fact = Fact.objects.of(ana.tenant).get(fact=OLD)
    assert Evidence.objects.of(ana.tenant).filter(fact=fact).count() == 2
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.script("consolidate", says(changes()))
    done = as_json(erase(ana, "message", message_at(ana, 9)))
    assert "facts" not in done["counts"]
    drain_jobs()
    assert Fact.objects.of(ana.tenant).get(fact=OLD).version == fact.version
    assert Evidence.objects.of(ana.tenant).filter(fact=fact).count() == 1


def test_a_fact_that_was_only_confirmed_elsewhere_is_drawn_anew_from_there(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    learn_first(model)
    tell(ana, conversation, messages(MOVING, MORNING))

    def says_again(asked: Asked) -> Reply:
        return says(changes(change("reinforce", "", shown_facts(asked)[OLD], messages=[9])))

    model.script("segment", says(segments(segment(7, "Mira trains"))))
    model.script("consolidate", says_again)
    tell(ana, conversation, messages(RUNNING, EVENING))
    model.script("segment", says(segments(segment(6, "Mira moves"))))
    again = changes(change("new", "Ghent is home to Mira.", messages=[8]))
    model.script("consolidate", says(again))
    assert as_json(erase(ana, "message", message_at(ana, 5)))["state"] == "done"
    assert held(ana) == set()
    drain_jobs()
    assert held(ana) == {"Ghent is home to Mira."}


def test_a_context_does_not_quote_an_erased_message_for_a_fact_that_stays(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    learn_first(model)
    tell(ana, conversation, messages(MOVING, MORNING))

    def says_again(asked: Asked) -> Reply:
        return says(changes(change("reinforce", "", shown_facts(asked)[OLD], messages=[10])))

    model.script("segment", says(segments(segment(7, "Mira trains"))))
    model.script("consolidate", says_again)
    tell(ana, conversation, messages(RUNNING, EVENING))
    fact = Fact.objects.of(ana.tenant).get(fact=OLD)
    context = ana.post("contexts", {"max_tokens": 4000}).json()["id"]
    added = {"memory_id": str(fact.id)}
    assert ana.post(f"contexts/{context}/add", added).status_code == 200
    quoted = RUNNING[1][1]
    assert quoted in ana.get(f"contexts/{context}/text").content.decode()
    done = as_json(erase(ana, "message", message_at(ana, 10)))
    assert (done["counts"]["contexts"], done["counts"].get("facts")) == (1, None)
    sections = ContextSection.objects.of(ana.tenant)
    assert not sections.filter(content__contains=quoted).exists()


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_undoing_a_source_takes_back_what_was_learnt_before_an_erasure_had_it_drawn_anew(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    lie = "Mira hates ships."
    learn_first(model)
    tell(ana, conversation, messages(MOVING, MORNING))

    def confirms_and_lies(asked: Asked) -> Reply:
        alias = shown_facts(asked)[OLD]
        rows = [change("reinforce", "", alias, messages=[9]), change("new", lie, messages=[10])]
        return says(changes(*rows))

    model.script("segment", says(segments(segment(7, "Mira trains"))))
    model.script("consolidate", confirms_and_lies)
    said = messages(RUNNING, EVENING)
    said[1]["name"] = "Mallory"
    tell(ana, conversation, said)
    assert lie in held(ana)
    model.script("segment", says(segments(segment(6, "Mira moves"))))
    model.script("consolidate", says(changes()))
    assert as_json(erase(ana, "message", message_at(ana, 5)))["state"] == "done"
    drain_jobs()
    assert lie in held(ana)
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.always("consolidate", says(changes()))
    undone = {"since": "2020-01-01T00:00:00Z", "speaker": "Mallory", "reason": "She lies."}
    assert ana.post("rollbacks", undone).status_code == 201
    drain_jobs()
    assert lie not in held(ana)


@pytest.mark.gate
@pytest.mark.django_db(transaction=True)
def test_a_source_is_undone_where_all_that_was_learnt_beside_it_is_erased(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    two = segments(segment(7, "Mira moves"), segment(15, "Mira trains"))
    model.script("segment", says(two))
    model.script("consolidate", says(changes(change("new", OLD, messages=[5]))))
    said = messages(MOVING, MORNING) + messages(RUNNING, EVENING)
    said[9]["name"] = "Mallory"
    tell(ana, conversation, said)
    model.script("segment", says(segments(segment(6, "Mira moves"))))
    model.always("consolidate", says(changes()))
    assert as_json(erase(ana, "message", message_at(ana, 5)))["counts"]["facts"] == 1
    drain_jobs()
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    undone = {"since": "2020-01-01T00:00:00Z", "speaker": "Mallory", "reason": "She lies."}
    assert ana.post("rollbacks", undone).status_code == 201
    drain_jobs()
    assert ana.get(f"conversations/{conversation}").json()["pending"] == 0


def test_undoing_a_changeset_brings_no_erased_fact_back_and_says_so(
    model: ModelServer, ana: Agent, twice: uuid.UUID
) -> None:
    first, second = Changeset.objects.of(ana.tenant).order_by("id")
    gone = Fact.objects.of(ana.tenant).get(fact=NEW).id
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.script("consolidate", says(changes()))
    assert erase(ana, "message", message_at(ana, 9)).status_code == 200
    drain_jobs()
    plan = ana.get(f"changesets/{second.id}/revert").json()
    assert str(gone) in plan["erased"]
    assert {step["fact"] for step in plan["steps"]} == {OLD}
    undo = {"reason": "to try", "leave_conflicts": True}
    made = ana.post(f"changesets/{second.id}/revert", undo)
    assert made.status_code == 201
    assert held(ana) == {OLD, "Mira owns a piano."}
    erasure = Changeset.objects.of(ana.tenant).get(kind=Changeset.Kind.ERASURE)
    refused = ana.post(f"changesets/{erasure.id}/revert", undo)
    assert "cannot be undone" in assert_problem(refused, 409)["message"]
    assert erase(ana, "conversation", twice).status_code == 200
    refused = ana.post(f"changesets/{first.id}/revert", undo)
    assert "was erased" in assert_problem(refused, 409)["message"]


def test_undoing_what_had_named_an_erased_fact_names_nothing(
    model: ModelServer, ana: Agent, twice: uuid.UUID
) -> None:
    """A curator had held the old fact again; without that it was over, for the new one."""
    old = Fact.objects.of(ana.tenant).get(fact=OLD)
    why = {"reason": "She kept the flat in Ghent."}
    restored = ana.post(f"facts/{old.id}/restore", why).json()["changeset_id"]
    model.script("segment", says(segments(segment(6, "Mira trains"))))
    model.script("consolidate", says(changes()))
    assert erase(ana, "message", message_at(ana, 9)).status_code == 200
    drain_jobs()
    assert OLD in held(ana)
    assert ana.post(f"changesets/{restored}/revert", why).status_code == 201
    old.refresh_from_db()
    assert (old.invalidated_because, old.superseded_by_id) == ("superseded", None)


def test_pages_and_lists_bear_what_is_missing(ana: Agent, told: uuid.UUID) -> None:
    """History names ids of what is gone; whoever shows it shows the ids."""
    seqs = [3, 11]
    for seq in seqs:
        assert erase(ana, "message", message_at(ana, seq)).status_code == 200
    drain_jobs()
    for changeset in ana.get("changesets").json()["items"]:
        assert ana.get(f"changesets/{changeset['id']}").status_code == 200
    for fact in ana.get("facts").json()["items"]:
        assert ana.get(f"facts/{fact['id']}").status_code == 200
    after = ana.get("messages", conversation_id=str(told), after=2, limit=2).json()
    assert [row["seq"] for row in after["items"]] == [4, 5]
    home = Conversation.objects.of(ana.tenant).get()
    waiting = Q(episode=None)
    assert home.pending_count == Message.objects.of(ana.tenant).filter(waiting).count() == 0


def test_an_erased_message_of_the_window_leaves_the_others_there(
    ana: Agent, conversation: uuid.UUID
) -> None:
    for number in range(4):
        last = ana.say(conversation, f"I like the number {number}.")
    done = as_json(erase(ana, "message", message_at(ana, 2)))
    assert done["counts"] == {"messages": 1}
    state = ana.get(f"conversations/{conversation}").json()
    assert (state["messages"], state["pending"], state["indexed_through_seq"]) == (3, 3, 0)
    asked = {"conversation_id": str(conversation), "query": "number", "min_seq": last["seq"]}
    shown = ana.post("retrieve_memory", asked).content.decode()
    assert "number 3" in shown and "number 1" not in shown
    ana.flush(conversation)
    (episode,) = Episode.objects.of(ana.tenant)
    assert (episode.first_seq, episode.last_seq) == (1, 4)
