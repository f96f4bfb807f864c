"""Facts from a file are opened once, found like others, and can be taken back."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from episodic.models import Conversation, Episode
from indexing.models import SearchUnit, SearchVector
from jobs.draining import drain_jobs
from jobs.models import Job, Kind
from memoryproject.edge.errors import Problem
from semantic import curation, reverts
from semantic.curation import Act
from semantic.models import Change, Changeset, Evidence, Fact
from tests.conftest import Agent, make_agent
from tests.fresh import ana as ana
from tests.fresh import cleo as cleo
from tests.fresh import conversation as conversation
from tests.fresh import told as told
from wings.transfer import fact_imports
from wings.transfer.fact_imports import Fate
from wings.transfer.file_rows import Closed, Row, Unusable, parse_row

HOME = uuid.UUID("7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11")
SAID = {"fact": "Ana plays the cello.", "category": "interest"}


def row(fact: str = SAID["fact"], home: uuid.UUID = HOME, **more: Any) -> Row:
    return parse_row({**SAID, "fact": fact, "conversation_id": str(home), **more})


def act(agent: Agent) -> Act:
    return Act(tenant=agent.tenant, actor="curator", reason="from the old system")


def bring_in(agent: Agent, *rows: Row, **how: Any) -> dict[uuid.UUID, int]:
    return fact_imports.import_rows(
        act=act(agent), rows=rows, vectors=fact_imports.embed_rows(rows), **how
    )


def held(agent: Agent) -> list[str]:
    facts = Fact.objects.of(agent.tenant).filter(invalid_at=None)
    return sorted(facts.values_list("fact", flat=True))


def test_a_row_becomes_a_fact_that_an_agent_finds_by_words_and_by_meaning(ana: Agent) -> None:
    made = bring_in(ana, row(valid_at="2026-03-02"), row("Ana is allergic to peanuts."))
    assert sum(made.values()) == 2
    (changeset,) = Changeset.objects.of(ana.tenant)
    assert (changeset.kind, changeset.actor, changeset.reason) == (
        "import",
        "curator",
        "from the old system",
    )
    assert list(made) == [changeset.id]
    asked = {"conversation_id": str(HOME), "query": "Which instrument, a cello?", "explain": True}
    first = ana.post("context_pre_retrieve", asked).content.decode().splitlines()[1]
    assert first.startswith("- [interest, 2026-03-02] Ana plays the cello. (sources: 0")
    assert "words: 1, meaning: 1" in first


def test_doing_it_twice_does_it_once(ana: Agent) -> None:
    bring_in(ana, row())
    again = bring_in(ana, row(), row("ana  plays the CELLO"))
    assert again == {}
    assert held(ana) == ["Ana plays the cello."]
    assert Changeset.objects.of(ana.tenant).count() == 1


def test_the_same_sentence_twice_in_one_batch_opens_one_fact(ana: Agent) -> None:
    assert list(bring_in(ana, row(), row("Ana plays the cello")).values()) == [1]


def test_evidence_counts_where_the_conversation_has_the_episode(
    ana: Agent, told: uuid.UUID
) -> None:
    episode = Episode.objects.of(ana.tenant).order_by("id")[0]
    stranger = uuid.uuid4()
    given = [
        {"episode": str(episode.id), "messages": [episode.first_seq, 4000]},
        {"episode": str(stranger)},
    ]
    looked = fact_imports.survey(tenant=ana.tenant, rows=[row(home=told, evidence=given)])
    assert (looked.fates, looked.unknown_episodes) == ((Fate.NEW,), 1)
    bring_in(ana, row(home=told, evidence=given), row("Ana sings.", home=HOME, evidence=given))
    evidence = Evidence.objects.of(ana.tenant).get(changeset__kind="import")
    assert (evidence.episode, evidence.message_seqs) == (episode, [episode.first_seq])


def test_a_conversation_that_is_not_there_is_made_in_the_language_of_its_facts(ana: Agent) -> None:
    many = [
        row(f"Ana has travelled with her sister to the old harbour of town {n}.") for n in range(5)
    ]
    bring_in(ana, *many)
    conversation = Conversation.objects.of(ana.tenant).get()
    assert (conversation.external_id, conversation.language) == (HOME, "english")


def test_an_import_is_reverted_like_any_changeset_and_can_be_done_again(ana: Agent) -> None:
    made = bring_in(ana, row(), row("Ana sings."))
    reverts.revert_changeset(act=act(ana), changeset_id=next(iter(made)))
    assert held(ana) == []
    bring_in(ana, row())
    assert held(ana) == ["Ana plays the cello."]


def test_what_was_declared_wrong_stays_out(ana: Agent) -> None:
    bring_in(ana, row())
    fact = Fact.objects.of(ana.tenant).get()
    curation.invalidate_facts(act=act(ana), fact_ids=[fact.id], because=Fact.Because.WRONG)
    assert fact_imports.survey(tenant=ana.tenant, rows=[row()]).fates == (Fate.WRONG,)
    assert bring_in(ana, row()) == {} and held(ana) == []


def test_what_the_world_outran_may_come_back(ana: Agent) -> None:
    bring_in(ana, row())
    fact = Fact.objects.of(ana.tenant).get()
    curation.invalidate_facts(act=act(ana), fact_ids=[fact.id], because=Fact.Because.SUPERSEDED)
    assert list(bring_in(ana, row()).values()) == [1]


def test_a_later_batch_goes_on_with_the_changeset_and_one_revert_takes_all_back(ana: Agent) -> None:
    first = bring_in(ana, row())
    second = bring_in(ana, row("Ana sings."), goes_on=next(iter(first)))
    assert list(first) == list(second)
    positions = (
        Change.objects.of(ana.tenant).order_by("position").values_list("position", flat=True)
    )
    assert list(positions) == [0, 1]
    reverts.revert_changeset(act=act(ana), changeset_id=next(iter(first)))
    assert held(ana) == []
    third = bring_in(ana, row("Ana dances."), goes_on=next(iter(first)))
    assert list(third) != list(first)


def test_strangers_share_neither_facts_nor_conversations(ana: Agent, cleo: Agent) -> None:
    bring_in(ana, row())
    assert fact_imports.survey(tenant=cleo.tenant, rows=[row()]).fates == (Fate.NEW,)
    bring_in(cleo, row("Cleo sings."))
    assert (held(ana), held(cleo)) == (["Ana plays the cello."], ["Cleo sings."])


@pytest.mark.gate
def test_many_rows_are_found_by_words_at_once_and_by_meaning_when_a_job_has_run(
    ana: Agent,
) -> None:
    many = [row(f"Ana owns boat number {n}.") for n in range(fact_imports.EMBEDDED_AT_ONCE + 1)]
    assert list(bring_in(ana, *many).values()) == [len(many)]
    assert SearchUnit.objects.of(ana.tenant).count() == len(many)
    assert not SearchVector.objects.of(ana.tenant).exists()
    assert Job.objects.of(ana.tenant).get().kind == Kind.EMBED
    assert drain_jobs().dead == 0
    assert SearchVector.objects.of(ana.tenant).count() == len(many)


@pytest.mark.gate
def test_the_number_of_statements_does_not_grow_with_the_rows(
    ana: Agent, django_assert_max_num_queries: Any
) -> None:
    bring_in(ana, row())
    many = [row(f"Ana owns boat number {n}.") for n in range(100)]
    vectors = fact_imports.embed_rows(many)
    with django_assert_max_num_queries(25):
        fact_imports.import_rows(act=act(ana), rows=many, vectors=vectors)


def test_no_reason_no_import(ana: Agent) -> None:
    silent = Act(tenant=ana.tenant, actor="curator", reason=" ")
    with pytest.raises(Problem, match="Say why"):
        fact_imports.import_rows(act=silent, rows=[row()], vectors=[None])
    assert not Conversation.objects.of(ana.tenant).exists()


def test_a_row_is_kept_and_read_as_it_was() -> None:
    given = {"evidence": f"{uuid.uuid4()}:7,3 {uuid.uuid4()}", "keywords": "cello; music"}
    one = row(valid_at="2026-03-02T10:00+01:00", **given)
    assert one.valid_at == datetime(2026, 3, 2, 9, tzinfo=UTC)
    assert one.keywords == ("cello", "music")
    assert list(one.support.values()) == [(3, 7), ()]
    assert Row.model_validate(one.model_dump(mode="json")) == one


def test_keywords_are_drawn_from_the_sentence_and_the_conversation_may_be_a_common_one() -> None:
    one = parse_row({"fact": "Ana plays the cello.", "category": " Interest "}, conversation=HOME)
    assert one.conversation == HOME and "cello" in one.keywords and one.category == "interest"


@pytest.mark.parametrize("closed", [{"invalid_at": "2026-01-01"}, {"valid_until": "2026-01-01"}])
def test_a_closed_fact_is_told_from_a_faulty_one(closed: dict[str, str]) -> None:
    with pytest.raises(Closed):
        row(**closed)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"fact": ""}, "fact"),
        ({"fact": None}, "fact"),
        ({"fact": {"a": 1}}, "fact"),
        ({"fact": "x" * 1001}, "1,000"),
        ({"fact": "nul \x00"}, "stored"),
        ({"fact": "half \ud800"}, "stored"),
        ({"category": "gossip"}, "category"),
        ({"category": 5}, "category"),
        ({"category": None}, "category"),
        ({"conversation_id": "talk 1"}, "conversation_id"),
        ({"conversation_id": 7}, "conversation_id"),
        ({"conversation_id": ""}, "missing"),
        ({"keywords": 5}, "keywords"),
        ({"keywords": [["a"]]}, "keywords"),
        ({"keywords": "[" * 5000}, "keywords"),
        ({"keywords": ";".join(map(str, range(21)))}, "keywords"),
        ({"keywords": "x" * 101}, "keywords"),
        ({"keywords": ["\x00"]}, "stored"),
        ({"valid_at": "soon"}, "valid_at"),
        ({"valid_at": 5}, "valid_at"),
        ({"valid_at": "0001-01-01T00:00+14:00"}, "valid_at"),
        ({"evidence": "here"}, "evidence"),
        ({"evidence": 5}, "evidence"),
        ({"evidence": [5]}, "evidence"),
        ({"evidence": [{"episode": None}]}, "evidence"),
        ({"evidence": f"{HOME}:one"}, "evidence"),
        ({"evidence": [{"episode": str(HOME), "messages": "3"}]}, "evidence"),
        ({"evidence": [{"episode": str(HOME), "messages": [True]}]}, "evidence"),
        ({"evidence": [{"episode": str(HOME), "messages": [2**63]}]}, "evidence"),
        ({"evidence": [{"episode": str(HOME)}] * 101}, "evidence"),
    ],
)
def test_what_is_wrong_is_said_without_what_it_says(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(Unusable, match=said) as caught:
        row(**{"fact": SAID["fact"], **wrong})
    assert "cello" not in str(caught.value)


def test_bo_sees_what_was_imported_for_his_tenant(ana: Agent) -> None:
    bring_in(ana, row())
    bo = make_agent("ana's", "bo")
    answer = bo.get("facts", conversation_id=str(HOME)).json()
    assert "Ana plays the cello." in str(answer)
