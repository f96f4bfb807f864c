"""What of a message is left out to have room for others."""

from __future__ import annotations

import time

import pytest

from memoryproject.text.parts import Excerpt
from memoryproject.text.tokens import count_tokens
from retrieval.truncation import ELLIPSIS, Trimmer, split_sentences

FILLER = "Wow, that is great! Thanks, Mira!"
SAID = [
    f"{FILLER} My coach is Priya. How are you?",
    *[f"{FILLER} How are you?"] * 30,
]


@pytest.fixture
def trimmer() -> Trimmer:
    return Trimmer(question="Which coach has Mira?", messages=SAID, speakers=["Mira", "Jo"])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "Hi Dr. Smith! I ran 3.5 km. [photo: a dog] OK?",
            ["Hi Dr. Smith! ", "I ran 3.5 km. ", "[photo: a dog] ", "OK?"],
        ),
        ("“Really?” she said…  Yes.\nNo", ["“Really?” ", "she said… ", "Yes. ", "No"]),
        ("你好吗？“很好！”我在医院。", ["你好吗？", "“很好！”", "我在医院。"]),
        ("I smoke. Not any more. Jo does.", ["I smoke. Not any more. ", "Jo does."]),
        ("Verlobt! Scherz. Wir aßen nur.", ["Verlobt! Scherz. ", "Wir aßen nur."]),
        ("Hi. I met [Sarah] at noon.", ["Hi. ", "I met [Sarah] at noon."]),
        ("one line", ["one line"]),
        (" \n", []),
    ],
)
def test_sentences_are_told_apart(text: str, sentences: list[str]) -> None:
    assert [one.text for one in split_sentences(text)] == sentences


def test_what_everybody_says_is_left_out_and_marked(trimmer: Trimmer) -> None:
    assert trimmer.drop_filler(SAID[0]).text == f"{ELLIPSIS} My coach is Priya. {ELLIPSIS}"


def test_a_message_of_filler_alone_stays_as_it_is(trimmer: Trimmer) -> None:
    assert trimmer.drop_filler(SAID[1]) == Excerpt(SAID[1])


def test_among_few_messages_nothing_that_only_one_says_is_filler() -> None:
    few = ["I start on 1 April. I like ships.", "Fine. I like ships."]
    trimmer = Trimmer(question="When?", messages=few)
    assert trimmer.drop_filler(few[0]).text.startswith("I start on 1 April.")


def test_shortening_keeps_the_sentences_worth_most_in_their_order(trimmer: Trimmer) -> None:
    long = "Thanks, Mira! Priya trained the Olympic rowing squad. Great! The coach has a dog."
    assert trimmer.shorten(long).text == (
        f"{ELLIPSIS} Priya trained the Olympic rowing squad. {ELLIPSIS} The coach has a dog."
    )
    assert trimmer.shorten("Thanks, Mira!").text == "Thanks, Mira!"


@pytest.mark.parametrize("at_most", [16, 30, 100])
@pytest.mark.parametrize(
    "pad", ["The weather report repeats itself. ", "word ", "天气很好。", "天"]
)
def test_cutting_keeps_what_matches_within_the_room(
    trimmer: Trimmer, at_most: int, pad: str
) -> None:
    text = trimmer.cut(pad * 2_000 + " The coach is Priya. " + pad * 2_000, at_most=at_most).text
    assert count_tokens(text) <= at_most
    assert "Priya" in text or "coach" in text
    assert text.startswith(ELLIPSIS)


@pytest.mark.parametrize("text", ["." * 65_000, "a. " * 20_000, "[ " * 32_000, "我" * 60_000])
def test_the_longest_message_costs_no_more_than_some_seconds(trimmer: Trimmer, text: str) -> None:
    start = time.process_time()
    trimmer.drop_filler(text), trimmer.shorten(text), trimmer.cut(text, at_most=200)
    assert time.process_time() - start < 5  # what grows with the square takes minutes


REPLY = (
    "Great question! There are many things to think of. Keep a diary of your runs. "
    "For your knees I suggest the Brooks Ghost with a soft sole. "
    "Drink enough water. Stretch after each run. Let me know how it goes!"
)


def test_of_a_reply_the_sentences_that_answer_are_shown() -> None:
    trimmer = Trimmer(question="Which shoes are good for my knees?", messages=[REPLY, *SAID])
    answer = trimmer.answer(REPLY, at_most=100).text
    assert (
        answer
        == f"{ELLIPSIS} For your knees I suggest the Brooks Ghost with a soft sole. {ELLIPSIS}"
    )
    nothing_asked = Trimmer(question="Who sings?", messages=[REPLY, *SAID])
    assert count_tokens(nothing_asked.answer(REPLY, at_most=20).text) <= 20


def test_what_takes_a_sentence_back_stays_with_it() -> None:
    said = "I got engaged to Rachel last night! Just kidding. We only had dinner. Bye."
    trimmer = Trimmer(question="Who is engaged to Rachel?", messages=[said, *SAID])
    assert "Rachel last night! Just kidding." in trimmer.shorten(said).text
