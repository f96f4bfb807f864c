"""Says which of the eight kinds a fact is, by its words."""

from collections.abc import Sequence

from memoryproject.text.sentences import detect_writing
from semantic.engines import Category
from semantic.offline.claims import Claim
from semantic.offline.lexicon import get_lexicon
from semantic.patterns import read_table

BY_SLOT = {slot: Category(kind) for slot, kind in read_table("category_by_slot").items()}
ORDER = (
    *(Category.GUIDELINE, Category.PREFERENCE, Category.IDENTITY, Category.GOAL),
    *(Category.PERSONALITY, Category.RELATIONSHIP, Category.INTEREST),
)


def classify_fact(fact: str, claims: Sequence[Claim]) -> Category:
    """Return the category of a fact: that of its slot, else by its words."""
    for claim in claims:
        if claim.slot in BY_SLOT:
            return BY_SLOT[claim.slot]
    lexicon = get_lexicon(detect_writing(fact))
    matching = (kind for kind in ORDER if lexicon.has(f"categories.{kind.value}", fact))
    return next(matching, Category.EXPERIENCE)
