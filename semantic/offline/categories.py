"""Classifies a single sentence into one of the eight categories, by the trained heads."""

from semantic.engines import Category
from semantic.offline import heads
from semantic.offline.judging import INSTRUCTION


def classify_fact(fact: str, *, read: heads.Read) -> Category:
    """Return the likeliest category of a fact, which may come from another system."""
    sample = heads.Sample(fact, 0, 1, len(fact), has_assistant=True, is_first_message=False)
    shares = heads.score_sentences([sample], read)
    if shares[INSTRUCTION][0] >= heads.load_heads().threshold(INSTRUCTION):
        return Category.GUIDELINE
    return Category(max(heads.CATEGORIES, key=lambda name: shares[name][0]))
