"""Titles and summaries are short, readable, dated and never empty."""

from datetime import UTC, datetime, timedelta

import pytest

from episodic.engines import Line
from episodic.offline.lexicon import find_lexicon
from episodic.offline.sentences import read_sentences
from episodic.offline.summaries import compose_summary
from episodic.offline.titles import compose_title, cut_phrases
from episodic.text_sizes import clip_words, count_words
from tests.episodic.conversations import (
    FLIGHT,
    GARDEN,
    MARATHON,
    SOUP,
    embed_lines,
    make_lines,
)


def title_of(lines: list[Line]) -> str:
    return compose_title(lines, embed_lines(lines), find_lexicon(lines))


def summary_of(lines: list[Line]) -> str:
    return compose_summary(lines, embed_lines(lines), find_lexicon(lines))


@pytest.mark.gate
@pytest.mark.parametrize("said", [FLIGHT, SOUP, GARDEN, MARATHON, FLIGHT + SOUP + GARDEN])
def test_a_title_has_five_to_fifteen_words_and_a_summary_at_most_fifty(
    said: tuple[tuple[str, str], ...],
) -> None:
    lines = make_lines(said)
    assert 5 <= count_words(title_of(lines)) <= 15
    assert 5 <= count_words(summary_of(lines)) <= 50


def test_a_title_names_the_speakers_and_the_subject() -> None:
    title = title_of(make_lines(MARATHON))
    assert title.startswith("Ana and Bo: ")
    assert "marathon" in title.lower() or "knee" in title.lower()


def test_a_title_without_names_tells_the_subject_and_the_wish() -> None:
    title = title_of(make_lines(FLIGHT))
    assert "flight" in title.lower()
    assert not title.lower().startswith("user")


@pytest.mark.parametrize(
    "said",
    [
        [("Ana", "👍")],
        [("user", "ok")],
        [("Ana", "ok"), ("assistant", "👍")],
        [("user", "???"), ("assistant", "...")],
        [("小明", "好")],
        [("user", "はい")],
        [("user", "x" * 600)],
        [("Ana Maria Lopez de la Cruz y Montoya", "hi")],
        [("Ana", "https://example.org/" + "a" * 300)],
    ],
)
def test_poor_content_still_gets_a_title_of_five_to_fifteen_words(
    said: list[tuple[str, str]],
) -> None:
    lines = make_lines(said)
    assert 5 <= count_words(title_of(lines)) <= 15
    assert 1 <= len(summary_of(lines)) <= 400
    assert len(title_of(lines)) <= 300


def test_a_summary_quotes_what_was_told_rather_than_what_was_asked() -> None:
    summary = summary_of(make_lines(MARATHON))
    assert "Bo: " in summary
    assert "four hours and ten minutes" in summary
    assert "Long time no see" not in summary


def test_a_summary_gives_a_short_answer_with_its_question() -> None:
    said = [
        ("user", "Do you sell wool jumpers for children here?"),
        ("assistant", "Yes, these are woven in the mountains and very warm."),
        ("user", "How much does the blue one cost?"),
        ("assistant", "70 yuan."),
    ]
    summary = summary_of(make_lines(said))
    assert "User: How much does the blue one cost? Assistant: 70 yuan." in summary


def test_a_summary_tells_what_the_talk_is_for() -> None:
    said = [
        ("user", "Hello there!"),
        ("user", "Could you help me to book a hotel in Porto?"),
        *(
            ("assistant", f"The Hotel Douro {n} has 2{n} rooms and my favourite view.")
            for n in "123"
        ),
        *(("user", f"I slept in Hotel Ribeira {n} with my 3 cousins in May.") for n in "123"),
    ]
    assert "book a hotel in Porto?" in summary_of(make_lines(said))


def test_sentences_without_a_mark_do_not_run_on() -> None:
    said = [("Ana", "I live in Porto"), ("Ana", "My brother Rui lives in Lisbon")]
    summary = summary_of(make_lines(said))
    assert summary == "Ana: I live in Porto. My brother Rui lives in Lisbon."


