"""Which engine consolidates, by the setting MEMORY_LLM."""

from __future__ import annotations

from django.conf import settings

from jobs.calls import Asker
from memoryproject.ai.embeddings import embed_passages
from semantic.engines import Consolidator
from semantic.llm_consolidator import LLMConsolidator
from semantic.offline_consolidator import OfflineConsolidator


def make_consolidator(ask: Asker) -> Consolidator:
    """Return the configured consolidator; `ask` is used by the one that needs a model."""
    offline = OfflineConsolidator(embed=embed_passages)
    return LLMConsolidator(ask=ask, offline=offline) if settings.LLM == "openai" else offline
