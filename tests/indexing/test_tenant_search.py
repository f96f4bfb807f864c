"""The search over a whole tenant: every word, the newest of many, scored as Okapi says."""

from __future__ import annotations

import math
import uuid

import pytest

from episodic.models import Conversation
from indexing import services as index
from indexing import tenant_search
from indexing.models import MemoryKind, SearchUnit, UnitKind
from indexing.services import Entry
from indexing.tenant_search import Scope, read_query
from tests.conftest import Agent
from tests.indexing.makers import NOW, fill, make_conversation

pytestmark = pytest.mark.django_db


def find(typed: str, *, candidates: int = 8_000, **scope: uuid.UUID) -> list[uuid.UUID]:
    matches = tenant_search.find(
        read_query(typed), kind=UnitKind.FACT, scope=Scope(**scope), candidates=candidates
    )
    return [match.memory_id for match in matches.found]


@pytest.fixture(scope="module")
def home(ana: Agent) -> Conversation:
    return make_conversation(ana.tenant)


def test_quotes_make_phrases_and_their_words_count_too() -> None:
    sought = read_query('red "old  apple" tree')
    assert (sought.words, sought.phrases) == ("red old apple tree", ("old apple",))
    assert read_query('""').words == "" and read_query("").words == ""


def test_scores_are_those_of_okapi(home: Conversation) -> None:
    texts = ["apple tree", "apple apple tree and a long way home", "pear tree", "apple"]
    ids = fill(home, texts)
    matches = tenant_search.find(read_query("apple tree"), kind=UnitKind.FACT).found
    lengths = {ids[0]: 2, ids[1]: 8}
    average = sum(lengths.values()) / len(lengths)
    frequencies = {ids[0]: (1, 1), ids[1]: (2, 1)}
    idf = math.log(1 + (4 - 3 + 0.5) / (3 + 0.5))
    assert {match.memory_id for match in matches} == set(lengths)
    for match in matches:
        norm = 1.2 * (0.25 + 0.75 * lengths[match.memory_id] / average)
        expected = sum(idf * tf * 2.2 / (tf + norm) for tf in frequencies[match.memory_id])
        assert match.score == pytest.approx(expected)


def test_a_tenant_and_a_conversation_keep_to_themselves(
    ana: Agent, cleo: Agent, home: Conversation
) -> None:
    other, theirs = make_conversation(ana.tenant), make_conversation(cleo.tenant)
    (mine,), (beside,), (strange,) = (fill(one, ["an apple"]) for one in (home, other, theirs))
    assert set(find("apple")) == {mine, beside, strange}
    assert set(find("apple", tenant_id=ana.tenant.id)) == {mine, beside}
    assert find("apple", tenant_id=ana.tenant.id, conversation_id=home.id) == [mine]


def test_words_that_are_everywhere_are_found_by_walking_back(
    ana: Agent, cleo: Agent, home: Conversation
) -> None:
    ids = fill(home, [f"apple number{place}" for place in range(6)])
    fill(make_conversation(cleo.tenant), ["apple of another"] * 3)
    tenant = {"tenant_id": ana.tenant.id}
    everywhere, of_tenant = find("apple"), find("apple", **tenant)
    assert set(find("apple", candidates=2)) == set(everywhere) and len(everywhere) == 9
    assert set(find("apple", candidates=2, **tenant)) == set(of_tenant) == set(ids)
    assert not tenant_search.find(read_query("apple"), kind=UnitKind.FACT, candidates=2).complete
    assert find("apple number3", candidates=2) == [ids[3]]


def test_where_a_narrowed_search_finds_too_many_it_shows_some_and_says_so(
    ana: Agent, home: Conversation
) -> None:
    ids = fill(home, [f"apple number{place}" for place in range(6)])
    scope = Scope(tenant_id=ana.tenant.id, conversation_id=home.id)
    matches = tenant_search.find(read_query("apple"), kind=UnitKind.FACT, scope=scope, candidates=2)
    assert len(matches.found) == 2 and {match.memory_id for match in matches.found} < set(ids)
    assert not matches.complete


def test_of_too_many_the_newest_are_ranked(home: Conversation) -> None:
    ids = fill(home, [f"apple number{place}" for place in range(6)])
    matches = tenant_search.find(read_query("apple"), kind=UnitKind.FACT, pool=2)
    assert {match.memory_id for match in matches.found} == set(ids[-2:])
    assert not matches.complete


def test_any_word_will_do_for_a_guess_and_more_of_them_are_better(home: Conversation) -> None:
    both, one, _plum = fill(home, ["apple and pear", "pear alone", "plum"])
    sought = read_query("apple pear submarine")
    assert tenant_search.find(sought, kind=UnitKind.FACT).found == ()
    guessed = tenant_search.find(sought, kind=UnitKind.FACT, every=False).found
    assert [match.memory_id for match in guessed] == [both, one]


def test_each_kind_is_found_alone_and_a_message_by_its_own_words(
    ana: Agent, home: Conversation
) -> None:
    (memory,) = index.register(tenant=ana.tenant, kind=MemoryKind.EPISODE, count=1)
    lines = ["the apple fell", "the pear fell"]
    index.add_entries(
        tenant=ana.tenant,
        conversation_id=home.id,
        model="test",
        entries=[
            Entry(
                memory,
                UnitKind.MESSAGE,
                own,
                None,
                "english",
                NOW,
                first_seq=seq,
                neighbours=[other],
            )
            for seq, own, other in ((1, *lines), (2, *reversed(lines)))
        ],
    )
    assert set(SearchUnit.objects.of(ana.tenant).values_list("own_words", flat=True)) == {3}
    found = tenant_search.find(read_query("apples"), kind=UnitKind.MESSAGE).found
    assert [(match.seq, match.lexemes) for match in found] == [(1, ("appl",))]
    assert tenant_search.find(read_query("apple"), kind=UnitKind.EPISODE).found == ()
    assert tenant_search.find(read_query("apple"), kind=UnitKind.FACT).found == ()


def test_a_long_text_of_several_units_is_found_once_at_all_its_ends(home: Conversation) -> None:
    words = " ".join(f"word{place}" for place in range(700))
    (memory,) = fill(home, [f"apple {words} apple plum"])
    assert find("apple") == [memory] and find("plum") == [memory]
