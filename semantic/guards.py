"""Judges proposals by who said them: some are skipped, some need a curator."""

from episodic.models import Role
from semantic.engines import Action, Category, Proposal
from semantic.models import Fact
from semantic.sources import Sources
from semantic.steering import steers_agent

FACT_CHARACTERS_AT_MOST = 1_000
"""Largest length of a fact; a longer text is not one sentence, and would crowd answers."""
TOOL_SOURCE = "tool_source"
"""Note of a step skipped because a tool said it: a web page, a file, a search."""
NOT_FROM_TOOLS = frozenset({Category.IDENTITY, Category.GUIDELINE})


def find_objection(
    proposal: Proposal, target: Fact | None, sources: Sources, *, astray: str
) -> str:
    """Return the code of the reason to skip a proposal; empty if it may be applied.

    A proposal that names an unknown fact opens a new one, unless it ends the fact: nobody claims
    that sentence. A proposal also cannot restore a fact that an earlier one of the same run closed.
    """
    action, fact = proposal.action, proposal.fact
    if target is None and action is not Action.NEW:
        brings_back = action is Action.REINFORCE and astray == "closed"
        if action is Action.INVALIDATE or brings_back or not fact:
            return astray
    opens = target is None or action is Action.UPDATE
    if opens and not fact:
        return "empty"
    if opens and len(fact) > FACT_CHARACTERS_AT_MOST:
        return "too_long"
    if _is_tools_word(proposal, target, sources):
        return TOOL_SOURCE
    # A guideline steers the agent, so text of a web page or the assistant cannot end one.
    ends_guideline = action is Action.INVALIDATE and _is_guideline(target)
    if ends_guideline and not sources.is_said_by(proposal, role=Role.USER):
        return "guideline_source"
    return ""


def _is_tools_word(proposal: Proposal, target: Fact | None, sources: Sources) -> bool:
    """Return whether a tool would set, confirm or end an identity fact or a guideline."""
    kinds = {target.category} if target is not None else set()
    if target is None or proposal.action in {Action.NEW, Action.UPDATE}:
        kinds.add(proposal.category)
    guarded = bool(kinds & NOT_FROM_TOOLS) or steers_agent(proposal.fact)
    return guarded and sources.is_of_tools(proposal)


def must_wait(proposal: Proposal, target: Fact | None, sources: Sources) -> bool:
    """Return whether a curator must approve a proposal before it becomes active.

    True if it is doubtful, a guideline no user gave, or an identity fact a tool may have said.
    """
    if target is not None and proposal.action not in {Action.NEW, Action.UPDATE}:
        return False
    if proposal.is_doubtful:
        return True
    steers = proposal.category is Category.GUIDELINE or steers_agent(proposal.fact)
    if proposal.category is Category.IDENTITY and not sources.is_vouched_for(proposal):
        return True
    return (steers or _is_guideline(target)) and not sources.is_of_users_alone(proposal)


def _is_guideline(fact: Fact | None) -> bool:
    return fact is not None and fact.category == Category.GUIDELINE
