"""Finds messages that are in no episode yet, so that questions about them can be answered.

They have no search units: they are few, and all of them are read. The current conversation's are
included with `min_seq` or `fresh`. In the scope of a user, those of the user's other conversations
(for a tenant: of the newest) are included too: with `max_tokens` if they share words with the
question, with `fresh` also the last lines of each. Shared words decide what is shown, then recency.

Vectors are not used: these messages have none until they are in an episode, and embedding them
while a caller waits takes 10 ms each.
"""

import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Sequence
from operator import itemgetter

from episodic import queries as episodic_queries
from episodic.models import Conversation, Message
from indexing import text
from indexing.detection import detect_question_language
from memoryproject.database.clock import execute
from memoryproject.edge.errors import Problem
from memoryproject.text.parts import Part, join
from memoryproject.text.tokens import count_tokens
from retrieval import markdown, tuning
from retrieval.budget import Budget, fit
from retrieval.corrections import set_corrections
from retrieval.layout import HOME_LETTERS
from retrieval.markdown import Block
from retrieval.request import RecallRequest
from retrieval.scope import Scope

HEADING = "## Recent Messages\n"
READ_AT_MOST = 500
SHOWN_AT_MOST = 20
SHORTEST_WORD = 3
LAST_LINES = 6
"""Number of last lines of each other open conversation, with `fresh`."""
LEAST_SHARE = 0.5
"""Share of the best match's weight; a message below it does not match the question."""
QUERY_READ, MESSAGE_READ = 2_000, 4_000
"""Number of characters of the question, and of a message, that are compared."""
KANA = re.compile("[\u3040-\u309f]+")
"""Japanese endings and particles, which occur in every sentence."""
LEXEMES = """SELECT tsvector_to_array(public.memory_ts(%s, said))
FROM unnest(%s::text[]) WITH ORDINALITY AS one (said, place) ORDER BY place"""


Choice = tuple[Message, tuple[float, ...]]
"""A message that may be shown, and its worth: those with the highest are."""


def find_recent(
    scope: Scope, request: RecallRequest, conversation: Conversation | None
) -> Block | None:
    """Return the messages of open windows to show, as a part of an answer: the newest that fit.

    `conversation` is the current one. None if there is no message to show, or all up to `min_seq`
    are indexed.

    Raises:
        Problem: the conversation has no message `min_seq` yet.
    """
    own = _find_own(conversation, request, is_alone=not scope.is_shared) if conversation else []
    others = _find_others(scope, request, conversation) if scope.is_shared else []
    ranked = sorted([*own, *others], key=itemgetter(1), reverse=True)
    chosen = _drop_copies([message for message, _ in ranked])[:SHOWN_AT_MOST]
    if not chosen:
        return None
    if scope.has_corrections:
        set_corrections(scope.tenant, chosen)
    return _render(chosen, request, with_places=bool(others))


def _drop_copies(messages: Sequence[Message]) -> list[Message]:
    """Return messages without those that repeat a message of another conversation."""
    first = {
        (message.name or message.role, message.content): message.conversation_id
        for message in reversed(messages)
    }
    return [
        message
        for message in messages
        if first[message.name or message.role, message.content] == message.conversation_id
    ]


def _find_own(
    conversation: Conversation, request: RecallRequest, *, is_alone: bool
) -> list[Choice]:
    """Return the window of the current conversation, if the call asks for it.

    `is_alone`: no other conversations are searched. With others, `fresh` is about them.
    """
    if request.min_seq is not None:
        progress = episodic_queries.measure_progress(conversation)
        if request.min_seq > progress.last_seq:
            raise Problem(
                "The request has errors.",
                fields={"min_seq": [f"The conversation has {progress.last_seq} messages so far."]},
            )
        if request.min_seq <= progress.indexed_through_seq:
            return []
    elif not (request.fresh and is_alone):
        return []
    newest = episodic_queries.window_messages(conversation).reverse()[:READ_AT_MOST]
    query_words = _words(request.query)
    return [
        (row, (row.seq == request.min_seq, len(query_words & _words(row.content)), row.seq))
        for row in newest
    ]


