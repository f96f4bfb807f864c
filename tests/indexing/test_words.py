"""What the database keeps of a text's words, and of how much a shelf holds."""

from __future__ import annotations

from collections import Counter

import pytest
from django.db import connection

from indexing import services as index
from indexing.models import SearchUnit, SearchVector, ShelfSize, WordCount
from tests.conftest import Agent
from tests.indexing.makers import NOW, fill, make_conversation

pytestmark = pytest.mark.django_db


def words_of(text: str) -> dict[int, float]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT public.memory_words('simple', %s)::text", [text])
        pairs = cursor.fetchone()[0].partition("/")[0].strip("{}").split(",")
    return {int(pair.split(":")[0]): float(pair.split(":")[1]) for pair in pairs if pair}


def test_a_word_weighs_one_and_its_repetition_what_saturation_adds() -> None:
    once, thrice = words_of("tea"), words_of("tea tea tea")
    (slot,) = once
    assert once[slot] == thrice[slot] == 1
    assert thrice[slot + 1] == pytest.approx(3 * 2.2 / (3 + 1.2) - 1, abs=1e-6)


def test_no_text_is_too_long_for_the_index() -> None:
    assert words_of("") == {}
    assert 290 <= len(words_of(" ".join(f"word{i}" for i in range(5000)))) <= 300
    assert len(words_of(" ".join(f"word{i} word{i}" for i in range(5000)))) <= 300


def sizes(agent: Agent) -> dict[str, tuple[int, int]]:
    return {size.shelf: (size.units, size.lexemes) for size in ShelfSize.objects.of(agent.tenant)}


def test_sizes_follow_what_is_believed(ana: Agent) -> None:
    conversation = make_conversation(ana.tenant)
    first, _ = fill(conversation, ["tea and milk", "green tea"])
    assert sizes(ana) == {"fact": (2, 5)}
    index.mark_memories(tenant=ana.tenant, marks=[(first, NOW, NOW)])
    assert sizes(ana) == {"fact": (1, 2)}
    index.mark_memories(tenant=ana.tenant, marks=[(first, NOW, NOW)])
    assert sizes(ana) == {"fact": (1, 2)}
    SearchUnit.objects.of(ana.tenant).filter(memory=first).update(invalid_at=None)
    assert sizes(ana) == {"fact": (2, 5)}


def counts(agent: Agent) -> dict[int, int]:
    held = WordCount.objects.of(agent.tenant).filter(units__gt=0)
    return dict(held.values_list("slot", "units"))


def test_words_of_a_large_shelf_are_counted(ana: Agent) -> None:
    conversation = make_conversation(ana.tenant)
    texts = [f"common w{number % 50} w{number % 7} tea tea" for number in range(2100)]
    fill(conversation, texts[:1900])
    assert counts(ana) == {}
    fill(conversation, texts[1900:2050])
    (last, *_) = fill(conversation, texts[2050:])

    def slot(word: str) -> int:
        (found,) = words_of(word)
        return found

    def expected(texts: list[str]) -> dict[int, int]:
        words = Counter(word for text in texts for word in set(text.split()))
        return {slot(word): count for word, count in words.items()}

    assert counts(ana) == expected(texts)
    index.mark_memories(tenant=ana.tenant, marks=[(last, NOW, NOW)])
    assert counts(ana) == expected(texts[:2050] + texts[2051:])
    SearchVector.objects.of(ana.tenant).delete()
    SearchUnit.objects.of(ana.tenant).delete()
    assert counts(ana) == {}


def test_each_conversation_has_a_size_of_its_own(ana: Agent, cleo: Agent) -> None:
    for agent, texts in ((ana, ["a b c", "d"]), (ana, ["e f"]), (cleo, ["g"])):
        fill(make_conversation(agent.tenant), texts)
    assert sorted(row.units for row in ShelfSize.objects.of(ana.tenant)) == [1, 2]
    assert sizes(cleo) == {"fact": (1, 1)}
