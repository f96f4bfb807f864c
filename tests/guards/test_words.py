"""Pages use the usual terms, those of the glossary."""

from __future__ import annotations

import pytest

from tests.guards.pages import PAGES, read_page
from tests.guards.words import find_replaced_words


@pytest.mark.parametrize("page", PAGES)
def test_no_page_uses_a_replaced_word(page: str) -> None:
    assert list(find_replaced_words(read_page(page))) == []


def test_a_replaced_word_is_found_outside_code_alone() -> None:
    text = "A fact is `held`.\n```\nheld\n```\nIt was held."
    assert list(find_replaced_words(text)) == [(5, "held", "active, retired, restore")]
