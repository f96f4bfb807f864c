"""Chooses the engine that extracts facts: a language model if there is one, or the offline one."""

from jobs.calls import Asker
from memoryproject.ai.embeddings import read_built_in
from semantic.engines import Consolidator
from semantic.llm.consolidator import LLMConsolidator
from semantic.offline.consolidator import OfflineConsolidator


def make_consolidator(ask: Asker | None) -> Consolidator:
    """Return the consolidator that uses the model behind `ask`; without one, the offline one."""
    offline = OfflineConsolidator(read_built_in)
    if ask is None:
        return offline
    return LLMConsolidator(ask=ask, offline=offline, may_be_rule=offline.may_be_rule)
