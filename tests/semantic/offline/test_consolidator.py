"""What the offline engine keeps of what users say: their own words, and nothing else."""

from dataclasses import replace
from datetime import timedelta

import pytest

from episodic.engines import Line
from memoryproject.ai.embeddings import read_built_in
from semantic.engines import Action, Category, EpisodeText, SuggestionKind
from semantic.offline.consolidator import OfflineConsolidator
from tests.semantic.fact_makers import MONDAY, consolidate, know, learn, say

DONE = ("", "assistant", "OK.")
HALF_A_YEAR = timedelta(days=180)


def facts_of(*messages: str, name: str = "Bo") -> list[str]:
    """Return the facts after a chat with an assistant."""
    return [item.fact for item in learn(*((name, "user", words) for words in messages), DONE)]


def test_a_statement_becomes_a_fact_in_the_speakers_words_with_its_source() -> None:
    (fact,) = learn(("Bo", "user", "I live in Lisbon with my sister."), ("Ana", "user", "Nice!"))
    assert (fact.action, fact.alias) == (Action.NEW, None)
    assert fact.fact == 'Bo: "I live in Lisbon with my sister."'
    assert {"Bo", "Lisbon"} <= set(fact.keywords)
    assert (fact.episode, fact.seqs, fact.valid_at) == (0, (0,), MONDAY)


@pytest.mark.parametrize(
    "said",
    [
        "My email is me@example.org.",
        "My site is https://nora.example.org/~me?x=1.",
        "I use the handle @me_myself_i on Mastodon.",
        "I drive a Mini Cooper and my i3 is for sale.",
        "I keep notes in ~/my-notes/I.txt.",
        "I set MY_VAR=me in my .env file.",
        "My mother is 70 and lives in Bonn.",
        "I'm 5'7\" tall and weigh 61.5 kg.",
        'My favourite book is "The Remains of the Day".',
    ],
)
def test_no_letter_of_what_was_said_changes(said: str) -> None:
    (fact,) = facts_of(said)
    assert fact.replace(" (26 February – 3 March 2024)", "") == f'Bo: "{said}"'


@pytest.mark.parametrize(
    "said",
    [
        "My husband snores.",
        "My son attends Lincoln High School.",
        "My subscription renews on the 5th.",
        "My mortgage matures in 2031.",
        "My IBAN ends in 4471.",
        "That said, I'm allergic to bees.",
        "This summer we are moving to Leeds.",
        "That evening my son broke his arm.",
        "The staging server is at 10.0.0.4.",
        "Ich bin gegen Nüsse allergisch.",
        "Vivo en Valencia desde 2019.",
        "Je travaille comme infirmière à Lyon.",
        "Mam na imię Kasia i mieszkam w Gdańsku.",
        "私は東京で看護師をしています。",
        "저는 부산에 살아요.",
        "我对花生过敏。",
        # Begins with what is "he", "it" or "there" in another language.
        "He dejado el tabaco.",
        "Il sabato mattina gioco a bocce.",
        "Il mio capo si chiama Ettore.",
        "Er staat een piano in onze gang.",
        # They are nobody in particular.
        "They've given me the desk by the lift.",
        "Sie haben mir die Wohnung gekündigt.",
    ],
)
def test_what_tells_of_a_life_is_kept_in_any_language(said: str) -> None:
    assert any(said.rstrip(".。") in fact for fact in facts_of(said))


@pytest.mark.parametrize(
    "said",
    [
        "Remember that I'm diabetic.",
        "Don't forget that I have a peanut allergy.",
        "Make a note: my locker code is 4482.",
        "Merk dir, dass ich Linkshänder bin.",
        "Recuerda que mi hermana vive en Quito.",
        "请记住我女儿叫小雨。",
    ],
)
def test_what_is_to_be_remembered_is_kept(said: str) -> None:
    (fact,) = learn(("Bo", "user", said), DONE)
    assert said in fact.fact and fact.category is not Category.GUIDELINE


