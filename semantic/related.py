"""Chooses which active facts a consolidation is shown."""

import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from episodic.models import Conversation
from indexing import queries as index
from indexing.models import MemoryKind
from indexing.text import prepare
from semantic import queries
from semantic.engines import Category
from semantic.models import Fact

NEAREST_FIRST = 20
LOOKED_THROUGH = 5_000
"""The newest ones; an engine is shown no more than this."""
RANK_OFFSET = 60
"""Of reciprocal rank fusion."""
ALWAYS = frozenset({Category.GUIDELINE, Category.IDENTITY})


def find_related(
    conversation: Conversation,
    *,
    episode_ids: Sequence[uuid.UUID],
    talk: Iterable[str],
    at_most: int,
) -> list[Fact]:
    """Return the facts to show, what matters most first: all, if they are no more than `at_most`.

    Of many the nearest come first, then guidelines and who people are, then what is near. Near
    is what lies by a message or a headline of the episodes, or shares rare words with `talk`.
    """
    facts = queries.newest_active(conversation, at_most=LOOKED_THROUGH)
    if len(facts) <= at_most:
        return facts
    by_meaning = index.nearest_to_any(
        episode_ids,
        tenant=conversation.tenant,
        conversation_id=conversation.id,
        shelf=MemoryKind.FACT,
        at_most=2 * at_most,
    )
    score: defaultdict[uuid.UUID, float] = defaultdict(float)
    for ranking in (by_meaning, rank_by_words(facts, talk)):
        for rank, fact_id in enumerate(ranking, start=1):
            score[fact_id] += 1 / (RANK_OFFSET + rank)
    nearest = sorted(facts, key=lambda fact: -score[fact.id])
    always = [fact for fact in facts if fact.category in ALWAYS][: at_most - NEAREST_FIRST]
    ordered = [*nearest[:NEAREST_FIRST], *always, *nearest]
    return list({fact.id: fact for fact in ordered}.values())[:at_most]


def rank_by_words(facts: Sequence[Fact], talk: Iterable[str]) -> list[uuid.UUID]:
    """Return the facts that share words with `talk`, those with most and rarest words first."""
    talk_words = {word for text in talk for word in _words(text)}
    words = {fact.id: _words(fact.fact) for fact in facts}
    holders = Counter(word for own in words.values() for word in own)
    weights = {
        fact_id: sum(math.log(1 + len(facts) / holders[word]) for word in own & talk_words)
        for fact_id, own in words.items()
    }
    return sorted(filter(weights.get, weights), key=lambda fact_id: -weights[fact_id])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", prepare(text)))
