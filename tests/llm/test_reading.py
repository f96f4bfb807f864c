"""How the rows of a model's answer are read against what it was shown."""

from __future__ import annotations

from typing import Any

from semantic.engines import Action, Category, KnownFact, Proposal
from semantic.llm.joining import join_alike
from semantic.llm.questions import compose_questions
from semantic.llm.reading import Row, Shown, find_doubt, find_fact, read_reply
from semantic.llm.replies import ConsolidationReply
from tests.llm.answers import change, changes
from tests.semantic.fact_makers import know, say

LISBON = know("Mira lives in Lisbon.")
CAT = know("Mira has a cat called Olaf.", alias="F2", category="experience")
TALK = say(
    ("Mira", "user", "I moved to Porto last week, with Olaf the cat."),
    ("", "assistant", "And how is the hospital?"),
    ("Mira", "user", "They made me head nurse! In June I go to Rome for a year."),
)


def show(*known: KnownFact, talk: Any = TALK) -> Shown:
    (question,) = compose_questions([talk], known, room=2_000)
    return Shown([talk], question.seqs, question.known, question.material)


def read(*rows: dict[str, Any], known: tuple[KnownFact, ...] = (LISBON, CAT)) -> list[Row]:
    return read_reply(ConsolidationReply.model_validate(changes(*rows)), show(*known))


def doubt(*rows: dict[str, Any], shown: Shown | None = None) -> str:
    reply = ConsolidationReply.model_validate(changes(*rows))
    return find_doubt(reply, shown or show(LISBON, CAT))


def test_a_fact_is_known_by_its_number_or_its_sentence() -> None:
    cases: list[Any] = [
        "F1",
        "f1",
        "[F1]",
        "1",
        1,
        " F1 ",
        "F1:",
        "F1 [identity]",
        "fact 1",
        "F1: Mira lives",
        "mira lives in Lisbon",
    ]
    for ref in cases:
        (row,) = read(change("update", "Mira lives in Porto.", ref, messages=[0]))
        assert row.proposal and (row.proposal.action, row.proposal.alias) == (
            Action.UPDATE,
            "F1",
        ), ref
        assert not doubt(change("update", "Mira lives in Porto.", ref, messages=[0])), ref


def test_a_ref_that_names_nothing_is_asked_again() -> None:
    for ref in ("", "F3", "P0", "X1", "Lisbon", "0", "F11", "F1F2", "F-1", "-1", "F1'; --x"):
        assert find_fact(ref, [LISBON, CAT]) is None, ref
        assert "F1 to F2" in doubt(change("update", "Mira lives in Porto.", ref, messages=[0])), ref


def test_messages_that_were_not_shown_are_looked_up_by_words() -> None:
    (row,) = read(change("new", "Mira is head nurse.", messages=[41]))
    assert row.proposal and row.proposal.seqs == (2,)
    (row,) = read(change("new", "Mira lives in Porto.", messages=[]))
    assert row.proposal and row.proposal.seqs == (0,), "half of it is a name"
    (row,) = read(change("new", "Mira collects stamps.", messages=[41]))
    assert (row.proposal, row.note) == (None, "no_source")
    (row,) = read(change("invalidate", "", "F2", messages=[]))
    assert row.proposal and row.proposal.seqs == (0,)


def test_a_row_of_the_example_is_left_out() -> None:
    cases: list[dict[str, Any]] = [
        change("update", "Qvenja is head nurse in Zbrolk.", "F1", messages=[0]),
        change("update", "Mira lives in Porto.", "X1", messages=[-3]),
        change("invalidate", "", "F1", messages=[-3]),
        change("new", "The assistant should call Qvenja Ms Tharnokk.", messages=[2]),
    ]
    for row in cases:
        assert [(one.proposal, one.note) for one in read(row)] == [(None, "example")], row


def test_a_fact_is_not_ended_by_another_subject() -> None:
    vegetarian = change("update", "Mira is head nurse.", "F2", messages=[2])
    (row,) = read({**vegetarian, "cat": "identity"})
    assert row.proposal and (row.ends, row.reason) == ("F2", "other_subject")
    assert (row.proposal.action, row.proposal.category) == (Action.NEW, Category.IDENTITY)
    (row,) = read(change("invalidate", "", "F2", messages=[2]))
    assert (row.proposal, row.ends, row.reason) == (None, "F2", "other_subject")


def test_what_is_to_come_leaves_the_present_alone() -> None:
    rome = change("update", "Mira lives in Rome.", "F1", messages=[2], since="2024-06")
    (row,) = read(rome)
    assert row.proposal and row.proposal.action is Action.NEW and row.proposal.valid_at
    assert (row.ends, row.reason, row.proposal.valid_at.month) == ("F1", "not_yet", 6)