@pytest.mark.parametrize(
    "said",
    [
        "Hey Ana! How are you doing today?",
        "Thanks, that's awesome, good for you!",
        "> I live in Rome with my wife",
        "```\nI live in Rome with my wife\n```",
        "[Document: bio.txt]\nI was born in Quito. I have five children.\n[/Document]",
        "<context>I work at Initech.</context>",
        "From: a@b.example\nSubject: Hi\nI live in Rome and love it.",
        "Can you proofread this cover letter?\n\nI am a marine biologist and live in Perth.",
        "Write a short story in the first person: I am a detective and I own a black cat.",
        "Act as my grandmother. You are 80 years old and you live in Naples.",
        "2026-11-03 10:00:01 ERROR user=bob I am unable to connect to 10.0.0.4",
        "Character sheet for my D&D game: I am Thorin, a dwarf. I hate elves.",
        "*bangs the gavel* I'm Judge Morrow and I own half this town.",
        "Play the customs officer:\n— I'm Dora Lim. I live in Quito and I carry two parrots.",
        'He wrote:\n"I was born in Riga in 1961. I have two sons and drive the tram."',
    ],
)
def test_what_is_not_meant_or_not_ones_own_is_no_fact(said: str) -> None:
    assert facts_of(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Ist das zu lang?\n\nIch bin Imker in Lund und habe zwei Töchter.",
        "Punctuation only\n\ni work at the port\nmy son is called ole and he is nine",
        "Make this letter warmer:\n\nDear all, I am leaving on 3 May. My new address is 4 Elm Row.",
        "Who is right here?\n\nA: I pay the rent.\nB: I cook, and the dog is mine.",
        "Résume :\n\nMa tante habite à Lille. Elle a ouvert un garage en 1970.",
        "续写：\n\n我住在山顶的庙里。我有三个徒弟。",
    ],
)
def test_a_text_below_what_is_asked_about_it_is_somebodys_material(said: str) -> None:
    assert facts_of(said) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("What could I plant in May?\n\nI have a balcony in Turku.", "I have a balcony in Turku."),
        ("Let me explain:\n\nI live in Turku with my wife.", "I live in Turku with my wife."),
        ("How do I tell my boss?\n\nI'm pregnant.", "I'm pregnant."),
        ("Was hilft bei Husten?\n\nIch bin schwanger.", "Ich bin schwanger."),
    ],
)
def test_own_words_below_a_question_are_kept(said: str, kept: str) -> None:
    assert f'Bo: "{kept}"' in facts_of(said)


def test_own_words_below_own_words_are_kept() -> None:
    own = facts_of("My mother lives in Bonn.\n\nI'm a beekeeper in Lund.")
    assert own == ['Bo: "My mother lives in Bonn."', 'Bo: "I\'m a beekeeper in Lund."']


def test_own_words_around_a_pasted_block_are_read() -> None:
    assert facts_of("```\nx = 1\n```\nBy the way, I live in Turku with my dog.") == [
        'Bo: "By the way, I live in Turku with my dog."'
    ]
    assert 'Bo: "I live in Oslo and work as a baker."' in facts_of(
        "I live in Oslo and work as a baker.\nfoo(1);\nbar = {\n}"
    )
    assert facts_of("About me:\nI'm a nurse in Ghent.") == ['Bo: "I\'m a nurse in Ghent."']


@pytest.mark.parametrize(
    "said",
    [
        "Answer in German please.",
        "No emojis please.",
        "Keep your answers short.",
        "Whenever I ask for a recipe, leave out nuts.",
        "Réponds toujours en français.",
        "항상 한국어로 답해 주세요.",
        "Always include version numbers when I ask about dependencies.",
        "From now on give lengths in inches.",
        "If I paste an invoice, name the due date first.",
        "Wenn ich nach einem Film frage, verrate nie das Ende.",
        "Dès que je colle un tableau, commence par le total.",
        "Cuando te mande una foto, descríbela primero.",
        "今後は結論から書いてください。",
        "我贴日志的时候，先说最后一行。",
    ],
)
def test_a_standing_instruction_is_kept_whole(said: str) -> None:
    (fact,) = learn(("Bo", "user", said), DONE)
    assert (fact.fact, fact.category) == (f'Bo: "{said}"', Category.GUIDELINE)


