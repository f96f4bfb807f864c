"""How texts become words."""

from __future__ import annotations

import pytest

from indexing import text


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("Zoë's CAFÉ", "zoe's cafe"),
        ("ＡＢＣ １２", "abc 12"),
        ("去厦门", "去 厦 门 去厦 厦门"),
        ("我用iPhone拍照", "我 用 我用 iphone 拍 照 拍照"),
        ("猫", "猫"),
        ("東京タワー", "東 京 タ ワ ー 東京 京タ タワ ワー"),
    ],
)
def test_runs_without_spaces_become_characters_and_pairs(given: str, words: str) -> None:
    assert text.prepare(given).split() == words.split()
