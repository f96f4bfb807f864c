"""Corrections shown beside what still says the old."""

from memoryproject.wings import Wing

WING = Wing()