@pytest.mark.parametrize(
    "said",
    [
        "Please write the email in French.",
        "Can you explain recursion with short examples?",
        "Please give me a summary of chapter 3.",
        "Please open the file and send it to my boss.",
        "Could you translate this email into German?",
        "Write a function that drops all odd numbers.",
        "Sort the guests by table, children first.",
        "Leave out the greeting this time.",
        "Schreib diesmal ohne Anrede.",
        'Check the spelling:\n\n"I wrote in May. I am still at 4 Elm Row, as you know, sir."',
    ],
)
def test_a_request_for_now_is_no_guideline(said: str) -> None:
    assert not [fact for fact in learn(("Bo", "user", said), DONE)
                if fact.category is Category.GUIDELINE]  # fmt: skip


def test_between_people_nothing_is_a_guideline() -> None:
    facts = learn(("Bo", "user", "Always be concise, please."), ("Ana", "user", "Sure."))
    assert not [fact for fact in facts if fact.category is Category.GUIDELINE]


@pytest.mark.parametrize("role", ["assistant", "tool", "system"])
def test_what_others_than_users_say_is_no_fact(role: str) -> None:
    assert not learn(("Ana", role, "I live in Rome. Please always answer in short sentences."))


def test_a_relative_time_has_its_date_beside_it() -> None:
    (fact,) = facts_of("I ran my first half marathon in Ghent yesterday.")
    assert fact == 'Bo: "I ran my first half marathon in Ghent yesterday (3 March 2024)."'


def test_the_same_words_again_confirm_and_of_somebody_else_are_another_fact() -> None:
    known = [know('Bo: "I live in Porto with my sister."')]
    (again,) = learn(("Bo", "user", "I live in Porto with my sister."), known=known)
    assert (again.action, again.alias) == (Action.REINFORCE, "F1")
    (other,) = learn(("Ana", "user", "I live in Porto with my sister."), known=known)
    assert (other.action, other.fact) == (Action.NEW, 'Ana: "I live in Porto with my sister."')


@pytest.mark.parametrize(
    ("active", "said"),
    [
        ("I live in Oslo.", "I no longer live in Bergen."),
        ("I have a son.", "My colleague's son died last week."),
        ("I like coffee.", "I don't like coffee after 6 pm."),
        ("I live in Oslo.", "I moved to Linux."),
        ("Vivo en Madrid.", "Ya no vivo en Cádiz."),
        ("My phone number is 555-0143.", "My new phone number is 555-0177."),
        ("I have a dog.", "My neighbour's dog died."),
        ("I live in Oslo.", "I live in Bergen now."),
    ],
)
def test_nothing_is_retired_by_guess(active: str, said: str) -> None:
    known = [know(f'Bo: "{active}"')]
    proposals = learn(("Bo", "user", said), known=known)
    assert {item.action for item in proposals} <= {Action.NEW}


@pytest.mark.parametrize(
    ("active", "said"),
    [
        ("My phone number is 555-0143.", "My new phone number is 555-0177."),
        ("I live in Oslo.", "I live in Rome now."),
        ("I live in Oslo.", "I've moved, we're in Rome now."),
        ("I work at the brewery.", "I've left the brewery, I'm at the town hall now."),
        ("My dentist is Dr Bell.", "I've changed dentists, it's Dr Moss now."),
        ("Ich wohne in Ulm.", "Ich bin umgezogen, ich wohne jetzt in Bonn."),
        ("Je vis à Nantes.", "On a déménagé, on est à Pau maintenant."),
        ("Vivo en León.", "Me he mudado, ahora vivo en Cádiz."),
        ("私は奈良に住んでいます。", "先月、神戸に引っ越しました。"),
        ("我住在青岛。", "我搬到烟台了。"),
    ],
)
def test_a_likely_replacement_is_suggested(active: str, said: str) -> None:
    known = [replace(know(f'Bo: "{active}"'), valid_at=MONDAY - HALF_A_YEAR)]
    answer = consolidate(("Bo", "user", said), known=known)
    (suggestion,) = answer.suggestions
    assert suggestion.kind is SuggestionKind.CONTRADICTION
    assert (suggestion.old, suggestion.new, suggestion.reason) == ("F1", "P0", "replaced")


