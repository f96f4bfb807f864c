"""What counts as a repetition of an answer, sentence by sentence."""

from __future__ import annotations

import uuid

import pytest

from episodic.engines import Line
from semantic.echoes import Answers, Echoes, Printed, cut_quotes
from semantic.engines import Action, Category, Proposal, Served
from semantic.sources import Sources
from tests.semantic.fact_makers import MONDAY, say

LIVES = "Ana lives in Porto."
MOVED = "Ana moved from Lisbon to Porto last week (19–25 February 2024)."
NURSE = "Ana works as a nurse at the Santo Antonio hospital."
IN_REACH = frozenset({5})


def line(content: str, *, role: str = "assistant", seq: int = 5) -> Line:
    return Line(seq=seq, role=role, name="", content=content, at=MONDAY)


def is_echo(sentence: str, served: str, *, said: str = "", speaker: str = "") -> bool:
    """Whether `sentence`, drawn from what an assistant `said`, repeats what was served."""
    echoes = Echoes([Served(served, speaker, IN_REACH)])
    return echoes.find_origin(sentence, line=line(said or sentence)) is not None


@pytest.mark.parametrize(
    ("sentence", "served"),
    [
        (LIVES, LIVES),
        ("ana lives in PORTO", LIVES),
        ("The user lives in Porto.", LIVES),
        ("Ana is a nurse at the Santo Antonio hospital.", NURSE),
        ("Ana is living in Porto.", LIVES),
        ("Ana has 2 cats and a dog.", "Ana has two cats and a dog."),
        ("Ana moved to Porto.", MOVED),
        ("小明住在上海。", "小明住在上海，在一家医院当护士。"),
        ("用户住在上海。", "小明住在上海。"),
        ("小明现在住上海了。", "小明住在上海。"),
        ("アナはポルトに住んでいます。", "アナはポルトに住んでいます。"),
        ("Анна живёт в Порту.", "Анна живёт в Порту."),
        ("Ana: Ich wohne in Köln bei meiner Tante.", "Ana: Ich wohne in Köln bei meiner Tante."),
    ],
)
def test_the_same_in_other_words_is_an_echo(sentence: str, served: str) -> None:
    assert is_echo(sentence, served)


@pytest.mark.parametrize(
    ("sentence", "served"),
    [
        ("Ana lives in Porto with her dog Rex.", LIVES),
        ("Ana lives in Braga.", LIVES),
        ("Bo lives in Porto.", LIVES),
        ("Ana no longer lives in Porto.", LIVES),
        ("Ana moved from Porto to Lisbon.", MOVED),
        ("Ana has 3 cats and a dog.", "Ana has two cats and a dog."),
        ("Bo lent Ana a bike.", "Ana lent Bo a bike."),
        ("Ana prefers coffee to tea.", "Ana prefers tea to coffee."),
        ("Ana met Liam O'Brien.", "Ana met Liam O'Hara."),
        ("Assistant booked a table for Friday.", "Ana booked a table for Friday."),
        ("小明住在北京。", "小明住在上海。"),
        ("小红住在上海。", "小明住在上海。"),
        ("用户去了上海。", "小明住在上海。"),
        ("小明养了三只猫和狗。", "小明养了两只猫和狗。"),
        ("小明不住在上海。", "小明住在上海。"),
        ("Анна живёт в Лиссабоне.", "Анна живёт в Порту."),
        ("아나는 리스본에 살아요.", "아나는 포르투에 살아요."),
        ("Porto.", LIVES),
        ("?!", LIVES),
    ],
)
def test_what_says_more_or_other_is_none(sentence: str, served: str) -> None:
    assert not is_echo(sentence, served)


def test_the_words_of_two_sentences_are_not_put_together() -> None:
    served = "Mira: I'd love that! I own about forty boxes of books."
    assert not is_echo("Mira loves books.", served)


def test_what_a_message_says_is_told_about_its_speaker() -> None:
    said = "Jonas helps me with the piano. I live in Ghent."
    assert is_echo("Mira lives in Ghent.", said, speaker="Mira")
    assert is_echo("Jonas helps Mira with the piano.", said, speaker="Mira")
    assert not is_echo("Mira helps Jonas with the piano.", said, speaker="Mira")
    assert not is_echo("Jonas lives in Ghent.", said, speaker="Mira")
    assert is_echo("小明住在上海。", "我住在上海。", speaker="小明")


