"""Says which of the eight categories a sentence that stands alone has, by the heads."""

import numpy as np

from semantic.engines import Category
from semantic.offline import heads
from semantic.offline.judging import INSTRUCTION, Read


def classify_fact(fact: str, *, read: Read) -> Category:
    """Return the likeliest category of a fact, which may come from another system."""
    sample = heads.Sample(fact, 0, 1, len(fact), has_assistant=True, is_first_message=False)
    trained = heads.load_heads()
    vectors = np.stack([one.vector for one in read([fact])]).astype(np.float64)
    shares = trained.score(vectors, [heads.measure_traits(sample)])
    if shares[INSTRUCTION][0] >= trained.threshold(INSTRUCTION):
        return Category.GUIDELINE
    return Category(max(heads.CATEGORIES, key=lambda name: shares[name][0]))
