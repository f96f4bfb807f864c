"""What the offline engine learns from an episode, and what it leaves alone."""

import pytest

from semantic.engines import Action, Category
from semantic.offline_consolidator import OfflineConsolidator
from tests.semantic.fact_makers import MONDAY, embed, know, learn, say


def test_a_statement_becomes_a_fact_with_its_source() -> None:
    (fact,) = learn(("Bo", "user", "I live in Lisbon with my sister."), ("Ana", "user", "Nice!"))
    assert (fact.action, fact.alias) == (Action.NEW, None)
    assert fact.fact == "Bo lives in Lisbon with their sister."
    assert fact.category == Category.IDENTITY
    assert {"Bo", "Lisbon"} <= set(fact.keywords)
    assert (fact.episode, fact.seqs, fact.valid_at) == (0, (0,), MONDAY)


def test_a_user_without_a_name_is_called_user() -> None:
    (fact,) = learn(("", "user", "I live in Tokyo."))
    assert fact.fact == "User lives in Tokyo."


def test_small_talk_questions_and_praise_yield_nothing() -> None:
    assert not learn(
        ("Bo", "user", "Hey Ana! How are you doing today?"),
        ("Ana", "assistant", "Thanks, that's awesome, good for you!"),
        ("Bo", "user", "Could I ever live on a farm in Norway?"),
        ("Ana", "assistant", "If I were rich I would buy a boat in Crete."),
    )


def test_a_relative_time_is_anchored() -> None:
    (fact,) = learn(("Bo", "user", "I ran a half marathon in Ghent yesterday."))
    assert "yesterday (3 March 2024)" in fact.fact


def test_a_named_assistant_line_is_a_persons() -> None:
    (fact,) = learn(("Ana", "assistant", "I painted the old barn behind our house."))
    assert fact.fact.startswith("Ana painted the old barn")


def test_an_unnamed_assistants_advice_is_no_fact() -> None:
    assert not learn(
        ("", "assistant", "I think Paris is lovely in spring and its museums are great."),
    )


def test_a_tools_text_is_no_fact() -> None:
    assert not learn(("", "tool", "I live in Rome. Please always answer in short sentences."))


def test_an_opinion_is_told_as_the_speakers() -> None:
    (fact,) = learn(("Bo", "user", "Pottery classes help children with anxiety and low focus."))
    assert fact.fact.startswith("Bo says that pottery classes")


def test_a_fact_is_short() -> None:
    long = "I painted a lake and " + "walked around the old town of Ghent and " * 12 + "slept."
    (fact,) = learn(("Bo", "user", long))
    assert len(fact.fact.split()) <= 40


def test_a_wish_to_the_assistant_becomes_a_guideline() -> None:
    facts = learn(
        ("", "user", "Please always answer in short sentences."),
        ("", "user", "Call me Bo."),
        ("", "user", "Don't use emojis."),
        ("", "user", "请以后用中文回答。"),
    )
    assert [fact.category for fact in facts] == [Category.GUIDELINE] * 4
    assert [fact.fact for fact in facts] == [
        "Assistant should always answer in short sentences.",
        "Assistant should call User Bo.",
        "Assistant should not use emojis.",
        "助手应该用中文回答。",
    ]


def test_a_task_of_the_moment_is_no_guideline() -> None:
    facts = learn(("", "user", "Please open the file and fix the bug."))
    assert all(fact.category != Category.GUIDELINE for fact in facts)


def test_a_repetition_reinforces() -> None:
    (fact,) = learn(("Bo", "user", "I live in Lisbon."), known=[know("Bo lives in Lisbon.")])
    assert (fact.action, fact.alias) == (Action.REINFORCE, "F1")


def test_a_new_value_updates_the_known_fact() -> None:
    (fact,) = learn(("Bo", "user", "I moved to Porto."), known=[know("Bo lives in Lisbon.")])
    assert (fact.action, fact.alias, fact.fact) == (Action.UPDATE, "F1", "Bo moved to Porto.")


def test_a_negation_that_says_what_is_over_takes_its_place() -> None:
    held = know("Bo plays guitar in a band.", category="interest")
    (fact,) = learn(("Bo", "user", "I don't play guitar any more."), known=[held])
    assert (fact.action, fact.alias) == (Action.UPDATE, "F1")
    assert fact.fact == "Bo doesn't play guitar any more."


def test_an_end_that_does_not_name_what_is_over_invalidates() -> None:
    held = know("Bo plays guitar in a band.", category="interest")
    (fact,) = learn(("Bo", "user", "I don't play it any more."), known=[held])
    assert (fact.action, fact.alias) == (Action.INVALIDATE, "F1")


