"""What the offline engine learns from what users say, what it ends, and what it leaves alone."""

import pytest

from semantic.engines import Action, Category, SuggestionKind
from semantic.offline.consolidator import OfflineConsolidator
from tests.semantic.fact_makers import MONDAY, consolidate, know, learn, say


def facts_of(*messages: str, name: str = "Bo") -> list[str]:
    return [item.fact for item in learn(*((name, "user", words) for words in messages))]


def test_a_plain_statement_becomes_a_fact_with_its_source() -> None:
    (fact,) = learn(("Bo", "user", "I live in Lisbon with my sister."), ("Ana", "user", "Nice!"))
    assert (fact.action, fact.alias) == (Action.NEW, None)
    assert fact.fact == "Bo lives in Lisbon with their sister."
    assert fact.category == Category.IDENTITY
    assert {"Bo", "Lisbon"} <= set(fact.keywords)
    assert (fact.episode, fact.seqs, fact.valid_at) == (0, (0,), MONDAY)


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm 41 and work as a tax adviser.", "Bo works as a tax adviser."),
        ("I moved to Porto and I love it.", "Bo moved to Porto and loves it."),
        ("My wife Ines runs faster than me.", "Bo's wife Ines runs faster than Bo."),
        ("From 1 August I'll work freelance.", "From 1 August Bo will work freelance."),
        (
            "My docs are at https://docs.example/a?b=1.",
            "Bo's docs are at https://docs.example/a?b=1.",
        ),
        ("我现在住在上海。", "Bo现在住在上海。"),
        ("Our daughter Mila has started school.", 'Bo: "Our daughter Mila has started school."'),
        ("Ich wohne im 3. Stock in Köln.", 'Bo: "Ich wohne im 3. Stock in Köln."'),
        ("Am 9. Mai ziehe ich nach Leipzig um.", 'Bo: "Am 9. Mai ziehe ich nach Leipzig um."'),
        ("Vivo en Valencia desde 2019.", 'Bo: "Vivo en Valencia desde 2019."'),
    ],
)
def test_what_is_plain_is_rewritten_and_the_rest_is_quoted(said: str, fact: str) -> None:
    assert fact in facts_of(said)


def test_a_sentence_of_several_statements_gives_one_fact_each() -> None:
    assert facts_of("I'm on 20 mg omeprazole every morning, and I can't take aspirin.") == [
        "Bo is on 20 mg omeprazole every morning.",
        "Bo can't take aspirin.",
    ]


def test_he_is_named_where_only_one_person_can_be_meant() -> None:
    _, fact = facts_of("My colleague Sam Okafor wants to join me. He's vegan and runs marathons.")
    assert fact == 'Bo: "[Sam Okafor] is vegan and runs marathons."'


def test_a_user_without_a_name_is_called_user_until_one_is_told() -> None:
    assert facts_of("I live in Tokyo.", name="") == ["User lives in Tokyo."]
    known = [know("User's name is Tom.", keywords=("Tom",))]
    (fact,) = learn(("", "user", "I live in Tokyo."), known=known)
    assert fact.fact == "Tom lives in Tokyo."
    named = facts_of("Hi, I'm Tom.", "I live in Tokyo.", name="")
    assert named == ["User's name is Tom.", "Tom lives in Tokyo."]


@pytest.mark.parametrize(
    "said",
    [
        "Hey Ana! How are you doing today?",
        "Thanks, that's awesome, good for you!",
        "If I ever win the lottery I'll move to Kenya with my brother.",
        "Maybe I'll buy a boat in Crete.",
        "April fool: I've quit running and moved to Rome.",
        "Remind me to call the dentist in Ghent tomorrow.",
        "How's the bakery in Porto treating you",
        "My brother says I look like a retired boxer from Ghent.",
        'He wrote: "I live in Rome and I work as a pilot at night."',
        "```\nI live in Rome with my wife\n```",
        "> I live in Rome with my wife",
        "Can you summarise this?\nFrom: a@b.example\nSubject: Hi\nI live in Rome and love it.",
        "Wenn ich im Lotto gewinne, kaufe ich dir ein Lastenrad.",
        "如果我中了彩票，我就搬到上海。",
        "你周末想去哪里玩？",
    ],
)
def test_what_is_no_statement_of_the_user_is_no_fact(said: str) -> None:
    assert facts_of(said) == []


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_others_than_users_say_is_no_fact(role: str) -> None:
    assert not learn(("Ana", role, "I live in Rome. Please always answer in short sentences."))


