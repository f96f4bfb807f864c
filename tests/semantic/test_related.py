"""Which of the facts held an engine is shown when it draws new ones."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from indexing.models import SearchVector
from semantic.engines import Consolidation, EpisodeText, KnownFact
from semantic.models import Fact
from semantic.snapshots import NEAREST_FIRST, rank_by_words
from tests.conftest import Agent
from tests.semantic.learning import Talk, Wishes, new

pytestmark = pytest.mark.django_db

FERRY = "Teresa sails the ferry between Vlissingen and Breskens."


class Listening(Wishes):
    """Remembers what it was shown, best first."""

    def consolidate(
        self, *, episodes: Sequence[EpisodeText], known: Sequence[KnownFact]
    ) -> Consolidation:
        self.shown = list(known)
        return super().consolidate(episodes=episodes, known=known)


def learn_next(talk: Talk, *sentences: str) -> list[str]:
    """Let an engine draw these facts; return what it was shown."""
    engine = Listening([new(sentence) for sentence in sentences])
    talk.say()
    talk.draw(engine)
    return [fact.fact for fact in engine.shown]


def test_all_facts_are_shown_while_they_are_few(ana: Agent) -> None:
    talk = Talk(ana)
    assert learn_next(talk, *(f"Mira owns book {n}." for n in range(39)), FERRY) == []
    shown = learn_next(talk)
    assert len(shown) == 40 and FERRY in shown


@pytest.mark.gate
def test_of_many_the_near_ones_are_shown_and_always_guidelines_and_who_people_are(
    ana: Agent,
) -> None:
    talk = Talk(ana)
    learn_next(talk, "Mira got the job at the harbour authority in Rotterdam.", FERRY)
    for start in (0, 40, 80):
        learn_next(
            talk, *(f"Jonas owns stamp number {n} of Peru." for n in range(start, start + 40))
        )
    facts = Fact.objects.of(ana.tenant)
    facts.update(category="experience")
    facts.filter(fact=FERRY).update(category="guideline")
    shown = learn_next(talk)
    assert len(shown) == len(set(shown)) == Listening.known_at_most
    assert "Mira got the job at the harbour authority in Rotterdam." in shown[:NEAREST_FIRST]
    assert FERRY in shown


def test_a_fact_without_a_vector_is_shown_too(ana: Agent) -> None:
    talk = Talk(ana)
    learn_next(talk, FERRY)
    SearchVector.objects.of(ana.tenant).filter(memory=talk.fact(FERRY).id).delete()
    engine = Listening([])
    talk.say()
    talk.draw(engine)
    (shown,) = engine.shown
    assert shown.fact == FERRY


def test_rare_words_that_are_shared_count_more_than_common_ones() -> None:
    sentences = [*(f"Mira went to see film {n}." for n in range(9)), FERRY, "Jonas sleeps."]
    facts = [Fact(fact=sentence) for sentence in sentences]
    ranked = rank_by_words(facts, ["How is the ferry?", "Mira went home."])
    assert ranked[0] == facts[9].id and facts[10].id not in ranked