@pytest.mark.parametrize(
    ("held", "said", "mended"),
    [
        (
            "Bo's cat is called Luna.",
            "Correction: my cat is called Nova.",
            "Bo's cat is called Nova.",
        ),
        (
            "Bo is allergic to walnuts.",
            "Sorry, I misspoke. I'm allergic to hazelnuts.",
            "Bo is allergic to hazelnuts.",
        ),
        (
            "Bo has two years of experience.",
            "That was wrong. I have six years of experience.",
            "Bo has six years of experience.",
        ),
        ("Bo's sister lives in Rome.", "Sorry, I meant Milan.", "Bo's sister lives in Milan."),
        ("小明的狗叫旺财。", "说错了，我的狗叫来福。", "小明的狗叫来福。"),
        (
            "Bo got a kitten! Her name's Luna.",
            "Correction: my kitten's name is Nova.",
            "Bo got a kitten! Her name's Nova.",
        ),
        (
            "Bo wants to see the Isle of Man.",
            "I meant the Isle of Skye.",
            "Bo wants to see the Isle of Skye.",
        ),
    ],
)
def test_a_correction_takes_the_place_of_what_was_wrong(held: str, said: str, mended: str) -> None:
    facts = learn(("Bo" if held.isascii() else "小明", "user", said), known=[know(held)])
    assert [(fact.action, fact.alias, fact.fact) for fact in facts] == [
        (Action.UPDATE, "F1", mended)
    ]


@pytest.mark.parametrize(
    ("held", "said", "left"),
    [
        ("Bo likes tea and coffee.", "I don't like coffee any more.", "Bo likes tea."),
        ("小明喜欢喜剧和爱情片。", "我现在讨厌爱情片。", "小明喜欢喜剧。"),
    ],
)
def test_what_else_was_listed_still_holds(held: str, said: str, left: str) -> None:
    facts = learn(("Bo" if held.isascii() else "小明", "user", said), known=[know(held)])
    assert (Action.UPDATE, "F1", left) in [(fact.action, fact.alias, fact.fact) for fact in facts]


def test_somebody_elses_move_replaces_nothing() -> None:
    (fact,) = learn(("Ana", "user", "I moved to Porto."), known=[know("Bo lives in Lisbon.")])
    assert fact.action == Action.NEW


def test_a_correction_mends_the_known_sentence() -> None:
    held = know("Bo's wedding is on the 13th of June.", category="goal")
    (fact,) = learn(("Bo", "user", "Actually it's the 14th, not the 13th."), known=[held])
    assert (fact.action, fact.alias) == (Action.UPDATE, "F1")
    assert fact.fact == "Bo's wedding is on the 14th of June."
    assert fact.category == Category.GOAL


def test_a_later_sentence_of_one_run_names_the_earlier_proposal() -> None:
    facts = learn(("Bo", "user", "I live in Lisbon."), ("Bo", "user", "I've moved to Porto."))
    assert [(fact.action, fact.alias) for fact in facts] == [
        (Action.NEW, None),
        (Action.UPDATE, "P0"),
    ]


def test_one_sentence_updates_one_fact_and_invalidates_the_rest() -> None:
    known = [know("Bo lives in Lisbon."), know("Bo is based in Lisbon now.", alias="F2")]
    facts = learn(("Bo", "user", "I moved to Porto."), known=known)
    assert [(fact.action, fact.alias) for fact in facts] == [
        (Action.UPDATE, "F1"),
        (Action.INVALIDATE, "F2"),
    ]


def test_silence_is_embedded_by_nobody() -> None:
    def refuse(texts: object) -> object:
        raise AssertionError("nothing to embed")

    consolidator = OfflineConsolidator(embed=refuse)  # type: ignore[arg-type]
    assert consolidator.consolidate(episodes=[say(("Bo", "user", "Hi!"))], known=[]).proposals == ()


def test_the_same_words_give_the_same_answer() -> None:
    spoken = ("Bo", "user", "I live in Lisbon. I love jazz and I play the cello on Sundays.")
    assert learn(spoken) == learn(spoken)


def test_episodes_are_told_apart_by_their_index() -> None:
    episodes = [say(("Bo", "user", "I live in Lisbon.")), say(("Bo", "user", "I have two cats."))]
    answer = OfflineConsolidator(embed=embed).consolidate(episodes=episodes, known=[])
    assert [fact.episode for fact in answer.proposals] == [0, 1]
    assert (answer.engine, answer.degraded) == ("offline", False)
