"""The offline engine finds the language of a talk, and the words that tell something in it."""

import pytest

from episodic.offline.lexicon import find_lexicon
from episodic.offline.segmenter import OfflineSegmenter
from tests.episodic.conversations import embed_lines, make_lines

ENGLISH = "I was at the shop and bought a lamp, thanks for asking."
GERMAN = "Ich war im Laden und habe eine Lampe gekauft, danke der Nachfrage."
CHINESE = "我昨天去商店买了一盏台灯，谢谢你的关心。"
JAPANESE = "昨日お店でランプを買いました、ありがとうございます。"
THAI = "เมื่อวานฉันไปซื้อโคมไฟที่ร้าน"


@pytest.mark.parametrize(
    ("content", "assistant"),
    [
        (ENGLISH, "the assistant"),
        (GERMAN, "der Assistent"),
        (CHINESE, "助手"),
        (JAPANESE, "アシスタント"),
    ],
)
def test_a_talk_gets_the_lexicon_of_its_language(content: str, assistant: str) -> None:
    lexicon = find_lexicon(make_lines([("Ana", content)]))
    assert lexicon.title["assistant"] == assistant
    assert lexicon.has("closing", content)
    assert not lexicon.has("life_event", content)


def test_a_language_without_a_lexicon_has_none() -> None:
    neutral = find_lexicon(make_lines([("Ana", THAI)]))
    assert not neutral.stop and not neutral.has("closing", ENGLISH)
    assert neutral.content_words("le chat noir") == {"le", "chat", "noir"}


def test_function_words_tell_nothing_and_endings_count_little() -> None:
    english = find_lexicon(make_lines([("Ana", ENGLISH)]))
    assert english.content_words("It's what they're about, isn’t it?") == frozenset()
    assert english.content_words("conversations") == english.content_words("conversational")


@pytest.mark.parametrize("said", [GERMAN, CHINESE, JAPANESE, THAI])
def test_titles_and_summaries_are_in_the_language_of_the_talk(said: str) -> None:
    lines = make_lines([("Ana", said), ("Bo", said), ("Ana", said)])
    answer = OfflineSegmenter().segment(
        lines=lines, vectors=embed_lines(lines), previous_summary=""
    )
    for segment in answer.segments:
        assert " and " not in segment.title
        assert segment.summary.startswith(("Ana: ", "Bo: "))