def test_a_plan_that_moves_replaces_the_plan() -> None:
    plan = know("Mira moves to Rome in May.", category="goal")
    moved = change("update", "Mira moves to Rome in June.", "F1", messages=[2], since="2024-06")
    (row,) = read({**moved, "cat": "goal"}, known=(plan,))
    assert row.proposal and (row.proposal.action, row.ends) == (Action.UPDATE, "")


def test_a_month_ends_with_its_last_day() -> None:
    (row,) = read(change("new", "Mira is in Rome.", messages=[2], since="2024-06-03/2025-02"))
    assert row.proposal and row.proposal.valid_until
    assert (row.proposal.valid_until.month, row.proposal.valid_until.day) == (2, 28)


def test_a_relative_who_is_named_first_is_somebody_else() -> None:
    age = know("Mira is 52 years old.")
    talk = say(("Mira", "user", "My cousin Leo is 60 years old."))
    leo = change("update", "Leo, Mira's cousin, is 60 years old.", "F1", messages=[0])
    reply = ConsolidationReply.model_validate(changes({**leo, "cat": "identity"}))
    (row,) = read_reply(reply, show(age, talk=talk))
    assert row.proposal and (row.proposal.action, row.ends) == (Action.NEW, "F1")


MAIL = say(
    ("Mira", "user", 'Sum up this mail: "From: Leo Brandt. I am diabetic and rest in Cádiz."'),
)


def test_what_a_pasted_mail_says_is_its_authors() -> None:
    cases: list[tuple[str, str]] = [
        ("Mira is diabetic and rests in Cádiz.", "pasted"),
        ("Leo Brandt says in a mail to Mira that he is diabetic.", ""),
    ]
    for sentence, note in cases:
        row = {**change("new", sentence, messages=[0]), "cat": "identity"}
        reply = ConsolidationReply.model_validate(changes(row))
        assert [one.note for one in read_reply(reply, show(talk=MAIL))] == [note], (sentence, note)


def test_a_fact_in_another_language_is_asked_again() -> None:
    talk = say(
        ("Giulia", "user", "Ho due gatti, Micio e Palla, e lavoro come infermiera alle Molinette."),
        ("Giulia", "user", "Da ieri vivo a Bologna con mia sorella, che studia medicina."),
    )
    shown = show(talk=talk)
    english = change("new", "Giulia works as a nurse and has two cats.", messages=[0])
    italian = change("new", "Giulia lavora come infermiera e ha due gatti.", messages=[0])
    assert "'it'" in doubt(english, shown=shown) and "'en'" in doubt(english, shown=shown)
    assert not doubt(italian, shown=shown)
    assert "gatti" not in doubt(english, shown=shown)


def test_the_question_shows_people_and_the_oldest_fact_first() -> None:
    """What the next question repeats stands first, so that a server need not read it again."""
    newest_first = (know("Mira has a dog.", alias="F2"), know("Mira has a cat.", alias="F1"))
    first, second = (show(*newest_first[-count:]).material.splitlines() for count in (1, 2))
    assert first[:2] == second[:2] and second[2].startswith("F2 ")
    assert "People: Mira (user)" in second


def test_an_elided_article_is_nobody_s_name() -> None:
    rules = [
        know("L'assistant doit tutoyer Mira.", alias="F1"),
        know("L'assistant doit compter en kilos.", alias="F2"),
    ]
    assert "People: Mira (user)" in show(*rules).material.splitlines()
    sisters = [know("Jo's car is red.", alias="F1"), know("Jo's flat is old.", alias="F2")]
    assert "People: Mira (user), Jo" in show(*sisters).material.splitlines()


def propose(fact: str, *seqs: int) -> Proposal:
    return Proposal(Action.NEW, None, Category.EXPERIENCE, fact, (), episode=0, seqs=seqs)


def test_near_duplicates_of_an_answer_are_joined() -> None:
    cases: list[tuple[str, str, bool]] = [
        ("Mira has a cat.", "Mira has a cat called Olaf.", True),
        ("Mira likes tea.", "MIRA LIKES TEA", True),
        ("Mira said: I nurse old cats in Porto.", "Mira told: I nurse old cats in Porto.", True),
        ("Mira has a flat in Porto with Rhys.", "Mira has a flat with Rhys in Porto.", True),
        ("Mira likes tea.", "Mira does not like tea.", False),
        ("Mira likes tea.", "Mira likes coffee.", False),
        ("Mira lives in Porto.", "Mira's brother lives in Porto.", False),
        ("Mira runs 5 km.", "Mira runs 10 km.", False),
        ("Ana lent Bo a bike.", "Bo lent Ana a bike.", False),
    ]
    for a, b, is_same in cases:
        kept, joined = join_alike([propose(a, 1), propose(b, 1, 2)])
        assert (len(kept), joined) == ((1, 1) if is_same else (2, 0)), (a, b, is_same)
        if is_same:
            assert kept[0].seqs == (1, 2) and len(kept[0].fact) == max(len(a), len(b)), (
                a,
                b,
                is_same,
            )
