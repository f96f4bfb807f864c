"""Relative time phrases get their date, never more precise than the phrase."""

from datetime import UTC, datetime

import pytest

from memoryproject.text.dates import anchor_times

THURSDAY = datetime(2023, 7, 6, 14, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "anchored"),
    [
        ("I ran yesterday.", "I ran yesterday (5 July 2023)."),
        ("We met last week.", "We met last week (26 June–2 July 2023)."),
        ("Last week's race", "Last week's (26 June–2 July 2023) race"),
        ("I moved last year", "I moved last year (2022)"),
        ("The fair is next month", "The fair is next month (August 2023)"),
        ("I quit two weeks ago", "I quit two weeks ago (19–25 June 2023)"),
        ("We wed ten years ago", "We wed ten years ago (2013)"),
        ("See you last Friday", "See you last Friday (30 June 2023)"),
        ("It opened last August", "It opened last August (August 2022)"),
        ("We camped last weekend", "We camped last weekend (1–2 July 2023)"),
        ("I fell a few days ago", "I fell a few days ago (shortly before 6 July 2023)"),
    ],
)
def test_an_english_phrase_is_followed_by_its_date(said: str, anchored: str) -> None:
    assert anchor_times(said, at=THURSDAY) == anchored


@pytest.mark.parametrize(
    ("said", "anchored"),
    [
        ("我昨天去了", "我昨天(2023年7月5日)去了"),
        ("去年毕业", "去年(2022年)毕业"),
        ("上周很忙", "上周(2023年6月26日至7月2日)很忙"),
        ("上周五见面", "上周五(2023年6月30日)见面"),
        ("下个月5号考试", "下个月5号(2023年8月5日)考试"),
        ("明天再说", "明天(2023年7月7日)再说"),
        ("三天前到的", "三天前(2023年7月3日)到的"),
        ("昨日は雨でした", "昨日(2023年7月5日)は雨でした"),
    ],
)
def test_a_chinese_or_japanese_phrase_is_followed_by_its_date(said: str, anchored: str) -> None:
    assert anchor_times(said, at=THURSDAY) == anchored


@pytest.mark.parametrize(
    "said",
    [
        "It got better over the last year",
        "I read it in two weeks",
        "Rome fell 1500 years ago",
        "以前天天跑步，二十年前也是",
        "2019年前没有",
        "no time is named here",
        "",
    ],
)
def test_a_phrase_that_cannot_be_placed_is_left_alone(said: str) -> None:
    assert anchor_times(said, at=THURSDAY) == said


def test_an_ambiguous_weekday_prints_both_days() -> None:
    assert anchor_times("next Friday", at=THURSDAY) == "next Friday (7 July 2023 or 14 July 2023)"


def test_a_count_of_weeks_is_a_date_only_when_it_lies_ahead() -> None:
    assert "(17–23 July 2023)" in anchor_times("I will fly in two weeks", at=THURSDAY)


def test_anchoring_twice_changes_nothing() -> None:
    once = anchor_times("yesterday, last week, 上周五, next Friday", at=THURSDAY)
    assert anchor_times(once, at=THURSDAY) == once


def test_a_week_that_crosses_a_year_prints_both_years() -> None:
    new_year = datetime(2024, 1, 8, tzinfo=UTC)
    assert "(1–7 January 2024)" in anchor_times("last week", at=new_year)
    assert "(25–31 December 2023)" in anchor_times("two weeks ago", at=new_year)


def test_a_day_that_the_month_does_not_have_is_left_alone() -> None:
    assert anchor_times("下个月31号", at=datetime(2023, 5, 1, tzinfo=UTC)).startswith("下个月")


@pytest.mark.parametrize(
    ("said", "anchored"),
    [
        ("Wir sind letzten Samstag umgezogen.", "letzten Samstag (1. Juli 2023)"),
        ("Ich habe es vor drei Wochen verkauft.", "vor drei Wochen (12.–18. Juni 2023)"),
        ("Das war im letzten Herbst mit meiner Frau.", "letzten Herbst (2022)"),
        ("Guten Morgen, ich bin nicht da.", "Guten Morgen, ich"),
        (
            "La semana pasada estuve con mi hermana.",
            "semana pasada (26 de junio–2 de julio de 2023)",
        ),
        ("J'ai commencé hier avec mon frère.", "hier (5 juillet 2023)"),
        ("Ik was vorige maand ziek en nu niet meer.", "vorige maand (juni 2023)"),
        ("She ran it last autumn.", "last autumn (2022)"),
        ("We were there last winter.", "last winter (2022/23)"),
    ],
)
def test_other_languages_and_seasons_are_dated(said: str, anchored: str) -> None:
    assert anchored in anchor_times(said, at=THURSDAY)
