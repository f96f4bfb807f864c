"""Chooses the engine: a language model where there is one to ask, else the offline one."""

from episodic.engines import Reviewer, Segmenter
from episodic.llm.reviewer import LLMReviewer
from episodic.llm.segmenter import LLMSegmenter
from episodic.offline.reviewer import OfflineReviewer
from episodic.offline.segmenter import OfflineSegmenter
from jobs.calls import Asker


def make_segmenter(ask: Asker | None) -> Segmenter:
    """Return the segmenter that uses the model behind `ask`; without one, the offline one."""
    offline = OfflineSegmenter()
    return LLMSegmenter(ask=ask, offline=offline) if ask else offline


def make_reviewer(ask: Asker | None) -> Reviewer:
    """Return the reviewer that uses the model behind `ask`; without one, the offline one."""
    offline = OfflineReviewer()
    return LLMReviewer(ask=ask, offline=offline) if ask else offline
