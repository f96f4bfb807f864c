"""Recognizes sentences that instruct the agent, whatever their category."""

from memoryproject.text.sentences import split_sentences
from semantic.patterns import read_pattern

STEERING = read_pattern("steering.steering")
ATTRIBUTION = read_pattern("steering.attribution")
NOTE_TO_AI = read_pattern("steering.note_to_ai")


def steers_agent(fact: str) -> bool:
    """Return whether a sentence of a fact, or of its quotation, instructs the agent."""
    parts = [fact, *split_sentences(ATTRIBUTION.sub("", fact))]
    return NOTE_TO_AI.search(fact) is not None or any(STEERING.search(part) for part in parts)
