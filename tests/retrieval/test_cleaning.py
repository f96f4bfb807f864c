"""What is printed into a prompt has nothing unseen, and nothing that is loaded or followed."""

from __future__ import annotations

import timeit
import unicodedata
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from memoryproject.text.cleaning import clean, clean_block, clean_line
from tests.retrieval.payloads import DEFINED, HOST, PAYLOADS, UNSEEN, assert_harmless

HARMLESS = [
    "I moved from Lisbon to Porto last week, and I work as a nurse now.",
    'She said "a < b", 1 <2, a>b & c; x[0]: y, f(x)[1], (see [1]) - and so on!',
    "def f(a: list[int]) -> int:\n    # a comment\n    return a[0] // 2",
    "## no heading of ours when it stands in a line",
    "50 % of 3 * 4 ~ 6, C:\\temp, a/b, and/or, 10:30, http is a protocol, www stands for web",
    "Ünïcödé – “quotes” … 漢字、かな。 한국어 Русский العربية עברית ไทย हिन्दी",
    "می‌خواهم نمی‌شود",
    "क्‍ष ന്‍ ශ්‍රී",
    "👩‍👩‍👧‍👦 👍🏽 🇧🇪 ❤️ 1️⃣ 🏳️‍🌈 🏴‍☠️ ©️ 🤷🏽‍♀️",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
    "one\n\n- two\n- [x] three\n1. four\n\n| a | b |\n|---|---|\n",
    "```python\n# a comment\nx = {}\n```",
    "mira@rotterdam.example wrote from rotterdam.example/harbour",
    "",
]
ORDINARY = [text for text in HARMLESS if not text.startswith("## ")]
PIECES = [
    "[", "]", "(", ")", "!", "<", ">", ":", "/", "//", "http", "https://", "HTTP://", "www.",
    HOST, "javascript:", "data:text/html;base64,", "img src=x", "a", "x", " ", "\n", "\r",
    "\x1b[31m", "\x1b]8;;", "\x07", "\x9b", "\u200b", "\u200d", "\u200c", "\ufe0f", "👩", "🏴",
    "\U000e0067",
    "क", "्", "\u202e", "#", "## ", "```", "~~~", "- ", "[note: x]", "> ", "\\", "`", "*",
    "\"", "1. ", "\u2028", "[1]: ", "ftp://", "`" * 4, "\u180b", "ᠠ",
]  # fmt: skip
HOSTILE = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(st.characters(codec="utf-8"), max_size=3)),
    max_size=24,
).map("".join)
TRIALS = settings(max_examples=400, deadline=None, derandomize=True)
READER = MarkdownIt("commonmark", {"html": True})
KEPT_UNSEEN = set("\n\t\u200c\u200d\ufe0e\ufe0f") | {chr(0xE007F)}
KEPT_UNSEEN |= {chr(0xE0000 + ord(letter)) for letter in "gbengsctwls"}
KEPT_UNSEEN |= set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
"""Kept where they belong, and Arabic signs that are format characters and yet seen."""


def active_parts(text: str) -> list[str]:
    """Return what a reader of markdown would load, follow or take for HTML."""
    found: list[str] = []
    for token in READER.parse(text):
        found += [token.content] if token.type == "html_block" else []
        for inner in token.children or []:
            if inner.type in {"image", "link_open", "html_inline"}:
                found.append(f"{inner.type} {inner.attrs or inner.content}")
    return found


def test_harmless_text_stays_as_it_is() -> None:
    for text in ORDINARY:
        assert clean(text) == text, text
        assert clean_block(text) == text, text


def test_harmless_text_on_one_line_stays_as_it_is() -> None:
    for text in HARMLESS:
        assert clean_line(text) == " ".join(text.splitlines()), text


def test_each_payload_is_made_harmless() -> None:
    for payload in PAYLOADS.values():
        assert clean_block(payload) != payload, payload
        assert_harmless(clean_block(payload))
        assert active_parts(clean_block(payload)) == [], payload
        line = f'- Ana: "{clean_line(payload)}"'
        assert "\n" not in line and active_parts(line) == [], payload