@pytest.mark.parametrize(
    ("sentence", "said", "echo"),
    [
        ("Ana moved to Porto in March 2024.", "You moved to Porto last week.", True),
        ("Ana moved to Porto last week (4–10 March 2024).", "You moved to Porto last week.", True),
        ("Ana moved to Porto on 3 March 2024.", "You moved to Porto yesterday.", False),
        ("Ana moved to Porto on 9 May 2024.", "You moved to Porto on 9 May.", False),
        ("安娜9月搬到波尔图。", "您9月搬到波尔图。", False),
    ],
)
def test_a_date_worked_out_from_an_echo_is_none_of_its_news(
    sentence: str, said: str, echo: bool
) -> None:
    assert is_echo(sentence, f"{MOVED} 安娜搬到波尔图。", said=said) == echo


@pytest.mark.parametrize(
    ("role", "seq", "echo"),
    [
        ("assistant", 5, True),
        ("tool", 5, True),
        ("user", 5, False),
        ("system", 5, True),
        ("assistant", 4, False),
        ("assistant", 6, False),
    ],
)
def test_only_who_was_served_repeats_and_only_within_reach(role: str, seq: int, echo: bool) -> None:
    echoes = Echoes([Served(LIVES, "", IN_REACH)])
    found = echoes.find_origin(LIVES, line=line(LIVES, role=role, seq=seq))
    assert (found is not None) == echo


def test_quotes_are_cut_within_reach_and_the_rest_stays() -> None:
    memory_id = uuid.uuid4()
    answers = Answers({}, [Printed(memory_id, LIVES, r"- Ana\s+lives\s+in\s+Porto\.", IN_REACH)])
    said = "Known:\n- Ana  lives in Porto.\nI have a bike."
    assert cut_quotes(line(said, role="user"), answers) == (
        "Known:\n\n\nI have a bike.",
        [memory_id],
    )
    assert cut_quotes(line(said, role="user", seq=6), answers) == (said, [])
    assert cut_quotes(line("Ana lives in Porto."), answers) == ("Ana lives in Porto.", [])


def propose(fact: str, *seqs: int, action: Action = Action.NEW, episode: int = 0) -> Proposal:
    return Proposal(action, None, Category.IDENTITY, fact, (), episode=episode, seqs=seqs)


def read_sources(*spoken: tuple[str, str], quotes: bool = False) -> Sources:
    """Return the sources of one episode, all but its first message within reach."""
    text = say(*[("", role, words) for role, words in spoken])
    reach = frozenset(range(1, len(spoken)))
    served = (Served(LIVES, "", reach), Served("Ana left the choir.", "", reach))
    return Sources([type(text)("", "", text.lines, served)], quotes=quotes)


def test_one_message_that_is_no_echo_is_enough() -> None:
    sources = read_sources(("user", "I live in Porto."), ("assistant", "You live in Porto."))
    assert sources.find_echo(propose(LIVES, 0, 1)) is None
    assert sources.own_seqs(propose(LIVES, 0, 1)) == (0,)
    assert sources.find_echo(propose(LIVES, 1)) is not None


def test_a_reworded_echo_does_not_confirm_what_was_served() -> None:
    sources = read_sources(("user", "Hm."), ("assistant", "Porto is your home, isn't it."))
    worded = propose("Ana has her home in Porto.", 1, action=Action.REINFORCE)
    assert sources.find_echo(worded) is None
    assert sources.find_echo(worded, sentence=LIVES) is not None


def test_an_end_is_judged_by_what_is_said() -> None:
    """The sentence of an invalidation is that of the fact to end."""
    sources = read_sources(
        ("user", "Hm."),
        ("assistant", "You left the choir. What else?"),
        ("assistant", "You left Porto."),
    )
    choir = propose("Ana sings in a choir.", 1, action=Action.INVALIDATE)
    assert sources.find_echo(choir) is not None
    assert sources.find_echo(propose(LIVES, 2, action=Action.INVALIDATE)) is None


def test_who_names_no_message_is_judged_by_those_that_speak_of_it() -> None:
    echo = ("assistant", "You live in Porto.")
    assert read_sources(("user", "Hm."), echo).find_echo(propose(LIVES)) is not None
    confirmed = read_sources(("user", "Hm."), echo, ("user", "Yes, in Porto."))
    assert confirmed.find_echo(propose(LIVES)) is None
    assert read_sources(("user", "Hm."), ("user", "Hm.")).find_echo(propose(LIVES)) is None
    cut = read_sources(("user", "Hm."), ("user", "Hm."), quotes=True)
    assert cut.find_echo(propose(LIVES)) is not None
    assert cut.find_echo(propose("Ana has a bike.")) is None


def test_an_echo_of_an_old_value_closes_nothing() -> None:
    echo = ("assistant", "Ana lives in Porto.")
    end = propose("Ana lives in Braga.", 1, action=Action.INVALIDATE)
    assert read_sources(("user", "Hm."), echo).find_echo(end) is not None
    assert read_sources(("user", "Hm."), ("user", "I live in Porto.")).find_echo(end) is None
