"""The options of `retrieve_memory`, its raw form and `context_pre_retrieve`.

Each option has a field here. To add one: add the field under the same name to the form
(`api/retrieve.py`, with its meaning as `help_text`) and here; then use `request.<name>`. What
narrows the search is a parameter of the statement (`parameters`; one that changes its plan is
named in `FIXED` of `search/in_conversation.py`, too); where to look is for `scope.py`; what chooses
among hits stands in `selection.py`, in `_choose_all` without a budget and `_choose_packed` with
one, and pinned facts come past the search, from `hits.load_candidates`; how an answer reads is for
`markdown.py` and `packing.py`. The Python client repeats each option (`asking.py`).
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
"""Scopes of a search: the conversation, all of its user's, or the tenant's."""


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """The options of a request. `conversation_id` is the agent's own id.

    `episodic_limit` None: five episodes, or with `max_tokens` as many as fit.
    """

    query: str
    conversation_id: uuid.UUID | None
    """None: no current conversation; the scope is a user's or the tenant's."""
    kind: Retrieval.Kind
    queries: tuple[str, ...] = ()
    """Further questions, whose answers share the budget."""
    looked_up: tuple[str, ...] = ()
    """Searched in place of the others: a model asks these; no receipt stores their words."""
    episodic_limit: int | None = None
    semantic_limit: int = SEMANTIC_LIMIT
    detail: str = "auto"
    category: str | None = None
    preferences_only: bool = False
    """Only preferences, with guidelines and dangers, which are always included."""
    max_tokens: int | None = None
    as_of: datetime | None = None
    """Answer with what was true then; None: what is believed now."""
    known_at: datetime | None = None
    """Answer with what the server believed then; None: now."""
    explain: bool = False
    min_seq: int | None = None
    fresh: bool = False
    """Whether to include the last unprocessed messages, whatever the question."""
    scope: str = CONVERSATION
    user_id: str | None = None
    """User whose conversations the scope `user` searches; None: the conversation's own."""
    agent_id: str | None = None
    """Only conversations of this agent, if several are searched."""
    exclude_current: bool = False
    """Whether to leave out the current conversation, if several are searched."""
    fence: bool = False
    """Whether the text is put between marks that declare it data."""
    links: str = DEFANGED
    """How the text prints links: `defanged` or `plain`."""
    whole: bool = False
    """Whether very long messages are shown whole, if no budget cuts them."""
    min_relevance: float = 0.0
    """Relevance below which an answer is empty."""

    @property
    def questions(self) -> tuple[str, ...]:
        """Return everything that is searched for."""
        return self.looked_up or (self.query, *self.queries)

    @property
    def asked(self) -> str:
        """Return the caller's questions as one text, a line each, without looked-up ones."""
        return "\n".join([self.query, *self.queries])

    @property
    def joined(self) -> str:
        """Return all questions as one text, a line each."""
        return "\n".join(self.questions)

    @property
    def is_plain(self) -> bool:
        """Whether the search returns all that is shown: markdown shows few messages."""
        shows_few = self.max_tokens is None and self.kind is not Retrieval.Kind.RETRIEVE_RAW
        return shows_few and not self.is_shared

    @property
    def is_shared(self) -> bool:
        """Whether several conversations are searched."""
        return self.scope != CONVERSATION

    @property
    def names_recent(self) -> bool:
        """Whether the call asks for unprocessed messages."""
        return self.min_seq is not None or self.fresh

    @property
    def takes_recent(self) -> bool:
        """Whether unprocessed messages come anyway: a budget, several conversations."""
        has_room = self.max_tokens is not None and self.kind is not Retrieval.Kind.CONTEXT
        is_narrow = self.category is not None or not self.is_present
        return self.is_shared and has_room and not is_narrow

    @property
    def searched_category(self) -> str | None:
        """Return the category of the facts that are searched; None: any."""
        return PREFERENCE if self.preferences_only else self.category

    @property
    def is_present(self) -> bool:
        """Whether no other moment than now is asked about."""
        return self.as_of is None and self.known_at is None

    @property
    def wants_pinned(self) -> bool:
        """Whether facts are included unasked, before an answer or in a budget."""
        has_place = self.kind is Retrieval.Kind.CONTEXT or self.max_tokens is not None
        return has_place and not self.category and self.is_present

    def read_times(self, now: datetime) -> TimesAsked:
        """Return the times in the query, relative to the moment asked about, or to now.

        Without a budget, times do not restrict the search: all words are searched.
        """
        if self.max_tokens is None:
            return TimesAsked(words=self.query)
        return read_times(self.query, at=self.as_of or self.known_at or now)

    def parameters(self) -> dict[str, Any]:
        """Return the request's part of the parameters of a conversation's search."""
        return {"category": self.searched_category, "as_of": self.as_of, "explain": self.explain}

    def to_json(self) -> dict[str, Any]:
        """Return every option as applied, for a receipt, which stores the questions separately.

        `queries` is stored as the lengths of further questions in the text, `looked_up` as a
        number.
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
    """Return the request in a receipt, to be answered again as markdown.

    `min_seq` and `fresh` are dropped: messages new at that time are processed by now.
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
