"""Finds messages that are in no episode yet, for callers who must see their own writes (`min_seq`).

It has no search units: it is short, and read whole. Words decide what is shown, then
recency; the message that the caller names always is.
"""

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from indexing import text
from memoryproject.edge.errors import Problem
from memoryproject.text.tokens import count_tokens
from retrieval import markdown
from retrieval.hits import MessageRow
from retrieval.packing import Block, Budget, fit
from semantic.correction_marks import set_corrections

HEADING = "## Recent Messages\n"
READ_AT_MOST = 500
SHOWN_AT_MOST = 20
BUDGET_SHARE = 0.5
"""Of a budget of tokens; what they leave goes to memories."""
SHORTEST_WORD = 3


def find_recent(
    conversation: Conversation,
    query: str,
    min_seq: int,
    max_tokens: int | None,
    *,
    whole: bool = False,
) -> Block | None:
    """Return the messages of the window to show, as a part of an answer: the newest that fit.

    None if none does, or if all up to `min_seq` is indexed. Very long ones are cut unless
    `whole`.

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
    window = map(_to_values, newest)
    query_words = _words(query)

    def worth(message: MessageRow) -> tuple[bool, int, int]:
        return message.seq == min_seq, len(query_words & _words(message.content or "")), message.seq

    chosen = sorted(window, key=worth, reverse=True)[:SHOWN_AT_MOST]
    if conversation.has_corrections:
        set_corrections(conversation.tenant, chosen)
    room = None if max_tokens is None else int(max_tokens * BUDGET_SHARE) - count_tokens(HEADING)
    sized = ((row, _render(row, whole=whole)) for row in sorted(chosen, key=lambda row: -row.seq))
    shown = fit(sized, Budget(room), size=lambda item: count_tokens(item[1]))
    if not shown:
        return None
    messages, lines = zip(*reversed(shown), strict=True)
    cut = () if whole else tuple(message.id for message in messages if markdown.is_capped(message))
    return Block(HEADING + "".join(lines), messages, cut)


def _to_values(row: Message) -> MessageRow:
    return MessageRow(
        id=str(row.id),
        seq=row.seq,
        role=row.role,
        name=row.name,
        content=row.content,
        occurred_at=row.occurred_at,
        metadata=row.metadata,
        quarters=None,
        episode_id=None,
    )


def _words(content: str) -> set[str]:
    """Return words worth comparing: of unspaced scripts every piece, of others no short ones."""
    return {
        word.strip(".,;:!?\"'()")
        for word in text.prepare(content).split()
        if len(word) >= SHORTEST_WORD or not word.isascii()
    }


def _render(message: MessageRow, *, whole: bool) -> str:
    show = markdown.render_message if whole else markdown.render_message_capped
    return show(message, with_day=True) + "\n"
