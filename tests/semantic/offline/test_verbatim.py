"""Nothing that nobody said: a property of every fact, over the labelled chats."""

import re
from datetime import datetime

from bench.quality.labels import read_chats
from episodic.engines import Line
from memoryproject.ai.embeddings import read_built_in
from semantic.details import ANCHOR
from semantic.engines import EpisodeText
from semantic.offline.consolidator import OfflineConsolidator
from semantic.offline.quotations import parse_quote

EVERY = 24
"""Of the chats one in so many is read: each sentence costs a vector."""


def test_each_stretch_of_a_fact_stands_in_a_message_of_its_evidence() -> None:
    for chat in read_chats()[::EVERY]:
        lines = tuple(
            Line(seq, message["role"], message["name"] or "", message["content"],
                 datetime.fromisoformat(message["at"]))
            for seq, message in enumerate(chat["messages"])
        )  # fmt: skip
        answer = OfflineConsolidator(read_built_in).consolidate(
            episodes=[EpisodeText("", "", lines)], known=[]
        )
        for proposal in answer.proposals:
            quotation = parse_quote(proposal.fact)
            assert quotation is not None, proposal.fact
            evidence = [_flatten(lines[seq].content) for seq in proposal.seqs]
            for stretch in quotation[1].split(" … "):
                assert any(_flatten(stretch) in text for text in evidence), proposal.fact


def _flatten(text: str) -> str:
    """Return a text with one space for each white space, without worked-out dates."""
    return re.sub(r"\s+", " ", ANCHOR.sub("", text)).strip()