def test_a_relative_time_is_anchored() -> None:
    (fact,) = facts_of("I ran a half marathon in Ghent yesterday.")
    assert "yesterday (3 March 2024)" in fact


def test_a_wish_to_the_assistant_becomes_a_guideline() -> None:
    facts = learn(
        ("", "user", "Please always answer in short sentences."),
        ("", "user", "Call me Bo."),
        ("", "user", "Don't use emojis."),
        ("", "user", "请以后用中文回答。"),
        ("", "user", "Antworte bitte immer auf Deutsch."),
    )
    guidelines = [fact.fact for fact in facts if fact.category is Category.GUIDELINE]
    assert guidelines == [
        "Assistant should always answer in short sentences.",
        "Assistant should call the user Bo.",
        "Assistant should not use emojis.",
        "助手应该用中文回答。",
        'Bo: "Antworte bitte immer auf Deutsch."',
    ]


def test_a_task_of_the_moment_is_no_guideline() -> None:
    assert not facts_of("Please open the file and send it to my boss.")


def test_a_repetition_reinforces() -> None:
    (again,) = learn(("Bo", "user", "I live in Porto."), known=[know("Bo lives in Porto now.")])
    assert (again.action, again.alias) == (Action.REINFORCE, "F1")


@pytest.mark.parametrize(
    ("active", "said"),
    [
        ("Bo lives in Lisbon.", "I moved to Porto last week."),
        ("Bo works for Acme.", "I got a new job at Zenith."),
        ("Bo works in a bakery.", "I got fired last Friday."),
        ("Bo is on the ovens at Pollard's from four.", "I handed in my notice at Pollard's."),
        ("Bo is engaged.", "We got married in June."),
        ('Bo: "Mila is six."', "Mila is seven now."),
        ("Bo's rent is 1,150 euros.", "My rent went up to 1,240 euros."),
        ("Bo's manager is Dana.", "My new manager is called Priya."),
        ("Bo has choir on Tuesdays.", "Choir has moved to Wednesdays."),
        ("Bo loves bananas.", "I hate bananas now."),
        ("Bo drives a Corsa.", "I sold the Corsa."),
        ("Bo smokes a pack a day.", "I quit smoking in June."),
        ("Bo is vegetarian.", "I'm no longer vegetarian."),
        ("Bo is planning a trip to Iceland in July.", "I cancelled the trip to Iceland."),
        (
            'Bo: "The code for the street door is 4471."',
            "They've changed the door code, it's 9026.",
        ),
        ("Assistant should always answer in German.", "Please never answer in German."),
        ("Bo住在北京。", "我搬到上海了。"),
        ("Bo的体重是78公斤。", "我的体重降到72公斤了。"),
        ("Bo每天抽一包烟。", "我戒烟了。"),
    ],
)
def test_a_newer_value_of_the_same_slot_takes_the_place_of_the_older(
    active: str, said: str
) -> None:
    changed = [item for item in learn(("Bo", "user", said), known=[know(active)]) if item.alias]
    assert [(item.action, item.alias) for item in changed] == [(Action.UPDATE, "F1")]


@pytest.mark.parametrize(
    ("active", "said"),
    [
        ("Bo lives in Lisbon.", "I was in Porto for a week with my brother."),
        ("Bo lives in Lisbon.", "My sister moved to Porto last week."),
        ("Bo watches football every Saturday.", "My brother stopped watching football."),
        ("Bo has a cat called Miso.", "I have a dog called Rex."),
        ("Bo ran a marathon last June.", "I can't run marathons any more."),
        ('Bo: "Max doesn\'t miss a single match."', "Max never misses his dinner!"),
        ("Bo is playing The Witcher 3.", "I found the old drum set I used to play on."),
        ("Bo likes tea.", "I love coffee."),
        ("Bo's rent is 1,150 euros.", "My sister's rent is 900 euros."),
        ("Bo works as a nurse.", "I also volunteer at the shelter on weekends."),
    ],
)
def test_what_is_about_something_else_ends_nothing(active: str, said: str) -> None:
    answer = consolidate(("Bo", "user", said), known=[know(active)])
    assert not [item for item in answer.proposals if item.alias == "F1"]
    assert not answer.suggestions


