"""Whatever an answer prints of a memory is recognised where it comes back."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic.engines import Line
from episodic.models import Episode, Message
from memoryproject.text.cleaning import DEFANGED, clean_line
from memoryproject.text.parts import Excerpt, join
from retrieval import markdown
from retrieval.excerpts import add_dates
from retrieval.receipts import echoes
from semantic.echoes import Answers, Printed, cut_quotes
from semantic.engines import Served
from semantic.models import Fact

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
MEMORY = uuid.UUID("7c1b5f3e-2d53-4d0c-9a53-0f6a1f0c9d11")
REACH = frozenset({1})
LETTER = st.one_of(
    st.characters(codec="utf-8", exclude_characters="\x00"), st.sampled_from(' \n\t"*[]()#-\\.a')
)
TEXT = st.text(LETTER, max_size=60).filter(str.strip)


def cut(shown: str, forms: list[echoes.Form]) -> tuple[str, bool]:
    """Return what is left of a text that a user posts, and whether it quotes a memory."""
    printed = [Printed(MEMORY, " ".join(text.split()), form, REACH) for text, form in forms]
    line = Line(seq=1, role="user", name="", content=shown, at=NOW)
    rest, quoted = cut_quotes(line, Answers({}, printed))
    return rest, quoted == [MEMORY]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(content=TEXT, name=st.one_of(st.just(""), TEXT), with_day=st.booleans())
def test_any_message_is_cut_as_it_is_printed(content: str, name: str, with_day: bool) -> None:
    message = Message(role="user", name=name, content=content, occurred_at=NOW)
    shown = join(markdown.render_message(message, DEFANGED, with_day=with_day)[:-1])
    form = echoes.make_message_form(message)
    assert cut(shown, [form]) == ("", True)
    assert cut(f"### 2026-03-02\n{shown}\nI have a bike.", [form]) == ("I have a bike.", True)


def test_times_dates_and_marks_of_order_are_cut_with_what_they_stand_beside() -> None:
    content = "Yesterday I ran  in the park. Tomorrow I rest."
    message = Message(role="user", name="Mira", content=content, occurred_at=NOW)
    dated = add_dates(Excerpt(content), content, at=NOW)
    assert "Yesterday (1 March 2026) I ran in" in dated.text
    shown = markdown.render_message(message, DEFANGED, time="09:00 ", excerpt=dated)
    assert cut(join(shown)[:-1], echoes.list_message_forms(message)) == ("", True)
    forms = echoes.list_fact_forms(Fact(category="identity", fact="Mira runs."))
    assert cut("- [identity, 2 March 2026, earlier] Mira runs.", forms) == ("", True)
    of_several = "- [identity, 2 March 2026 (conversation d6355d08)] Mira runs."
    assert cut(of_several, forms) == ("", True)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(sentence=TEXT)
def test_any_fact_is_cut_as_it_is_printed_or_listed(sentence: str) -> None:
    forms = echoes.list_fact_forms(Fact(category="identity", fact=sentence))
    text = clean_line(sentence)
    for shown in (
        f"- [identity] {text} (sources: 2 conversations)",
        f"- [identity, 2026-03-02] {text} [id: {MEMORY}]",
        f"## Semantic Memory\n- [identity] {text} (sources: 1 conversation)",
    ):
        assert cut(shown, forms) == ("", True)
        assert cut(f"{shown}\nI have a bike.", forms) == ("I have a bike.", True)


def test_a_bare_sentence_is_cut_as_an_item_of_a_list_and_kept_in_speech() -> None:
    forms = echoes.list_fact_forms(Fact(category="identity", fact="Ana lives in Porto."))
    for item in ("- Ana lives in Porto.", "2. Ana lives in  Porto.", '* "Ana lives in Porto."'):
        assert cut(f"Known:\n{item}\nHello", forms) == ("Known:\n\n\nHello", True)
    for spoken in ("Ana lives in Porto.", "I heard that Ana lives in Porto. - Really"):
        assert cut(spoken, forms) == (spoken, False)


def test_the_same_words_under_another_label_are_not_ours() -> None:
    forms = echoes.list_headline_forms(Episode(title="Ana and Porto", summary="Ana: I live there."))
    ours = "### Ana and Porto [rank: 1, score: 0.03]\n**When:** 2 days ago\n"
    ours += "**Summary:** Ana: I live there."
    assert cut(ours, forms) == ("", True)
    spoken = "We spoke of Ana and Porto. Ana: I live there."
    assert cut(spoken, forms) == (spoken, False)


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        ("… I moved to Porto. …", True),
        ("I live alone. … My cat likes it.", True),
        ("… My cat likes it. … I live alone.", False),
        ("… I moved to Braga. …", False),
        ("…", False),
    ],
)
def test_a_message_that_an_answer_shortened_is_cut(said: str, ours: bool) -> None:
    whole = "I live alone. I moved to Porto.\nMy cat likes it."
    patterns = (echoes.SHORTENED_LINE, echoes.SHORTENED)
    answers = Answers({Served(whole, "Ana", REACH): MEMORY}, [], patterns)
    for shown in (f'- Ana: "{said}"', f'### 2026-03-02\n- Ana: "{said}"\n', f'Ana: "{said}" - x'):
        line = Line(seq=1, role="user", name="", content=shown, at=NOW)
        left = "- x" if shown.endswith("x") else ""
        assert cut_quotes(line, answers) == ((left, [MEMORY]) if ours else (shown, []))
        other = replace(line, content=shown.replace("Ana", "Bo"))
        assert cut_quotes(other, answers) == (other.content, [])
