"""Which engine consolidates: a language model where there is one to ask, else the offline one."""

from jobs.calls import Asker
from semantic.engines import Consolidator
from semantic.llm.consolidator import LLMConsolidator
from semantic.offline.consolidator import OfflineConsolidator


def make_consolidator(ask: Asker | None) -> Consolidator:
    """Return the consolidator that asks by `ask`, or the offline one."""
    offline = OfflineConsolidator()
    return LLMConsolidator(ask=ask, offline=offline) if ask else offline