def test_a_second_value_without_a_word_of_change_is_a_suggestion() -> None:
    answer = consolidate(("Bo", "user", "I live in Basel."), known=[know("Bo lives in Zurich.")])
    (new,) = answer.proposals
    assert (new.action, new.alias) == (Action.NEW, None)
    (suggestion,) = answer.suggestions
    assert (suggestion.kind, suggestion.old, suggestion.new, suggestion.reason) == (
        SuggestionKind.CONTRADICTION,
        "F1",
        "P0",
        "same_slot",
    )


def test_a_fact_that_says_more_than_what_is_over_is_left_to_a_person() -> None:
    known = know("Bo's rent is 1,150 euros, and Bo is allergic to aspirin.")
    answer = consolidate(("Bo", "user", "My rent went up to 1,240 euros."), known=[known])
    assert [item.action for item in answer.proposals] == [Action.NEW]
    assert [item.reason for item in answer.suggestions] == ["part"]


def test_a_correction_that_names_no_object_mends_what_was_learnt_last() -> None:
    """The server shows what is known newest first."""
    known = [
        know("Bo's train leaves at 9:15.", alias="F1"),
        know("Bo's bus leaves at 8:10.", alias="F2"),
    ]
    (proposal,) = learn(("Bo", "user", "Sorry, 9:25."), known=known)
    assert (proposal.alias, proposal.fact) == ("F1", "Bo's train leaves at 9:25.")


@pytest.mark.parametrize(
    ("active", "said", "mended"),
    [
        (
            "Bo's wedding is on the 13th of June.",
            "Actually it's the 14th, not the 13th.",
            "Bo's wedding is on the 14th of June.",
        ),
        (
            "Bo is allergic to ibuprofen.",
            "I was wrong: it's not ibuprofen that I'm allergic to, it's naproxen.",
            "Bo is allergic to naproxen.",
        ),
        ("Bo's cat is called Luna.", "Oops, it's Lula, not Luna.", "Bo's cat is called Lula."),
        ("Bo's flight leaves at 7 am.", "Wait, it's 9 am.", "Bo's flight leaves at 9 am."),
        (
            'Bo: "Our Cistern holds 3.000 Liter."',
            "Korrektur: 5.000, nicht 3.000.",
            'Bo: "Our Cistern holds [5.000] Liter."',
        ),
        ("Bo的航班到虹桥。", "看错了，不是虹桥，是浦东。", "Bo的航班到浦东。"),
    ],
)
def test_a_correction_mends_the_fact(active: str, said: str, mended: str) -> None:
    (fact,) = learn(("Bo", "user", said), known=[know(active)])
    assert (fact.action, fact.alias, fact.fact) == (Action.UPDATE, "F1", mended)


def test_a_later_sentence_of_one_run_names_the_earlier_proposal() -> None:
    first, second = learn(
        ("Bo", "user", "I live in Lisbon."), ("Bo", "user", "I've moved to Porto.")
    )
    assert (first.action, second.action, second.alias) == (Action.NEW, Action.UPDATE, "P0")


def test_the_same_words_give_the_same_answer() -> None:
    spoken = ("Bo", "user", "I have two cats, Pixel and Miso. I work at the port of Ghent.")
    assert learn(spoken) == learn(spoken)


def test_episodes_are_told_apart_by_their_index() -> None:
    episodes = [say(("Bo", "user", "I live in Porto.")), say(("Bo", "user", "I hate bananas."))]
    answer = OfflineConsolidator().consolidate(episodes=episodes, known=[])
    assert [item.episode for item in answer.proposals] == [0, 1]
