"""Finds messages that are in no episode yet, for callers who must see their own writes (`min_seq`).

It has no search units: it is short, and read whole. Words decide what is shown, then
recency; the message that the caller names always is.
"""

from itertools import chain

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from indexing import text
from memoryproject.edge.errors import Problem
from memoryproject.text.parts import join
from memoryproject.text.tokens import count_tokens
from retrieval import markdown
from retrieval.markdown import Block
from retrieval.packing import Budget, fit
from retrieval.request import RecallRequest
from semantic.correction_marks import set_corrections

HEADING = "## Recent Messages\n"
READ_AT_MOST = 500
SHOWN_AT_MOST = 20
BUDGET_SHARE = 0.5
"""Of a budget of tokens; what they leave goes to memories."""
SHORTEST_WORD = 3


def find_recent(conversation: Conversation, request: RecallRequest, min_seq: int) -> Block | None:
    """Return the messages of the window to show, as a part of an answer: the newest that fit.

    None if none does, or if all up to `min_seq` is indexed.

    Raises:
        Problem: the conversation has no message `min_seq` yet.
    """
    progress = episodic_queries.measure_progress(conversation)
    if min_seq > progress.last_seq:
        raise Problem(
            "The request has errors.",
            fields={"min_seq": [f"The conversation has {progress.last_seq} messages so far."]},
        )
    if min_seq <= progress.indexed_through_seq:
        return None
    newest = episodic_queries.window_messages(conversation).reverse()[:READ_AT_MOST]
    query_words = _words(request.query)

    def worth(message: Message) -> tuple[bool, int, int]:
        return message.seq == min_seq, len(query_words & _words(message.content)), message.seq

    chosen = sorted(newest, key=worth, reverse=True)[:SHOWN_AT_MOST]
    if conversation.has_corrections:
        set_corrections(conversation.tenant, chosen)
    room = None
    if request.max_tokens is not None:
        room = int(request.max_tokens * BUDGET_SHARE) - count_tokens(HEADING)
    links, whole = request.links, request.whole
    lines = [
        (row, markdown.render_message(row, links, with_day=True, whole=whole))
        for row in sorted(chosen, key=lambda row: -row.seq)
    ]
    shown = fit(lines, Budget(room), size=lambda line: count_tokens(join(line[1])))
    if not shown:
        return None
    messages, texts = zip(*reversed(shown), strict=True)
    cut = markdown.list_cut(messages, whole=whole)
    return Block([HEADING, *chain.from_iterable(texts)], messages, cut)


def _words(content: str) -> set[str]:
    """Return words worth comparing: of unspaced scripts every piece, of others no short ones."""
    return {
        word.strip(".,;:!?\"'()")
        for word in text.prepare(content).split()
        if len(word) >= SHORTEST_WORD or not word.isascii()
    }