def test_the_words_stay_and_say_where_it_would_have_led() -> None:
    cases: list[tuple[str, str]] = [
        ("[the plan](https://host.example/x)", "[the plan] (hxxps://host.example/x)"),
        ("![chart](http://host.example/a.png)", "! [chart] (hxxp://host.example/a.png)"),
        ("<a href='https://h.example'>plan</a>", "< a href='hxxps://h.example'>plan< /a>"),
        ("see https://host.example/x?a=1#b.", "see hxxps://host.example/x?a=1#b."),
        ("see www.host.example", "see www[.]host.example"),
        ("www.www.host", "www[.]www.host"),
        ("see _Www.host.example_", "see _Www[.]host.example_"),
        ("[1]: /x", "\\[1]: /x"),
        ("javascript:alert(1)", "javascript :alert(1)"),
        ("JavaScript: the good parts", "JavaScript: the good parts"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;https://h.example\x1b\\words\x1b]8;;\x1b\\", "words"),
        ("invoice\u202egnp.exe", "invoicegnp.exe"),
        ("i\u200dgno\u200bre", "ignore"),
        ("❤\ufe0f\u200d🔥 a\ufe0f", "❤\ufe0f\u200d🔥 a"),
        ("data:image/png;base64," + "A" * 200, "data :image/png;base64,…"),
    ]
    for given_text, told in cases:
        assert clean_block(given_text) == told, (given_text, told)


def test_a_block_cannot_forge_what_stands_around_it() -> None:
    cases: list[tuple[str, str]] = [
        ("a\n## Facts", "a\n\\## Facts"),
        ("# System", "\\# System"),
        ("a\n  ### 2026-03-02", "a\n  \\### 2026-03-02"),
        ("- [identity] x", "\\- [identity] x"),
        ("[note: x]", "\\[note: x]"),
        ("```\n# in code\n```\n# out", "```\n# in code\n```\n\\# out"),
        ("```\n## Facts\n```", "```\n\\## Facts\n```"),
        ("```\nopen\n# x", "\\```\nopen\n\\# x"),
        ("~~~~\n~~~\n# x", "\\~~~~\n\\~~~\n\\# x"),
        ("``` a\n```\n```", "``` a\n```\n\\```"),
    ]
    for given_text, told in cases:
        assert clean_block(given_text) == told, (given_text, told)


@TRIALS
@given(text=HOSTILE)
def test_nothing_unseen_and_nothing_active_is_left(text: str) -> None:
    for cleaned in (clean(text), clean_line(text), clean_block(text)):
        wrong = [
            letter
            for letter in cleaned
            if unicodedata.category(letter) in {"Cc", "Cf"} and letter not in KEPT_UNSEEN
        ]
        assert wrong == []
    block = clean_block(text)
    assert active_parts(block) == []
    assert active_parts(f'- Ana: "{clean_line(text)}"\n\n[x]: /y') == []
    assert not DEFINED.search(block) or active_parts(f"{block}\n\n[x] [1] [note: x]") == []


@TRIALS
@given(text=HOSTILE)
def test_cleaning_again_changes_nothing(text: str) -> None:
    for way in (clean, clean_line, clean_block):
        assert way(way(text)) == way(text)


@TRIALS
@given(text=HOSTILE)
def test_what_is_cut_out_of_a_clean_line_is_clean(text: str) -> None:
    words = clean_line(text).split(" ")
    for word in words:
        assert clean(word) == word


@TRIALS
@given(text=st.text(st.characters(codec="utf-8", categories=["L", "N", "Zs"]), max_size=60))
def test_letters_and_numbers_of_every_script_are_kept(text: str) -> None:
    without = UNSEEN.sub("", text)
    if "www" not in text.lower():
        kept = clean(without)
        assert [letter for letter in kept if letter not in without] == []
        assert len(without) - len(kept) <= sum(without.count(one) for one in "\u17b4\u17b5")


def test_looking_at_ordinary_text_costs_microseconds() -> None:
    text = HARMLESS[0]
    seconds = min(timeit.repeat(lambda: clean(text), number=1_000, repeat=5)) / 1_000
    assert seconds < 50e-6


def test_no_text_takes_long() -> None:
    cases: list[str] = [
        "[" * 60_000, "](" * 30_000, "\x1b]" * 30_000, "[\n" * 30_000, "```\n" * 16_000,
        "\x1b[" + "0" * 60_000, "[a" * 30_000, "//" * 30_000, "data:" * 12_000, "\u200d" * 60_000,
        ("`" * 4 + "\n" + "`" * 3 + "\n") * 8_000, "- [" + "a" * 60_000, "> " * 30_000 + "[x]:",
    ]  # fmt: skip
    for text in cases:
        assert timeit.timeit(partial(clean_block, text), number=1) < 2.0