def _words(content: str) -> set[str]:
    """Return words worth comparing: of unspaced scripts every piece, of others no short ones."""
    return {
        word.strip(".,;:!?\"'()")
        for word in text.prepare(content).split()
        if len(word) >= SHORTEST_WORD or not word.isascii()
    }


def _find_others(
    scope: Scope, request: RecallRequest, conversation: Conversation | None
) -> list[Choice]:
    """Return unprocessed messages of other conversations that match the question or are new."""
    homes = None if scope.is_everything else scope.homes
    newest = episodic_queries.waiting_in(
        scope.tenant,
        homes,
        user_ids=None if scope.is_everything else scope.user_ids,
        agent_id=scope.agent_id,
        at_most=READ_AT_MOST,
    )
    own_id = conversation.id if conversation else None
    waiting = [row for row in newest if row.conversation_id != own_id]
    weights = _weigh(request.query, waiting)
    least = LEAST_SHARE * max(weights, default=0.0)
    places: Counter[object] = Counter()
    choices: list[Choice] = []
    for age, (message, weight) in enumerate(zip(waiting, weights, strict=True)):
        places[message.conversation_id] += 1
        fits = weight > 0 and weight >= least
        is_last = request.fresh and places[message.conversation_id] <= LAST_LINES
        if fits or is_last:
            choices.append((message, (False, weight if fits else 0.0, -age)))
    return choices


def _weigh(query: str, messages: Sequence[Message]) -> list[float]:
    """Return for each message how many of the question's words it has, 0.0 for none.

    A word counts the more, the fewer messages have it.
    """
    if not messages:
        return []
    language = detect_question_language(query[:QUERY_READ])
    texts = [query[:QUERY_READ], *(row.content for row in messages)]
    asked, *said = read_lexemes(texts, language)
    counts = Counter(word for words in said for word in words & asked)
    weights = {
        word: math.log(1 + (len(said) - count + 0.5) / (count + 0.5))
        for word, count in counts.items()
    }
    return [sum(weights[word] for word in words & asked) for words in said]


def read_lexemes(texts: Sequence[str], language: str) -> list[set[str]]:
    """Return the words of each text as the search compares them, without stop words."""
    prepared = [text.prepare(one[:MESSAGE_READ].replace("\x00", "")) for one in texts]
    rows = execute(LEXEMES, [language, prepared])
    return [{word for word in words or () if not KANA.fullmatch(word)} for (words,) in rows]


def _render(
    chosen: Sequence[Message], request: RecallRequest, *, with_places: bool
) -> Block | None:
    """Return as many messages as fit, the newest chosen first, shown oldest first.

    `with_places`: below the name of the conversation that each is from.
    """
    links, whole = request.links, request.whole
    room = None
    if request.max_tokens is not None:
        share = tuning.RECENT_SHARE if request.names_recent else tuning.UNASKED_SHARE
        room = int(request.max_tokens * share) - count_tokens(HEADING)
    homes = {row.conversation_id: str(row.conversation.external_id) for row in chosen}
    with_places = with_places and len(homes) > 1

    def cost(line: tuple[Message, list[Part]]) -> int:
        place = _name_place(homes[line[0].conversation_id]) if with_places else ""
        return count_tokens(place + join(line[1]))

    lines = [
        (row, markdown.render_message(row, links, with_day=True, whole=whole))
        for row in sorted(chosen, key=lambda row: row.id, reverse=True)
    ]
    shown = fit(lines, Budget(room), size=cost)[::-1]
    if not shown:
        return None
    by_home: dict[uuid.UUID, list[tuple[Message, list[Part]]]] = defaultdict(list)
    for line in shown:
        by_home[line[0].conversation_id].append(line)
    parts: list[Part] = [HEADING]
    messages: list[Message] = []
    for home, its_lines in by_home.items():
        if with_places:
            parts.append(_name_place(homes[home]))
        for message, rendered in its_lines:
            parts += rendered
            messages.append(message)
    return Block(parts, messages, markdown.list_cut(messages, whole=whole))


def _name_place(external_id: str) -> str:
    return f"### Conversation {external_id[:HOME_LETTERS]}\n"
