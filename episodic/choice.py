"""Which engine answers, by the setting MEMORY_LLM."""

from __future__ import annotations

from django.conf import settings

from episodic.engines import Reviewer, Segmenter
from episodic.llm_reviewer import LLMReviewer
from episodic.llm_segmenter import LLMSegmenter
from episodic.offline_reviewer import OfflineReviewer
from episodic.offline_segmenter import OfflineSegmenter
from jobs.calls import Asker


def make_segmenter(ask: Asker) -> Segmenter:
    """Return the configured segmenter; `ask` is used by the one that needs a model."""
    return LLMSegmenter(ask=ask) if settings.LLM == "openai" else OfflineSegmenter()


def make_reviewer(ask: Asker) -> Reviewer:
    """Return the configured reviewer; `ask` is used by the one that needs a model."""
    return LLMReviewer(ask=ask) if settings.LLM == "openai" else OfflineReviewer()
