"""Shows what a text would teach under instructions, and stores nothing but a model's cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.conf import settings

from episodic.engines import Line
from jobs.direct_calls import DirectAsker
from jobs.models import LLMCall
from memoryproject.tenancy.models import Tenant
from memoryproject.text.sentences import split_sentences
from memoryproject.text.words import content_stems
from semantic.choice import make_consolidator
from semantic.engines import Consolidation, EpisodeText, Instructions, PassedOver, Proposal, Why
from semantic.forbidden import contains
from semantic.offline.own_words import read_own_sentences

WORDS_SHARE = 0.5
"""Share of a sentence's words in the facts from which on it counts as learned."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The facts that a text would become, what is left out and why, and the model calls."""

    answer: Consolidation
    left_out: list[PassedOver]
    calls: list[LLMCall] = field(default_factory=list)

    @property
    def facts(self) -> tuple[Proposal, ...]:
        return self.answer.proposals


def preview(tenant: Tenant, text: str, instructions: Instructions, *, now: datetime) -> Preview:
    """Return what a user's message to an assistant would become.

    Raises:
        ModelUnavailable: the model could not be asked; the budget's errors among these.
    """
    asker = None
    if settings.LLM != "offline":
        asker = DirectAsker(tenant, scope=tenant.id, budget="")
    said = Line(seq=1, role="user", name="", content=text, at=now)
    reply = replace(said, seq=2, role="assistant", content="")
    answer = make_consolidator(asker, instructions).consolidate(
        episodes=[EpisodeText(title="", summary="", lines=(said, reply))], known=[]
    )
    left_out = _list_left_out(text, answer, never=instructions.never)
    return Preview(answer, left_out, asker.calls if asker else [])


def _list_left_out(text: str, answer: Consolidation, *, never: Sequence[str]) -> list[PassedOver]:
    """Return the sentences of a text that became no fact, those that the engine names first."""
    facts = " ".join(proposal.fact for proposal in answer.proposals)
    named = [item for item in answer.passed_over if item.text not in facts]
    seen = " ".join([facts, *(item.text for item in named)])
    own = " ".join(sentence.text for sentence in read_own_sentences(text))
    learned = set(content_stems(seen))
    for piece in split_sentences(text):
        sentence, stems = " ".join(piece.split()), set(content_stems(piece))
        if stems and len(stems & learned) < WORDS_SHARE * len(stems):
            why = Why.NOT_WORTH_KEEPING if sentence in own else Why.PASTED
            named.append(PassedOver(sentence, Why.NEVER if contains(sentence, never) else why))
    return named
