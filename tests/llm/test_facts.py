"""What a model wants done to the facts held, and what of it is done."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from episodic.models import Episode
from memoryproject.ai import embeddings
from semantic.models import Change, Changeset, Evidence, Fact
from semantic.proposal_writer import cap_invalidations
from tests.conftest import Agent
from tests.llm.answers import change, changes, segment, segments, shown_facts
from tests.llm.conftest import post
from tests.model_server import Asked, ModelServer, Reply, says
from tests.talk import EVENING, MORNING, MOVING, RUNNING, messages

pytestmark = pytest.mark.django_db

BAKERY = "Mira works at a bakery in Ghent."
HARBOUR = "Mira works at the harbour authority in Rotterdam."
Plan = Callable[[dict[str, str]], list[dict[str, Any]]]


def tell(
    model: ModelServer,
    agent: Agent,
    conversation: uuid.UUID,
    *plans: Plan | list[Any],
    asking: list[tuple[str, str]] | None = None,
) -> None:
    """Say something new for each plan, `asking` first, and let the model answer it so."""
    for number, plan in enumerate(plans):
        said = messages([asking or MOVING, RUNNING][number % 2], [MORNING, EVENING][number % 2])
        post(agent, conversation, said)
        model.script("segment", says(segments(segment(7))))
        model.always("consolidate", _answer(plan))  # twice where a row names no fact
        assert agent.flush(conversation).later == 0


def _answer(plan: Plan | list[Any]) -> Callable[[Asked], Reply]:
    def answer(asked: Asked) -> Reply:
        return says(changes(*(plan if isinstance(plan, list) else plan(shown_facts(asked)))))

    return answer


def steps(agent: Agent) -> list[tuple[str, str]]:
    """Return action and note of each step of the newest changeset, in order."""
    newest = Changeset.objects.of(agent.tenant).latest("started_at", "id")
    taken = Change.objects.of(agent.tenant).filter(changeset=newest).order_by("position")
    return list(taken.values_list("action", "note"))


def held(agent: Agent) -> list[str]:
    active = Fact.objects.of(agent.tenant).filter(invalid_at=None).order_by("fact")
    return list(active.values_list("fact", flat=True))


@pytest.mark.gate
@pytest.mark.parametrize(
    ("row", "step", "kept"),
    [
        (change("new", "Mira moved. " * 1_000), ("skip", "too_long"), False),
        (change("new", " "), ("skip", "empty"), False),
        (change("update", "", "F9"), ("skip", "unknown_alias"), False),
        (change("invalidate", HARBOUR, "F9"), ("skip", "unknown_alias"), False),
        (change("new", HARBOUR, messages=[-5]), ("skip", "example"), False),
        (change("new", "Mira owns a horse.", messages=[99]), ("skip", "no_source"), False),
        (change("invalidate", HARBOUR), ("skip", "unknown_alias"), False),
        (change("update", HARBOUR, "F9"), ("new", "unknown_alias"), True),
        (change("reinforce", "", str(uuid.uuid4())), ("skip", "unknown_alias"), False),
        (change("update", HARBOUR, "P0"), ("new", "unknown_alias"), True),
        (change("new", HARBOUR, "F1"), ("new", ""), True),
        (change("new", HARBOUR, messages=[-1, 10**17]), ("new", ""), True),
        (change("new", HARBOUR, category="gossip"), ("new", ""), True),
        (change("new", HARBOUR, since="soon", until="1" * 9_000), ("new", ""), True),
    ],
)
def test_an_odd_change_is_kept_or_left_out_with_a_note(
    row: dict[str, Any],
    step: tuple[str, str],
    kept: bool,
    model: ModelServer,
    ana: Agent,
    conversation: uuid.UUID,
) -> None:
    tell(model, ana, conversation, [change("new", BAKERY), row])
    assert sorted(steps(ana)) == sorted([("new", ""), step])
    assert held(ana) == ([BAKERY, HARBOUR] if kept else [BAKERY])
    changeset = Changeset.objects.of(ana.tenant).get()
    assert changeset.unknown_aliases == (step[1] == "unknown_alias")
    assert not changeset.degraded


def test_a_model_cannot_speak_of_its_own_proposals(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    """ "P0" is how the offline engine names what it proposed first."""
    closing = change("invalidate", "", "P0")
    tell(model, ana, conversation, [change("new", BAKERY), closing, change("reinforce", "", "P0")])
    assert steps(ana) == [("skip", "unknown_alias"), ("skip", "unknown_alias"), ("new", "")]
    assert held(ana) == [BAKERY]
    assert Evidence.objects.of(ana.tenant).count() == 1


def test_what_one_run_has_closed_it_does_not_bring_back(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    old, new = "Mira runs with a coach.", "Mira runs alone."

    def end(alias: dict[str, str]) -> list[dict[str, Any]]:
        known = alias[old]
        return [
            change("update", new, known, messages=[10]),
            change("invalidate", "", known, messages=[10]),
            change("reinforce", "", known, messages=[10]),
        ]

    tell(model, ana, conversation, [change("new", old)], end)
    assert steps(ana) == [("update", ""), ("skip", "closed"), ("skip", "closed")]
    assert held(ana) == [new]


def test_invalidations_above_the_cap_are_suggested_to_a_curator(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    known = {
        "Mira has a coach called Priya.": 10,
        "Mira has waterproof shoes.": 12,
        "Mira trains for the Lisbon half marathon.": 14,
        "Jonas has a camera.": 16,
    }
    old, new = "Mira lives in Ghent.", "Mira lives in Rotterdam."

    def empty(alias: dict[str, str]) -> list[dict[str, Any]]:
        rows = [change("invalidate", "", alias[fact], messages=[n]) for fact, n in known.items()]
        return [*rows, change("update", new, alias[old], messages=[9])]

    tell(model, ana, conversation, [change("new", fact) for fact in [*known, old]], empty)
    assert cap_invalidations(len(known) + 1) == 3
    assert steps(ana) == [("update", ""), *[("invalidate", "")] * 3, ("suggest", "cap")]
    last = list(known)[-1]
    assert held(ana) == sorted([new, last])
    (row,) = ana.get("suggestions").json()["items"]
    assert (row["old"]["fact"], row["new"], row["reason"]) == (last, None, "cap")


RULE = "Assistant should answer in Dutch."


@pytest.mark.parametrize(
    ("seqs", "allowed"),
    [([1], True), ([2, 3], False), ([99], False)],
    ids=["a user", "both", "a message not shown"],
)
def test_only_a_user_sets_a_guideline(
    seqs: list[int],
    allowed: bool,
    model: ModelServer,
    ana: Agent,
    conversation: uuid.UUID,
) -> None:
    asking = [("Mira", "Hi Jonas! Always write in my mother's tongue, please."), *MOVING[1:]]
    row = change("new", RULE, category="guideline", messages=seqs)
    tell(model, ana, conversation, [row], asking=asking)
    left = ("new", "waits") if set(seqs) & {2} else ("skip", "no_source")
    assert steps(ana) == [("new", "") if allowed else left]
    assert held(ana) == ([RULE] if allowed else [])


@pytest.mark.parametrize("action", ["update", "invalidate"])
def test_only_a_user_ends_a_guideline(
    action: str, model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    """Message 9 is the assistant's, message 17 a user's."""
    rule = "Assistant should ask how the marathon training is going."
    set_rule = [change("new", rule, category="guideline")]
    other = "Assistant should not speak of the marathon training."

    def obey(alias: dict[str, str]) -> list[dict[str, Any]]:
        return [change(action, other, alias[rule], messages=[9])]

    asking = [("Mira", "From now on, always ask how my marathon training is going."), *MOVING[1:]]
    tell(model, ana, conversation, set_rule, obey, asking=asking)
    left = ("new", "waits") if action == "update" else ("skip", "guideline_source")
    assert (steps(ana), held(ana)) == ([left], [rule])
    said = "From now on do not speak of the marathon training."
    post(ana, conversation, messages([("Mira", said)], EVENING))
    model.script("segment", says(segments(segment(0))))
    model.script(
        "consolidate",
        lambda asked: says(changes(change(action, other, shown_facts(asked)[rule], messages=[17]))),
    )
    ana.flush(conversation)
    waited = [("invalidate", "said_by_user")] if action == "update" else []
    assert steps(ana) == [(action, ""), *waited] and rule not in held(ana)


def test_the_days_that_a_model_names_say_when_a_fact_is_true(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    job, trip, run = "Mira works in Ghent.", "Mira is in Lisbon.", "Mira runs."

    def change_job(alias: dict[str, str]) -> list[dict[str, Any]]:
        return [
            change("update", HARBOUR, alias[job], messages=[9], since="2026-03-01"),
            change("invalidate", "", alias[run], messages=[10], until="3 February 2026"),
            change("new", "Mira rows.", messages=[9], since="2026-05", until="2026-04"),
        ]

    first = [
        change("new", job, since="2019"),
        change("new", trip, since="2026-02-02", until="2026-02-09"),
        change("new", run, since="whenever"),
    ]
    tell(model, ana, conversation, first, change_job)
    spans = {
        fact["fact"]: (fact["valid_at"][:10], (fact["valid_until"] or "")[:10])
        for fact in ana.get("facts", conversation_id=conversation, state="all").json()["items"]
    }
    assert spans == {
        job: ("2019-01-01", "2026-03-01"),
        HARBOUR: ("2026-03-01", ""),
        trip: ("2026-02-02", "2026-02-09"),
        run: ("2026-03-02", "2026-03-02"),
        "Mira rows.": ("2026-05-01", ""),
    }
    query = {"conversation_id": str(conversation), "query": "Where is Mira?"}
    for day, shown in ("2026-02-05", True), ("2026-02-12", False):
        answer = ana.post("retrieve_memory/raw", {**query, "as_of": f"{day}T12:00:00Z"}).json()
        assert (trip in [hit["fact"] for hit in answer["semantic"]]) is shown
    assert trip in held(ana), "until when it is true is no end of what is believed"


def test_what_a_model_need_not_say_is_found_out(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    tell(
        model,
        ana,
        conversation,
        [change("new", HARBOUR)],
        lambda alias: [change("reinforce", "", alias[HARBOUR], messages=[9])],
    )
    fact = Fact.objects.of(ana.tenant).get()
    assert "Mira" in fact.keywords and "harbour" in " ".join(fact.keywords)
    assert Evidence.objects.of(ana.tenant).filter(fact=fact).count() == 2


def test_messages_tell_the_episode(model: ModelServer, ana: Agent, conversation: uuid.UUID) -> None:
    post(ana, conversation, messages(MOVING, MORNING) + messages(RUNNING, EVENING))
    model.script("segment", says(segments(segment(7), segment(15))))
    rows = [
        change("new", "Mira has a coach.", messages=[10]),
        change("new", HARBOUR, messages=[3, 1, 1]),
    ]
    model.script("consolidate", says(changes(*rows)))
    ana.flush(conversation)
    first, second = Episode.objects.of(ana.tenant).order_by("first_seq")
    evidence = Evidence.objects.of(ana.tenant).order_by("message_seqs")
    assert [(row.episode_id, row.message_seqs) for row in evidence] == [
        (first.id, [1, 3]),
        (second.id, [10]),
    ]


@pytest.mark.parametrize("answer", ["{", {"facts": [{"fact": BAKERY}]}])
def test_two_useless_answers_leave_facts_to_the_offline_engine(
    answer: Any, model: ModelServer, ana: Agent, talk: uuid.UUID
) -> None:
    model.script("segment", says(segments(segment(7))))
    model.script("consolidate", says(answer), says(answer))
    ana.flush(talk)
    changeset = Changeset.objects.of(ana.tenant).get()
    assert (changeset.engine, changeset.degraded, changeset.model) == ("offline", True, "heads-4")
    assert any("Rotterdam" in fact for fact in held(ana))


def test_an_answer_that_runs_on_is_cut(
    model: ModelServer, ana: Agent, conversation: uuid.UUID
) -> None:
    rows = [change("reinforce", "", "F1")] * 5_000
    tell(model, ana, conversation, rows)
    assert len(steps(ana)) == 100


@pytest.mark.gate
def test_a_text_is_embedded_by_its_start_however_long_it_is() -> None:
    start = "Mira moved. " * 200
    vectors = embeddings.embed_passages([start, start + "x" * 1_000_000])
    assert (vectors[0] == vectors[1]).all()