def test_a_title_does_not_take_an_offer_of_help_for_a_wish() -> None:
    said = [
        ("user", "Can I help you?"),
        ("assistant", "I am looking for a red woollen skirt."),
        ("user", "This red skirt is made of wool."),
    ]
    title = title_of(make_lines(said))
    assert "Can I help you" not in title
    assert "red woollen skirt" in title.lower()


@pytest.mark.parametrize(
    ("content", "phrases"),
    [
        ("We trained until Anna Cole came.", ["Anna Cole"]),
        ("He bought Rui's boat.", ["Rui's boat"]),
        ("It was in front of the harbour's", ["harbour"]),
        ("A typhoon went north; the storm weakened", ["typhoon", "storm"]),
        ("My wife Ines runs in the old town", ["wife", "Ines", "old town"]),
        ("Nah, nice!", []),
    ],
)
def test_phrases_are_noun_phrases_without_loose_ends(content: str, phrases: list[str]) -> None:
    english = find_lexicon(make_lines([("Ana", "It was in front of the house and we were there.")]))
    assert list(cut_phrases(content, english)) == phrases


def test_a_summary_leaves_kind_words_out() -> None:
    said = [
        ("Ana", "I adopted a brown dog called Max from the animal shelter in Porto."),
        ("Bo", "Wow, Ana, that brown dog from the shelter looks awesome!"),
        ("Ana", "Max sleeps on my bed and wakes my whole family at six in the morning."),
        ("Bo", "Congrats to your family and to Max, the happiest dog in Porto!"),
    ]
    summary = summary_of(make_lines(said))
    assert "animal shelter" in summary and "six in the morning" in summary
    assert "Wow" not in summary and "Congrats" not in summary


def test_a_summary_keeps_the_order_in_which_things_were_said() -> None:
    summary = summary_of(make_lines(MARATHON))
    assert summary.index("marathon in four hours") < summary.index("physiotherapist")


def test_a_summary_dates_relative_times() -> None:
    said = [
        ("Ana", "I went to a support group for new parents yesterday."),
        ("Bo", "We moved to our house in Porto last year."),
    ]
    summary = summary_of(make_lines(said, start=datetime(2023, 5, 8, 12, tzinfo=UTC)))
    assert "yesterday (7 May 2023)" in summary
    assert "last year (2022)" in summary


def test_a_chinese_summary_dates_relative_times_and_keeps_the_names() -> None:
    said = [("小明", "我昨天去爬山了，风景很好。"), ("小红", "我上周也去了那座山。")]
    lines = make_lines(said, start=datetime(2024, 3, 5, tzinfo=UTC), step=timedelta(minutes=1))
    assert "昨天(2024年3月4日)" in summary_of(lines)
    assert "小红" in title_of(lines)
    assert 5 <= count_words(title_of(lines)) <= 15


def test_words_are_counted_in_scripts_with_and_without_spaces() -> None:
    assert count_words("We met last week - again.") == 5
    assert count_words("今天天气很好") == 3
    assert count_words("") == 0


def test_a_clipped_text_fits_and_shows_that_it_was_cut() -> None:
    assert clip_words("one two three four", 2) == "one two…"
    assert clip_words("今天天气很好", 2) == "今天天气…"
    assert clip_words("short enough", 2) == "short enough"


def test_sentences_end_at_marks_but_not_inside_numbers() -> None:
    assert read_sentences("It costs 3.50 euros. Buy it!") == ["It costs 3.50 euros.", "Buy it!"]
    assert read_sentences("Ab 1. Mai arbeite ich. Gut!") == ["Ab 1. Mai arbeite ich.", "Gut!"]
    assert read_sentences("你好。再见！") == ["你好。", "再见！"]
    assert read_sentences("Come at 10:30 a. m. on Monday.") == ["Come at 10:30 a. m. on Monday."]
    assert read_sentences("Mr. Hu , well., I see it.") == ["Mr. Hu , well., I see it."]
