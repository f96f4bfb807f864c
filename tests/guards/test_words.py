"""Pages use the usual terms, those of the glossary."""

from __future__ import annotations

import pytest
from django.conf import settings
from drf_spectacular.generators import SchemaGenerator

from tests.guards.pages import PAGES, read_page
from tests.guards.words import find_replaced_words, list_descriptions, read_prose


@pytest.mark.parametrize("page", PAGES)
def test_no_page_uses_a_replaced_word(page: str) -> None:
    assert list(find_replaced_words(read_page(page))) == []


def test_no_template_uses_a_replaced_word() -> None:
    hits = {
        str(path.relative_to(settings.BASE_DIR)): words
        for path in (settings.BASE_DIR / "templates").rglob("*.html")
        if (words := list(find_replaced_words(read_prose(path))))
    }
    assert hits == {}


def test_no_description_of_the_api_uses_a_replaced_word() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    descriptions = list(list_descriptions(schema))
    assert len(descriptions) > 300
    assert list(find_replaced_words("\n".join(descriptions))) == []


def test_a_replaced_word_is_found_outside_code_alone() -> None:
    text = "A fact is `held`.\n```\nheld\n```\nIt was held."
    assert list(find_replaced_words(text)) == [(5, "held", "active, retired, restore")]
