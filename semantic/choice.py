"""Chooses the engine that extracts facts: a language model if there is one, or the offline one."""

from jobs.calls import Door
from memoryproject.ai.embeddings import read_built_in, read_topics
from memoryproject.tenancy.models import Tenant
from memoryproject.wings import list_wings
from semantic.engines import NO_INSTRUCTIONS, Consolidator, Instructions
from semantic.labels import LabellingConsolidator
from semantic.llm.consolidator import LLMConsolidator
from semantic.offline.consolidator import OfflineConsolidator
from semantic.offline.wishes import Wishes


def find_instructions(tenant: Tenant, agent_id: str) -> Instructions:
    """Return what the tenant's operator wants learned from conversations of an agent."""
    found = (wing.find_instructions(tenant, agent_id) for wing in list_wings())
    return next(filter(None, found), NO_INSTRUCTIONS)


def make_consolidator(ask: Door | None, instructions: Instructions) -> Consolidator:
    """Return the consolidator that uses the model behind `ask`; without one, the offline one."""
    wishes = Wishes(instructions, read=read_built_in, read_topics=read_topics)
    offline = OfflineConsolidator(read_built_in, wishes)
    engine: Consolidator = offline
    if ask is not None:
        engine = LLMConsolidator(
            ask=ask, offline=offline, may_be_rule=offline.may_be_rule, instructions=instructions
        )
    if not instructions.labels:
        return engine
    return LabellingConsolidator(engine.known_at_most, engine, instructions.labels, read_built_in)
