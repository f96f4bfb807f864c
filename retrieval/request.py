"""What an agent asks of `retrieve_memory`, its raw form and `context_pre_retrieve`.

Each option is a field here from the form of the call to the parameters of the statement. To
add one: its field in the form (`api/retrieve.py`, with what it means as `help_text`) and here,
under the same name; then use `request.<name>` where it works. What narrows the search is a
parameter of the statement (`parameters`); where to look is for `scope.py`; what chooses among hits
stands in `selection.choose`, for plain and packed answers; how
an answer reads is for `markdown.py` and `packing.py`.
"""

import uuid
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, get_args

from memoryproject.text.cleaning import DEFANGED
from retrieval.models import Retrieval
from retrieval.question_times import TimesAsked, read_times

SEMANTIC_LIMIT = 20
PREFERENCE = "preference"
SCOPES = CONVERSATION, USER, TENANT = "conversation", "user", "tenant"
"""Scopes of a search: the conversation, all of its user's, or all of the tenant's."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What an agent asks. `conversation_id` is the agent's own.

    `episodic_limit` None: five episodes, or with `max_tokens` as many as the budget holds.
    """

    query: str
    conversation_id: uuid.UUID | None
    """None: it is asked in no conversation; the scope is a user's or the tenant."""
    kind: Retrieval.Kind
    queries: tuple[str, ...] = ()
    """Further questions, whose answers share the budget."""
    looked_up: tuple[str, ...] = ()
    """Likewise, but made by a model from what it was shown: no receipt keeps their words."""
    episodic_limit: int | None = None
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    preferences_only: bool = False
    """Facts are preferences, and guidelines and dangers, which come unasked."""
    max_tokens: int | None = None
    as_of: datetime | None = None
    """Answer with what was true then; None: with what is believed now."""
    known_at: datetime | None = None
    """Answer with what the server believed then."""
    explain: bool = False
    min_seq: int | None = None
    fresh: bool = False
    """Whether the last messages that are in no episode yet come, whatever the question."""
    scope: str = CONVERSATION
    user_id: str | None = None
    """User whose conversations are searched with the scope `user`; None: the conversation's own."""
    agent_id: str | None = None
    """Agent to whose conversations several are narrowed."""
    exclude_current: bool = False
    """Whether the conversation that is asked in is left out of several."""
    fence: bool = False
    """Whether the text stands between marks that say it is data."""
    links: str = DEFANGED
    """How the text prints links: `defanged` or `plain`."""
    whole: bool = False
    """Whether very long messages are shown whole, where no budget cuts them."""
    min_relevance: float = 0.0
    """An answer that is less relevant is empty."""

    @property
    def questions(self) -> tuple[str, ...]:
        """Return everything that is asked, the query first."""
        return (self.query, *self.queries, *self.looked_up)

    @property
    def asked(self) -> str:
        """Return what the caller asks as one text, a line each: not what is looked up besides."""
        return "\n".join([self.query, *self.queries])

    @property
    def joined(self) -> str:
        """Return everything that is asked as one text, a line each."""
        return "\n".join(self.questions)

    @property
    def is_plain(self) -> bool:
        """Whether the search brings all that is shown: markdown shows few messages."""
        shows_few = self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW
        return shows_few and not self.is_shared

    @property
    def is_shared(self) -> bool:
        """Whether several conversations are looked through."""
        return self.scope != CONVERSATION

    @property
    def names_recent(self) -> bool:
        """Whether the call asks for messages that are in no episode yet."""
        return self.min_seq is not None or self.fresh

    @property
    def takes_recent(self) -> bool:
        """Whether an answer has such messages unasked: a budget of several conversations."""
        has_room = self.max_tokens is not None and self.kind is not Retrieval.Kind.CONTEXT
        is_narrow = self.category is not None or not self.is_present
        return self.is_shared and has_room and not is_narrow

    @property
    def searched_category(self) -> str | None:
        """Return the category of the facts that are searched; None: any."""
        return PREFERENCE if self.preferences_only else self.category

    @property
    def is_present(self) -> bool:
        """Whether no other moment is asked about."""
        return self.as_of is None and self.known_at is None

    def read_times(self, now: datetime) -> TimesAsked:
        """Return when it asks about, relative to the moment that it asks about, or to now.

        Without a budget times narrow nothing: all its words are searched.
        """
        if self.max_tokens is None:
            return TimesAsked(words=self.query)
        return read_times(self.query, at=self.as_of or self.known_at or now)

    def parameters(self) -> dict[str, Any]:
        """Return what the statement that searches a conversation takes of it, by its slots."""
        return {"category": self.searched_category, "as_of": self.as_of, "explain": self.explain}

    def to_json(self) -> dict[str, Any]:
        """Return every option as it is applied, for a receipt, which has the questions by itself.

        `queries` is left as the lengths of the further ones in the text, `looked_up` as a number.
        """
        values = asdict(self)
        del values["query"], values["kind"], values["queries"], values["looked_up"]
        if self.queries:
            values["queries"] = [len(query) for query in self.queries]
        if self.looked_up:
            values["looked_up"] = len(self.looked_up)
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in values.items()
        }


UNREPEATED = ("query", "kind", "min_seq", "fresh", "looked_up")


def read_request(retrieval: Retrieval) -> RecallRequest:
    """Return what a receipt's question asked, to be answered once more as markdown.

    Without `min_seq` and `fresh`: what was new then is processed by now.
    """
    params: dict[str, Any] = {}
    for option in fields(RecallRequest):
        value = retrieval.parameters.get(option.name)
        if value is not None and option.name not in UNREPEATED:
            types = get_args(option.type) or (option.type,)
            is_moment = datetime in types
            params[option.name] = datetime.fromisoformat(value) if is_moment else value
    query = retrieval.query
    further: list[str] = []
    for length in reversed(params.pop("queries", [])):
        further.insert(0, query[-length:])
        query = query[: -length - 1]
    asked_in = params.get("conversation_id")
    params["conversation_id"] = asked_in and uuid.UUID(asked_in)
    is_raw = retrieval.kind == Retrieval.Kind.RETRIEVE_RAW
    kind = Retrieval.Kind.RETRIEVE if is_raw else Retrieval.Kind(retrieval.kind)
    return RecallRequest(query=query, queries=tuple(further), kind=kind, **params)