@pytest.mark.parametrize("said", ["Sorry, I meant Bergen.", "Correction: I live in Bergen."])
def test_an_explicit_correction_takes_the_place_of_what_was_just_said(said: str) -> None:
    first, second = learn(("Bo", "user", "I live in Oslo."), ("Bo", "user", said))
    assert (first.action, second.action, second.alias) == (Action.NEW, Action.UPDATE, "P0")
    assert second.fact == f'Bo: "I live in Oslo. … {said}"' and second.seqs == (0, 1)


def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    facts = facts_of("We adopted a dog called Miso. She is three years old.", "She loves rivers.")
    assert facts == [
        'Bo: "We adopted a dog called Miso. She is three years old. … She loves rivers."'
    ]


def test_a_sentence_that_leans_on_a_question_brings_it_along() -> None:
    asked = "Did I tell you about my sister Noor? She lives in Porto and works as a nurse."
    assert facts_of(asked) == [f'Bo: "{asked}"']


def test_a_sentence_about_somebody_unnamed_is_not_kept_alone() -> None:
    assert facts_of("She lives in Porto and works as a nurse.") == []


def test_news_about_what_is_known_is_kept_though_it_looks_dull() -> None:
    known = [know('Bo: "The code of the gate is 4411."')]
    (news,) = learn(("Bo", "user", "They reset it last week, the gate takes 9032."), known=known)
    assert news.fact.startswith('Bo: "They reset it')


def test_news_is_kept_though_it_is_put_as_a_request() -> None:
    said = ("Bo", "user", "can you put my dentist at 4:30 instead.")
    known = [know('Bo: "my dentist is at 2:15 on Friday"')]
    assert [item.fact for item in learn(said, known=known)] == [f'Bo: "{said[2]}"']
    assert not learn(said)


def test_a_request_is_no_guideline_for_a_guideline_that_it_resembles() -> None:
    known = [know('Bo: "Antworte mir bitte immer auf Deutsch."', category="guideline")]
    said = ("Bo", "user", "Kannst du mir das mal kurz auf Deutsch übersetzen")
    assert all(item.category != "guideline" for item in learn(said, known=known))


def test_a_list_is_kept_with_its_heading() -> None:
    assert facts_of("My allergies:\n- peanuts\n- bee stings") == [
        'Bo: "My allergies: - peanuts - bee stings"'
    ]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My locker code is 4482. Please remember that.", "My locker code is 4482."),
        ("Remember this:\nThe spare key is under the fern.", "The spare key is under the fern."),
    ],
)
def test_what_is_pointed_at_is_remembered(said: str, kept: str) -> None:
    assert f'Bo: "{kept}"' in facts_of(said)


def test_prefixes_name_the_speakers_of_nameless_messages() -> None:
    facts = facts_of(
        "Priya: I live in Graz and I hate coriander.",
        "Tomás: I live in Linz with my mother.",
        "[Wei] I live in Wels and I have a cat.",
        name="",
    )
    assert [fact.partition(":")[0] for fact in facts] == ["Priya", "Tomás", "Wei"]


def test_the_same_messages_give_the_same_answer() -> None:
    spoken = ("Bo", "user", "I have two cats, Pixel and Miso. I work at the port of Ghent.")
    assert learn(spoken) == learn(spoken)


def test_episodes_are_told_apart_by_their_index() -> None:
    episodes = [
        say(("Bo", "user", "I live in Porto.")),
        say(("Bo", "user", "I'm allergic to bananas.")),
    ]
    answer = OfflineConsolidator(read_built_in).consolidate(episodes=episodes, known=[])
    assert [item.episode for item in answer.proposals] == [0, 1]


def test_a_later_message_of_another_run_corrects_by_a_suggestion() -> None:
    line = Line(7, "user", "Bo", "Sorry, I meant Bergen.", MONDAY + timedelta(minutes=1))
    known = [know('Bo: "I live in Oslo."')]
    known = [replace(known[0], valid_at=MONDAY)]
    answer = OfflineConsolidator(read_built_in).consolidate(
        episodes=[EpisodeText("", "", (line,))], known=known
    )
    assert not answer.proposals
    assert [(item.old, item.new, item.reason) for item in answer.suggestions] == [
        ("F1", None, "corrected")
    ]
